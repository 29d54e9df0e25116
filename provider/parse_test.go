package provider_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

const warehouse = `provider: warehouse
title: Warehouse
signature:
  scheme: hmac
  hash: sha256
  from: header:X-Wh-Signature
  format: "sha256={sig}"
  encoding: hex
  secret: utf8
  signed: "{header:X-Wh-Timestamp}.{body}"
time: {from: "header:X-Wh-Timestamp", unit: s, kind: send}
key: {kind: id, from: ["json:event_id"]}
cut: [time]
type: json:event
answer: {ack: {status: 202}}
`

func TestAMalformedFileSaysWhereAndWhat(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown field":           {"encoding: hex", "encodign: hex", `acme.yaml:8:3: unknown field "encodign"; did you mean "encoding"?`},
		"field twice":             {"title: Warehouse", "title: A\ntitle: B", `acme.yaml:3:1: `},
		"no YAML":                 {"title: Warehouse", "title: [", `acme.yaml:`},
		"unknown scheme":          {"scheme: hmac", "scheme: hamc", `acme.yaml:4:11: signature.scheme: unknown scheme "hamc"; did you mean "hmac"?`},
		"unknown hash":            {"hash: sha256", "hash: md4", `acme.yaml:5:9: signature.hash: unknown hash "md4"`},
		"unknown encoding":        {"encoding: hex", "encoding: hexx", `acme.yaml:8:13: signature.encoding: unknown "hexx": write one of [hex base64 base64url hexbase64 utf8]`},
		"no place":                {"from: header:X-Wh-Signature", "from: X-Wh-Signature", `acme.yaml:6:9: signature.from: "X-Wh-Signature" is no place`},
		"no slot":                 {`"sha256={sig}"`, `"sha256="`, `acme.yaml:7:11: signature.format: "sha256=" does not end in {sig}, {time} or another name`},
		"unclosed":                {"{body}", "{body", `acme.yaml:10:11: signature.signed: "{" without "}"`},
		"time without time":       {"{header:X-Wh-Timestamp}.", "{time}.", `acme.yaml:10:11: signature.signed: {time} needs a time`},
		"borders that can move":   {"{header:X-Wh-Timestamp}.", "{header:X-Wh-Timestamp}{header:X-B}", `signature.signed: header:X-B and body have no separator`},
		"nothing signed":          {"{header:X-Wh-Timestamp}.{body}", "{header:X-Wh-Timestamp}", `acme.yaml:12:13: key.kind: the signature does not cover the body`},
		"unsigned id":             {"json:event_id", "header:X-Wh-Id", `acme.yaml:12:23: key.from: the signature does not cover header:X-Wh-Id (it covers header:X-Wh-Timestamp, body): it cannot be part of a key`},
		"unsigned composite":      {`key: {kind: id, from: ["json:event_id"]}`, `key: {kind: composite, from: ["json:a", "query:b"]}`, `the signature does not cover query:b`},
		"unsigned time":           {`time: {from: "header:X-Wh-Timestamp"`, `time: {from: "header:X-Other"`, `time.from: the signature does not cover header:X-Other, so it proves no age: use occurred`},
		"unsigned version":        {"type: json:event", "version: header:X-V", `acme.yaml:14:10: version: the signature does not cover header:X-V`},
		"unknown kind":            {"kind: id", "kind: ids", `unknown kind "ids"; did you mean "id"?`},
		"id without a place":      {`, from: ["json:event_id"]`, "", `acme.yaml:12:7: key.from: an id has one place`},
		"signature in a list":     {"from: header:X-Wh-Signature", "from: json:a[].s", `signature.from: json:a[].s is within a list`},
		"send time kept":          {"cut: [time]\n", "", `cut: the send time is renewed per try: cut it`},
		"cut of nothing":          {"cut: [time]", `cut: ["header:X-Z"]`, `cut: header:X-Z is no signed part and no member of the body`},
		"unknown unit":            {"unit: s,", "unit: minutes,", `time.unit: unknown "minutes": write one of [s ms rfc3339 iso auto]`},
		"no success":              {"status: 202", "status: 302", `acme.yaml:15:24: answer.ack.status: 302 is no success`},
		"list without items":      {"type: json:event", "type: json:events[].x", `acme.yaml:14:7: type: json:events[].x is within a list: say items`},
		"undeclared parameter":    {"{header:X-Wh-Timestamp}.", "{param:hook}.{header:X-Wh-Timestamp}.", `params: declare hook and that it is required`},
		"bad name":                {"provider: warehouse", "provider: Ware House", `acme.yaml:1:11: provider: "Ware House" is no name`},
		"credential with a key":   {"scheme: hmac", "scheme: token", `signature.signed: the scheme token does not take a template`},
		"signature missing":       {warehouse, "provider: warehouse\n", `acme.yaml:1:1: signature: it is missing: say how the sender signs`},
		"not a mapping":           {warehouse, "just text\n", `acme.yaml:1:1: `},
		"nothing":                 {warehouse, "", `acme.yaml: want one YAML document`},
		"a variant like the main": {"title: Warehouse", "title: Warehouse\nvariants: {main: {}}", `variants.main: it is the main one already`},
		"a wrong variant":         {"title: Warehouse", "title: W\nvariants:\n  v2: {key: {kind: id, from: [\"query:x\"]}}", `acme.yaml:4:30: variants.v2.key.from: `},
	} {
		text := strings.Replace(warehouse, c.old, c.new, 1)
		_, err := provider.Parse("acme.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Parse returned\n%v\nwant in it\n%s", name, err, c.want)
			continue
		}
		var f *provider.FileError
		if !errors.As(err, &f) || f.File != "acme.yaml" {
			t.Errorf("%s: %v is no FileError of acme.yaml", name, err)
		}
	}
}

func TestASenderWithinAnotherFileKeepsItsLines(t *testing.T) {
	text := "sources:\n  - name: warehouse\n    custom:\n" + regexp.MustCompile(`(?m)^`).ReplaceAllString(strings.Replace(warehouse, "sha256", "md4", 1), "      ")
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	var custom ast.Node
	ast.Walk(visitor(func(n ast.Node) {
		if v, ok := n.(*ast.MappingValueNode); ok && v.Key.String() == "custom" {
			custom = v.Value
		}
	}), file.Docs[0].Body)
	_, err = provider.ParseNode("recibo.yaml", custom)
	const want = `recibo.yaml:8:15: signature.hash: unknown hash "md4"`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("ParseNode returned %v, want %s", err, want)
	}
}

type visitor func(ast.Node)

func (v visitor) Visit(n ast.Node) ast.Visitor {
	v(n)
	return v
}

func parse(t testing.TB, text string) *provider.Provider {
	p, err := provider.Parse("custom.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestACustomSenderWorksLikeABuiltInOne(t *testing.T) {
	s := newSender(t, parse(t, warehouse))
	e := s.read(`{"event_id":"e1","event":"stock.low"}`)[0]
	if e.Key != "id:e1" || e.Type != "stock.low" || e.Fault != "" {
		t.Errorf("event %+v", e)
	}
	if p := bind(t, s.provider, &s.source).Profile(); p.Acknowledge.Status != 202 || p.Family != "warehouse" || !p.TypeSigned {
		t.Errorf("profile %+v", p)
	}
	unnamed := parse(t, strings.Replace(warehouse, "provider: warehouse\n", "", 1))
	if unnamed.Name() != "custom" {
		t.Errorf("a sender without a name is called %q", unnamed.Name())
	}
}

func TestATimeInTheBodyCanBeCutOut(t *testing.T) {
	s := newSender(t, parse(t, `
signature: {scheme: hmac, from: "header:X-Sig", signed: "{body}"}
time: {from: "json:sent.at", unit: ms, kind: send}
key: {kind: fingerprint}
cut: [time, "json:attempt"]
`))
	v := bind(t, s.provider, &s.source)
	read := func(body string) recibo.Event {
		d := s.send(body)
		verified, err := v.Verify(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		if e := v.Events(d, verified)[0]; e.Fault == "" && verified.At.Unix() != 1767225600 {
			t.Errorf("%s: signed at %v", body, verified.At)
		}
		return v.Events(d, verified)[0]
	}
	first := read(`{"sent":{"at":1767225600000},"x":1,"attempt":1}`)
	if again := read(`{"sent":{"at":1767225600999},"x":1,"attempt":12}`); again.Key != first.Key {
		t.Errorf("another try has key %q, want %q", again.Key, first.Key)
	}
	for _, other := range []string{`{"sent":{"at":1767225600000},"x":2,"attempt":1}`, `{"sent":{"at":1767225600000},"x":1,"attempt":1,"y":0}`} {
		if e := read(other); e.Key == first.Key {
			t.Errorf("%s: it has the key of another body", other)
		}
	}
	for _, bad := range []string{`{"sent":{"at":"soon"}}`, `{"sent":{}}`, `{"sent":{"at":1767225600000},"sent":{}}`, `[]x`} {
		if e := read(bad); e.Fault != recibo.Unreadable {
			t.Errorf("%s: fault %q, want unreadable", bad, e.Fault)
		}
	}
}

func TestACredentialIsComparedAndSaysWhatItIsWorth(t *testing.T) {
	s := newSender(t, parse(t, `
signature: {scheme: token, from: "header:Authorization", format: "Bearer {sig}"}
key: {kind: credential}
id: header:X-Id
`))
	d := s.send(`{"a":1}`)
	v := bind(t, s.provider, &s.source)
	byBody := events(t, v, d)[0].Key
	if byBody.Kind() != recibo.KeyCredential {
		t.Errorf("key %q, want one of a credential", byBody)
	}
	d.Header.Set("X-Id", "1")
	if e := events(t, v, d)[0]; e.Key != "cred:2:id,1:1" || e.ID != "1" {
		t.Errorf("event %+v, want the unsigned id as key", e)
	}
	d.Header.Set("Authorization", strings.TrimPrefix(d.Header.Get("Authorization"), "Bearer "))
	if got := refusal(t, v, d); got != recibo.MalformedSignature {
		t.Errorf("without its word it is refused as %q", got)
	}
	d.Header.Set("Authorization", "Bearer x")
	if got := refusal(t, v, d); got != recibo.BadSignature {
		t.Errorf("another credential is refused as %q", got)
	}
	described := s.provider.Describe().Variants[0]
	if described.Grade != provider.None || len(described.Signed) != 0 {
		t.Errorf("described as %s, signed %v", described.Grade, described.Signed)
	}
	if kept := v.Profile().KeepHeaders; fmt.Sprint(kept) != "[X-Id]" {
		t.Errorf("kept headers %v: a credential is never stored", kept)
	}
}

func TestTheConfiguredAddressCanBeSigned(t *testing.T) {
	s := newSender(t, parse(t, `
params: {public_url: {about: the address, required: true}}
signature: {scheme: hmac, from: "query:sig", signed: "{method}{url}{body}"}
key: {kind: fingerprint}
`))
	d := s.send(`{}`)
	v := bind(t, s.provider, &s.source)
	if got := refusal(t, v, d); got != "" {
		t.Errorf("refused as %q", got)
	}
	d.Header.Set("X-Forwarded-Host", "evil.example")
	d.Method = "PUT"
	if got := refusal(t, v, d); got != recibo.BadSignature {
		t.Errorf("another method is refused as %q", got)
	}
}

func TestParametersAreDeclared(t *testing.T) {
	p := provider.MustLookup("paypal")
	_, err := p.Bind(&recibo.Source{Params: map[string]string{"webhook-id": "x"}})
	if err == nil || !strings.Contains(err.Error(), `no parameter "webhook-id"; did you mean "webhook_id"?`) {
		t.Errorf("Bind returned %v", err)
	}
}

func TestLookupSuggests(t *testing.T) {
	if _, err := provider.Lookup("strpie"); err == nil || !strings.Contains(err.Error(), `did you mean "stripe"?`) {
		t.Errorf("Lookup returned %v", err)
	}
	if _, err := provider.Lookup("custom"); err == nil || !strings.Contains(err.Error(), "describe the sender") {
		t.Errorf("Lookup returned %v", err)
	}
}

func TestTheCatalogueSaysWhatProtects(t *testing.T) {
	want := map[string]provider.Grade{
		"adyen": provider.Memory, "discord": provider.Strong, "github": provider.Memory, "mailgun": provider.Weak,
		"mercado-pago": provider.Weak, "paypal": provider.Weak, "sendgrid": provider.Strong, "shopify": provider.Memory,
		"slack": provider.Strong, "standard-webhooks": provider.Strong, "stripe": provider.Strong, "svix": provider.Strong,
		"twilio": provider.Memory, "zoom": provider.Strong,
	}
	for _, p := range provider.All() {
		d := p.Describe()
		v := d.Variants[0]
		if grade, ok := want[p.Name()]; ok && v.Grade != grade {
			t.Errorf("%s: graded %s, want %s", p.Name(), v.Grade, want[p.Name()])
		}
		if d.Title == "" || d.Category == "" || d.Confidence == "" || d.Setup == "" || len(d.Docs) == 0 || len(v.Protection) == 0 {
			t.Errorf("%s: something is not described: %+v", p.Name(), d)
		}
		if v.Key == recibo.KeyToken && !strings.Contains(strings.Join(v.Protection, " "), "can invent a body") {
			t.Errorf("%s: %q does not say what an unspent token can do", p.Name(), v.Protection)
		}
		if v.Time == recibo.EventTime && v.Horizon < 31*24*3600e9 {
			t.Errorf("%s: horizon %s, want it generous", p.Name(), v.Horizon)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(warehouse)
	paths, err := filepath.Glob("catalogue/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 8<<10 {
			return
		}
		p, err := provider.Parse("fuzz.yaml", []byte(text))
		if err != nil {
			return
		}
		for _, v := range p.Describe().Variants { // whatever loads holds the rules of identity
			if v.Key == recibo.KeyID && len(v.Signed) == 0 {
				t.Errorf("an id of a sender that signs nothing:\n%s", text)
			}
		}
	})
}
