package recibo_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/mutate"
)

// allCases makes the senders' keys once: some are RSA.
var allCases = sync.OnceValues(mutate.Cases)

// Whoever holds one captured request can change all that is not signed: ids, times, types, the case and order of headers,
// the query. None of it may make the event act again.
func TestNoSenderIsAcceptedTwiceHoweverTheUnsignedIsChanged(t *testing.T) {
	cases, err := allCases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name(), func(t *testing.T) {
			source := c.Source
			source.Path = c.Delivery.Path
			r := newRig(t, source)
			r.now = mutate.Now
			if got := r.deliver(c.Delivery); got.status/100 != 2 || got.verdict != string(recibo.Accepted) {
				t.Fatalf("the signed original: answered %d %q; want accepted: %s", got.status, got.verdict, r.lastLog())
			}
			before, _ := r.kept()
			again := 0
			for _, m := range c.Mutations() {
				if got := r.deliver(m.Delivery); got.verdict == string(recibo.Accepted) {
					again++
					if !c.Credential() {
						t.Errorf("%s: accepted a second time", m.Name)
					}
				}
			}
			after, _ := r.kept()
			if c.Credential() != (again > 0) || after-before != again {
				t.Errorf("%d accepted again, %d receipts more; a credential sender (%v) accepts a changed id, and no other does",
					again, after-before, c.Credential())
			}
		})
	}
}

// deliver sends a delivery as it stands.
func (r *rig) deliver(d *recibo.Delivery) answer {
	r.t.Helper()
	target := d.Path
	if d.RawQuery != "" {
		target += "?" + d.RawQuery
	}
	req := httptest.NewRequest(http.MethodPost, target, bytes.NewReader(d.Body))
	req.Header = d.Header
	return r.do(r.receiver, req)
}

func TestATokenSenderRunsOncePerToken(t *testing.T) {
	cases, err := allCases()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, c := range cases {
		if c.Variant.Key != recibo.KeyToken {
			continue
		}
		seen++
		source := c.Source
		source.Path = c.Delivery.Path
		r := newRig(t, source)
		r.now = mutate.Now
		r.deliver(c.Delivery)
		for _, m := range c.Mutations() {
			r.deliver(m.Delivery)
		}
		if receipts, _ := r.kept(); receipts != 1 {
			t.Errorf("%s: %d receipts of one token, want 1", c.Name(), receipts)
		}
		if said := strings.Join(c.Variant.Protection, " "); !strings.Contains(said, "unspent token") {
			t.Errorf("%s: its page does not say what a token is worth: %s", c.Name(), said)
		}
	}
	if seen < 3 {
		t.Errorf("%d token senders, want Mailgun, Mercado Pago and PayPal at least", seen)
	}
}
