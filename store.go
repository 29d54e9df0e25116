package recibo

import (
	"context"
	"errors"
	"time"
)

// What a Store answers when it does not do what was asked.
var (
	// ErrLeaseLost: another attempt has taken the receipt since, or it is settled. Nothing was changed.
	ErrLeaseLost = errors.New("lease lost")
	// ErrStoreFull: too many calls wait already. Nothing was changed.
	ErrStoreFull = errors.New("store is full")
	// ErrStoreClosed: the store is closing or closed. Nothing was changed.
	ErrStoreClosed = errors.New("store is closed")
)

// A Store keeps receipts. Each call is atomic; calls may share a commit. An error other than those above leaves it
// unknown whether the call took effect. What every Store must keep is written down as cases in package storetest.
type Store interface {
	// Record keeps a receipt per event and destination unless its key is taken, and the review items. It returns only when
	// all is durable, with one result per event, in order. It answers [ErrStoreFull] rather than wait without bound.
	Record(ctx context.Context, r *Recording) ([]Recorded, error)
	// Lease takes up to q.Max receipts that are due, counting an attempt on each, with their kept steps.
	Lease(ctx context.Context, q LeaseQuery) (*Leased, error)
	// Extend moves the end of a held lease to now and d by the store's clock, and returns that end.
	Extend(ctx context.Context, l LeaseRef, d time.Duration) (time.Time, error)
	// SaveStep keeps a finished step of the receipt's run.
	SaveStep(ctx context.Context, l LeaseRef, step KeptStep) error
	// Settle ends a held lease with the attempt's outcome.
	Settle(ctx context.Context, l LeaseRef, o Outcome) error
}

// A Waker is a Store that can say when something became due in this process, so that workers need not wait for their
// next poll. The channel carries one token at most.
type Waker interface {
	Wake() <-chan struct{}
}

// A Recording is what one verified delivery brings to be kept.
type Recording struct {
	Delivery   DeliveryID
	RequestID  string
	Source     string
	Tenant     string
	Scope      string
	Namespace  string
	ReceivedAt time.Time
	SentAt     time.Time // the verified send time, zero if none is signed
	Secret     SecretID
	Header     []byte // a JSON object of strings: the allowed ones only
	Body       []byte
	// Events with a Fault become review items; the others receipts, one per destination.
	Events       []Event
	Destinations []string
	Serial       bool // at most one attempt on an event's object at a time
	// What Judge has to know of the sender.
	ContentStable, TypeSigned, AccountSigned bool
}

// Recorded is what became of one event.
type Recorded struct {
	Verdict Verdict // accepted, duplicate, held, conflict
	Reason  Reason
	Receipt ReceiptID // the event's, of its first destination; zero for one with a Fault
}

// A LeaseQuery asks for work.
type LeaseQuery struct {
	Max int
	For time.Duration
	// Lost asks for receipts whose last lease ran out instead of those that wait. Such a one may be what killed the
	// process, so it is to run alone.
	Lost bool
}

// Leased is what Lease took.
type Leased struct {
	Leases []Lease
	// Lost says that receipts whose lease ran out are waiting.
	Lost bool
}

// A LeaseRef names one lease of one receipt. Its number only grows.
type LeaseRef struct {
	Receipt ReceiptID
	Number  int64
}

// A Lease is the right to work on a receipt until a time, with what the attempt needs.
type Lease struct {
	Ref     LeaseRef
	Until   time.Time // by the store's clock
	Attempt int       // 1 for the first try of the run
	Receipt Receipt
	Steps   []KeptStep
}

// A KeptStep is a finished piece of an attempt, kept so that a later attempt does not do it again.
type KeptStep struct {
	Name   string
	Result []byte // JSON
}

// An OutcomeKind says how an attempt ended.
type OutcomeKind string

// The ways an attempt ends.
const (
	Done     OutcomeKind = "done"     // the receipt is processed
	Again    OutcomeKind = "again"    // it failed and is to be tried again
	GiveUp   OutcomeKind = "give_up"  // it failed for good
	Returned OutcomeKind = "returned" // not run or cut short by a shutdown; the attempt is not counted
)

// An Outcome is how an attempt ended.
type Outcome struct {
	Kind    OutcomeKind
	Result  string        // what was done, at most [MaxResult] bytes
	Error   string        // why it failed, at most [MaxResult] bytes
	RetryIn time.Duration // for Again, by the store's clock
}

// MaxResult is how many bytes of a result or an error are kept.
const MaxResult = 512
