package provider

import (
	"crypto"
	"crypto/rsa"
	"errors"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/recibohq/recibo"
)

// The pinned way in which tokens are encrypted to us.
var (
	jweKeys    = []jose.KeyAlgorithm{jose.RSA_OAEP_256}
	jweContent = []jose.ContentEncryption{jose.A256GCM}
)

// sealed says that text is encrypted: it has five parts where what is only signed has three.
func sealed(text string) bool { return strings.Count(text, ".") == 4 }

// decrypt opens a token with one of the source's own keys. That it opens proves nothing: the key that closes is public.
func (v *verifier) decrypt(text string) (string, error) {
	sealed, err := jose.ParseEncryptedCompact(text, jweKeys, jweContent)
	if err != nil {
		return "", fmt.Errorf("%w: %w", recibo.MalformedSignature, err)
	}
	for _, key := range v.decrypters {
		if open, err := sealed.Decrypt(key); err == nil {
			return string(open), nil
		}
	}
	return "", fmt.Errorf("%w: it is encrypted to another key", recibo.BadSignature)
}

// decrypters reads the source's own private keys.
func (s *signing) decrypters(secrets []recibo.Secret) ([]crypto.PrivateKey, error) {
	if len(secrets) == 0 {
		return nil, errors.New("it has no secret: give your own private key, in PEM, whose public key the sender has")
	}
	keys := make([]crypto.PrivateKey, len(secrets))
	for i, secret := range secrets {
		key, err := parsePrivateKey(strings.TrimSpace(secret.Reveal()))
		if err != nil {
			return nil, fmt.Errorf("secret %d of %d: give a private key in PEM", i+1, len(secrets)) // never the error: it may quote
		}
		if _, ok := key.(*rsa.PrivateKey); !ok {
			return nil, fmt.Errorf("secret %d of %d: it is no RSA key", i+1, len(secrets))
		}
		keys[i] = key
	}
	return keys, nil
}
