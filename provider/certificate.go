package provider

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// maxChain is how many certificates a chain may have.
const maxChain = 8

// allowed returns the address of a certificate that a request names, if it is one of the sender's own: whoever could name
// another would sign with a key of theirs.
func (k *keySource) allowed(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "https", u.User != nil, u.Opaque != "", u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return "", errors.New("it is no plain https address")
	case !k.host.MatchString(u.Host): // a port is part of Host
		return "", errors.New("its host is not the sender's")
	case u.RawPath != "", !k.path.MatchString(u.Path):
		return "", errors.New("its path is not where the sender has certificates")
	}
	return "https://" + u.Host + u.Path, nil
}

// certified reads a chain, the sender's certificate first, and checks it up to a root: its names, its dates, its signatures.
func (k *keySet) certified(text []byte, now time.Time) (*publicKeys, time.Time, error) {
	chain, err := parseChain(text)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("fetch keys: %w", err)
	}
	leaf := chain[0]
	options := x509.VerifyOptions{
		Roots: k.roots, Intermediates: x509.NewCertPool(), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	}
	for _, other := range chain[1:] {
		options.Intermediates.AddCert(other)
	}
	if _, err := leaf.Verify(options); err != nil {
		return nil, time.Time{}, fmt.Errorf("fetch keys: %w", err)
	}
	named := false
	for _, name := range k.names {
		named = named || leaf.VerifyHostname(name) == nil
	}
	if !named {
		return nil, time.Time{}, fmt.Errorf("fetch keys: the certificate is for none of %q", k.names)
	}
	one, err := k.sign.usable(leaf.PublicKey, "")
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("fetch keys: %w", err)
	}
	return &publicKeys{keys: []publicKey{one}, length: k.sign.keyLength()}, leaf.NotAfter, nil
}

func parseChain(text []byte) ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	for rest := bytes.TrimSpace(text); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		block, after := pem.Decode(rest)
		if block == nil || block.Type != "CERTIFICATE" || len(chain) == maxChain {
			return nil, errors.New("it is no chain of certificates in PEM")
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		chain, rest = append(chain, one), after
	}
	if len(chain) == 0 {
		return nil, errors.New("no certificate")
	}
	return chain, nil
}
