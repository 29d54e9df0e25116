package provider

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"
	"sync"

	"github.com/recibohq/recibo"
)

// A keyedScheme is a sender that hashes its secret and what it signs in one text, without HMAC: by template, with {secret}
// where the secret stands.
type keyedScheme struct{ templateScheme }

func newKeyedScheme(r *rules) scheme { return &keyedScheme{templateScheme{r}} }

// verify also refuses what a length extension leaves: where the secret comes first, whoever sees one body and its hash can
// append bytes and know the hash of that. The first of them is 0x80, so nothing that is one JSON document was extended.
func (s *keyedScheme) verify(ctx context.Context, v *verifier, d *recibo.Delivery, r *reading) error {
	if err := s.templateScheme.verify(ctx, v, d, r); err != nil {
		return err
	}
	if s.rules.sign.extendable() {
		if _, err := walk(d.Body, nil, nil); err != nil {
			return fmt.Errorf("%w: after a leading secret only a JSON document is safe: %w", recibo.BadSignature, err)
		}
	}
	return nil
}

// extendable says that what is hashed last is the body's.
func (s *signing) extendable() bool {
	t := s.template
	return s.hash != hashKeccak && t.has(secretPart) && t[len(t)-1].kind == bodyPart
}

// keyedHashes are the secrets of a source of such a sender.
type keyedHashes struct {
	ids     []recibo.SecretID
	secrets [][]byte
	length  int
	states  sync.Pool
}

func newKeyedHashes(secrets [][]byte, newHash func() hash.Hash) *keyedHashes {
	k := &keyedHashes{secrets: secrets, length: newHash().Size()}
	k.states.New = func() any { return &macState{hash: newHash()} }
	for _, secret := range secrets {
		k.ids = append(k.ids, secretID(secret, sha256.New))
	}
	return k
}

func (k *keyedHashes) size() int { return k.length }

// prove tries all secrets against all signatures, so that timing does not tell which one matched.
func (k *keyedHashes) prove(pieces []piece, signatures [][]byte) (id recibo.SecretID, ok bool) {
	state := k.states.Get().(*macState)
	defer k.states.Put(state)
	for i, secret := range k.secrets {
		sum := state.mac(pieces, secret)
		for _, signature := range signatures {
			if hmac.Equal(sum, signature) && !ok {
				id, ok = k.ids[i], true
			}
		}
	}
	return id, ok
}
