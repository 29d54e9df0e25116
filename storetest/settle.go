package storetest

import (
	"strings"
	"time"

	"github.com/recibohq/recibo"
)

var done = recibo.Outcome{Kind: recibo.Done, Result: "shipped"}

var settlePromises = []promise{
	{"what is done is never leased again", func(b *bed) {
		b.record(delivery("a"))
		b.settle(b.lease(1, 1)[0], done)
		b.wantStatus(recibo.Processed, 1)
		b.lease(1, 0)
		b.lost(0)
		b.wantRecord(delivery("a"), duplicate)
	}},
	{"what is given up is never leased again", func(b *bed) {
		b.record(delivery("a"))
		b.settle(b.lease(1, 1)[0], recibo.Outcome{Kind: recibo.GiveUp, Error: "no such order"})
		b.wantStatus(recibo.Failed, 1)
		b.lease(1, 0)
	}},
	{"what is to be tried again is due when it is due", func(b *bed) {
		b.record(delivery("a"))
		b.settle(b.lease(1, 1)[0], recibo.Outcome{Kind: recibo.Again, Error: "timeout", RetryIn: 200 * time.Millisecond})
		b.wantStatus(recibo.Received, 1)
		b.lease(1, 0)
		time.Sleep(250 * time.Millisecond)
		if l := b.lease(1, 1)[0]; l.Attempt != 2 {
			b.Errorf("attempt = %d, want 2", l.Attempt)
		}
	}},
	{"what is given back is due at once and not counted", func(b *bed) {
		b.record(delivery("a"))
		b.settle(b.lease(1, 1)[0], recibo.Outcome{Kind: recibo.Returned})
		if l := b.lease(1, 1)[0]; l.Attempt != 1 {
			b.Errorf("attempt = %d, want 1", l.Attempt)
		}
	}},
	{"what is to be tried at once wakes the workers", func(b *bed) {
		b.record(delivery("a"))
		l := b.lease(1, 1)[0]
		select {
		case <-b.Store.Wake():
		default:
		}
		b.settle(l, recibo.Outcome{Kind: recibo.Returned})
		select {
		case <-b.Store.Wake():
		case <-time.After(time.Second):
			b.Error("no wake within a second")
		}
	}},
	{"a lease is settled once", func(b *bed) {
		b.record(delivery("a"))
		l := b.lease(1, 1)[0]
		b.settle(l, done)
		wantLost(b, l)
		b.wantStatus(recibo.Processed, 1)
	}},
	{"a lease that was never taken is no lease", func(b *bed) {
		b.record(delivery("a"))
		l := b.lease(1, 1)[0]
		l.Ref.Number++
		wantLost(b, l)
		l.Ref = recibo.LeaseRef{Receipt: recibo.NewReceiptID(time.Now()), Number: 1}
		wantLost(b, l)
		b.wantStatus(recibo.Processing, 1)
	}},
	{"a worker that comes back late is refused and changes nothing", func(b *bed) {
		b.record(delivery("a"))
		late := b.loseOne()
		l := b.lost(1)[0]
		wantLost(b, late)
		b.wantStatus(recibo.Processing, 1)
		b.settle(l, recibo.Outcome{Kind: recibo.Again})
		wantLost(b, late)
		if l = b.lease(1, 1)[0]; len(l.Steps) != 0 {
			b.Errorf("the late worker's step was kept: %v", l.Steps)
		}
	}},
	{"a lease that ran out but that nobody took is settled all the same", func(b *bed) {
		b.record(delivery("a"))
		b.settle(b.loseOne(), done)
		b.wantStatus(recibo.Processed, 1)
		b.lost(0)
	}},
	{"a long result or error is cut where a character ends", func(b *bed) {
		b.record(delivery("a"))
		long := "x" + strings.Repeat("\u20ac", recibo.MaxResult)
		b.settle(b.lease(1, 1)[0], recibo.Outcome{Kind: recibo.Again, Error: long})
		b.settle(b.lease(1, 1)[0], recibo.Outcome{Kind: recibo.GiveUp, Error: "\xff\x00" + long})
		b.wantStatus(recibo.Failed, 1)
	}},
	{"an unknown outcome is refused", func(b *bed) {
		b.record(delivery("a"))
		l := b.lease(1, 1)[0]
		_, err := again(func() (int, error) { return 0, b.Store.Settle(ctx, l.Ref, recibo.Outcome{Kind: "maybe"}) })
		if err == nil {
			b.Error("Settle(maybe) succeeded")
		}
		b.settle(l, done)
	}},
}

// wantLost tries everything that a lease allows and wants all of it refused.
func wantLost(b *bed, l recibo.Lease) {
	b.Helper()
	want := recibo.ErrLeaseLost
	b.want(want, "SaveStep", func() error {
		return b.Store.SaveStep(ctx, l.Ref, recibo.KeptStep{Name: "late", Result: []byte("1")})
	})
	b.want(want, "Extend", func() error { _, err := b.Store.Extend(ctx, l.Ref, time.Minute); return err })
	for _, kind := range []recibo.OutcomeKind{recibo.Done, recibo.Again, recibo.GiveUp, recibo.Returned} {
		b.want(want, "Settle "+string(kind), func() error { return b.Store.Settle(ctx, l.Ref, recibo.Outcome{Kind: kind}) })
	}
}
