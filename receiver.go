package recibo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// ReceiverOptions adjusts a Receiver. The zero value, or nil, is the default.
type ReceiverOptions struct {
	Logger *slog.Logger     // default: discard. One line per decision
	Now    func() time.Time // default: time.Now
	// ReadWithin bounds the reading of a body. Default: 10 seconds.
	ReadWithin time.Duration
	// AnswerWithin bounds the wait for the store; a delivery not durable by then is answered 503. Default: 2 seconds.
	AnswerWithin time.Duration
}

func (o *ReceiverOptions) withDefaults() ReceiverOptions {
	var r ReceiverOptions
	if o != nil {
		r = *o
	}
	if r.Logger == nil {
		r.Logger = slog.New(slog.DiscardHandler)
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	r.ReadWithin = orDefault(r.ReadWithin, 10*time.Second)
	r.AnswerWithin = orDefault(r.AnswerWithin, 2*time.Second)
	return r
}

// A Receiver answers deliveries: it verifies, records and says so, in milliseconds. The work is a [Worker]'s.
//
// Middleware before it must leave the body alone: the signature is over its bytes.
type Receiver struct {
	store    Store
	sources  *Directory
	opts     ReceiverOptions
	draining atomic.Bool
}

// NewReceiver serves the sources of dir, keeping what they send in store. opts may be nil.
func NewReceiver(store Store, dir *Directory, opts *ReceiverOptions) (*Receiver, error) {
	if store == nil || dir == nil {
		return nil, errors.New("a receiver needs a store and a directory")
	}
	return &Receiver{store: store, sources: dir, opts: opts.withDefaults()}, nil
}

// Drain makes the receiver answer 503 from now on, so that senders send again later. Requests that it has begun are
// finished as usual.
func (rc *Receiver) Drain() { rc.draining.Store(true) }

// ServeHTTP answers one delivery. The statuses are those of [Decision.Status]; no answer says which check failed.
func (rc *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := rc.opts.Now()
	in := &intake{
		address: rc.sources.find(r.URL.EscapedPath()),
		delivery: Delivery{
			ID:         NewDeliveryID(now),
			RequestID:  plainText(r.Header.Get("X-Request-Id")),
			Method:     r.Method,
			Path:       r.URL.EscapedPath(),
			RawQuery:   r.URL.RawQuery,
			Header:     r.Header,
			ReceivedAt: now,
		},
	}
	decision := rc.decide(w, r, in)
	rc.log(r.Context(), &decision, in)
	rc.answer(w, &decision, in)
}

// An intake is a delivery on its way to a decision.
type intake struct {
	address  *address // nil for an unknown path
	delivery Delivery
}

// decide turns a panic into a decision too: our own bug is the sender's reason to send again.
func (rc *Receiver) decide(w http.ResponseWriter, r *http.Request, in *intake) (decision Decision) {
	defer func() {
		if p := recover(); p != nil {
			decision = in.unavailable(Fault, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	if in.address == nil {
		return in.rejected(UnknownPath, nil)
	}
	if rc.draining.Load() {
		return in.unavailable(Stopping, nil)
	}
	if r.Method != http.MethodPost {
		return in.greet()
	}
	body, err := readBody(w, r, in.address.MaxBody, rc.opts.ReadWithin)
	if err != nil {
		return in.failed(err)
	}
	in.delivery.Body = body
	return rc.judge(r.Context(), in)
}

// judge is the way of a delivery once its bytes are here: verify, handshake, fresh, read, record.
func (rc *Receiver) judge(ctx context.Context, in *intake) Decision {
	v, err := in.address.verifier.Verify(ctx, &in.delivery)
	if err != nil {
		return in.unverified(err)
	}
	if c, ok := in.address.verifier.(Challenger); ok {
		answer, err := c.Challenge(&in.delivery, v)
		if err != nil { // it is the sender's, so it is not refused
			return rc.record(ctx, in, v, in.unreadable(v))
		}
		if answer != nil {
			return in.challenged(answer)
		}
	}
	past, err := in.fresh(v)
	if err != nil {
		return in.failed(err)
	}
	events, err := in.events(v, past)
	if err != nil {
		return in.failed(err)
	}
	return rc.record(ctx, in, v, events)
}

// greet answers what comes with another method than POST.
func (in *intake) greet() Decision {
	g, ok := in.address.verifier.(Greeter)
	if !ok || !slices.Contains(g.Methods(), in.delivery.Method) {
		return in.rejected(WrongMethod, nil)
	}
	answer, err := g.Greet(&in.delivery)
	if err != nil || answer == nil {
		return in.rejected(BadChallenge, err)
	}
	return in.challenged(answer)
}

// unverified lets a POST without any signature be the unsigned check of a sender that makes such.
func (in *intake) unverified(err error) Decision {
	g, ok := in.address.verifier.(Greeter)
	if !ok || !errors.Is(err, MissingSignature) {
		return in.failed(err)
	}
	switch answer, bad := g.Greet(&in.delivery); {
	case bad != nil:
		return in.rejected(BadChallenge, bad)
	case answer != nil:
		return in.challenged(answer)
	}
	return in.failed(err)
}

// allow lists the methods that the address takes.
func (in *intake) allow() string {
	methods := []string{http.MethodPost}
	if in.address != nil {
		if g, ok := in.address.verifier.(Greeter); ok {
			methods = append(methods, g.Methods()...)
		}
	}
	return strings.Join(methods, ", ")
}

// fresh judges the signed time. Only a send time can refuse a delivery: an event older than any honest retry is kept for
// review.
func (in *intake) fresh(v *Verified) (past bool, err error) {
	a := in.address
	if received := in.delivery.ReceivedAt; !v.Expires.IsZero() && received.After(v.Expires) {
		return false, fmt.Errorf("%w: it expired %s ago", TooOld, received.Sub(v.Expires).Round(time.Second))
	}
	err = a.profile.Fresh(in.delivery.ReceivedAt.Sub(v.At), a.Tolerance, a.Horizon)
	if errors.Is(err, PastHorizon) {
		return true, nil
	}
	return false, err
}

// events reads the delivery's events, less those of accounts that are not the source's.
func (in *intake) events(v *Verified, past bool) ([]Event, error) {
	events := in.address.verifier.Events(&in.delivery, v)
	if allowed := in.address.Accounts; len(allowed) > 0 {
		events = slices.DeleteFunc(events, func(e Event) bool {
			return !slices.Contains(allowed, e.Account) && (e.Fault == "" || e.Account != "") // what cannot be read may be ours
		})
		if len(events) == 0 {
			return nil, WrongAccount
		}
	}
	for i := range events {
		if past && events[i].Fault == "" {
			events[i].Fault = PastHorizon
		}
	}
	return events, nil
}

// unreadable is a whole delivery that verified and that nothing can be made of but a review item.
func (in *intake) unreadable(v *Verified) []Event {
	return []Event{{
		Key: FingerprintKey(KeyFingerprint, v.Content), Content: v.Content, End: len(in.delivery.Body), Fault: Unreadable,
	}}
}

// record keeps the events and returns only when they are durable or the store has said no.
func (rc *Receiver) record(ctx context.Context, in *intake, v *Verified, events []Event) Decision {
	// A sender that hangs up must not undo a commit that others wait for, so only the deadline ends the wait.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rc.opts.AnswerWithin)
	defer cancel()
	results, err := rc.store.Record(ctx, in.recording(v, events))
	switch {
	case errors.Is(err, ErrStoreFull):
		return in.unavailable(StoreFull, nil)
	case err != nil:
		return in.unavailable(StoreFailed, err)
	}
	return in.recorded(events, results)
}

func (in *intake) recording(v *Verified, events []Event) *Recording {
	a, d := in.address, &in.delivery
	r := &Recording{
		Delivery:      d.ID,
		RequestID:     d.RequestID,
		Source:        a.Name,
		Tenant:        a.Tenant,
		Scope:         a.Scope,
		Namespace:     a.namespace,
		ReceivedAt:    d.ReceivedAt,
		Secret:        v.Secret,
		Header:        keptHeaders(d.Header, a.profile.KeepHeaders),
		Body:          d.Body,
		Events:        events,
		Destinations:  a.Destinations,
		Serial:        a.Order == OrderSerial,
		ContentStable: a.profile.ContentStable,
		TypeSigned:    a.profile.TypeSigned,
		AccountSigned: a.profile.AccountSigned,
	}
	if a.profile.TimeKind == SendTime {
		r.SentAt = v.At
	}
	return r
}

// recorded sums up: the delivery's verdict is the highest of its events'.
func (in *intake) recorded(events []Event, results []Recorded) Decision {
	d := in.decision("", "")
	d.Events = len(events)
	for i, res := range results {
		if rank[res.Verdict] > rank[d.Verdict] {
			d.Verdict, d.Reason = res.Verdict, res.Reason
			d.Receipt, d.Type = res.Receipt, events[i].Type
		}
	}
	return d
}

func (in *intake) decision(v Verdict, why Reason) Decision {
	d := Decision{Verdict: v, Reason: why, Delivery: in.delivery.ID, RequestID: in.delivery.RequestID, At: in.delivery.ReceivedAt}
	if in.address != nil {
		d.Source, d.Tenant = in.address.Name, in.address.Tenant
	}
	return d
}

func (in *intake) challenged(answer *Answer) Decision {
	d := in.decision(Challenged, "")
	d.Answer = answer
	return d
}

func (in *intake) rejected(why Reason, detail error) Decision {
	d := in.decision(Rejected, why)
	d.Detail = detailText(why, detail)
	return d
}

func (in *intake) unavailable(why Reason, detail error) Decision {
	d := in.decision(Unavailable, why)
	d.Detail = detailText(why, detail)
	return d
}

// failed sorts an error into what the sender did and what is ours: only the first may be answered 4xx.
func (in *intake) failed(err error) Decision {
	var why Reason
	if !errors.As(err, &why) {
		return in.unavailable(Fault, err)
	}
	if slices.Contains(ours, why) {
		return in.unavailable(why, err)
	}
	return in.rejected(why, err)
}

func detailText(why Reason, err error) string {
	if err == nil || err.Error() == string(why) {
		return ""
	}
	return err.Error()
}
