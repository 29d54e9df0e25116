package provider

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/recibohq/recibo"
)

// A SignRequest is what a sender would send, before it is signed.
type SignRequest struct {
	Variant string        // default: the main one
	Secret  recibo.Secret // of a symmetric sender
	// PrivateKey is an asymmetric sender's: PEM, "whsk_…", or an Ed25519 seed in hex or base64.
	PrivateKey string
	Params     map[string]string // as of the source that will receive it
	URL        string            // where it goes; the query is completed where the sender puts something there
	Header     http.Header       // sent along; default none
	Body       []byte
	// ContentType is the body's. Default: JSON if it begins like JSON, else a form.
	ContentType string
	ID, Type    string // for senders that tell them in a header; default: a random id, the sample's type
	Now         time.Time
}

// Signed is a request as the sender would send it.
type Signed struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
}

// A sealing is a request on its way to be signed.
type sealing struct {
	rules       *rules
	sign        func([]piece) (string, error) // the signature as it is written
	privateKey  crypto.Signer                 // of an asymmetric sender
	recipient   crypto.PublicKey              // of the receiver, where tokens are encrypted to it
	params      map[string]string
	format      format
	configured  string // the address without what sealing adds to it
	url         string
	header      http.Header
	body        []byte
	contentType string
	id, kind    string
	now         time.Time
}

// Sign signs a request as the sender does. Where the sender writes into the body or the address, those come back changed.
func (p *Provider) Sign(req *SignRequest) (*Signed, error) {
	r, err := p.rules(req.Variant)
	if err != nil {
		return nil, err
	}
	for name, declared := range p.file.Params {
		if declared.Required && req.Params[name] == "" && name != paramURL { // the URL says that one
			return nil, fmt.Errorf("sign for %s: the parameter %s is missing: %s", p.Name(), name, declared.About)
		}
	}
	s := &sealing{
		rules: r, params: req.Params, format: r.sign.format.with(req.Params), configured: req.URL, url: req.URL, header: req.Header.Clone(), body: req.Body,
		contentType: req.ContentType, id: orDefault(req.ID, newUUID()), kind: orDefault(req.Type, r.sample.Type), now: req.Now,
	}
	if s.sign, err = r.sign.signer(req); err != nil {
		return nil, fmt.Errorf("sign for %s: %w", p.Name(), err)
	}
	if r.sign.jose != "" {
		if err := s.tokenKeys(req); err != nil {
			return nil, fmt.Errorf("sign for %s: %w", p.Name(), err)
		}
	}
	s.prepare(p.file.Send)
	if err := r.scheme.seal(s); err != nil {
		return nil, fmt.Errorf("sign for %s: %w", p.Name(), err)
	}
	return &Signed{Method: http.MethodPost, URL: s.url, Header: s.header, Body: s.body}, nil
}

// prepare sets the headers that the sender sends beside the signature.
func (s *sealing) prepare(always map[string]string) {
	if s.header == nil {
		s.header = http.Header{}
	}
	if s.contentType == "" {
		s.contentType = "application/x-www-form-urlencoded"
		if looksLikeJSON(s.body) {
			s.contentType = "application/json"
		}
	}
	s.header.Set("Content-Type", s.contentType)
	for name, value := range always {
		s.header.Set(name, value)
	}
	for _, pin := range s.rules.sign.pins {
		s.header.Set(pin.header, pin.value)
	}
	if len(s.rules.id) > 0 {
		s.setHint(s.rules.id[len(s.rules.id)-1], s.id)
	}
	if len(s.rules.typ) > 0 {
		s.setHint(s.rules.typ[0], s.kind)
	}
}

// setHint tells a fact in its header, where it has one.
func (s *sealing) setHint(c choice, text string) {
	if len(c) > 0 && c[0].kind == inHeader && s.header.Get(c[0].names[0]) == "" {
		s.header.Set(c[0].names[0], text)
	}
}

// signer makes the function that signs with the request's key.
func (s *signing) signer(req *SignRequest) (func([]piece) (string, error), error) {
	if s.algorithm == algNone {
		return nil, nil //nolint:nilnil // nothing is signed, so nobody calls it
	}
	if !s.symmetric() {
		return s.privateSigner(req.PrivateKey)
	}
	key, err := decodeSecret(req.Secret, s.secret)
	if err != nil {
		return nil, err
	}
	key = s.derived([][]byte{key})[0]
	if len(key) == 0 {
		return nil, errors.New("there is no secret")
	}
	return func(pieces []piece) (string, error) {
		switch s.algorithm {
		case algToken, algBasic:
			return s.encoding.encode(key), nil
		case algKeyed:
			sum := &macState{hash: hashes[s.hash]()}
			return s.encoding.encode(sum.mac(pieces, key)), nil
		}
		mac := &macState{hash: hmac.New(hashes[s.hash], key)}
		return s.encoding.encode(mac.mac(pieces, key)), nil
	}, nil
}

func (s *signing) privateSigner(text string) (func([]piece) (string, error), error) {
	key, err := parsePrivateKey(text)
	if err != nil {
		return nil, err
	}
	return func(pieces []piece) (string, error) {
		signature, err := s.signWith(key, message{pieces})
		return s.encoding.encode(signature), err
	}, nil
}

func (s *signing) signWith(key crypto.Signer, m message) ([]byte, error) {
	newHash := hashes[s.hash]
	switch key := key.(type) {
	case ed25519.PrivateKey:
		if s.algorithm == algEd25519 {
			return ed25519.Sign(key, m.bytes()), nil
		}
	case *ecdsa.PrivateKey:
		if s.algorithm == algECDSA {
			return ecdsa.SignASN1(rand.Reader, key, m.digest(newHash()))
		}
	case *rsa.PrivateKey:
		if s.algorithm == algRSA {
			return rsa.SignPKCS1v15(nil, key, hashKinds[s.hash], m.digest(newHash()))
		}
	}
	return nil, fmt.Errorf("the private key is not for %s", s.keyText())
}

func parsePrivateKey(text string) (crypto.Signer, error) {
	text = strings.TrimSpace(text)
	if block, _ := pem.Decode([]byte(text)); block != nil {
		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("private key: %w", err)
		}
		signer, ok := key.(crypto.Signer)
		if !ok {
			return nil, errors.New("the private key cannot sign")
		}
		return signer, nil
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		raw, err = base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "whsk_"))
	}
	if err != nil || len(raw) < ed25519.SeedSize {
		return nil, errors.New("no private key: give PEM, or an Ed25519 seed in hex or base64")
	}
	return ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize]), nil
}

// newUUID is a random id in the form that most senders use.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand ends the process rather than fail
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := hex.EncodeToString(b[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// splice is body with new in the place of at.
func splice(body []byte, at span, new []byte) []byte {
	return bytes.Join([][]byte{body[:at.start], new, body[at.end:]}, nil)
}
