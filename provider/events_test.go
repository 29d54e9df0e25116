package provider_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/mutate"
	"github.com/recibohq/recibo/provider"
)

// A sender is a provider with its keys and a source that takes what it signs.
type sender struct {
	t        testing.TB
	provider *provider.Provider
	keys     *provider.Keys
	source   recibo.Source
}

func newSender(t testing.TB, p *provider.Provider) *sender {
	keys, err := p.NewKeys("")
	if err != nil {
		t.Fatal(err)
	}
	s := &sender{t, p, keys, recibo.Source{Params: map[string]string{}}}
	for _, declared := range p.Describe().Params {
		s.source.Params[declared.Name] = "https://hooks.example.test/in/x"
	}
	delete(s.source.Params, "insecure_open")
	if keys.PublicKey == "" {
		s.source.Secrets = []recibo.Secret{keys.Secret}
	} else {
		s.source.PublicKeys = []string{keys.PublicKey}
	}
	return s
}

func (s *sender) send(body string) *recibo.Delivery {
	signed, err := s.provider.Sign(&provider.SignRequest{
		Secret: s.keys.Secret, PrivateKey: s.keys.PrivateKey, Params: s.source.Params, URL: "https://hooks.example.test/in/x",
		Header: http.Header{}, Body: []byte(body), ID: "evt_1", Now: mutate.Now,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	_, query, _ := strings.Cut(signed.URL, "?")
	return &recibo.Delivery{Method: http.MethodPost, RawQuery: query, Header: signed.Header, Body: signed.Body, ReceivedAt: mutate.Now}
}

// read signs body and returns the events as they are read.
func (s *sender) read(body string) []recibo.Event {
	return events(s.t, bind(s.t, s.provider, &s.source), s.send(body))
}

func faults(events []recibo.Event) (all []recibo.Reason) {
	for _, e := range events {
		all = append(all, e.Fault)
	}
	return all
}

func TestWhatVerifiedAndCannotBeReadIsKeptUnderAKeyOfItsOwn(t *testing.T) {
	s := newSender(t, provider.MustLookup("stripe"))
	for body, want := range map[string]recibo.Reason{
		`{"id":"evt_1","type":"a"}`:      "",
		`not JSON`:                       recibo.Unreadable,
		``:                               recibo.Unreadable,
		`{"id":"a","id":"b","type":"a"}`: recibo.Unreadable,
		`{"id":"a","ID":"b","type":"a"}`: recibo.Unreadable,
		`{"id":"\ud800","type":"a"}`:     recibo.Unreadable,
		`{"id":{"x":1}}`:                 recibo.Unreadable,
		`{"id":"a","type":"b\u000a"}`:    recibo.Unreadable,
		`{"id":"a"} {}`:                  recibo.Unreadable,
		`{"id":"` + strings.Repeat("x", 600) + `"}`: recibo.Unreadable,
		`{"type":"a"}`:                                     recibo.NoKey,
		`{"id":"","type":"a"}`:                             recibo.NoKey,
		`{"id":null,"type":"a"}`:                           recibo.NoKey,
		`{"ID":"evt_1","type":"a"}`:                        recibo.NoKey,
		`{"x":{"id":1,"id":2},"id":"evt_1","type":"a"}`:    "",
		`{"id":123456789012345678901234567890,"type":"a"}`: "",
	} {
		got := s.read(body)
		if len(got) != 1 || got[0].Fault != want {
			t.Errorf("%s: %+v, want one event with fault %q", body, got, want)
			continue
		}
		if e := got[0]; want != "" && e.Key != recibo.FingerprintKey(recibo.KeyFingerprint, e.Content) {
			t.Errorf("%s: key %q, want the fingerprint", body, e.Key)
		}
	}
}

func TestASourceCanRequireFields(t *testing.T) {
	s := newSender(t, provider.MustLookup("stripe"))
	s.source.Require = []string{"json:data.object", "json:livemode"}
	for body, want := range map[string]recibo.Reason{
		`{"id":"a","data":{"object":{"id":1}},"livemode":false}`: "",
		`{"id":"a","data":{"object":null},"livemode":false}`:     recibo.MissingField,
		`{"id":"a","data":{"object":[]}}`:                        recibo.MissingField,
		`{"id":"a"}`:                                             recibo.MissingField,
	} {
		got := s.read(body)[0]
		if got.Fault != want || got.Key != "id:a" {
			t.Errorf("%s: fault %q, key %q, want %q and the event's own key", body, got.Fault, got.Key, want)
		}
	}
}

func TestABatchIsReadItemByItem(t *testing.T) {
	s := newSender(t, provider.MustLookup("sendgrid"))
	const body = `[ {"sg_event_id":"a","event":"open"}, {"event":"click"},{"sg_event_id":"b","SG_event_id":"c"} ,7]`
	got := s.read(body)
	if diff := cmp.Diff([]recibo.Reason{"", "", recibo.Unreadable, recibo.Unreadable}, faults(got)); diff != "" {
		t.Fatalf("faults\n%s", diff)
	}
	if got[0].Key != "id:a" || got[1].Key != recibo.FingerprintKey(recibo.KeyFingerprint, got[1].Content) {
		t.Errorf("keys %q, %q: want the id, and the item's fingerprint", got[0].Key, got[1].Key)
	}
	if own := body[got[1].Start:got[1].End]; own != `{"event":"click"}` {
		t.Errorf("the second item's own bytes are %q", own)
	}
	again := s.read(`[{"event":"click"}]`)
	if again[0].Key != got[1].Key {
		t.Errorf("the same item in another batch has key %q, want %q", again[0].Key, got[1].Key)
	}
	for _, empty := range []string{`[]`, `{}`, `{"x":[]}`, `[`} {
		if e := s.read(empty); len(e) != 1 || e[0].Fault != recibo.Unreadable {
			t.Errorf("%s: %+v, want one unreadable event", empty, e)
		}
	}
}

const adyenItem = `{"NotificationRequestItem":{"amount":{"currency":"EUR","value":1},"eventCode":"CAPTURE","merchantAccountCode":"M",` +
	`"merchantReference":"a:b","pspReference":"%","success":"true"}}`

func TestAnAdyenItemWithAWrongSignatureDoesNotFailItsNeighbours(t *testing.T) {
	s := newSender(t, provider.MustLookup("adyen"))
	one := strings.ReplaceAll(adyenItem, "%", "P1")
	two := strings.ReplaceAll(adyenItem, "%", "P2")
	d := s.send(`{"notificationItems":[` + one + `,` + two + `]}`)
	v := bind(t, s.provider, &s.source)
	if got := events(t, v, d); len(got) != 2 {
		t.Fatalf("%d events of 2 items", len(got))
	}
	d.Body = []byte(strings.Replace(string(d.Body), `"pspReference":"P1"`, `"pspReference":"P9"`, 1))
	got := events(t, v, d)
	if len(got) != 1 || got[0].Object != "payment/P2" {
		t.Errorf("events %+v, want the second item only", got)
	}
	d.Body = []byte(strings.Replace(string(d.Body), `"pspReference":"P2"`, `"pspReference":"P9"`, 1))
	if got := refusal(t, v, d); got != recibo.BadSignature {
		t.Errorf("no good item is refused as %q, want %q", got, recibo.BadSignature)
	}
}

func TestAnAdyenFieldMayNotMoveIntoItsNeighbour(t *testing.T) {
	s := newSender(t, provider.MustLookup("adyen"))
	d := s.send(`{"notificationItems":[` + strings.ReplaceAll(adyenItem, "%", "P1") + `]}`)
	// "…:M:a:b:1:EUR…" split at another colon is the same signed text.
	moved := strings.NewReplacer(`"merchantAccountCode":"M"`, `"merchantAccountCode":"M:a"`, `"merchantReference":"a:b"`, `"merchantReference":"b"`)
	d.Body = []byte(moved.Replace(string(d.Body)))
	if got := refusal(t, bind(t, s.provider, &s.source), d); got != recibo.BadSignature {
		t.Errorf("a moved border is refused as %q, want %q", got, recibo.BadSignature)
	}
}

func TestGitHubFormsAreToldByTheirBytes(t *testing.T) {
	s := newSender(t, provider.MustLookup("github"))
	s.source.Require = []string{"json:zen"}
	for body, want := range map[string]recibo.Reason{
		`payload=%7B%22zen%22%3A%22x%22%7D`: "", `{"zen":"x"}`: "", `payload=%7B%7D`: recibo.MissingField,
		`payload=%7B&payload=%7B`: recibo.Unreadable, `payload=%zz`: recibo.Unreadable, `zen=x`: recibo.Unreadable,
	} {
		if got := s.read(body)[0]; got.Fault != want || got.Start != 0 || got.End != len(body) {
			t.Errorf("%s: %+v, want fault %q over the whole body", body, got, want)
		}
	}
}

func TestUnsignedHeadersAreHintsOrNothing(t *testing.T) {
	s := newSender(t, provider.MustLookup("github"))
	v := bind(t, s.provider, &s.source)
	for _, c := range []struct {
		values []string
		want   string
	}{{[]string{"d1"}, "d1"}, {nil, ""}, {[]string{"d1", "d2"}, ""}, {[]string{"é"}, ""}, {[]string{"a\x1b[0m"}, ""}, {[]string{strings.Repeat("x", 256)}, ""}} {
		d := s.send(`{}`)
		d.Header["X-Github-Delivery"] = c.values
		e := events(t, v, d)[0]
		if e.ID != c.want || e.Fault != "" || e.Key.Kind() != recibo.KeyFingerprint {
			t.Errorf("X-GitHub-Delivery %q: id %q, key %q, fault %q, want id %q and a fingerprint", c.values, e.ID, e.Key, e.Fault, c.want)
		}
	}
}

func TestATryWithANewTimeIsTheSameContent(t *testing.T) {
	for _, slug := range []string{"stripe", "slack", "standard-webhooks", "svix", "zoom", "discord"} {
		s := newSender(t, provider.MustLookup(slug))
		v := bind(t, s.provider, &s.source)
		var got []recibo.Event
		for _, age := range []time.Duration{0, time.Minute} {
			signed, err := s.provider.Sign(&provider.SignRequest{
				Secret: s.keys.Secret, PrivateKey: s.keys.PrivateKey, Body: []byte(`{"id":"a","event_id":"a","type":"t"}`), ID: "a",
				Now: mutate.Now.Add(age),
			})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, events(t, v, &recibo.Delivery{Header: signed.Header, Body: signed.Body})...)
		}
		if got[0].Key != got[1].Key || got[0].Content != got[1].Content {
			t.Errorf("%s: a second try is %+v, the first was %+v", slug, got[1], got[0])
		}
	}
}

func TestTwilioJoinsParametersAsItIsSigned(t *testing.T) {
	s := newSender(t, provider.MustLookup("twilio"))
	v := bind(t, s.provider, &s.source)
	d := s.send("B=2&A=1&A=1&A=0")
	want := events(t, v, d)[0].Key
	for _, same := range []string{"A=0&A=1&B=2", "A=1&A=0&A=1&B=2", "%41=1&A=0&B=2", "A=0&A=1B2"} {
		d.Body = []byte(same)
		if got := events(t, v, d)[0].Key; got != want {
			t.Errorf("%s: key %q, want that of the same signed text %q", same, got, want)
		}
	}
	for _, other := range []string{"A=1&B=2", "A=0&A=1&B=2&C=", "A=0&A=1&B=%zz", "%3FA=0&A=1&B=2"} {
		d.Body = []byte(other)
		if got := refusal(t, v, d); got != recibo.BadSignature {
			t.Errorf("%s: refused as %q, want %q", other, got, recibo.BadSignature)
		}
	}
}

func TestATwilioFormCannotBeTakenForJSON(t *testing.T) {
	s := newSender(t, provider.MustLookup("twilio"))
	v := bind(t, s.provider, &s.source)
	const evil = `{"forged":true}`
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(evil)))
	for _, d := range []*recibo.Delivery{s.send("Body=%26bodySHA256%3D" + digest), s.send(`{"genuine":true}`)} {
		for _, query := range []string{"bodySHA256=" + digest, "Body&bodySHA256=" + digest, "x=1&" + d.RawQuery, d.RawQuery + "&x=1"} {
			changed := *d
			changed.RawQuery, changed.Body = query, []byte(evil)
			if got := refusal(t, v, &changed); got != recibo.BadSignature {
				t.Errorf("query %q: refused as %q, want %q", query, got, recibo.BadSignature)
			}
		}
	}
	d := s.send(evil)
	asForm := *d
	asForm.RawQuery, asForm.Body = "", []byte("%3F"+strings.Replace(d.RawQuery, "=", "%3D", 1)+"=")
	if got := refusal(t, v, &asForm); got != recibo.BadSignature {
		t.Errorf("a JSON capture as a form is refused as %q, want %q", got, recibo.BadSignature)
	}
}

func TestMercadoPagoSpendsTheManifestThatVerified(t *testing.T) {
	v := readVectors(t)["mercado-pago"][0] // signed over the id in lower case
	verifier := v.bind(t, "mercado-pago")
	want := events(t, verifier, v.delivery(t))[0].Token
	d := v.delivery(t)
	d.RawQuery = strings.ReplaceAll(d.RawQuery, "ord01", "ORD01")
	if got := events(t, verifier, d)[0].Token; got != want {
		t.Errorf("in capitals the token is %q, want %q", got, want)
	}
	for _, query := range []string{d.RawQuery + "&data.id=2", "data.id=1%3Brequest-id:x", ""} {
		d.RawQuery = query
		if got := refusal(t, verifier, d); got == "" {
			t.Errorf("query %q verifies", query)
		}
	}
}

func TestPayPalPinsItsAlgorithm(t *testing.T) {
	v := readVectors(t)["paypal"][0]
	d := v.delivery(t)
	d.Header.Set("PAYPAL-AUTH-ALGO", "SHA1withRSA")
	if got := refusal(t, v.bind(t, "paypal"), d); got != recibo.MalformedSignature {
		t.Errorf("SHA1withRSA is refused as %q, want %q", got, recibo.MalformedSignature)
	}
}
