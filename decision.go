package recibo

import (
	"net/http"
	"time"
)

// A Verdict is what became of a delivery.
type Verdict string

// The verdicts. A delivery with several events is accepted if any of them was.
const (
	Accepted    Verdict = "accepted"    // a new event: its receipt is durable
	Duplicate   Verdict = "duplicate"   // a copy of a kept event: nothing runs
	Conflict    Verdict = "conflict"    // a known key with other content: kept for review, nothing runs
	Held        Verdict = "held"        // known content under another unsigned name, or unreadable: kept for review
	Challenged  Verdict = "challenged"  // a handshake, answered
	Rejected    Verdict = "rejected"    // not acceptable as it is; nothing was kept
	Unavailable Verdict = "unavailable" // not now: the sender should send it again
)

// A Reason says why. It is an error, a log value and a metric label.
type Reason string

// Error is the reason's own word.
func (r Reason) Error() string { return string(r) }

// Why a delivery was rejected.
const (
	MissingSignature   Reason = "missing_signature"
	MalformedSignature Reason = "malformed_signature" // repeated, oversized, wrongly encoded, or a time that is no time
	BadSignature       Reason = "bad_signature"
	TooOld             Reason = "too_old"
	TooNew             Reason = "too_new"
	WrongAccount       Reason = "wrong_account"
	BadChallenge       Reason = "bad_challenge" // a handshake that is not well formed
	WrongMethod        Reason = "wrong_method"
	UnknownPath        Reason = "unknown_path"
	TooLarge           Reason = "too_large"
	SlowBody           Reason = "slow_body"
	BrokenBody         Reason = "broken_body"
)

// Why a delivery was kept for review.
const (
	Unreadable   Reason = "unreadable"    // verified, but not what the sender's profile says it is
	NoKey        Reason = "no_key"        // verified, but nothing in it can name the event
	MissingField Reason = "missing_field" // verified, but a path that the source requires is not there
	ForPerson    Reason = "for_person"    // verified, and no event: the sender asks a person to act, such as to confirm a subscription
	PastHorizon  Reason = "past_horizon"  // the event's own signed time is older than any honest retry
	OtherID      Reason = "other_id"
	OtherType    Reason = "other_type"
	OtherAccount Reason = "other_account"
	OtherContent Reason = "other_content"
	TokenSpent   Reason = "token_spent"
)

// Why a delivery could not be taken now.
const (
	StoreFailed     Reason = "store_failed"      // an error, or no answer in time: the outcome may be unknown
	StoreFull       Reason = "store_full"        // too many deliveries wait for the store
	Stopping        Reason = "stopping"          // the receiver is shutting down
	BodyAlreadyRead Reason = "body_already_read" // a middleware consumed the bytes that are signed
	Fault           Reason = "fault"             // our own bug
)

// ours are the reasons that are no fault of the sender: always 503, never 4xx.
var ours = []Reason{StoreFailed, StoreFull, Stopping, BodyAlreadyRead, Fault}

// A Decision is what became of a delivery and why, with time and place.
type Decision struct {
	Verdict   Verdict
	Reason    Reason // empty for accepted, duplicate and challenged
	Delivery  DeliveryID
	RequestID string
	Receipt   ReceiptID // the first event's; zero when nothing was kept
	Tenant    string
	Source    string
	Type      string
	Events    int
	At        time.Time
	Answer    *Answer // a handshake's own answer
	Detail    string  // for the operator's log, never for the sender
}

// An intent is what an answer means to the sender.
type intent int

const (
	acknowledge intent = iota // we have it
	retryLater                // send the same again
	refuse                    // not acceptable as it is
	challenge                 // a handshake's own answer
)

func (d *Decision) intent() intent {
	switch d.Verdict {
	case Unavailable:
		return retryLater
	case Rejected:
		return refuse
	case Challenged:
		return challenge
	default:
		return acknowledge
	}
}

// refusals is the one table from a rejection to its status. A signature's status may be the sender's own.
var refusals = map[Reason]int{
	TooOld:       http.StatusBadRequest,
	TooNew:       http.StatusBadRequest,
	WrongAccount: http.StatusForbidden,
	BadChallenge: http.StatusForbidden,
	WrongMethod:  http.StatusMethodNotAllowed,
	UnknownPath:  http.StatusNotFound,
	TooLarge:     http.StatusRequestEntityTooLarge,
	SlowBody:     http.StatusRequestTimeout,
	BrokenBody:   http.StatusBadRequest,
}

// Status is the HTTP status that answers d to a sender of profile p. What was not stored is never answered 2xx.
func (d *Decision) Status(p *Profile) int {
	switch d.intent() {
	case retryLater:
		return http.StatusServiceUnavailable
	case challenge:
		return d.Answer.Status
	case acknowledge:
		return orDefault(p.Acknowledge.Status, http.StatusOK)
	}
	if status, ok := refusals[d.Reason]; ok {
		return status
	}
	return orDefault(p.RefuseStatus, http.StatusUnauthorized)
}

// orDefault returns v unless it is the zero value.
func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
