package recibo_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recibohq/recibo"
)

// checks are the handshakes of a sender that makes all kinds of them.
const checks = `handshakes:
  - {method: GET, echo: "query:challenge"}
  - {method: OPTIONS, echo: "header:Origin", headers: {Allowed-Origin: "{challenge}"}}
  - {method: HEAD}
  - {unsigned: true, when: {from: "json:hello"}, echo: "json:hello"}`

// ask sends a request that no delivery is.
func (r *rig) ask(method, target, body string, headers ...string) answer {
	req := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return r.do(r.receiver, req)
}

func TestReceiverAnswersChecksThatNobodySigns(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyID, checks))
	for _, c := range []struct {
		name, method, target, body string
		headers                    []string
		status                     int
		want                       string
	}{
		{"echo", "GET", "/in/acme?challenge=abc", "", nil, 200, "abc"},
		{"a check without its text", "GET", "/in/acme?x=abc", "", nil, 403, ""},
		{"HEAD", "HEAD", "/in/acme", "", nil, 200, ""},
		{"OPTIONS", "OPTIONS", "/in/acme", "", []string{"Origin", "events.test"}, 200, ""},
		{"an origin that is none", "OPTIONS", "/in/acme", "", []string{"Origin", "a, b"}, 403, ""},
		{"another method", "PUT", "/in/acme?challenge=abc", "", nil, 405, ""},
		{"another path", "GET", "/in/other?challenge=abc", "", nil, 404, ""},
		{"an unsigned POST", "POST", "/in/acme", `{"hello":"abc"}`, nil, 200, "abc"},
		{"one that is no check", "POST", "/in/acme", `{"id":"e1"}`, nil, 401, ""},
		{"a wrongly signed one", "POST", "/in/acme", `{"hello":"abc"}`, []string{"X-Sig", strings.Repeat("0", 64)}, 401, ""},
	} {
		got := r.ask(c.method, c.target, c.body, c.headers...)
		if got.status != c.status || c.status == 200 && got.body != c.want {
			t.Errorf("%s: answered %d %q, want %d %q", c.name, got.status, got.body, c.status, c.want)
		}
		if got.receipt != "" || got.verdict != "" {
			t.Errorf("%s: the answer has a verdict %q, a receipt %q", c.name, got.verdict, got.receipt)
		}
		if c.status == 200 && got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: what is echoed may be sniffed", c.name)
		}
	}
	r.wantKept(0, 0)
	for _, word := range []string{"verdict=challenged", "reason=bad_challenge", "reason=wrong_method"} {
		if !strings.Contains(r.log.String(), word) {
			t.Errorf("no %s in the log", word)
		}
	}
}

func TestReceiverSaysWhatAnAddressTakes(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyID, checks))
	if got := r.ask(http.MethodDelete, "/in/acme", "").header.Get("Allow"); got != "POST, GET, OPTIONS, HEAD" {
		t.Errorf("Allow: %q of a sender that makes checks", got)
	}
	if got := r.ask("OPTIONS", "/in/acme", "", "Origin", "events.test").header.Get("Allowed-Origin"); got != "events.test" {
		t.Errorf("Allowed-Origin: %q", got)
	}
	r.receiver = r.newReceiver(r.store, acme(t, signsBody, keyID))
	if got := r.ask(http.MethodGet, "/in/acme", ""); got.status != 405 || got.header.Get("Allow") != "POST" {
		t.Errorf("answered %d, Allow: %q of a sender that makes none", got.status, got.header.Get("Allow"))
	}
}

func TestReceiverTakesASignedEventForNoCheck(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyID, `handshakes:
  - {unsigned: true, when: {from: "header:X-Check"}}`))
	r.want("signed, and a stranger's header", acmeBody(`{"id":"e1"}`, "X-Check", "1"), 200, recibo.Accepted)
}
