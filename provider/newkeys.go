package provider

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"

	"github.com/recibohq/recibo"
)

// Keys are what a sender signs with, and what a source of it verifies with.
type Keys struct {
	Secret     recibo.Secret // of a symmetric sender: both
	PrivateKey string
	PublicKey  string
}

// NewKeys makes keys in the form of the sender, for trials and tests.
func (p *Provider) NewKeys(variant string) (*Keys, error) {
	r, err := p.rules(variant)
	if err != nil {
		return nil, err
	}
	if r.sign.algorithm == algNone {
		return &Keys{}, nil
	}
	if r.sign.symmetric() {
		return &Keys{Secret: r.sign.newSecret()}, nil
	}
	key, err := r.sign.newPrivateKey()
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	public, err := r.sign.publicKey.encode(key.Public())
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	keys := &Keys{PrivateKey: pemText("PRIVATE KEY", private), PublicKey: public}
	if r.token.decrypt {
		keys.Secret, err = newDecryptionKey()
	}
	return keys, err
}

// newDecryptionKey is a receiver's own, which tokens are encrypted to.
func newDecryptionKey() (recibo.Secret, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return recibo.Secret{}, fmt.Errorf("make a key: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return recibo.Secret{}, fmt.Errorf("make a key: %w", err)
	}
	return recibo.NewSecret(pemText("PRIVATE KEY", private)), nil
}

func (s *signing) newSecret() recibo.Secret {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // crypto/rand ends the process rather than fail
	if s.secret == encUTF8 {
		raw = []byte(hex.EncodeToString(raw))
	}
	text := s.secret.prefix() + s.secret.encode(raw)
	if s.algorithm == algBasic {
		text = "recibo:" + text
	}
	return recibo.NewSecret(text)
}

func (s *signing) newPrivateKey() (crypto.Signer, error) {
	switch s.algorithm {
	case algEd25519:
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	case algECDSA:
		return ecdsa.GenerateKey(s.curve(), rand.Reader)
	default:
		return rsa.GenerateKey(rand.Reader, 2048)
	}
}

// encode writes a public key as the sender shows it.
func (f keyForm) encode(key crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", err
	}
	raw, isEd25519 := key.(ed25519.PublicKey)
	switch {
	case f == formSPKI:
		return base64.StdEncoding.EncodeToString(der), nil
	case f == formHex && isEd25519:
		return hex.EncodeToString(raw), nil
	case f == formBase64 && isEd25519:
		return base64.StdEncoding.EncodeToString(raw), nil
	case f == formWHPK && isEd25519:
		return "whpk_" + base64.StdEncoding.EncodeToString(raw), nil
	default:
		return pemText("PUBLIC KEY", der), nil
	}
}

func pemText(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
