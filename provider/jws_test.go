package provider_test

import (
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/mutate"
	"github.com/recibohq/recibo/provider"
)

// tokenSender is a sender of tokens in a header that bind the body.
const tokenSender = `
provider: acme
params: {key: {about: yours, required: true}}
signature:
  scheme: jws
  algorithm: HS256
  from: header:Authorization
  format: "Bearer {sig}"
  claims: {iss: "acme|https://acme.test", key: "param:key", kind: "*"}
  body_hash: {claim: sha256, encoding: hex}
time: {from: "claim:iat", unit: s, kind: send}
key: {kind: id, from: ["json:id"]}
account: claim:account
`

const tokenSecret = "short, yet long enough" // shorter than what go-jose wants

// hs256 is a token with claims under secret; header replaces the usual one.
func hs256(header, claims, secret string) string {
	if header == "" {
		header = `{"alg":"HS256","typ":"JWT"}`
	}
	input := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	return input + "." + base64.RawURLEncoding.EncodeToString(mac(sha256.New, secret, input))
}

func TestATokenIsHeldToItsClaims(t *testing.T) {
	const body = `{"id":"e1"}`
	v := bind(t, parse(t, tokenSender), &recibo.Source{
		Secrets: []recibo.Secret{recibo.NewSecret(strings.Repeat("n", 32)), recibo.NewSecret(tokenSecret)},
		Params:  map[string]string{"key": "k1"},
	})
	claims := func(change func(map[string]any)) string {
		c := map[string]any{
			"iss": "acme", "key": "k1", "kind": map[string]int{}, "sha256": hexSum(body), "iat": mutate.Now.Unix(), "account": "a1",
			"exp": mutate.Now.Add(time.Minute).Unix(),
		}
		if change != nil {
			change(c)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	set := func(name string, value any) string { return claims(func(c map[string]any) { c[name] = value }) }
	drop := func(name string) string { return claims(func(c map[string]any) { delete(c, name) }) }
	for name, c := range map[string]struct {
		token string
		want  recibo.Reason
	}{
		"as it is":               {hs256("", claims(nil), tokenSecret), ""},
		"the other issuer":       {hs256("", set("iss", "https://acme.test"), tokenSecret), ""},
		"another issuer":         {hs256("", set("iss", "evil"), tokenSecret), recibo.BadSignature},
		"another key":            {hs256("", set("key", "k2"), tokenSecret), recibo.BadSignature},
		"a list of keys":         {hs256("", set("key", []string{"k1"}), tokenSecret), recibo.BadSignature},
		"no kind":                {hs256("", drop("kind"), tokenSecret), recibo.BadSignature},
		"no hash":                {hs256("", drop("sha256"), tokenSecret), recibo.BadSignature},
		"another hash":           {hs256("", set("sha256", hexSum("x")), tokenSecret), recibo.BadSignature},
		"no time":                {hs256("", drop("iat"), tokenSecret), recibo.MalformedSignature},
		"a time that is none":    {hs256("", set("iat", "now"), tokenSecret), recibo.MalformedSignature},
		"a fraction of a second": {hs256("", set("iat", 1767225600.5), tokenSecret), ""},
		"an end that is none":    {hs256("", set("exp", -1), tokenSecret), recibo.MalformedSignature},
		"claims twice":           {hs256("", strings.Replace(claims(nil), "{", `{"iss":"acme",`, 1), tokenSecret), recibo.BadSignature},
		"another secret":         {hs256("", claims(nil), "another secret of enough bytes"), recibo.BadSignature},
		"no algorithm":           {hs256(`{"alg":"none"}`, claims(nil), tokenSecret), recibo.MalformedSignature},
		"another algorithm":      {hs256(`{"alg":"HS512"}`, claims(nil), tokenSecret), recibo.MalformedSignature},
		"something critical":     {hs256(`{"alg":"HS256","crit":["x"],"x":1}`, claims(nil), tokenSecret), recibo.BadSignature},
		"keys somewhere else":    {hs256(`{"alg":"HS256","jku":"https://evil.test/jwks","kid":"1"}`, claims(nil), tokenSecret), ""},
		"no signature":           {strings.TrimRight(hs256("", claims(nil), tokenSecret), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"), recibo.BadSignature},
		"two parts":              {"a.b", recibo.MalformedSignature},
		"no token":               {"", recibo.MalformedSignature},
		"more than is looked at": {strings.Repeat("x", 9000), recibo.MalformedSignature},
		"the serialization of RFC 7515 section 7.2": {`{"payload":"","signatures":[]}`, recibo.MalformedSignature},
	} {
		d := deliver(body, "Authorization", "Bearer "+c.token)
		if got := refusal(t, v, d); got != c.want {
			t.Errorf("%s: refused as %q, want %q", name, got, c.want)
		}
	}
	d := deliver(body, "Authorization", "Bearer "+hs256("", claims(nil), tokenSecret))
	verified, err := v.Verify(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if e := v.Events(d, verified)[0]; !verified.At.Equal(mutate.Now) || !verified.Expires.Equal(mutate.Now.Add(time.Minute)) || e.Account != "a1" {
		t.Errorf("at %v until %v, account %q", verified.At, verified.Expires, e.Account)
	}
	again := deliver(body, "Authorization", "Bearer "+hs256("", set("iat", mutate.Now.Unix()+9), tokenSecret))
	if a, b := events(t, v, d)[0], events(t, v, again)[0]; a.Content != b.Content {
		t.Error("a second token over the same body is other content")
	}
	if got := refusal(t, v, deliver(body)); got != recibo.MissingSignature {
		t.Errorf("no token is refused as %q", got)
	}
}

const bodyTokens = `
provider: acme
signature: {scheme: jws, algorithm: RS256, from: body, claims: {type: "*"}}
key: {kind: id, from: ["json:data{}.id"]}
cut: ["json:at"]
type: json:data{}.more{}.type|json:type
`

func TestATokenMayBeTheBody(t *testing.T) {
	s := newSender(t, parse(t, bodyTokens))
	v := bind(t, s.provider, &s.source)
	d := s.send(`{"type":"x","at":1,"data":"{\"id\":\"e1\",\"more\":\"{\\\"type\\\":\\\"y\\\"}\"}"}`)
	e := events(t, v, d)[0]
	if e.Key != "id:e1" || e.Type != "y" || e.Fault != "" || e.Start != 0 || e.End != len(d.Body) {
		t.Errorf("event %+v", e)
	}
	again := s.send(`{"type":"x","at":2,"data":"{\"id\":\"e1\",\"more\":\"{\\\"type\\\":\\\"y\\\"}\"}"}`)
	if got := events(t, v, again)[0]; got.Content != e.Content {
		t.Error("what is renewed is not cut out of the token's content")
	}
	if e := events(t, v, s.send(`{"type":"x","data":"{"}`))[0]; e.Fault != recibo.Unreadable {
		t.Errorf("a broken text inside: %+v", e)
	}
	for body, want := range map[string]recibo.Reason{
		"": recibo.MissingSignature, `{"type":"x"}`: recibo.MissingSignature, "a.b.c": recibo.MalformedSignature,
		string(d.Body) + "\n": "", string(d.Body[:len(d.Body)-8]) + "AAAAAAAA": recibo.BadSignature,
		hs256(`{"alg":"HS256"}`, `{"type":"x"}`, s.keys.PublicKey): recibo.MalformedSignature,
	} {
		if got := refusal(t, v, deliver(body)); got != want {
			t.Errorf("%.40q: refused as %q, want %q", body, got, want)
		}
	}
	if got := refusal(t, v, s.send(`{"id":"no type"}`)); got != recibo.BadSignature {
		t.Errorf("a token for something else is refused as %q", got)
	}
}

func TestKeysAreChosenByTheirName(t *testing.T) {
	p := parse(t, bodyTokens)
	one, two := newSender(t, p), newSender(t, p)
	set := func(names ...string) string {
		var keys jose.JSONWebKeySet
		for i, s := range []*sender{one, two} {
			keys.Keys = append(keys.Keys, jose.JSONWebKey{Key: publicKeyOf(t, s.keys.PublicKey), KeyID: names[i], Use: "sig"})
		}
		text, err := json.Marshal(keys)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	v := bind(t, p, &recibo.Source{PublicKeys: []string{set("a", "b")}})
	for _, s := range []*sender{one, two} { // their tokens name no key, so both are tried
		if got := refusal(t, v, s.send(`{"type":"x","id":"1"}`)); got != "" {
			t.Errorf("refused as %q", got)
		}
	}
	for text, want := range map[string]string{
		`{"keys":[]}`: "no key", `{`: "neither PEM", `{"kty":"oct","k":"AAAA"}`: "private key",
		`{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`: "no key", strings.Replace(set("a", "b"), `"kid"`, `"expired_at":1,"kid"`, 2): "no key",
	} {
		if _, err := p.Bind(&recibo.Source{PublicKeys: []string{text}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: Bind returned %v, want %q in it", text, err, want)
		}
	}
}

func TestASealedTokenIsOpenedWithTheSourcesOwnKey(t *testing.T) {
	p := parse(t, `
provider: acme
signature: {scheme: jws, algorithm: RS256, from: "json:encrypted", decrypt: true}
key: {kind: fingerprint}
type: json:type`)
	keys, err := p.NewKeys("")
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.NewKeys("")
	if err != nil {
		t.Fatal(err)
	}
	send := func(k *provider.Keys, to recibo.Secret) *recibo.Delivery {
		signed, err := p.Sign(&provider.SignRequest{PrivateKey: k.PrivateKey, Secret: to, Body: []byte(`{"type":"x"}`), Now: mutate.Now})
		if err != nil {
			t.Fatal(err)
		}
		return &recibo.Delivery{Header: http.Header{}, Body: signed.Body}
	}
	v := bind(t, p, &recibo.Source{Secrets: []recibo.Secret{keys.Secret}, PublicKeys: []string{keys.PublicKey}})
	a, b := events(t, v, send(keys, keys.Secret))[0], events(t, v, send(keys, keys.Secret))[0]
	if a.Type != "x" || a.Key != b.Key {
		t.Errorf("events %+v and %+v, want one", a, b)
	}
	if got := refusal(t, v, send(other, keys.Secret)); got != recibo.BadSignature {
		t.Errorf("a stranger's, sealed to us: refused as %q", got)
	}
	if got := refusal(t, v, send(keys, other.Secret)); got != recibo.BadSignature {
		t.Errorf("sealed to another: refused as %q", got)
	}
	for _, s := range []recibo.Source{{PublicKeys: []string{keys.PublicKey}}, {Secrets: []recibo.Secret{keys.Secret}},
		{PublicKeys: []string{keys.PublicKey}, Secrets: []recibo.Secret{recibo.NewSecret("no private key at all")}}} {
		if _, err := p.Bind(&s); err == nil || strings.Contains(err.Error(), "no private key at all") {
			t.Errorf("Bind returned %v", err)
		}
	}
}

func TestTokensThatCannotBeAreRefused(t *testing.T) {
	for lines, want := range map[string]string{
		`signature: {scheme: jws, from: "header:A"}`:                                              "unknown algorithm",
		`signature: {scheme: jws, algorithm: none, from: "header:A"}`:                             "unknown algorithm",
		`signature: {scheme: hmac, algorithm: HS256, from: "header:A", signed: "{body}"}`:         "are of the scheme jws",
		`signature: {scheme: hmac, from: "body", signed: "{body}"}`:                               "only a token can be the body",
		`signature: {scheme: jws, algorithm: RS256, from: body, body_hash: {claim: x}}`:           "leave it out",
		`signature: {scheme: jws, algorithm: RS256, from: "header:A", decrypt: true}`:             "only a token in the body",
		`signature: {scheme: jws, algorithm: RS256, from: "header:A"}`:                            "does not cover the body",
		`signature: {scheme: jws, algorithm: RS256, from: body, claims: {x: "param:y"}}`:          "declare y",
		`signature: {scheme: jws, algorithm: HS256, from: body, keys: {url: "https://a.test"}}`:   "never published",
		`signature: {scheme: jws, algorithm: RS256, from: body, keys: {url: "http://a.test"}}`:    "https",
		`signature: {scheme: jws, algorithm: RS256, from: body, keys: {certificate: "header:A"}}`: "regular expression",
		"signature: {scheme: hmac, from: \"header:A\", signed: \"{body}\"}\ntype: claim:x":        "only a token has claims",
	} {
		_, err := provider.Parse("acme.yaml", []byte("provider: acme\nkey: {kind: fingerprint}\n"+lines))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Parse returned %v, want %q in it", lines, err, want)
		}
	}
}

// FuzzToken: whatever the token, only one that was signed verifies.
func FuzzToken(f *testing.F) {
	v := bind(f, parse(f, tokenSender), &recibo.Source{
		Secrets: []recibo.Secret{recibo.NewSecret(tokenSecret)}, Params: map[string]string{"key": "k1"},
	})
	good := hs256("", `{"iss":"acme","key":"k1","kind":1,"sha256":"`+hexSum("{}")+`","iat":1767225600}`, tokenSecret)
	f.Add(good)
	f.Add("e30.e30.")
	f.Add(good + ".x")
	f.Add(hs256(`{"alg":"HS256","b64":false,"crit":["b64"]}`, "{}", tokenSecret))
	f.Fuzz(func(t *testing.T, token string) {
		d := deliver("{}", "Authorization", "Bearer "+token)
		verified, err := v.Verify(t.Context(), d)
		if err != nil {
			return
		}
		parts, want := strings.Split(token, "."), strings.Split(good, ".")
		if len(parts) != 3 || parts[0] != want[0] || parts[1] != want[1] {
			t.Fatalf("%q verifies", token)
		}
		if sig, err := base64.RawURLEncoding.DecodeString(parts[2]); err != nil || hex.EncodeToString(sig) == "" {
			t.Fatalf("%q verifies", token)
		}
		v.Events(d, verified)
	})
}

func publicKeyOf(t *testing.T, text string) crypto.PublicKey {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatalf("no PEM: %q", text)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestASourceCannotRequireClaimsOrAnotherKindOfDocument(t *testing.T) {
	p := parse(t, tokenSender)
	for _, place := range []string{"claim:iss", "body", "signature", "xml:a.b"} {
		_, err := p.Bind(&recibo.Source{
			Secrets: []recibo.Secret{recibo.NewSecret(tokenSecret)}, Params: map[string]string{"key": "k1"}, Require: []string{place},
		})
		if err == nil || !strings.Contains(err.Error(), "require") {
			t.Errorf("%s: Bind returned %v", place, err)
		}
	}
}
