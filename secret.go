package recibo

import (
	"fmt"
	"log/slog"
)

// MinSecret is how many bytes a secret must have once it is decoded: below 128 bits a signature proves little.
const MinSecret = 16

// A Secret is what a sender and a source share. It never prints, in any format. The zero Secret is empty, and a source
// that holds an empty one does not start.
type Secret struct {
	text     string
	insecure bool
}

// NewSecret holds text as the sender shows it, prefix and all: "whsec_…". A source refuses one of fewer than
// [MinSecret] bytes once decoded.
func NewSecret(text string) Secret { return Secret{text: text} }

// InsecureSecret is a secret that may be shorter than [MinSecret] bytes, for tests and for senders that give no better
// one. It still may not be empty.
func InsecureSecret(text string) Secret { return Secret{text: text, insecure: true} }

// Reveal returns the text. Only what signs and verifies calls it.
func (s Secret) Reveal() string { return s.text }

// CheckKey says whether key, decoded from s, is long enough to be used.
func (s Secret) CheckKey(key []byte) error {
	switch {
	case len(key) == 0:
		return fmt.Errorf("secret is empty: give the one that the sender shows")
	case len(key) < MinSecret && !s.insecure:
		return fmt.Errorf("secret has %d bytes once decoded, fewer than %d: make a longer one at the sender", len(key), MinSecret)
	}
	return nil
}

const hidden = "[secret]"

// String hides the secret.
func (Secret) String() string { return hidden }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return hidden }

// Format hides the secret from every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, hidden) }

// MarshalText hides the secret from JSON, YAML and the like.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue hides the secret from logs.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
