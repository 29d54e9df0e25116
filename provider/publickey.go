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
	"hash"
	"regexp"
	"strings"

	"github.com/go-jose/go-jose/v4"

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
	name   string // as the sender calls it, its "kid"; empty if it has no name
	key    crypto.PublicKey
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

// named are the keys of that name, and those that have none.
func (k *publicKeys) named(name string) *publicKeys {
	if name == "" {
		return k
	}
	chosen := &publicKeys{length: k.length}
	for _, key := range k.keys {
		if key.name == name || key.name == "" {
			chosen.keys = append(chosen.keys, key)
		}
	}
	return chosen
}

// A message is what an asymmetric signature is over.
type message struct{ pieces []piece }

func (m message) digest(h hash.Hash) []byte {
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

// publicKeys reads the keys that a source has been given.
func (s *signing) publicKeys(texts []string) (*publicKeys, error) {
	k := &publicKeys{length: s.keyLength()}
	for i, text := range texts {
		keys, err := s.parseKeys(text)
		if err != nil {
			return nil, fmt.Errorf("public key %d of %d: %w", i+1, len(texts), err)
		}
		k.keys = append(k.keys, keys...)
	}
	return k, nil
}

// keyLength is how many bytes a signature has, 0 if that varies.
func (s *signing) keyLength() int {
	if s.algorithm == algEd25519 {
		return ed25519.SignatureSize
	}
	return 0
}

// parseKeys reads a key, or a JSON Web Key or a set of them. Of a set the keys for other algorithms are passed over.
func (s *signing) parseKeys(text string) ([]publicKey, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		key, err := parsePublicKey(text, s.publicKey)
		if err != nil {
			return nil, err
		}
		one, err := s.usable(key, "")
		return []publicKey{one}, err
	}
	set, err := parseKeySet([]byte(text))
	if err != nil {
		return nil, err
	}
	var keys []publicKey
	for _, k := range set {
		var one publicKey
		if one, err = s.usable(k.key, k.name); err == nil {
			keys = append(keys, one)
		}
	}
	if len(keys) == 0 {
		return nil, err
	}
	return keys, nil
}

func (s *signing) usable(key crypto.PublicKey, name string) (publicKey, error) {
	verify, err := s.verifierOf(key)
	return publicKey{publicKeyID(key), name, key, verify}, err
}

func (s *signing) verifierOf(key crypto.PublicKey) (func(message, []byte) bool, error) {
	newHash, kind := hashes[s.hash], hashKinds[s.hash]
	switch key := key.(type) {
	case ed25519.PublicKey:
		if s.algorithm == algEd25519 && len(key) == ed25519.PublicKeySize { // a key of another length panics
			return func(m message, s []byte) bool { return ed25519.Verify(key, m.bytes(), s) }, nil
		}
	case *ecdsa.PublicKey:
		if s.algorithm == algECDSA && key.Curve == s.curve() {
			return func(m message, s []byte) bool { return ecdsa.VerifyASN1(key, m.digest(newHash()), s) }, nil
		}
	case *rsa.PublicKey:
		if s.algorithm == algRSA && key.N.BitLen() >= 2048 {
			return func(m message, s []byte) bool { return rsa.VerifyPKCS1v15(key, kind, m.digest(newHash()), s) == nil }, nil
		}
	}
	return nil, fmt.Errorf("it is no key for %s: give the one that the sender shows", s.keyText())
}

// curve is that of the sender's ECDSA keys.
func (s *signing) curve() elliptic.Curve {
	if s.jose == jose.ES512 {
		return elliptic.P521()
	}
	return elliptic.P256()
}

// hashKinds are the hashes of asymmetric signatures.
var hashKinds = map[string]crypto.Hash{"sha1": crypto.SHA1, "sha256": crypto.SHA256, "sha384": crypto.SHA384, "sha512": crypto.SHA512}

// keyText names the kind of key.
func (s *signing) keyText() string {
	switch s.algorithm {
	case algEd25519:
		return "Ed25519"
	case algECDSA:
		return "ECDSA on " + s.curve().Params().Name
	default:
		return "RSA with at least 2048 bits"
	}
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

// onOneLine is PEM whose line breaks were lost, as eBay shows it.
var onOneLine = regexp.MustCompile(`\A(-----BEGIN [A-Z ]+-----)([A-Za-z0-9+/=]+)(-----END [A-Z ]+-----)\z`)

func parsePEM(text string) (crypto.PublicKey, error) {
	block, rest := pem.Decode([]byte(onOneLine.ReplaceAllString(text, "$1\n$2\n$3\n")))
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
