package provider_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// challenge signs body and returns the answer to it as text: "200 text/plain abc", or the error, or "ordinary".
func challenge(t *testing.T, s *sender, body string) string {
	v := bind(t, s.provider, &s.source)
	d := s.send(body)
	verified, err := v.Verify(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := v.(recibo.Challenger).Challenge(d, verified)
	switch {
	case err != nil:
		return err.Error()
	case answer == nil:
		return "ordinary"
	default:
		return strings.TrimSpace(strings.Join([]string{map[int]string{200: "200", 204: "204"}[answer.Status], answer.ContentType, string(answer.Body)}, " "))
	}
}

func TestSlackChallengeIsEchoedAsPlainText(t *testing.T) {
	s := newSender(t, provider.MustLookup("slack"))
	for body, want := range map[string]string{
		`{"type":"url_verification","challenge":"abc 123"}`:                               "200 text/plain abc 123",
		`{"type":"url_verification","challenge":"` + strings.Repeat("x", 513) + `"}`:      "unreadable",
		`{"type":"url_verification","challenge":"<é>"}`:                                   "unreadable",
		`{"type":"url_verification","challenge":"a\u000ab"}`:                              "unreadable",
		`{"type":"url_verification"}`:                                                     "unreadable",
		`{"type":"url_verification","challenge":{"a":1}}`:                                 "unreadable",
		`{"type":"event_callback","challenge":"abc","event_id":"E1"}`:                     "ordinary",
		`{"event":{"type":"url_verification"},"type":"event_callback","challenge":"abc"}`: "ordinary",
		`{"type":"url_verification","type":"event_callback","challenge":"abc"}`:           "ordinary",
		`type=url_verification&challenge=abc`:                                             "ordinary",
	} {
		if got := challenge(t, s, body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestDiscordPingsAreTwoAndAWebhookEventIsNone(t *testing.T) {
	s := newSender(t, provider.MustLookup("discord"))
	for body, want := range map[string]string{
		`{"type":1,"id":"1"}`: `200 application/json {"type":1}`,
		`{"type":0}`:          "204 application/json",
		`{"type":1,"event":{"type":"APPLICATION_AUTHORIZED"}}`: "ordinary",
		`{"type":2,"id":"1"}`: "ordinary",
		`{"type":1`:           "ordinary",
	} {
		if got := challenge(t, s, body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestZoomProofIsNoSigningOracle(t *testing.T) {
	s := newSender(t, provider.MustLookup("zoom"))
	validation := func(token string) string {
		return `{"event":"endpoint.url_validation","payload":{"plainToken":"` + token + `"}}`
	}
	if got := challenge(t, s, validation("qgg8vlvZRS6UYooatFL8Aw")); !strings.HasPrefix(got, `200 application/json {"plainToken":"qgg8vlvZRS6UYooatFL8Aw","encryptedToken":"`) {
		t.Errorf("a plain token is answered %q", got)
	}
	for _, token := range []string{"", "v0:1767225600:{}", "a b", "a.b", "é", strings.Repeat("x", 129), `\u0000`} {
		if got := challenge(t, s, validation(token)); got != "unreadable" {
			t.Errorf("token %q is answered %q, want nothing", token, got)
		}
	}
}

func TestOnlySendersWithHandshakesAreChallengers(t *testing.T) {
	for _, c := range cases(t) {
		if _, ok := bind(t, c.Provider, &c.Source).(recibo.Challenger); ok != c.Variant.Handshake {
			t.Errorf("%s: a challenger is %v, its file has handshakes %v", c.Name(), ok, c.Variant.Handshake)
		}
	}
}

// checked is a sender whose handshakes are those of lines.
func checked(t *testing.T, lines string) recibo.Verifier {
	p := parse(t, `
provider: acme
params: {verify_token: {about: yours}, origin: {about: the sender's}, public_url: {about: the address}}
signature: {scheme: hmac, from: "header:X-Sig", signed: "{body}"}
key: {kind: fingerprint}
items: json:events[]
handshakes:
`+lines)
	return bind(t, p, &recibo.Source{
		Secrets: []recibo.Secret{recibo.NewSecret(checkSecret)},
		Params:  map[string]string{"verify_token": "open-sesame", "origin": "events.example.test", "public_url": "https://a.test/x"},
	})
}

const checkSecret = "a secret of enough bytes"

// unsignedChecks is one handshake a line, what is asked, and what is answered: "method query|header|body".
func TestUnsignedChecksAreAnswered(t *testing.T) {
	for _, c := range []struct{ name, line, request, want string }{
		{"echo", `- {method: GET, echo: "query:challenge"}`, "GET challenge=4eK3-J%2Bx", "200 text/plain 4eK3-J+x"},
		{"nothing to echo", `- {method: GET, echo: "query:challenge"}`, "GET x=1", "bad_challenge"},
		{"too long", `- {method: GET, echo: "query:challenge"}`, "GET challenge=" + strings.Repeat("x", 513), "bad_challenge"},
		{"twice", `- {method: GET, echo: "query:challenge"}`, "GET challenge=a&challenge=b", "bad_challenge"},
		{"not printable", `- {method: GET, echo: "query:challenge"}`, "GET challenge=a%0d%0ab", "bad_challenge"},
		{"another method", `- {method: GET, echo: "query:challenge"}`, "HEAD challenge=abc", "wrong_method"},
		{"HEAD", `- {method: HEAD}`, "HEAD ", "200 application/json"},
		{"token", `- {method: GET, when: {from: "query:mode", is: subscribe}, token: {from: "query:token", param: verify_token}, echo: "query:c"}`,
			"GET mode=subscribe&token=open-sesame&c=1158", "200 text/plain 1158"},
		{"wrong token", `- {method: GET, token: {from: "query:token", param: verify_token}, echo: "query:c"}`, "GET token=x&c=1158", "bad_challenge"},
		{"wrong mode", `- {method: GET, when: {from: "query:mode", is: subscribe}, echo: "query:c"}`, "GET mode=x&c=1158", "bad_challenge"},
		{"JSON", `- {method: GET, echo: "header:X-Challenge", body: '{"verification":"{challenge}"}'}`, `GET |X-Challenge: a"b`,
			`200 application/json {"verification":"a\"b"}`},
		{"header", `- {method: OPTIONS, token: {from: "header:Origin", param: origin}, echo: "header:Origin", headers: {Allowed-Origin: "{challenge}"}}`,
			"OPTIONS |Origin: events.example.test", "200 text/plain Allowed-Origin: events.example.test"},
		{"no header of theirs", `- {method: OPTIONS, echo: "header:Origin", headers: {Allowed-Origin: "{challenge}"}}`, "OPTIONS |Origin: a, b", "bad_challenge"},
		{"hash", `- {method: GET, prove: "query:code", proof: {of: "{challenge}{param:verify_token}{url}"}, body: '{"r":"{proof}"}'}`, "GET code=abc",
			`200 application/json {"r":"` + hexSum("abcopen-sesamehttps://a.test/x") + `"}`},
		{"HMAC", `- {method: GET, prove: "query:crc", body: "{param:origin}|{proof}"}`, "GET crc=MTQ0", "200 text/plain events.example.test|" + hexMAC("MTQ0")},
		{"HMAC of more", `- {method: GET, prove: "query:crc", body: "{proof}"}`, "GET crc=%7B%7D", "bad_challenge"},
		{"POST", `- {unsigned: true, when: {from: "query:validation"}, echo: "query:validation"}`, "POST validation=a+b", "200 text/plain a b"},
		{"POST form", `- {unsigned: true, when: {from: "form:webhook_id"}}`, "POST ||webhook_id=142", "200 application/json"},
		{"POST of something else", `- {unsigned: true, when: {from: "form:webhook_id"}}`, "POST ||id=142", "missing_signature"},
		{"signed POST", `- {unsigned: true, when: {from: "json:ping"}}`, "POST ||" + `{"ping":1}`, "200 application/json"},
		{"wrongly signed POST", `- {unsigned: true, when: {from: "json:ping"}}`, "POST |X-Sig: " + strings.Repeat("0", 64) + `|{"ping":1}`, "bad_signature"},
		{"no items", `- {when: {no_items: true}}`, "POST |X-Sig: " + hexMAC(`{"events":[]}`) + `|{"events":[]}`, "200 application/json"},
		{"no list", `- {when: {no_items: true}}`, "POST |X-Sig: " + hexMAC(`{}`) + `|{}`, "ordinary"},
		{"no items, not signed", `- {when: {no_items: true}}`, `POST ||{"events":[]}`, "missing_signature"},
	} {
		if got := ask(t, checked(t, "  "+c.line), c.request); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// ask sends "METHOD query|header|body" and returns the answer, the reason against it, or "ordinary".
func ask(t *testing.T, v recibo.Verifier, request string) string {
	method, rest, _ := strings.Cut(request, " ")
	query, rest, _ := strings.Cut(rest, "|")
	header, body, _ := strings.Cut(rest, "|")
	d := &recibo.Delivery{Method: method, RawQuery: query, Header: http.Header{}, Body: []byte(body)}
	if name, value, ok := strings.Cut(header, ": "); ok {
		d.Header.Set(name, value)
	}
	got, _ := receive(t, v, d)
	switch a := got.Answer; {
	case got.Reason != "":
		return string(got.Reason)
	case a == nil:
		return "ordinary"
	default:
		text := []string{strconv.Itoa(a.Status), a.Type}
		for name, value := range a.Headers {
			text = append(text, name+": "+value)
		}
		return strings.TrimSpace(strings.Join(append(text, a.Body), " "))
	}
}

func hexSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func hexMAC(text string) string {
	mac := hmac.New(sha256.New, []byte(checkSecret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// The proof of an unsigned handshake is the MAC of a text that the asker chose, so it may be no delivery's.
func TestAProofIsNoDeliverysSignature(t *testing.T) {
	v := checked(t, `  - {method: GET, prove: "query:crc", body: "{proof}"}`)
	for _, text := range []string{"12345", "true", "abc", strings.Repeat("x", 128)} {
		proof := strings.TrimPrefix(ask(t, v, "GET crc="+text), "200 text/plain ")
		if got := ask(t, v, "POST |X-Sig: "+proof+"|"+text); got != "bad_signature" {
			t.Errorf("the proof of %q signs a delivery: %s", text, got)
		}
	}
	if got := ask(t, v, "POST |X-Sig: "+hexMAC(`{"events":[1]}`)+`|{"events":[1]}`); got != "ordinary" {
		t.Errorf("a delivery is %s", got)
	}
}

func TestHandshakesThatCannotBeAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		`- {method: PUT, echo: "query:c"}`:                                        "unknown method",
		`- {method: GET, unsigned: true, echo: "query:c"}`:                        "leave it out",
		`- {echo: "json:c"}`:                                                      "say from",
		`- {when: {from: "header:X-Kind", is: check}, echo: "json:c"}`:            "does not cover",
		`- {method: GET, echo: "query:c", prove: "query:c"}`:                      "echo or prove",
		`- {method: GET, prove: "query:c"}`:                                       "where the proof stands",
		`- {method: GET, prove: "query:c", proof: {hash: sha1}, body: "{proof}"}`: "sha256",
		`- {method: GET, prove: "query:c", proof: {of: "x"}, body: "{proof}"}`:    "where the text stands",
		`- {method: GET, token: {from: "query:t"}}`:                               "the parameter",
		`- {method: GET, token: {from: "query:t", param: other}}`:                 "declare other",
		`- {method: GET, headers: {X-Y: "a b"}}`:                                  "plain ASCII",
		`- {when: {no_items: true}}`:                                              "there is no list",
	} {
		text := `
provider: acme
signature: {scheme: hmac, from: "header:X-Sig", signed: "{body}"}
key: {kind: fingerprint}
handshakes:
  ` + line
		if _, err := provider.Parse("acme.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Parse returned %v, want %q in it", line, err, want)
		}
	}
}
