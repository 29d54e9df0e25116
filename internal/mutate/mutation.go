package mutate

import (
	"bytes"
	"crypto/elliptic"
	"encoding/asn1"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"

	"github.com/recibohq/recibo"
)

// A Mutation is a change that somebody without the secret can make to a captured delivery.
type Mutation struct {
	Name     string
	Delivery *recibo.Delivery
}

// Mutations are all the changes of the package to c's delivery.
func (c *Case) Mutations() []Mutation {
	m := mutator{c: c}
	m.everyHeader()
	m.strangeHeaders()
	m.address()
	m.body()
	m.signature()
	return m.all
}

type mutator struct {
	c   *Case
	all []Mutation
}

// add makes one more mutation.
func (m *mutator) add(change func(d *recibo.Delivery), name string, args ...any) {
	d := clone(m.c.Delivery)
	change(d)
	m.all = append(m.all, Mutation{fmt.Sprintf(name, args...), d})
}

// everyHeader changes, doubles and drops each header, signed or not.
func (m *mutator) everyHeader() {
	names := make([]string, 0, len(m.c.Delivery.Header))
	for name := range m.c.Delivery.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value := m.c.Delivery.Header.Get(name)
		for _, other := range []string{"other", value + "0", "0" + value, value + " ", strings.ToUpper(value), nextDigit(value), ""} {
			m.add(func(d *recibo.Delivery) { d.Header.Set(name, other) }, "%s: %q", name, other)
		}
		m.add(func(d *recibo.Delivery) { d.Header.Del(name) }, "%s: dropped", name)
		m.add(func(d *recibo.Delivery) { d.Header.Add(name, value) }, "%s: twice", name)
		m.add(func(d *recibo.Delivery) { d.Header[name] = []string{"other", value} }, "%s: another one first", name)
		m.add(func(d *recibo.Delivery) {
			d.Header.Del(name)
			d.Header[http.CanonicalHeaderKey(strings.ReplaceAll(name, "-", "_"))] = []string{value}
		}, "%s: with underscores", name)
	}
}

// nextDigit is text with its last digit changed: a time or id close by.
func nextDigit(text string) string {
	i := strings.LastIndexAny(text, "0123456789")
	if i < 0 {
		return text
	}
	return text[:i] + string('0'+(text[i]-'0'+1)%10) + text[i+1:]
}

// strangeHeaders adds what a proxy, an older receiver or another sender would believe, and the facts that the sender tells
// in no header.
func (m *mutator) strangeHeaders() {
	for _, h := range [...][2]string{
		{"X-Forwarded-Host", "evil.example"}, {"X-Forwarded-Proto", "http"}, {"Forwarded", "host=evil.example"},
		{"X-Hub-Signature", "sha1=0000000000000000000000000000000000000000"}, {"Webhook-Id", "msg_other"},
		{"Webhook-Timestamp", "1767225601"}, {"Webhook-Signature", "v1,AAAA"}, {"X-Request-Id", "other"},
		{"Idempotency-Key", "other"}, {"X-Event-Type", "other"}, {"X-Slack-Retry-Num", "1"},
		{"I-Twilio-Idempotency-Token", "other"}, {"X-Twilio-Webhooks-Signature-Settings", "key=K,algorithm=HMAC_SHA256"},
	} {
		m.add(func(d *recibo.Delivery) { d.Header.Set(h[0], h[1]) }, "adds %s: %s", h[0], h[1])
	}
	for _, at := range m.c.Variant.Unsigned {
		if name := header(at); name != "" {
			m.add(func(d *recibo.Delivery) { d.Header.Set(name, "never-seen-1") }, "unsigned %s changed", name)
		}
	}
}

// address changes path, query and method.
func (m *mutator) address() {
	query := m.c.Delivery.RawQuery
	for _, other := range []string{
		"", "x=1", strings.TrimPrefix(query+"&x=1", "&"), "x=1&" + query, query + "&" + query, nextDigit(query), strings.ToUpper(query),
		reversed(query), strings.ReplaceAll(query, "=", "%3D"), "bodySHA256=" + strings.Repeat("0", 64),
	} {
		m.add(func(d *recibo.Delivery) { d.RawQuery = other }, "query %q", other)
	}
	m.add(func(d *recibo.Delivery) { d.Path += "/other" }, "another path")
	m.add(func(d *recibo.Delivery) { d.Method = http.MethodPut }, "another method")
}

func reversed(query string) string {
	pairs := strings.Split(query, "&")
	slices.Reverse(pairs)
	return strings.Join(pairs, "&")
}

// body changes the body's bytes and, where it is JSON or a form, facts in it.
func (m *mutator) body() {
	body := m.c.Delivery.Body
	set := func(other []byte, name string, args ...any) {
		m.add(func(d *recibo.Delivery) { d.Body = other }, "body: "+name, args...)
	}
	for _, tail := range []string{" ", "\n", "\r\n", "\x00", "&x=1", "&", "{}"} {
		set(slices.Concat(body, []byte(tail)), "%q behind it", tail)
	}
	set(slices.Concat([]byte(" "), body), "a blank before it")
	set(nil, "dropped")
	set([]byte(reversed(string(body))), "fields in another order")
	set(body[:len(body)/2], "cut off")
	for _, word := range []string{"evt_sample_1", "1990", "delivered", "true", "sample", "jon", "BRL"} {
		if bytes.Contains(body, []byte(word)) {
			set(bytes.ReplaceAll(body, []byte(word), []byte("other")), "%s replaced", word)
			set(bytes.Replace(body, []byte(word), []byte(strings.ToUpper(word)), 1), "%s in capitals", word)
		}
	}
	set(bytes.Replace(body, []byte("{"), []byte(`{"id":"never-seen-2",`), 1), "an id in front")
	set(bytes.Replace(body, []byte("{"), []byte("{ "), 1), "a blank within")
	set(bytes.Replace(body, []byte("a"), []byte(`\u0061`), 1), "a letter escaped")
	set(bytes.Replace(body, []byte("a"), []byte("%61"), 1), "a letter escaped as in forms")
	for i := 0; i < len(body); i += max(len(body)/16, 1) {
		flipped := slices.Clone(body)
		flipped[i] ^= 1
		set(flipped, "a bit of byte %d flipped", i)
	}
}

// signature writes the signature in other ways.
func (m *mutator) signature() {
	name := header(m.c.Variant.Signature)
	value := m.c.Delivery.Header.Get(name)
	if name == "" || value == "" {
		return
	}
	for _, other := range []string{
		value + "," + value, value + " " + value, value + ";" + value, value + ",v0=aa", value + " v2,AAAA",
		"v0=aa," + value, strings.ToUpper(value), strings.ToLower(value), strings.TrimRight(value, "="), value + "=",
		value[:len(value)-1], "\t" + value, strings.ReplaceAll(value, "=", " ="), value + "\r\n",
	} {
		m.add(func(d *recibo.Delivery) { d.Header.Set(name, other) }, "signature %q", other)
	}
	if other := mirrored(value); other != "" {
		m.add(func(d *recibo.Delivery) { d.Header.Set(name, other) }, "signature mirrored")
	}
}

// mirrored is the second ECDSA signature that fits wherever the first does: r and n-s.
func mirrored(text string) string {
	der, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	var s struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &s); err != nil || len(rest) > 0 {
		return ""
	}
	s.S.Sub(elliptic.P256().Params().N, s.S)
	if der, err = asn1.Marshal(s); err != nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(der)
}
