package provider

import (
	"bytes"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/recibohq/recibo"
)

// tokenLife is how long a sample's token lives where tokens expire.
const tokenLife = 5 * time.Minute

// seal makes the token, and puts it where it belongs.
func (j *jws) seal(s *sealing) error {
	payload := s.body
	if !s.rules.token.whole {
		var err error
		if payload, err = s.claims(); err != nil {
			return err
		}
	}
	token, err := s.token(payload)
	if err != nil {
		return err
	}
	from := &s.rules.sign.from[0]
	switch from.kind {
	case inHeader:
		return s.put(token)
	case inWhole:
		s.body, s.contentType = []byte(token), "application/jwt"
	default:
		s.body = []byte("{}")
		if err := s.write(from, token); err != nil {
			return err
		}
	}
	s.header.Set("Content-Type", s.contentType)
	return nil
}

// tokenKeys reads the keys that go-jose takes.
func (s *sealing) tokenKeys(req *SignRequest) (err error) {
	if !s.rules.sign.symmetric() {
		if s.privateKey, err = parsePrivateKey(req.PrivateKey); err != nil {
			return err
		}
	}
	if s.rules.token.decrypt {
		keys, err := s.rules.sign.decrypters([]recibo.Secret{req.Secret})
		if err != nil {
			return err
		}
		s.recipient = keys[0].(*rsa.PrivateKey).Public()
	}
	return nil
}

// claims are those that the rules ask for.
func (s *sealing) claims() ([]byte, error) {
	t := &s.rules.token
	claims := map[string]any{"exp": s.now.Add(tokenLife).Unix()}
	for i := range t.claims {
		rule := &t.claims[i]
		text := s.params[rule.param]
		if rule.texts != nil {
			text = rule.texts[0]
		}
		claims[rule.place.name] = text
		if text == "true" {
			claims[rule.place.name] = true
		}
	}
	if from := &s.rules.time.from; from.kind == inClaim {
		claims[from.name] = json.Number(s.at())
		if s.rules.time.unit == rfc3339 {
			claims[from.name] = s.at()
		}
	}
	for _, h := range []struct {
		claim *hashClaim
		text  []byte
	}{{t.body, s.body}, {t.url, []byte(s.address())}} {
		if h.claim != nil {
			sum := hashes[h.claim.hash]()
			sum.Write(h.text)
			claims[h.claim.place.name] = h.claim.encoding.encode(sum.Sum(nil))
		}
	}
	return json.Marshal(claims)
}

// token signs payload. Symmetric ones are put together here: go-jose takes no secret that is shorter than its hash.
func (s *sealing) token(payload []byte) (string, error) {
	sign := &s.rules.sign
	header := `{"alg":` + strconv.Quote(string(sign.jose)) + `,"typ":"JWT"}`
	if sign.symmetric() {
		input := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString(payload)
		signature, err := s.sign([]piece{{bytes: []byte(input)}})
		return input + "." + signature, err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: sign.jose, Key: s.privateKey}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	token, err := signed.CompactSerialize()
	if err != nil || !s.rules.token.decrypt {
		return token, err
	}
	return s.encrypt(token)
}

// encrypt closes a token so that only the receiver can open it.
func (s *sealing) encrypt(token string) (string, error) {
	encrypter, err := jose.NewEncrypter(jweContent[0], jose.Recipient{Algorithm: jweKeys[0], Key: s.recipient}, nil)
	if err != nil {
		return "", err
	}
	sealed, err := encrypter.Encrypt(bytes.Clone([]byte(token)))
	if err != nil {
		return "", err
	}
	return sealed.CompactSerialize()
}
