package difftest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// A payload is a body to be signed.
type payload struct {
	body        string
	contentType string
}

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"

	// note holds what readers of bodies trip over: the separators of signatures, all lengths of UTF-8, and the character
	// that stands for what is none.
	note = `"note":"caf` + "\u00e9 \u65e5 \U0001f389 \ufffd" + ` a.b:c;d,e&f=g+h%20/(x)"`
)

// payloads are the bodies that s is compared on.
func (s *sdk) payloads(t *testing.T, p *provider.Provider, now time.Time) []payload {
	t.Helper()
	body, contentType, err := p.SampleOf(s.variant, "", "evt_sample_1", now)
	if err != nil {
		t.Fatal(err)
	}
	sample := string(body)
	if s.bodies == notifications {
		return adyenPayloads(sample)
	}
	if s.bodies == forms || s.bodies == formsOrJSON {
		return formPayloads(sample, contentType, s.bodies == formsOrJSON)
	}
	long := `"long":"` + strings.Repeat("0123456789abcdef", 100) + `"`
	texts := []string{sample, withMember(sample, note), withMember(sample, long)}
	if !s.canonical {
		texts = append(texts, pretty(t, sample), withMember(sample, `"amount":19.90,"n":1e3,"weight":12.0,"big":9007199254740993`))
	}
	if s.bodies == anyText || s.bodies == anyJSON {
		texts = append(texts, "1.5")
	}
	if s.bodies == anyText {
		texts = append(texts, `1767225601.{"a":"b;c:d,e=f"}`, "7:text that is no JSON; of {any} kind\r\n")
	}
	var all []payload
	for _, text := range texts {
		all = append(all, payload{text, jsonType})
	}
	return all
}

// withMember puts a member into the last object of a text.
func withMember(text, member string) string {
	at := strings.LastIndexByte(text, '}')
	return text[:at] + "," + member + text[at:]
}

func pretty(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(text), "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.String() + "\r\n"
}

func formPayloads(sample, contentType string, alsoJSON bool) []payload {
	all := []payload{
		{sample, contentType},
		{sample + "&Body=caf%C3%A9+%F0%9F%8E%89+%EF%BF%BD+a%2Bb%26c%3Dd%25", formType},
		{sample + "&Media=b&Media=a&Media=b&Empty=&b=2&B=1&a%5B0%5D=x&%C3%A9=1&z=2", formType},
		{"A=1&B=2&C=3B", formType},
	}
	if alsoJSON {
		all = append(all, payload{`{"type":"sample","text":"caf` + "\u00e9" + `"}`, jsonType}, payload{`[1,2]`, jsonType})
	}
	return all
}

func adyenPayloads(sample string) []payload {
	item := sample[strings.Index(sample, `{"NotificationRequestItem"`):strings.LastIndex(sample, "]")]
	edit := func(pairs ...string) payload { return payload{strings.NewReplacer(pairs...).Replace(sample), jsonType} }
	return []payload{
		{sample, jsonType},
		edit(`"order 12"`, `"order:12:`+"caf\u00e9 \ufffd \U0001f389"+`:x"`),
		edit(`"pspReference"`, `"originalReference":"7914073381342284","pspReference"`, "1130", "0"),
		edit(`"success":"true"`, `"success":"false"`, `"order 12"`, `""`),
		edit(item, item+","+strings.Replace(item, "1130", "9000", 1)),
	}
}

// start is when the first original is signed; the others follow.
var start = time.Unix(1767225600, 0).UTC()

// unsigned are requests with everything but a signature.
func (s *sdk) unsigned(t *testing.T, p *provider.Provider, keys *provider.Keys) (all []*request) {
	t.Helper()
	urls := s.urls
	if urls == nil {
		urls = []string{address}
	}
	for _, at := range urls {
		now := start.Add(time.Duration(97*len(all)) * time.Second)
		for i, pay := range s.payloads(t, p, now) {
			if at != urls[0] && i > 2 && s.bodies != formsOrJSON {
				break
			}
			all = append(all, &request{
				header: http.Header{"Content-Type": {pay.contentType}}, body: []byte(pay.body), url: at,
				secret: keys.Secret.Reveal(), publicKey: keys.PublicKey, signedAt: now, now: now,
			})
		}
	}
	return all
}

// signOurs has recibo sign a request.
func (s *sdk) signOurs(t *testing.T, p *provider.Provider, keys *provider.Keys, r *request, n int) *request {
	t.Helper()
	signed, err := p.Sign(&provider.SignRequest{
		Variant: s.variant, Secret: keys.Secret, PrivateKey: keys.PrivateKey, Params: s.params(p, r.url), URL: r.url,
		Header: r.header, Body: r.body, ContentType: r.header.Get("Content-Type"), ID: messageID(n), Now: r.now,
	})
	if err != nil {
		t.Fatalf("%s: Sign: %v", s.name, err)
	}
	c := r.clone()
	c.header, c.body = signed.Header, signed.Body
	_, c.query, _ = strings.Cut(signed.URL, "?")
	return c
}

func messageID(n int) string { return fmt.Sprintf("msg_2Lh9KRb0pzN4LePd3XiA4v12Axj%d", n) }

// signTheirs has the SDK sign the requests.
func (s *sdk) signTheirs(t *testing.T, d *driver, requests []*request) (signed []*request) {
	t.Helper()
	var questions []question
	for n, r := range requests {
		q := s.ask("sign", r)
		q.MessageID = messageID(n)
		questions = append(questions, q)
	}
	for i, a := range d.ask(t, questions) {
		c := requests[i].clone()
		for name, value := range a.Headers {
			c.header.Set(name, value)
		}
		if a.Body != nil {
			body, err := base64.StdEncoding.DecodeString(*a.Body)
			if err != nil {
				t.Fatal(err)
			}
			c.body = body
		}
		_, c.query, _ = strings.Cut(firstOf(a.URL, c.url), "?")
		signed = append(signed, c)
	}
	return signed
}

func (s *sdk) params(p *provider.Provider, at string) map[string]string {
	params := map[string]string{}
	for _, declared := range p.Describe().Params {
		if declared.Name == "public_url" {
			params[declared.Name] = at
		}
	}
	return params
}

// source is what a request's keys and address make of the sender.
func (s *sdk) source(p *provider.Provider, r *request) *recibo.Source {
	source := &recibo.Source{Name: s.name, Path: "/in/sample", Variant: s.variant, Params: s.params(p, r.url), TimeKind: s.timeKind}
	if r.publicKey != "" {
		source.PublicKeys = []string{r.publicKey}
	} else {
		source.Secrets = []recibo.Secret{recibo.InsecureSecret(r.secret)}
	}
	return source
}
