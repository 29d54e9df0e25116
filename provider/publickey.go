package provider

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/recibohq/recibo"
)

// A keyForm is how a sender shows its public key. PEM is understood of every sender.
type keyForm string

const (
	formPEM    keyForm = "pem"    // a public key or a certificate
	formSPKI   keyForm = "spki"   // the inside of a PEM public key: base64 without armour
	formHex    keyForm = "hex"    // the 32 bytes of an Ed25519 key
	formBase64 keyForm = "base64" // the same
	formWHPK   keyForm = "whpk"   // the same, with the prefix "whpk_"
)

var keyForms = []keyForm{formPEM, formSPKI, formHex, formBase64, formWHPK}

// A publicKey is one of a source's keys of an asymmetric sender.
type publicKey struct {
	id     recibo.SecretID
	verify func(message message, signature []byte) bool
}

// publicKeys are all of them.
type publicKeys struct {
	keys   []publicKey
	length int
}

func (k *publicKeys) size() int { return k.length }

func (k *publicKeys) prove(pieces []piece, signatures [][]byte) (recibo.SecretID, bool) {
	m := message{pieces: pieces}
	for _, key := range k.keys {
		for _, signature := range signatures {
			if key.verify(m, signature) {
				return key.id, true
			}
		}
	}
	return recibo.SecretID{}, false
}

// A message is what an asymmetric signature is over.
type message struct{ pieces []piece }

func (m message) digest() []byte {
	h := sha256.New()
	for i := range m.pieces {
		h.Write(m.pieces[i].bytes)
	}
	return h.Sum(nil)
}

// bytes is a copy in one stretch: Ed25519 goes over its message twice.
func (m message) bytes() []byte {
	n := 0
	for i := range m.pieces {
		n += len(m.pieces[i].bytes)
	}
	all := make([]byte, 0, n)
	for i := range m.pieces {
		all = append(all, m.pieces[i].bytes...)
	}
	return all
}

func newPublicKeys(algorithm string, form keyForm, texts []string) (*publicKeys, error) {
	k := &publicKeys{}
	if algorithm == algEd25519 {
		k.length = ed25519.SignatureSize
	}
	for i, text := range texts {
		key, err := parsePublicKey(text, form)
		if err != nil {
			return nil, fmt.Errorf("public key %d of %d: %w", i+1, len(texts), err)
		}
		verify, err := verifierOf(algorithm, key)
		if err != nil {
			return nil, fmt.Errorf("public key %d of %d: %w", i+1, len(texts), err)
		}
		k.keys = append(k.keys, publicKey{publicKeyID(key), verify})
	}
	return k, nil
}

func verifierOf(algorithm string, key crypto.PublicKey) (func(message, []byte) bool, error) {
	switch key := key.(type) {
	case ed25519.PublicKey:
		if algorithm == algEd25519 && len(key) == ed25519.PublicKeySize { // a key of another length panics
			return func(m message, s []byte) bool { return ed25519.Verify(key, m.bytes(), s) }, nil
		}
	case *ecdsa.PublicKey:
		if algorithm == algECDSA && key.Curve == elliptic.P256() {
			return func(m message, s []byte) bool { return ecdsa.VerifyASN1(key, m.digest(), s) }, nil
		}
	case *rsa.PublicKey:
		if algorithm == algRSA && key.N.BitLen() >= 2048 {
			return func(m message, s []byte) bool {
				return rsa.VerifyPKCS1v15(key, crypto.SHA256, m.digest(), s) == nil
			}, nil
		}
	}
	return nil, fmt.Errorf("it is no key for %s: give the one that the sender shows", algorithmName[algorithm])
}

var algorithmName = map[string]string{
	algEd25519: "Ed25519", algECDSA: "ECDSA on P-256", algRSA: "RSA with at least 2048 bits",
}

// parsePublicKey reads a key in the sender's form, or PEM.
func parsePublicKey(text string, form keyForm) (crypto.PublicKey, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "-----BEGIN") {
		return parsePEM(text)
	}
	var raw []byte
	var err error
	switch form {
	case formHex:
		raw, err = hex.DecodeString(text)
	case formBase64, formWHPK:
		raw, err = base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(text, "whpk_"))
	case formSPKI:
		if raw, err = base64.StdEncoding.Strict().DecodeString(text); err == nil {
			return x509.ParsePKIXPublicKey(raw)
		}
	default:
		err = errors.New("no PEM")
	}
	if err != nil {
		return nil, fmt.Errorf("it is not %s: copy it from the sender as it stands there", form)
	}
	if len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("it has %d bytes, an Ed25519 key has %d", len(raw), ed25519.PublicKeySize)
	}
	return ed25519.PublicKey(raw), nil
}

func parsePEM(text string) (crypto.PublicKey, error) {
	block, rest := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("it is no PEM")
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("something follows the first PEM block: give each key by itself")
	}
	switch block.Type {
	case "CERTIFICATE":
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate: %w", err)
		}
		return certificate.PublicKey, nil
	case "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(block.Bytes)
	default:
		return nil, fmt.Errorf("it is a PEM %q: give a public key or a certificate", block.Type)
	}
}

func publicKeyID(key crypto.PublicKey) (id recibo.SecretID) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return id // of a kind that verifierOf refuses
	}
	sum := sha256.Sum256(append([]byte("recibo/public-key/1\x00"), der...))
	copy(id[:], sum[:])
	return id
}
