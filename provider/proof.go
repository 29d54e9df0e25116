package provider

import (
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // what Patreon signs with; HMAC-MD5 is not broken
	"crypto/sha1" //nolint:gosec // what Twilio and older senders sign with; HMAC-SHA-1 is not broken
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"hash"
	"strings"
	"sync"

	"golang.org/x/crypto/sha3"

	"github.com/recibohq/recibo"
)

// A piece is a stretch of what is signed.
type piece struct {
	bytes []byte
	from  *templatePart // nil for what no template names
	cut   bool          // left out of the fingerprint
}

// A prover says whether a signature over pieces was made with one of a source's keys, and which.
type prover interface {
	prove(pieces []piece, signatures [][]byte) (recibo.SecretID, bool)
	// size is how many bytes a signature has, 0 if that varies.
	size() int
}

// hashKeccak is Keccak-256 as Ethereum has it, with other padding than SHA3-256.
const hashKeccak = "keccak256"

var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
	hashKeccak: sha3.NewLegacyKeccak256,
}

// secretID digests a key block, padded as HMAC pads it, so that the key k and the key k with zeros behind it are one.
func secretID(key []byte, newHash func() hash.Hash) (id recibo.SecretID) {
	const tag = "recibo/secret/1\x00"
	var block [sha512.BlockSize]byte
	if h := newHash(); len(key) > h.BlockSize() {
		h.Write(key)
		key = h.Sum(nil)
	}
	copy(block[:], key)
	sum := sha256.Sum256(append([]byte(tag), block[:]...))
	copy(id[:], sum[:])
	return id
}

// macs are the symmetric keys of a source.
type macs struct {
	keys   []*macKey
	length int
}

// A macKey keeps HMAC states to use again: making one costs more than hashing a short body.
type macKey struct {
	id     recibo.SecretID
	secret []byte
	states sync.Pool
}

type macState struct {
	hash hash.Hash
	sum  [sha512.Size]byte
}

func newMACs(secrets [][]byte, newHash func() hash.Hash) *macs {
	m := &macs{length: newHash().Size()}
	for _, secret := range secrets {
		key := &macKey{id: secretID(secret, newHash), secret: secret}
		key.states.New = func() any { return &macState{hash: hmac.New(newHash, secret)} }
		m.keys = append(m.keys, key)
	}
	return m
}

func (m *macs) size() int { return m.length }

// prove tries all keys against all signatures, so that timing does not tell which one matched.
func (m *macs) prove(pieces []piece, signatures [][]byte) (id recibo.SecretID, ok bool) {
	for _, key := range m.keys {
		state := key.states.Get().(*macState)
		sum := state.mac(pieces, key.secret)
		for _, signature := range signatures {
			if hmac.Equal(sum, signature) && !ok {
				id, ok = key.id, true
			}
		}
		key.states.Put(state)
	}
	return id, ok
}

// mac hashes pieces, with the secret itself where the template has it.
func (s *macState) mac(pieces []piece, secret []byte) []byte {
	s.hash.Reset()
	for i := range pieces {
		if from := pieces[i].from; from != nil && from.kind == secretPart {
			s.hash.Write(secret)
		} else {
			s.hash.Write(pieces[i].bytes)
		}
	}
	return s.hash.Sum(s.sum[:0])
}

// sum is the HMAC of text under the key that id names.
func (m *macs) sum(id recibo.SecretID, text string) []byte {
	for _, key := range m.keys {
		if key.id == id {
			state := key.states.Get().(*macState)
			defer key.states.Put(state)
			return append([]byte(nil), state.mac([]piece{{bytes: []byte(text)}}, nil)...)
		}
	}
	return nil
}

// credentials are secrets that a sender shows as they are.
type credentials struct {
	ids     []recibo.SecretID
	digests [][sha256.Size]byte
}

func newCredentials(secrets [][]byte) *credentials {
	c := &credentials{}
	for _, secret := range secrets {
		c.ids = append(c.ids, secretID(secret, sha256.New))
		c.digests = append(c.digests, sha256.Sum256(secret))
	}
	return c
}

func (c *credentials) size() int { return 0 }

// prove compares digests: a credential's length must not show in the time either.
func (c *credentials) prove(_ []piece, shown [][]byte) (id recibo.SecretID, ok bool) {
	for i := range c.digests {
		for _, text := range shown {
			digest := sha256.Sum256(text)
			if hmac.Equal(digest[:], c.digests[i][:]) && !ok {
				id, ok = c.ids[i], true
			}
		}
	}
	return id, ok
}

// derived are the keys that the sender makes of its secrets.
func (s *signing) derived(secrets [][]byte) [][]byte {
	if s.derive == "" {
		return secrets
	}
	keys := make([][]byte, len(secrets))
	for i, secret := range secrets {
		h := hashes[s.derive]()
		h.Write(secret)
		keys[i] = h.Sum(nil)
	}
	return keys
}

// decodeSecrets decodes a source's secrets and refuses those that prove little.
func decodeSecrets(secrets []recibo.Secret, e encoding, forTests bool) ([][]byte, error) {
	var keys [][]byte
	for i, secret := range secrets {
		key, err := decodeSecret(secret, e)
		if err == nil {
			err = secret.CheckKey(key)
		}
		if err == nil && !forTests {
			err = checkPublished(secret, key)
		}
		if err != nil {
			return nil, fmt.Errorf("secret %d of %d: %w", i+1, len(secrets), err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func decodeSecret(secret recibo.Secret, e encoding) ([]byte, error) {
	text := secret.Reveal()
	switch {
	case strings.TrimSpace(text) == "":
		return nil, errors.New("it is empty: give the one that the sender shows")
	case strings.TrimRight(text, "\r\n") != text:
		return nil, errors.New("it ends in a line break: remove that from the file or variable it comes from")
	case strings.HasPrefix(text, "${") && strings.HasSuffix(text, "}"):
		return nil, errors.New("it is a placeholder that nothing filled in: write env:NAME in the configuration")
	}
	key, err := e.decode(text)
	if err != nil {
		return nil, fmt.Errorf("it is not %s: copy it from the sender as it stands there", e.describe())
	}
	return key, nil
}

func (e encoding) describe() string {
	switch e {
	case encPrefixed:
		return `"whsec_" and base64`
	case encUTF8:
		return "text"
	default:
		return string(e)
	}
}

// published are secrets that stand in senders' documents: whoever reads them can sign.
var published = []string{
	"It's a Secret to Everybody", "8f742231b10e8888abcd99yyyzzz85a5", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", "whsec_plJ3nmyCDGBKInavdOK15jsl",
	"44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
}

// checkPublished lets a published secret pass only where short ones may: in tests.
func checkPublished(secret recibo.Secret, key []byte) error {
	if secret.CheckKey(key[:1]) == nil {
		return nil
	}
	for _, p := range published {
		if secret.Reveal() == p {
			return errors.New("it stands in the sender's public documents: anyone can sign with it; make a new one, or set mode: test")
		}
	}
	return nil
}
