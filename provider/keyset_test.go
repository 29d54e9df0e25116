package provider

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/recibohq/recibo"
)

var keysNow = time.Unix(1767225600, 0).UTC()

// A keyServer publishes keys at /jwks, counts who asks, and can be down.
type keyServer struct {
	*httptest.Server
	asked atomic.Int64
	down  atomic.Bool
	mu    sync.Mutex
	pages map[string]string
}

func newKeyServer(t *testing.T) *keyServer {
	s := &keyServer{pages: map[string]string{}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		s.mu.Lock()
		defer s.mu.Unlock()
		page, ok := s.pages[r.URL.Path]
		switch {
		case s.down.Load():
			w.WriteHeader(http.StatusBadGateway)
		case strings.HasPrefix(page, "https://"):
			http.Redirect(w, r, page, http.StatusFound)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write([]byte(page))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *keyServer) publish(path, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = text
}

// asks is how often the server was asked since the last time.
func (s *keyServer) asks() int64 { return s.asked.Swap(0) }

// A keyPair signs tokens under a name.
type keyPair struct {
	name string
	key  *ecdsa.PrivateKey
}

func newKeyPair(t *testing.T, name string) *keyPair {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &keyPair{name, key}
}

func keySetText(t *testing.T, pairs ...*keyPair) string {
	var set jose.JSONWebKeySet
	for _, p := range pairs {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: p.key.Public(), KeyID: p.name, Use: "sig", Algorithm: "ES256"})
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (p *keyPair) token(t *testing.T) *recibo.Delivery {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: p.key, KeyID: p.name}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(`{"id":"e1"}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return &recibo.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: []byte(text), ReceivedAt: keysNow}
}

func fetching(t *testing.T, s *keyServer, lines string) *verifier {
	p, err := Parse("acme.yaml", []byte("provider: acme\nkey: {kind: fingerprint}\n"+strings.ReplaceAll(lines, "SERVER", s.URL)))
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Bind(&recibo.Source{Fetch: NewFetch(s.Client())})
	if err != nil {
		t.Fatal(err)
	}
	return v.(*verifier)
}

// verdict is what became of d: "", a reason, or "ours" for an error that is not the sender's.
func verdict(t *testing.T, v *verifier, d *recibo.Delivery) string {
	_, err := v.Verify(t.Context(), d)
	var why recibo.Reason
	switch {
	case err == nil:
		return ""
	case errors.As(err, &why):
		return string(why)
	default:
		return "ours"
	}
}

const publishedSet = `signature: {scheme: jws, algorithm: ES256, from: body, keys: {url: "SERVER/jwks"}}`

func TestPublishedKeysAreFetchedWhenTheyAreNeeded(t *testing.T) {
	server := newKeyServer(t)
	one, two, stranger := newKeyPair(t, "1"), newKeyPair(t, "2"), newKeyPair(t, "1")
	server.publish("/jwks", keySetText(t, one))
	v := fetching(t, server, publishedSet)
	later := func(d *recibo.Delivery, after time.Duration) *recibo.Delivery {
		d.ReceivedAt = keysNow.Add(after)
		return d
	}
	for _, step := range []struct {
		name string
		do   func()
		d    *recibo.Delivery
		want string
		asks int64
	}{
		{"the first", nil, one.token(t), "", 1},
		{"the second", nil, one.token(t), "", 0},
		{"a stranger's of that name", nil, stranger.token(t), "bad_signature", 0},
		{"an unknown name", nil, two.token(t), "bad_signature", 0},
		{"again after the pause", nil, later(two.token(t), 2*time.Minute), "bad_signature", 1},
		{"and again at once", nil, later(two.token(t), 2*time.Minute), "bad_signature", 0},
		{"after a new key", func() { server.publish("/jwks", keySetText(t, one, two)) }, later(two.token(t), 4*time.Minute), "", 1},
		{"a day later, the server down", func() { server.down.Store(true) }, later(one.token(t), 25*time.Hour), "", 1},
		{"while it is down", nil, later(one.token(t), 25*time.Hour), "", 0},
		{"a week later", nil, later(one.token(t), 8*24*time.Hour), "ours", 1},
		{"up again", func() { server.down.Store(false) }, later(one.token(t), 8*24*time.Hour+2*time.Minute), "", 1},
	} {
		if step.do != nil {
			step.do()
		}
		if got := verdict(t, v, step.d); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
		if got := server.asks(); got != step.asks {
			t.Errorf("%s: the server was asked %d times, want %d", step.name, got, step.asks)
		}
	}
}

func TestKeysThatCannotBeFetchedAreNoFaultOfTheSender(t *testing.T) {
	server := newKeyServer(t)
	one := newKeyPair(t, "1")
	for name, page := range map[string]string{
		"nothing": "", "no keys": `{"keys":[]}`, "no JSON": "<html>", "a redirect": "https://evil.test/jwks",
		"too much": strings.Repeat(" ", maxFetched+1),
	} {
		server.publish("/jwks", page)
		v := fetching(t, server, publishedSet)
		if got := verdict(t, v, one.token(t)); got != "ours" {
			t.Errorf("%s: %q, want an error that is ours", name, got)
		}
		if got := verdict(t, v, one.token(t)); got != "ours" || server.asks() != 1 {
			t.Errorf("%s: asked again at once, %q", name, got)
		}
	}
}

func TestOneFetchServesAllWhoWait(t *testing.T) {
	server := newKeyServer(t)
	one := newKeyPair(t, "1")
	server.publish("/jwks", keySetText(t, one))
	v := fetching(t, server, publishedSet)
	var wait sync.WaitGroup
	for range 32 {
		d := one.token(t)
		wait.Go(func() {
			if _, err := v.Verify(t.Context(), d); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := server.asks(); got != 1 {
		t.Errorf("asked %d times, want once", got)
	}
	v = fetching(t, server, publishedSet)
	v.keySet.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Verify(ctx, one.token(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that ended while it waited: %v", err)
	}
}

func TestTheNameOfAKeyMayStandInAHeader(t *testing.T) {
	server := newKeyServer(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k1"}}})
	if err != nil {
		t.Fatal(err)
	}
	server.publish("/jwks", string(text))
	v := fetching(t, server, `signature: {scheme: rsa-pkcs1v15, from: "header:X-Sig", encoding: base64, signed: "{body}",
  keys: {url: "SERVER/jwks", id: "header:X-Key"}}`)
	for name, want := range map[string]string{"k1": "", "k2": "bad_signature", "": "missing_signature"} {
		d := signedBy(t, &v.sign, key, "{}")
		d.Header.Set("X-Key", name)
		if got := verdict(t, v, d); got != want {
			t.Errorf("key %q: %q, want %q", name, got, want)
		}
	}
	pem, err := formPEM.encode(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	answer, err := json.Marshal(map[string]any{"config": map[string]any{"public_key": pem}})
	if err != nil {
		t.Fatal(err)
	}
	server.publish("/config", string(answer))
	v = fetching(t, server, `signature: {scheme: rsa-pkcs1v15, from: "header:X-Sig", encoding: base64, signed: "{body}",
  keys: {url: "SERVER/config", at: config.public_key}}`)
	if got := verdict(t, v, signedBy(t, &v.sign, key, "{}")); got != "" {
		t.Errorf("a key within an answer: %q", got)
	}
}

func signedBy(t *testing.T, s *signing, key crypto.Signer, body string) *recibo.Delivery {
	signature, err := s.signWith(key, message{[]piece{{bytes: []byte(body)}}})
	if err != nil {
		t.Fatal(err)
	}
	d := &recibo.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: []byte(body), ReceivedAt: keysNow}
	d.Header.Set("X-Sig", s.encoding.encode(signature))
	return d
}

func TestStrangersCannotMakeUsCallForEver(t *testing.T) {
	server := newKeyServer(t)
	v := fetching(t, server, certified)
	d := &recibo.Delivery{Method: http.MethodPost, Header: http.Header{"X-Sig": {"AAAA"}}, Body: []byte("{}"), ReceivedAt: keysNow}
	for i := range 100 {
		d.Header.Set("X-Cert", fmt.Sprintf("%s/certs/n%d", server.URL, i))
		if got := verdict(t, v, d); got != "ours" {
			t.Fatalf("certificate %d: %q", i, got)
		}
	}
	if got := server.asks(); got > maxFetches {
		t.Errorf("asked %d times in a minute, want at most %d", got, maxFetches)
	}
}

func TestOnlyPlainHTTPSIsFetched(t *testing.T) {
	for _, address := range []string{"http://a.test/jwks", "ftp://a.test", "https://u:p@a.test/", "https://a.test/#x", "/jwks", "https:///x", ""} {
		if checkFetched(address) == nil {
			t.Errorf("%q is fetched", address)
		}
	}
	server := newKeyServer(t)
	server.publish("/jwks", "{}")
	if _, err := NewFetch(nil)(t.Context(), server.URL+"/jwks"); err == nil || !strings.Contains(err.Error(), "no public address") {
		t.Errorf("an address of our own network: %v", err)
	}
	for _, address := range []string{"10.0.0.1:443", "[::1]:443", "169.254.169.254:443", "100.64.0.1:443", "[::ffff:192.168.0.1]:443", "0.0.0.0:443", "x"} {
		if publicOnly("tcp", address, nil) == nil {
			t.Errorf("%s is called", address)
		}
	}
	if err := publicOnly("tcp", "93.184.216.34:443", nil); err != nil {
		t.Error(err)
	}
	p, err := Parse("acme.yaml", []byte("provider: acme\nkey: {kind: fingerprint}\n"+strings.ReplaceAll(publishedSet, "SERVER", "https://a.test")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Bind(&recibo.Source{}); err == nil || !strings.Contains(err.Error(), "Fetch") {
		t.Errorf("neither keys nor a way to get them: Bind returned %v", err)
	}
}

// FuzzKeySet: no text makes a key that is none.
func FuzzKeySet(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","kid":"1","x":"50IDSajmCef9WWhTGwgjZz1ZUOnosfIwcsk-NoZQoI4","y":"kKAm084cBD7ZC-KNC-6uMJX9CvRzKUrgYvV1wMjIe6s"}]}`))
	f.Add([]byte(`{"kty":"RSA","n":"AQAB","e":"AQAB"}`))
	f.Add([]byte(`{"kty":"OKP","crv":"Ed25519","x":"AA"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, err := parseKeySet(text)
		if err != nil {
			return
		}
		for _, k := range keys {
			for _, s := range []signing{{algorithm: algRSA, hash: "sha256"}, {algorithm: algECDSA, hash: "sha256"}, {algorithm: algEd25519, hash: "sha256"}} {
				if one, err := s.usable(k.key, k.name); err == nil {
					one.verify(message{}, make([]byte, 64)) // a key of a wrong length would panic
				}
			}
		}
	})
}
