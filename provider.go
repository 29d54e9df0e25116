package recibo

import (
	"context"
	"net/http"
	"time"
)

// A Provider is a kind of sender. Package provider has the catalogue of them.
type Provider interface {
	// Name is the provider's slug: "stripe".
	Name() string
	// Bind checks a source's variant, secrets, public keys and parameters, once, before anything listens. Its error ends
	// with what to do about it.
	Bind(s *Source) (Verifier, error)
}

// A Verifier judges the deliveries of one source. It is safe for concurrent use and reads no clock.
type Verifier interface {
	// Verify checks the signature over the delivery as received, trying all secrets. The error is, or wraps, a [Reason].
	Verify(ctx context.Context, d *Delivery) (*Verified, error)
	// Events reads the events of a delivery that verified: at least one. What verified but cannot be read is an event with
	// a Fault, so that it can be kept for review.
	Events(d *Delivery, v *Verified) []Event
	// Profile says how the source's sender behaves.
	Profile() *Profile
	// Secrets identifies the symmetric secrets that verify; each may serve one scope and namespace only.
	Secrets() []SecretID
}

// A Challenger is a Verifier whose sender checks the address now and then. Challenge answers a delivery that verified
// and is such a check; it returns nil for an ordinary one.
type Challenger interface {
	Challenge(d *Delivery, v *Verified) (*Answer, error)
}

// A Greeter is a Verifier whose sender makes requests that are no deliveries, to check the address: with GET, HEAD or
// OPTIONS, or with a POST that it does not sign. Greet decides nothing but the answer: such a request is never stored.
type Greeter interface {
	// Methods are those of such checks beside POST.
	Methods() []string
	// Greet answers such a check; anything else is nil. A POST comes here only if Verify found no signature in it, so a
	// delivery can never be taken for a check.
	Greet(d *Delivery) (*Answer, error)
}

// A Fetch gets what a sender publishes at an address: keys and certificates. The address is the profile's, never one that
// a delivery names at will. Package provider has one.
type Fetch func(ctx context.Context, url string) ([]byte, error)

// Verified is what a signature proved.
type Verified struct {
	// Secret tells apart the secrets of a source without revealing them: a digest of the one that matched.
	Secret SecretID
	// At is the signed time, zero if the sender signs none.
	At time.Time
	// Expires is until when the signature itself says that it may be used; zero if it does not say.
	Expires time.Time
	// Content is the digest of the bytes that verified, less what changes between tries.
	Content Fingerprint
	// Scheme is the verifier's own: what it read on the way and will need again.
	Scheme any
}

// A SecretID is a digest of a secret's key block, short enough to say nothing about it.
type SecretID [8]byte

// A TimeKind says what a signed time is the time of.
type TimeKind string

// The kinds of signed time.
const (
	NoTime    TimeKind = ""      // no time is signed: only the kept receipt stops a replay
	SendTime  TimeKind = "send"  // new on each try: held to the tolerance, both ways
	EventTime TimeKind = "event" // equal on each try, or not known to be renewed: older than the horizon goes to review
)

// A Profile says what the receiver has to know of a sender beyond its signature.
type Profile struct {
	KeyKind       KeyKind
	TimeKind      TimeKind
	Tolerance     time.Duration // for SendTime; the sender's recommendation, 0 if it has none
	Horizon       time.Duration // for EventTime: the longest retry or manual resend, and a day
	ContentStable bool          // the signed content is known to be equal on every try
	TypeSigned    bool
	AccountSigned bool
	TypesShare    bool     // several types may carry equal bytes: each (content, type) counts once
	SharedKey     bool     // one key serves all the sender's customers: the source must name its accounts
	Family        string   // joined sources must agree on it; the provider's name by default
	Acknowledge   Answer   // the answer to what is kept; status 200 and no body by default
	RefuseStatus  int      // the answer to a bad signature; 401 by default
	BareRefusals  bool     // refusals have no body
	KeepHeaders   []string // what is kept beside Content-Type and User-Agent; never the signature
}

// An Answer is what goes back to the sender.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte
	Header      http.Header // beside Content-Type; canonical names
}
