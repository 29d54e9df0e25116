package provider

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"
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
func (k *keySet) certified(ctx context.Context, address string, text []byte, now time.Time) (*publicKeys, time.Time, error) {
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
	_, err = leaf.Verify(options)
	if unknown := (x509.UnknownAuthorityError{}); errors.As(err, &unknown) {
		err = k.withIssuers(ctx, chain[len(chain)-1], leaf, options)
	}
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("fetch keys: %w", err)
	}
	if !k.isNamed(leaf, address) {
		return nil, time.Time{}, fmt.Errorf("fetch keys: the certificate is for none of %q", k.names)
	}
	one, err := k.sign.usable(leaf.PublicKey, "")
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("fetch keys: %w", err)
	}
	return &publicKeys{keys: []publicKey{one}, length: k.sign.keyLength()}, leaf.NotAfter, nil
}

// isNamed says that the certificate is for the sender. $0 and so on in a name are of the host that it came from.
func (k *keySource) isNamed(leaf *x509.Certificate, address string) bool {
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "https://"), "/")
	at := k.host.FindStringSubmatchIndex(host)
	for _, name := range k.names {
		if at != nil && leaf.VerifyHostname(string(k.host.ExpandString(nil, name, host, at))) == nil {
			return true
		}
	}
	return false
}

// maxIssuers is how many certificates of authorities are fetched that a sender leaves out of its chain.
const maxIssuers = 3

// withIssuers completes a chain with the certificates of authorities from where each says that its issuer's is (RFC 5280,
// section 4.2.2.1). They may come over plain http: each is proved by the chain, up to a root that we have.
func (k *keySet) withIssuers(ctx context.Context, last, leaf *x509.Certificate, options x509.VerifyOptions) error {
	err := error(x509.UnknownAuthorityError{Cert: leaf})
	for range maxIssuers {
		if len(last.IssuingCertificateURL) == 0 {
			return err
		}
		text, failed := k.fetch(ctx, last.IssuingCertificateURL[0])
		if failed != nil {
			return failed
		}
		issuer, failed := x509.ParseCertificate(text)
		if failed != nil {
			return failed
		}
		options.Intermediates.AddCert(issuer)
		if _, err = leaf.Verify(options); err == nil {
			return nil
		}
		last = issuer
	}
	return err
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
