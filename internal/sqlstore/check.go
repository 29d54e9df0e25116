package sqlstore

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/recibohq/recibo"
)

// Bounds of what is kept, in bytes. They are above what the receiver lets through; they keep one caller's mistake from
// failing the batch that it shares.
const (
	maxText   = 1024
	maxKey    = 16 << 10
	maxHeader = 256 << 10
	maxBody   = 256 << 20
	maxStep   = 4 << 20
	maxEvents = 10_000
)

// checkRecording refuses what the database would refuse, before it can fail others.
func checkRecording(r *recibo.Recording) error {
	switch {
	case r.Tenant == "":
		return errors.New("tenant is empty")
	case len(r.Events) == 0 || len(r.Destinations) == 0:
		return errors.New("nothing to record: no events or no destinations")
	case len(r.Events)*len(r.Destinations) > maxEvents:
		return fmt.Errorf("%d events for %d destinations: more than %d in one delivery",
			len(r.Events), len(r.Destinations), maxEvents)
	case len(r.Header) > maxHeader || len(r.Body) > maxBody:
		return fmt.Errorf("%d bytes of headers, %d of body: too large", len(r.Header), len(r.Body))
	}
	if err := checkTexts("tenant", r.Tenant, "scope", r.Scope, "namespace", r.Namespace, "source", r.Source,
		"request id", r.RequestID); err != nil {
		return err
	}
	for _, d := range r.Destinations {
		if err := checkText("destination", d, maxText); err != nil {
			return err
		}
	}
	for i := range r.Events {
		if err := checkEvent(&r.Events[i], len(r.Body)); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	return nil
}

func checkEvent(e *recibo.Event, body int) error {
	if e.Start < 0 || e.Start > e.End || e.End > body {
		return fmt.Errorf("its bytes %d to %d are not in the body of %d", e.Start, e.End, body)
	}
	if e.Key == "" && e.Fault == "" {
		return errors.New("it has no key")
	}
	if err := checkText("key", string(e.Key), maxKey); err != nil {
		return err
	}
	if err := checkText("token", string(e.Token), maxKey); err != nil {
		return err
	}
	return checkTexts("id", e.ID, "type", e.Type, "account", e.Account, "object", e.Object, "version", e.Version)
}

// checkTexts checks pairs of a name and a text.
func checkTexts(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if err := checkText(pairs[i], pairs[i+1], maxText); err != nil {
			return err
		}
	}
	return nil
}

// checkText refuses what a text column of either database cannot hold as it is. The text itself is not in the error:
// it may be anything.
func checkText(name, text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("%s has %d bytes, more than %d", name, len(text), most)
	case strings.IndexByte(text, 0) >= 0:
		return fmt.Errorf("%s holds a NUL character", name)
	case !utf8.ValidString(text):
		return fmt.Errorf("%s is not UTF-8", name)
	}
	return nil
}

// clip makes an operator's text fit its column: at most [recibo.MaxResult] bytes, cut where a character ends.
func clip(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
	if len(text) <= recibo.MaxResult {
		return text
	}
	end := recibo.MaxResult
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
