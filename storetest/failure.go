package storetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/recibohq/recibo"
)

// failurePromises are about calls whose answer is lost or late.
var failurePromises = []promise{
	{"a record whose answer was lost is a duplicate when sent again", func(b *bed) {
		r := delivery("a")
		b.lose(Record, func() error { _, err := b.Store.Record(ctx, r); return err })
		b.wantRecord(r, duplicate)
		b.wantReceipts(1)
	}},
	{"a review whose answer was lost counts once more and is one item", func(b *bed) {
		r := delivery("a")
		r.Events[0].Fault = recibo.Unreadable
		b.lose(Record, func() error { _, err := b.Store.Record(ctx, r); return err })
		b.wantRecord(r, held(recibo.Unreadable))
		b.wantReviews(1, 2)
	}},
	{"a settle whose answer was lost is lost when sent again, and done once", func(b *bed) {
		b.record(delivery("a"))
		l := b.lease(1, 1)[0]
		b.lose(Settle, func() error { return b.Store.Settle(ctx, l.Ref, done) })
		b.want(recibo.ErrLeaseLost, "Settle", func() error { return b.Store.Settle(ctx, l.Ref, done) })
		b.wantStatus(recibo.Processed, 1)
	}},
	{"a lease whose answer was lost counts and is found as lost", func(b *bed) {
		b.record(delivery("a"))
		b.lose(Lease, func() error {
			_, err := b.Store.Lease(ctx, recibo.LeaseQuery{Max: 1, For: time.Millisecond})
			return err
		})
		time.Sleep(20 * time.Millisecond)
		if l := b.lost(1)[0]; l.Attempt != 2 {
			b.Errorf("attempt = %d, want 2", l.Attempt)
		}
	}},
	{"a step whose answer was lost is kept once", func(b *bed) {
		b.record(delivery("a"))
		l := b.lease(1, 1)[0]
		step := recibo.KeptStep{Name: "charge", Result: []byte("1")}
		b.lose(SaveStep, func() error { return b.Store.SaveStep(ctx, l.Ref, step) })
		b.want(nil, "SaveStep", func() error { return b.Store.SaveStep(ctx, l.Ref, step) })
		b.settle(l, recibo.Outcome{Kind: recibo.Returned})
		if l = b.lease(1, 1)[0]; len(l.Steps) != 1 {
			b.Errorf("steps = %v, want one", l.Steps)
		}
	}},
	{"a slow call is like any other", func(b *bed) {
		b.Store.Next(Record, Slowly, Slowly)
		b.wantRecord(delivery("a"), accepted)
	}},
	{"a caller that leaves does not make the event run twice or vanish half", func(b *bed) {
		var wg sync.WaitGroup
		for i := range 40 {
			r := delivery(string(rune('A' + i)))
			r.Events = append(r.Events, event(string(rune('A'+i))+"2", 1))
			wg.Go(func() {
				short, cancel := context.WithTimeout(ctx, time.Duration(i)*50*time.Microsecond)
				defer cancel()
				_, err := b.Store.Record(short, r)
				if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrInjected) {
					b.Errorf("Record = %v, want the context's error", err)
				}
			})
		}
		wg.Wait()
		for i := range 40 {
			r := delivery(string(rune('A' + i)))
			r.Events = append(r.Events, event(string(rune('A'+i))+"2", 1))
			if got := b.record(r); got[0].Verdict != got[1].Verdict {
				b.Errorf("event one %s, event two %s: half a delivery was kept", got[0].Verdict, got[1].Verdict)
			}
		}
		b.wantReceipts(80)
	}},
}

// lose makes a call take effect and its answer disappear.
func (b *bed) lose(c Call, call func() error) {
	b.Helper()
	b.Store.forget(c)
	b.Store.Next(c, After)
	if err := call(); !errors.Is(err, ErrInjected) {
		b.Fatalf("%s = %v, want the injected failure", c, err)
	}
}

// forget drops the faults that a call was to have.
func (f *Failing) forget(c Call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next[c] = nil
}
