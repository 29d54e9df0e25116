package provider

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
)

// An authority issues certificates.
type authority struct {
	t    *testing.T
	key  *rsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{t: t, key: key}
	a.cert = a.issue(&x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, key, nil)
	return a
}

func (a *authority) issue(c *x509.Certificate, key *rsa.PrivateKey, parent *x509.Certificate) *x509.Certificate {
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: fmt.Sprint(c.DNSNames)}
	if c.NotAfter.IsZero() {
		c.NotBefore, c.NotAfter = keysNow.Add(-time.Hour), keysNow.Add(time.Hour)
	}
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert
}

const certified = `signature: {scheme: rsa-pkcs1v15, from: "header:X-Sig", encoding: base64, signed: "{body}",
  keys: {certificate: "header:X-Cert", host: '127\.0\.0\.1:\d+', path: '/certs/[A-Za-z0-9-]+', names: [signer.test]}}`

func TestACertificateIsTheSendersOrIsRefused(t *testing.T) {
	server, root, other := newKeyServer(t), newAuthority(t), newAuthority(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"signer.test"}
	pemOf := func(c *x509.Certificate) string { return pemText("CERTIFICATE", c.Raw) }
	old := &x509.Certificate{DNSNames: names, NotBefore: keysNow.Add(-2 * time.Hour), NotAfter: keysNow.Add(-time.Hour)}
	for path, text := range map[string]string{
		"/certs/good":  pemOf(root.issue(&x509.Certificate{DNSNames: names}, key, root.cert)) + pemOf(root.cert),
		"/certs/other": pemOf(other.issue(&x509.Certificate{DNSNames: names}, key, other.cert)) + pemOf(other.cert),
		"/certs/name":  pemOf(root.issue(&x509.Certificate{DNSNames: []string{"evil.test"}}, key, root.cert)),
		"/certs/old":   pemOf(root.issue(old, key, root.cert)),
		"/certs/text":  "no certificate",
	} {
		server.publish(path, text)
	}
	roots := x509.NewCertPool()
	roots.AddCert(root.cert)
	bind := func() *verifier {
		v := fetching(t, server, certified)
		v.keySet.roots = roots
		return v
	}
	host := strings.TrimPrefix(server.URL, "https://")
	for address, want := range map[string]string{
		server.URL + "/certs/good":                  "",
		server.URL + "/certs/other":                 "ours",
		server.URL + "/certs/name":                  "ours",
		server.URL + "/certs/old":                   "ours",
		server.URL + "/certs/text":                  "ours",
		server.URL + "/certs/none":                  "ours",
		server.URL + "/certs/../evil":               "bad_signature",
		server.URL + "/certs/good/x":                "bad_signature",
		server.URL + "/certs/go%6fd":                "bad_signature",
		server.URL + "/certs/good?x=1":              "bad_signature",
		server.URL + "/certs/good#x":                "bad_signature",
		"http://" + host + "/certs/good":            "bad_signature",
		"https://user@" + host + "/certs/good":      "bad_signature",
		"https://" + host + ".evil.test/certs/good": "bad_signature",
		"https://evil.test/" + host + "/certs/good": "bad_signature",
		"//" + host + "/certs/good":                 "bad_signature",
		"https:" + host + "/certs/good":             "bad_signature",
		"":                                          "missing_signature",
	} {
		v := bind()
		d := signedBy(t, &v.sign, key, "{}")
		d.Header.Set("X-Cert", address)
		if got := verdict(t, v, d); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
		if asked := server.asks(); (asked > 0) != (want == "" || want == "ours") {
			t.Errorf("%s: asked %d times", address, asked)
		}
	}
	v := bind()
	d := signedBy(t, &v.sign, key, "{}")
	d.Header.Set("X-Cert", server.URL+"/certs/good")
	d.ReceivedAt = keysNow.Add(2 * time.Hour)
	if got := verdict(t, v, d); got != "ours" {
		t.Errorf("after the certificate's end: %q", got)
	}
}

func TestMissingIssuersAreFetchedFromWhereTheCertificateSays(t *testing.T) {
	server, root := newKeyServer(t), newAuthority(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	middle := &authority{t: t}
	if middle.key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	ca := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, DNSNames: []string{"middle"}}
	middle.cert = root.issue(ca, middle.key, root.cert)
	leaf := middle.issue(&x509.Certificate{
		DNSNames: []string{"127.0.0.1.signer.test"}, IssuingCertificateURL: []string{server.URL + "/middle.cer"},
	}, key, middle.cert)
	server.publish("/certs/leaf", pemText("CERTIFICATE", leaf.Raw))
	server.publish("/middle.cer", string(middle.cert.Raw))
	v := fetching(t, server, strings.Replace(strings.Replace(certified, "signer.test", "$1.signer.test", 1), `127\.0\.0\.1`, `(127\.0\.0\.1)`, 1))
	v.keySet.roots = x509.NewCertPool()
	v.keySet.roots.AddCert(root.cert)
	d := signedBy(t, &v.sign, key, "{}")
	d.Header.Set("X-Cert", server.URL+"/certs/leaf")
	if got := verdict(t, v, d); got != "" {
		t.Errorf("%q", got)
	}
	if asked := server.asks(); asked != 2 {
		t.Errorf("asked %d times, want for the certificate and its issuer", asked)
	}
	v.keySet.fetched = map[string]*fetchedKeys{}
	server.publish("/middle.cer", "no certificate")
	if got := verdict(t, v, d); got != "ours" {
		t.Errorf("an issuer that is none: %q", got)
	}
}
