package storetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/recibohq/recibo"
)

// ErrInjected is what a [Failing] answers when told to.
var ErrInjected = errors.New("injected failure")

// A Call names a method of a store.
type Call string

// The calls.
const (
	Record   Call = "Record"
	Lease    Call = "Lease"
	Extend   Call = "Extend"
	SaveStep Call = "SaveStep"
	Settle   Call = "Settle"
)

// A Fault is a way to fail.
type Fault int

// The faults.
const (
	None   Fault = iota
	Before       // the call does nothing and answers [ErrInjected]
	After        // the call takes effect and answers [ErrInjected]: its answer was lost
	Slowly       // the call takes effect after Failing.Delay
)

// A Failing is a store that fails on command.
type Failing struct {
	recibo.Store
	Delay time.Duration // of slow calls

	mu   sync.Mutex
	next map[Call][]Fault
}

// NewFailing wraps s; until told otherwise it does what s does.
func NewFailing(s recibo.Store) *Failing {
	return &Failing{Store: s, Delay: 50 * time.Millisecond, next: map[Call][]Fault{}}
}

// Next makes the next calls of c fail so, one after the other.
func (f *Failing) Next(c Call, faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next[c] = append(f.next[c], faults...)
}

func (f *Failing) take(c Call) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	faults := f.next[c]
	if len(faults) == 0 {
		return None
	}
	f.next[c] = faults[1:]
	return faults[0]
}

func failing[T any](f *Failing, c Call, call func() (T, error)) (T, error) {
	var none T
	fault := f.take(c)
	switch fault {
	case Before:
		return none, ErrInjected
	case Slowly:
		time.Sleep(f.Delay)
	}
	v, err := call()
	if fault == After && err == nil {
		return none, ErrInjected
	}
	return v, err
}

// Record is the store's, or fails.
func (f *Failing) Record(ctx context.Context, r *recibo.Recording) ([]recibo.Recorded, error) {
	return failing(f, Record, func() ([]recibo.Recorded, error) { return f.Store.Record(ctx, r) })
}

// Lease is the store's, or fails.
func (f *Failing) Lease(ctx context.Context, q recibo.LeaseQuery) (*recibo.Leased, error) {
	return failing(f, Lease, func() (*recibo.Leased, error) { return f.Store.Lease(ctx, q) })
}

// Extend is the store's, or fails.
func (f *Failing) Extend(ctx context.Context, l recibo.LeaseRef, d time.Duration) (time.Time, error) {
	return failing(f, Extend, func() (time.Time, error) { return f.Store.Extend(ctx, l, d) })
}

// SaveStep is the store's, or fails.
func (f *Failing) SaveStep(ctx context.Context, l recibo.LeaseRef, step recibo.KeptStep) error {
	_, err := failing(f, SaveStep, func() (struct{}, error) { return struct{}{}, f.Store.SaveStep(ctx, l, step) })
	return err
}

// Settle is the store's, or fails.
func (f *Failing) Settle(ctx context.Context, l recibo.LeaseRef, o recibo.Outcome) error {
	_, err := failing(f, Settle, func() (struct{}, error) { return struct{}{}, f.Store.Settle(ctx, l, o) })
	return err
}

// Wake is the store's; a store that cannot wake gives a channel that never speaks.
func (f *Failing) Wake() <-chan struct{} {
	if w, ok := f.Store.(recibo.Waker); ok {
		return w.Wake()
	}
	return nil
}
