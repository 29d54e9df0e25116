package provider_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// A held is a vector that verifies, and the variant that it is of.
type held struct {
	name    string
	vector  vector
	variant provider.Variant
	d       *recibo.Delivery
	v       recibo.Verifier
}

// heldVectors are all vectors that verify and bring events.
func heldVectors(t *testing.T) []held {
	var all []held
	for name, vectors := range readVectors(t) {
		variants := provider.MustLookup(name).Describe().Variants
		for _, v := range vectors {
			if v.Want.Reason != "" && v.Want.Reason != recibo.TooOld || v.Want.Answer != nil {
				continue
			}
			i := slices.IndexFunc(variants, func(o provider.Variant) bool { return v.Variant == o.Name || v.Variant == "" && o.Main })
			if i < 0 {
				t.Fatalf("%s: %s is of no variant %q", name, v.Name, v.Variant)
			}
			all = append(all, held{name + "/" + variants[i].Name + "/" + v.Name, v, variants[i], v.delivery(t), v.bind(t, name)})
		}
	}
	return all
}

// change is h's delivery, changed.
func (h *held) change(f func(d *recibo.Delivery)) *recibo.Delivery {
	d := *h.d
	d.Header, d.Body = d.Header.Clone(), bytes.Clone(d.Body)
	f(&d)
	return &d
}

// outcome is what becomes of d: the reason it is refused for, or its events.
func (h *held) outcome(t *testing.T, d *recibo.Delivery) (recibo.Reason, []recibo.Event) {
	verified, err := h.v.Verify(t.Context(), d)
	var why recibo.Reason
	switch {
	case err == nil:
		return "", h.v.Events(d, verified)
	case !errors.As(err, &why):
		t.Errorf("%s: Verify returned %v, which is no Reason", h.name, err)
	}
	return why, nil
}

// The senders' own vectors, and what may not be made of them: another body, no signature, another key, an old copy.
func TestEverySenderHoldsOnItsOwnVectors(t *testing.T) {
	for _, h := range heldVectors(t) {
		t.Run(strings.ReplaceAll(h.name, " ", "_"), func(t *testing.T) {
			why, known := h.outcome(t, h.d)
			if why != "" || len(known) == 0 {
				t.Fatalf("refused as %q", why)
			}
			h.otherBody(t, known)
			if h.variant.Unchecked {
				return
			}
			h.noSignature(t)
			h.otherKey(t)
			h.stale(t)
		})
	}
}

// otherBody changes each byte that there is, of a long body some: it is refused, or it is the same event, or it waits for a
// person. Only of a sender that does not sign the body it may be another.
func (h *held) otherBody(t *testing.T, known []recibo.Event) {
	signed := !slices.Contains(h.variant.Unsigned, "body")
	refused := 0
	for i := 0; i < len(h.d.Body); i += max(len(h.d.Body)/64, 1) {
		why, got := h.outcome(t, h.change(func(d *recibo.Delivery) { d.Body[i] ^= 1 }))
		if why != "" {
			refused++
		}
		for _, e := range got {
			same := slices.ContainsFunc(known, func(k recibo.Event) bool { return k.Key == e.Key || e.Token != "" && k.Token == e.Token })
			if !same && e.Fault == "" && h.variant.Key != recibo.KeyCredential {
				t.Errorf("byte %d changed: accepted as another event %q", i, e.Key)
			}
		}
	}
	if signed && refused == 0 && len(h.d.Body) > 0 {
		t.Error("no change of the body is refused, though it is signed")
	}
}

func (h *held) noSignature(t *testing.T) {
	bare := h.change(func(d *recibo.Delivery) {
		for at := range strings.SplitSeq(h.variant.Signature, "|") {
			if name, ok := strings.CutPrefix(at, "header:"); ok {
				d.Header.Del(name)
			} else {
				d.RawQuery, d.Body = "", []byte("{}")
			}
		}
	})
	why, _ := h.outcome(t, bare)
	if want := recibo.MissingSignature; why != want && !(why == recibo.MalformedSignature && !strings.Contains(h.variant.Signature, "header:")) {
		t.Errorf("no signature: refused as %q, want %q", why, want)
	}
}

func (h *held) otherKey(t *testing.T) {
	p := provider.MustLookup(strings.SplitN(h.name, "/", 2)[0])
	keys, err := p.NewKeys(h.variant.Name)
	if err != nil {
		t.Fatal(err)
	}
	other := h.vector
	if h.variant.Symmetric {
		other.Secret = keys.Secret.Reveal()
	} else {
		other.PublicKey = keys.PublicKey
	}
	stranger := held{h.name, other, h.variant, h.d, other.bind(t, p.Name())}
	if why, _ := stranger.outcome(t, h.d); why != recibo.BadSignature {
		t.Errorf("another key: refused as %q, want %q", why, recibo.BadSignature)
	}
}

// stale: where a send time is signed, a copy is too old after the tolerance, and never before.
func (h *held) stale(t *testing.T) {
	if h.variant.Time != recibo.SendTime {
		return
	}
	verified, err := h.v.Verify(t.Context(), h.d)
	if err != nil || verified.At.IsZero() {
		t.Fatalf("signed at %v, %v", verified, err)
	}
	tolerance := h.variant.Tolerance
	if tolerance == 0 {
		tolerance = recibo.DefaultTolerance
	}
	p := h.v.Profile()
	if err := p.Fresh(tolerance, 0, 0); err != nil {
		t.Errorf("within the tolerance: %v", err)
	}
	if err := p.Fresh(tolerance+time.Second, 0, 0); !errors.Is(err, recibo.TooOld) {
		t.Errorf("past the tolerance: %v, want %s", err, recibo.TooOld)
	}
}

// senders.txt is the list of the senders that recibo knows. One more is a line there, a file in the catalogue and its vectors.
func TestTheCatalogueHasWhatItSays(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "senders.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(text))
	var have, tried []string
	for _, p := range provider.All() {
		have = append(have, p.Name())
	}
	paths, err := filepath.Glob(filepath.Join("testdata", "vectors", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		tried = append(tried, strings.TrimSuffix(filepath.Base(path), ".yaml"))
	}
	slices.Sort(tried)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("the catalogue: listed - found +\n%s", diff)
	}
	if diff := cmp.Diff(want, tried); diff != "" {
		t.Errorf("the vectors: listed - found +\n%s", diff)
	}
	good := map[string]bool{}
	for _, h := range heldVectors(t) {
		good[strings.SplitN(h.name, "/", 2)[0]] = true
	}
	for _, name := range want {
		if !good[name] {
			t.Errorf("%s: no vector of it verifies", name)
		}
	}
}

// FuzzHandshake: nothing that a stranger asks for is answered with more than what was asked, or with what signs a delivery.
func FuzzHandshake(f *testing.F) {
	type sender struct {
		name     string
		verifier recibo.Verifier
		greeter  recibo.Greeter
	}
	var all []sender
	for _, c := range cases(f) {
		v := bind(f, c.Provider, &c.Source)
		if g, ok := v.(recibo.Greeter); ok {
			all = append(all, sender{c.Name(), v, g})
		}
	}
	f.Add(uint8(0), "GET", "crc_token=abc&hub.mode=subscribe&hub.challenge=1&challenge=x&bt_challenge=ab", "X-Hook-Secret", "abc", []byte("{}"))
	f.Add(uint8(1), "POST", "validationToken=a", "WebHook-Request-Origin", "a.test", []byte(`{"challenge":"x"}`))
	f.Fuzz(func(t *testing.T, which uint8, method, query, name, value string, body []byte) {
		s := all[int(which)%len(all)]
		d := &recibo.Delivery{Method: method, RawQuery: query, Header: http.Header{}, Body: body}
		d.Header.Set(name, value)
		answer, err := s.greeter.Greet(d)
		if err != nil || answer == nil {
			return
		}
		if len(answer.Body) > 2048 || bytes.ContainsAny(answer.Body, "\x00\r") {
			t.Errorf("%s answers %q", s.name, answer.Body)
		}
		for header, values := range answer.Header {
			if strings.ContainsAny(header+strings.Join(values, ""), "\r\n") {
				t.Errorf("%s answers with header %q: %q", s.name, header, values)
			}
		}
		if method != http.MethodPost && !slices.Contains(s.greeter.Methods(), method) {
			t.Errorf("%s answers %s", s.name, method)
		}
	})
}
