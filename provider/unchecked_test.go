package provider_test

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/crypto/sha3"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

const uncheckedSender = `
provider: acme
signature: {scheme: none}
key: {kind: credential}
`

func TestAnUncheckedSenderNeedsASecretPath(t *testing.T) {
	p := parse(t, uncheckedSender)
	for _, c := range []struct {
		path, open string
		ok         bool
	}{
		{"/in/acme-shop", "", false},
		{"/in/acme-shop-acme-shop-acme-shop-1", "", false},
		{"/in/3f9c2a7be41d5068a7c9/acme", "", false},
		{"/in/3f9c2a7be41d5068", "", true},
		{"/in/acme-3f9c2a7be41d5068", "", true},
		{"/in/acme-shop", "true", true},
		{"/in/acme-shop", "false", false},
		{"/in/3f9c2a7be41d5068", "yes", false},
	} {
		_, err := p.Bind(&recibo.Source{Name: "acme-shop", Path: c.path, Params: map[string]string{"insecure_open": c.open}})
		if (err == nil) != c.ok {
			t.Errorf("path %s, insecure_open %q: Bind returned %v", c.path, c.open, err)
		}
		if err != nil && strings.Contains(err.Error(), c.path) {
			t.Errorf("the error shows the path: %v", err)
		}
	}
	_, err := p.Bind(&recibo.Source{Name: "a", Path: "/3f9c2a7be41d5068", Secrets: []recibo.Secret{recibo.NewSecret(strings.Repeat("k", 32))}})
	if err == nil {
		t.Error("a secret is taken that nothing is checked with")
	}
}

// FuzzKeyedHash: with the secret in front nothing but what was hashed verifies.
func FuzzKeyedHash(f *testing.F) {
	const secret, good = "a secret of enough bytes", `{"id":"1"}`
	v := bind(f, parse(f, `
provider: acme
signature: {scheme: keyed-hash, from: "header:X-Signature", signed: "{secret}{body}"}
key: {kind: fingerprint}
`), &recibo.Source{Secrets: []recibo.Secret{recibo.NewSecret(secret)}})
	sum := sha256.Sum256([]byte(secret + good))
	f.Add([]byte(good), hex.EncodeToString(sum[:]))
	f.Add([]byte(good+"\x80\x00{}"), strings.Repeat("0", 64))
	f.Fuzz(func(t *testing.T, body []byte, signature string) {
		d := &recibo.Delivery{Header: http.Header{"X-Signature": {signature}}, Body: body}
		if _, err := v.Verify(t.Context(), d); err == nil && string(body) != good {
			t.Fatalf("%q verifies with %s", body, signature)
		}
	})
}

func TestAnUncheckedSenderSaysSo(t *testing.T) {
	v := parse(t, uncheckedSender).Describe().Variants[0]
	if said := strings.Join(v.Protection, " "); v.Grade != provider.None || !strings.Contains(said, "Nothing is checked") {
		t.Errorf("grade %s, %q", v.Grade, said)
	}
}

func TestHTTPBasicIsComparedWhole(t *testing.T) {
	p := parse(t, `
provider: acme
signature: {scheme: basic}
key: {kind: credential}
`)
	_, err := p.Bind(&recibo.Source{Secrets: []recibo.Secret{recibo.NewSecret("a user without any colon")}})
	if err == nil || !strings.Contains(err.Error(), "user:password") {
		t.Errorf("a secret without a colon: Bind returned %v", err)
	}
	_, err = p.Bind(&recibo.Source{Secrets: []recibo.Secret{recibo.NewSecret("a-very-long-user-name:short")}})
	if err == nil || !strings.Contains(err.Error(), "password") {
		t.Errorf("a short password: Bind returned %v", err)
	}
	v := bind(t, p, &recibo.Source{Secrets: []recibo.Secret{recibo.NewSecret("user:pass:word:of:enough:bytes")}})
	for value, want := range map[string]recibo.Reason{
		"Basic dXNlcjpwYXNzOndvcmQ6b2Y6ZW5vdWdoOmJ5dGVz":  "",
		"Basic dXNlcjpwYXNz":                              recibo.BadSignature,
		"Basic dXNlcjpwYXNzOndvcmQ6b2Y":                   recibo.MalformedSignature,
		"Basic":                                           recibo.MalformedSignature,
		"Bearer dXNlcjpwYXNzOndvcmQ6b2Y6ZW5vdWdoOmJ5dGVz": recibo.MalformedSignature,
		"": recibo.MissingSignature,
	} {
		d := &recibo.Delivery{Header: http.Header{"Authorization": {value}}, Body: []byte("{}")}
		if got := refusal(t, v, d); got != want {
			t.Errorf("%q: refused as %q, want %q", value, got, want)
		}
	}
}

func TestAKeyedHashIsMadeWithTheSecretInItsPlace(t *testing.T) {
	const secret, body = "a secret of enough bytes", `{"id":"1"}`
	keccak := sha3.NewLegacyKeccak256()
	keccak.Write([]byte(body + secret))
	md := md5.Sum([]byte(body + "|" + secret))
	sha := sha256.Sum256([]byte(secret + "-" + body))
	for _, c := range []struct {
		hash, signed string
		sum          []byte
	}{
		{hashKeccak, "{body}{secret}", keccak.Sum(nil)}, {"md5", "{body}|{secret}", md[:]}, {"sha256", "{secret}-{body}", sha[:]},
	} {
		p := parse(t, `
provider: acme
signature: {scheme: keyed-hash, hash: `+c.hash+`, from: "header:X-Signature", signed: "`+c.signed+`"}
key: {kind: fingerprint}
`)
		v := bind(t, p, &recibo.Source{Secrets: []recibo.Secret{recibo.NewSecret("another one of enough bytes"), recibo.NewSecret(secret)}})
		d := &recibo.Delivery{Header: http.Header{"X-Signature": {hex.EncodeToString(c.sum)}}, Body: []byte(body)}
		if got := refusal(t, v, d); got != "" {
			t.Errorf("%s of %s: refused as %q", c.hash, c.signed, got)
		}
		d.Body = []byte(`{"id":"2"}`)
		if got := refusal(t, v, d); got != recibo.BadSignature {
			t.Errorf("%s of %s, another body: refused as %q", c.hash, c.signed, got)
		}
	}
}

const hashKeccak = "keccak256"

// A length extension needs no secret: SHA-256 goes on from the digest as from its own state. Here the secret is known, so
// the text that it would be over is simply hashed.
func TestALengthExtensionIsRefused(t *testing.T) {
	const secret = "a secret of enough bytes"
	v := bind(t, parse(t, `
provider: acme
signature: {scheme: keyed-hash, from: "header:X-Signature", signed: "{secret}{body}"}
key: {kind: fingerprint}
`), &recibo.Source{Secrets: []recibo.Secret{recibo.NewSecret(secret)}})
	for body, want := range map[string]recibo.Reason{
		`{"id":"1"}`: "",
		"{\"id\":\"1\"}\x80\x00\x00\x00\x01\x10{\"id\":\"2\"}": recibo.BadSignature,
		`{"id":"1"}{"id":"2"}`:                                 recibo.BadSignature,
		"id=1":                                                 recibo.BadSignature,
	} {
		sum := sha256.Sum256([]byte(secret + body))
		d := &recibo.Delivery{Header: http.Header{"X-Signature": {hex.EncodeToString(sum[:])}}, Body: []byte(body)}
		if got := refusal(t, v, d); got != want {
			t.Errorf("%q: refused as %q, want %q", body, got, want)
		}
	}
}
