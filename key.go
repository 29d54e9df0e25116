package recibo

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxKey is how many bytes one part of a key may have. A longer one makes the event unreadable.
const MaxKey = 512

// A KeyKind says what sort of fact names an event. The kind is part of the key, so keys of two kinds never meet.
type KeyKind string

// The kinds of key. Which one a sender has is a fact of its profile; whether the signature covers what the key is made
// of follows from the scheme.
const (
	KeyID          KeyKind = "id"   // a signed id, equal on every try and never used for another event
	KeyFingerprint KeyKind = "fp"   // the digest of the bytes that verified
	KeyComposite   KeyKind = "cmp"  // signed fields that name the event together
	KeyToken       KeyKind = "tok"  // a signed one-time part; the body is not signed
	KeyCredential  KeyKind = "cred" // nothing is signed: an unsigned id or the body, stops honest repeats only
)

// A Key names an event within its scope and namespace. Its text is the kind, a colon and the one part, or, for several
// parts, each with its length in front: "cmp:3:abc,0:". The zero Key names nothing.
type Key string

// NewKey makes a key of kind from parts. A part must be valid UTF-8 without control characters and at most [MaxKey]
// bytes; the only part may not be blank, nor may all of several.
func NewKey(kind KeyKind, parts ...string) (Key, error) {
	empty := true
	for _, p := range parts {
		if err := checkKeyPart(p); err != nil {
			return "", err
		}
		empty = empty && strings.TrimSpace(p) == ""
	}
	if empty {
		return "", fmt.Errorf("%w: empty", NoKey)
	}
	if len(parts) == 1 {
		return Key(string(kind) + ":" + parts[0]), nil
	}
	return Key(string(kind) + ":" + netstrings(parts)), nil
}

// FingerprintKey is the key of an event that is named by its content.
func FingerprintKey(kind KeyKind, f Fingerprint) Key { return Key(string(kind) + ":" + f.String()) }

// Kind is the key's kind.
func (k Key) Kind() KeyKind {
	kind, _, _ := strings.Cut(string(k), ":")
	return KeyKind(kind)
}

func netstrings(parts []string) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(len(p)))
		b.WriteByte(':')
		b.WriteString(p)
	}
	return b.String()
}

func checkKeyPart(p string) error {
	if len(p) > MaxKey {
		return fmt.Errorf("%w: %d bytes, more than %d", NoKey, len(p), MaxKey)
	}
	for i, r := range p {
		if r < 0x20 || r == 0x7f {
			return fmt.Errorf("%w: control character at byte %d", NoKey, i)
		}
	}
	if !utf8.ValidString(p) {
		return fmt.Errorf("%w: not UTF-8", NoKey)
	}
	return nil
}

// A Fingerprint is the SHA-256 of a tag and of the exact bytes that verified, less what changes between tries.
type Fingerprint [sha256.Size]byte

// String is the fingerprint in hex.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// An Identity is what the UNIQUE constraint is over: the first 16 bytes of SHA-256 over scope, namespace, key and
// destination, each with its length in front. One narrow column, since a UNIQUE over the columns themselves was measured
// to halve the insert rate at ten million rows.
type Identity [16]byte

// NewIdentity digests what a receipt is unique in.
func NewIdentity(scope, namespace string, key Key, destination string) (id Identity) {
	var b []byte
	for _, part := range [...]string{scope, namespace, string(key), destination} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(part)))
		b = append(b, part...)
	}
	sum := sha256.Sum256(b)
	copy(id[:], sum[:])
	return id
}
