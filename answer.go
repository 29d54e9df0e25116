package recibo

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
)

// answer writes what d means to the sender. A refusal does not say which check failed: that would help a forger.
func (rc *Receiver) answer(w http.ResponseWriter, d *Decision, in *intake) {
	profile := in.profile()
	status := d.Status(profile)
	h := w.Header()
	h["Cache-Control"] = noStore
	h["Recibo-Delivery"] = []string{d.Delivery.String()}
	var a Answer
	switch d.intent() {
	case acknowledge:
		a = profile.Acknowledge
		h["Recibo-Verdict"] = []string{string(d.Verdict)}
		if !d.Receipt.IsZero() {
			h["Recibo-Receipt"] = []string{d.Receipt.String()}
		}
	case challenge:
		a = *d.Answer
		h["X-Content-Type-Options"] = []string{"nosniff"}
	case retryLater:
		// Below 60 and spread: a backlog must not return at once.
		h["Retry-After"] = []string{strconv.Itoa(5 + rand.IntN(46))} //nolint:gosec // not a secret
	case refuse:
		a = refusal(h, d, status)
		if profile.BareRefusals {
			a = Answer{}
		}
		if status == http.StatusMethodNotAllowed {
			h["Allow"] = []string{in.allow()}
		}
	}
	if d.closes() {
		h["Connection"] = []string{"close"}
	}
	write(w, status, a)
}

var noStore = []string{"no-store"}

// refusal is an RFC 9457 problem that names the delivery, for an operator to look up, and nothing else.
func refusal(h http.Header, d *Decision, status int) Answer {
	if status == http.StatusUnauthorized {
		h["Www-Authenticate"] = []string{"Webhook"} // RFC 9110, section 15.5.2, wants a challenge
	}
	body := fmt.Sprintf(`{"title":"refused","status":%d,"instance":%q}`, status, d.Delivery)
	return Answer{ContentType: "application/problem+json", Body: []byte(body)}
}

// closes says that the connection cannot be used again: bytes of this request may still be on it, or the server stops.
func (d *Decision) closes() bool {
	switch d.Reason {
	case TooLarge, SlowBody, BrokenBody, Stopping:
		return true
	}
	return false
}

func write(w http.ResponseWriter, status int, a Answer) {
	h := w.Header()
	maps.Copy(h, a.Header)
	if a.ContentType != "" {
		h["Content-Type"] = []string{a.ContentType}
	}
	if status != http.StatusNoContent {
		h["Content-Length"] = []string{strconv.Itoa(len(a.Body))}
	}
	w.WriteHeader(status)
	_, _ = w.Write(a.Body) // the decision stands whether or not the sender hears of it
}

// anyProfile answers where no source was found.
var anyProfile = &Profile{}

func (in *intake) profile() *Profile {
	if in.address == nil {
		return anyProfile
	}
	return in.address.profile
}

// log writes the one line of a decision. Our own faults are errors: an operator must act.
func (rc *Receiver) log(ctx context.Context, d *Decision, in *intake) {
	level := slog.LevelInfo
	if d.Reason == StoreFailed || d.Reason == Fault || d.Reason == BodyAlreadyRead {
		level = slog.LevelError
	}
	if !rc.opts.Logger.Enabled(ctx, level) {
		return
	}
	attrs := append(make([]slog.Attr, 0, 12),
		slog.String("delivery", d.Delivery.String()),
		slog.String("verdict", string(d.Verdict)),
		slog.Int("status", d.Status(in.profile())))
	for _, a := range [...]slog.Attr{
		slog.String("reason", string(d.Reason)), slog.String("receipt", d.Receipt.String()),
		slog.String("source", d.Source), slog.String("tenant", d.Tenant), slog.String("type", d.Type),
		slog.String("request_id", d.RequestID), slog.String("detail", d.Detail),
	} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	if d.Events > 1 {
		attrs = append(attrs, slog.Int("events", d.Events))
	}
	rc.opts.Logger.LogAttrs(ctx, level, "decision", attrs...)
}
