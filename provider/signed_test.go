package provider_test

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

const signedSecret = "a secret of enough bytes"

func mac(newHash func() hash.Hash, key, text string) []byte {
	h := hmac.New(newHash, []byte(key))
	h.Write([]byte(text))
	return h.Sum(nil)
}

// signs is a sender whose signature is as lines say.
func signs(t *testing.T, lines string) recibo.Verifier {
	p := parse(t, `
provider: acme
params: {public_url: {about: the address, required: true}, login: {about: yours, required: true}}
key: {kind: fingerprint}
`+lines)
	return bind(t, p, &recibo.Source{
		Secrets: []recibo.Secret{recibo.NewSecret(signedSecret)},
		Params:  map[string]string{"public_url": "https://a.test/in/x?q=1", "login": "me"},
	})
}

// deliver makes a delivery; headers come in pairs.
func deliver(body string, headers ...string) *recibo.Delivery {
	d := &recibo.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: []byte(body)}
	for i := 0; i < len(headers); i += 2 {
		d.Header.Set(headers[i], headers[i+1])
	}
	return d
}

func TestWhatIsSignedCanBeMadeOfManyParts(t *testing.T) {
	const body = `{"a":"x\"y"}`
	sum := md5.Sum([]byte(body))
	for _, c := range []struct{ name, signed, text string }{
		{"address and method", "{method} {path} {url}", "POST /in/x?q=1 https://a.test/in/x?q=1"},
		{"a hash of the body", "{md5:body:base64}", base64.StdEncoding.EncodeToString(sum[:])},
		{"a hash in hex", "{sha256:body}.{param:login}", hexSum(body) + ".me"},
		{"the body as JSON", `{{""b"":{string:body}}}`, `{""b"":"{\"a\":\"x\\\"y\"}"}`},
		{"the secret too", "{header:X-Nonce}{param:login}{secret}{body}", "n1" + "me" + signedSecret + body},
		{"the document", "{document}", body},
	} {
		whole := c.signed
		if !strings.Contains(whole, "body") && !strings.Contains(whole, "document") {
			whole += ".{body}"
			c.text += "." + body
		}
		v := signs(t, `signature: {scheme: hmac, from: "header:X-Sig", signed: '`+whole+`'}`)
		d := deliver(body, "X-Nonce", "n1", "X-Sig", hex.EncodeToString(mac(sha256.New, signedSecret, c.text)))
		if got := refusal(t, v, d); got != "" {
			t.Errorf("%s: refused as %q", c.name, got)
		}
		d.Body = []byte(`{"a":"x\"z"}`)
		if got := refusal(t, v, d); got != recibo.BadSignature {
			t.Errorf("%s, another body: refused as %q", c.name, got)
		}
	}
}

func TestAPartMayNotHoldTheParameterBesideIt(t *testing.T) {
	v := signs(t, `signature: {scheme: hmac, from: "header:X-Sig", signed: "{header:X-Nonce}{param:login}{body}"}`)
	d := deliver("{}", "X-Nonce", "some", "X-Sig", hex.EncodeToString(mac(sha256.New, signedSecret, "someme{}")))
	if got := refusal(t, v, d); got != recibo.MalformedSignature {
		t.Errorf("refused as %q, want %q", got, recibo.MalformedSignature)
	}
}

func TestADerivedKeyIsAHashOfTheSecret(t *testing.T) {
	v := signs(t, `signature: {scheme: hmac, hash: sha1, derive: sha1, from: "header:X-Sig", encoding: hexbase64, signed: "{body}"}`)
	key := sha1.Sum([]byte(signedSecret))
	text := hex.EncodeToString(mac(sha1.New, string(key[:]), "{}"))
	if got := refusal(t, v, deliver("{}", "X-Sig", base64.StdEncoding.EncodeToString([]byte(text)))); got != "" {
		t.Errorf("refused as %q", got)
	}
}

func TestSignaturesMayStandInSeveralHeadersAndGroups(t *testing.T) {
	good := hex.EncodeToString(mac(sha256.New, signedSecret, "1767225600.{}"))
	bad := strings.Repeat("0", 64)
	v := signs(t, `
signature: {scheme: hmac, from: "header:X-One|header:X-Two", format: "t={time},v1={sig}", separator: ",", groups: " ", signed: "{time}.{body}"}
time: {from: signature, unit: s, kind: send}
cut: [time]`)
	for name, c := range map[string]struct {
		headers []string
		want    recibo.Reason
	}{
		"the first":       {[]string{"X-One", "t=1767225600,v1=" + good}, ""},
		"the second":      {[]string{"X-Two", "t=1767225600,v1=" + good}, ""},
		"both, one wrong": {[]string{"X-One", "t=1767225600,v1=" + bad, "X-Two", "t=1767225600,v1=" + good}, ""},
		"two groups":      {[]string{"X-One", "t=1767225600,v1=" + bad + " t=1767225600,v1=" + good}, ""},
		"two times":       {[]string{"X-One", "t=1767225601,v1=" + bad + " t=1767225600,v1=" + good}, recibo.MalformedSignature},
		"none":            {nil, recibo.MissingSignature},
		"all wrong":       {[]string{"X-One", "t=1767225600,v1=" + bad, "X-Two", "t=1767225600,v1=" + bad}, recibo.BadSignature},
	} {
		if got := refusal(t, v, deliver("{}", c.headers...)); got != c.want {
			t.Errorf("%s: refused as %q, want %q", name, got, c.want)
		}
	}
}

const listsHeaders = `
signature:
  {scheme: hmac, from: "header:X-Sig", format: "t={time},h={h},v1={sig}", separator: ",", signed: "{time}.{signature:h}.{values}.{body}",
   headers: {from: "signature:h", separator: " ", join: ".", require: [x-event-id]}}
time: {from: signature, unit: s, kind: send}
key: {kind: id, from: ["header:X-Event-Id"], else: fingerprint}
cut: [time]`

func TestListedHeadersAreFactsOnlyWhereTheirBordersAreClear(t *testing.T) {
	p := parse(t, "provider: acme"+listsHeaders)
	v := bind(t, p, &recibo.Source{Secrets: []recibo.Secret{recibo.NewSecret(signedSecret)}})
	send := func(list, values string, headers ...string) *recibo.Delivery {
		text := "1767225600." + list + "." + values + ".{}"
		sig := "t=1767225600,h=" + list + ",v1=" + hex.EncodeToString(mac(sha256.New, signedSecret, text))
		return deliver("{}", append(headers, "X-Sig", sig)...)
	}
	if e := events(t, v, send("x-event-id x-kind", "e1.k", "X-Event-Id", "e1", "X-Kind", "k"))[0]; e.Key != "id:e1" {
		t.Errorf("key %q, want the listed id", e.Key)
	}
	first := events(t, v, send("x-event-id x-kind", "e1.e2.k", "X-Event-Id", "e1", "X-Kind", "e2.k"))[0]
	moved := events(t, v, send("x-event-id x-kind", "e1.e2.k", "X-Event-Id", "e1.e2", "X-Kind", "k"))[0]
	if first.Key != moved.Key || first.Key.Kind() != recibo.KeyFingerprint {
		t.Errorf("keys %q and %q of one signed text, want its fingerprint", first.Key, moved.Key)
	}
	for name, c := range map[string]struct {
		d    *recibo.Delivery
		want recibo.Reason
	}{
		"not listed":    {send("x-kind", "k", "X-Event-Id", "e1", "X-Kind", "k"), recibo.MissingSignature},
		"listed twice":  {send("x-event-id x-event-id", "e1.e1", "X-Event-Id", "e1"), recibo.MalformedSignature},
		"not there":     {send("x-event-id x-kind", "e1.", "X-Event-Id", "e1"), recibo.MissingSignature},
		"another value": {send("x-event-id", "e1", "X-Event-Id", "e2"), recibo.BadSignature},
		"too many":      {send("x-event-id"+strings.Repeat(" a", 40), "e1", "X-Event-Id", "e1"), recibo.MalformedSignature},
	} {
		if got := refusal(t, v, c.d); got != c.want {
			t.Errorf("%s: refused as %q, want %q", name, got, c.want)
		}
	}
}

func TestAListOfHeadersThatIsNotSignedIsRefused(t *testing.T) {
	text := strings.Replace("provider: acme"+listsHeaders, ".{signature:h}", "", 1)
	if _, err := provider.Parse("acme.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "itself is not signed") {
		t.Errorf("Parse returned %v", err)
	}
}

func TestABatchMayStandInAFormAndInSeveralLists(t *testing.T) {
	v := signs(t, `
signature: {scheme: hmac, from: "header:X-Sig", signed: "{url}{sorted_form}"}
json_in: form:batch
items: json:[].a[]|json:[].b[]
type: json:[].b[].kind|json:[].a[].kind
`)
	const batch = `[{"a":[{"kind":"é 1"},{"kind":"2"}],"b":[{"kind":"3"}]}]`
	body := "z=9&batch=" + url.QueryEscape(batch)
	d := deliver(body, "X-Sig", hex.EncodeToString(mac(sha256.New, signedSecret, "https://a.test/in/x?q=1batch"+batch+"z9")))
	var got [][2]string
	for _, e := range events(t, v, d) {
		own, err := url.QueryUnescape(body[e.Start:e.End])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, [2]string{e.Type, own})
	}
	want := [][2]string{{"é 1", `{"kind":"é 1"}`}, {"2", `{"kind":"2"}`}, {"3", `{"kind":"3"}`}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	d.Body = []byte(strings.Replace(body, "z=9", "z=9&z=9", 1))
	if got := refusal(t, v, d); got != recibo.BadSignature {
		t.Errorf("a field twice: refused as %q", got)
	}
}

func TestADocumentMayStandInAMultipartBody(t *testing.T) {
	v := signs(t, `
signature: {scheme: hmac, from: "header:X-Sig", signed: "{document}"}
json_in: form:json
type: json:kind`)
	const doc = `{"kind":"sent"}`
	part := func(name, text string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + text + "\r\n"
	}
	sig := hex.EncodeToString(mac(sha256.New, signedSecret, doc))
	body := part("x", "1") + part("json", doc) + "--b--\r\n"
	e := events(t, v, deliver(body, "X-Sig", sig))[0]
	if e.Type != "sent" || e.Fault != "" || e.Start != 0 || e.End != len(body) {
		t.Errorf("event %+v", e)
	}
	for name, other := range map[string]string{
		"two documents": part("json", doc) + part("json", doc) + "--b--", "no end": part("json", doc), "none": part("x", doc) + "--b--",
	} {
		if got := refusal(t, v, deliver(other, "X-Sig", sig)); got != recibo.MalformedSignature {
			t.Errorf("%s: refused as %q", name, got)
		}
	}
}

func TestEachItemShowsTheSecret(t *testing.T) {
	p := parse(t, `
provider: acme
signature: {scheme: token, from: "json:value[].state"}
items: json:value[]
key: {kind: credential}
id: json:value[].id`)
	v := bind(t, p, &recibo.Source{Secrets: []recibo.Secret{recibo.NewSecret(signedSecret)}})
	good, bad := `{"id":"1","state":"`+signedSecret+`"}`, `{"id":"2","state":"x"}`
	if got := events(t, v, deliver(`{"value":[`+bad+`,`+good+`]}`)); len(got) != 1 || got[0].ID != "1" {
		t.Errorf("events %+v, want that of the good item", got)
	}
	for body, want := range map[string]recibo.Reason{
		`{"value":[` + bad + `]}`: recibo.BadSignature, `{"value":[{"id":"1"}]}`: recibo.MissingSignature,
		`{"value":[]}`: recibo.MissingSignature, `[`: recibo.MissingSignature,
	} {
		if got := refusal(t, v, deliver(body)); got != want {
			t.Errorf("%s: refused as %q, want %q", body, got, want)
		}
	}
}
