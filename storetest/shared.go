package storetest

import (
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/recibohq/recibo"
)

// Reopen holds a store to what it must keep while it is closed. open opens the same database each time.
func Reopen(t *testing.T, open func() recibo.Store) {
	b := newBed(t, open())
	b.record(delivery("waits"))
	b.record(delivery("works"))
	fault := delivery("fault")
	fault.Events[0].Fault = recibo.Unreadable
	b.record(fault)
	leases := b.lease(2, 2)
	b.settle(leases[0], recibo.Outcome{Kind: recibo.Returned})
	step := recibo.KeptStep{Name: "charge", Result: []byte("1")}
	b.want(nil, "SaveStep", func() error { return b.Store.SaveStep(ctx, leases[1].Ref, step) })
	if err := b.Store.Store.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}

	b = newBed(t, open())
	b.wantRecord(delivery("waits"), duplicate)
	b.wantRecord(delivery("works"), duplicate)
	b.wantReceipts(2)
	b.wantReviews(1, 1)
	b.lease(10, 1)
	b.lost(0)
	b.settle(leases[1], recibo.Outcome{Kind: recibo.Returned})
	if l := b.lease(1, 1)[0]; len(l.Steps) != 1 {
		b.Errorf("steps = %v, want the kept one", l.Steps)
	}
}

// Nodes holds two stores on one database to what they must keep together. open opens the same fresh database twice.
func Nodes(t *testing.T, open func(t *testing.T) (one, two recibo.Store)) {
	t.Run("of 100 copies at once on two nodes exactly one is accepted", func(t *testing.T) {
		one, two := open(t)
		b := newBed(t, one)
		wantOneAccepted(b, one, two)
		b.wantReceipts(1)
	})
	t.Run("two nodes never lease the same receipt", func(t *testing.T) {
		one, two := open(t)
		b := newBed(t, one)
		for i := range 200 {
			b.record(delivery(fmt.Sprint(i)))
		}
		wantNoOverlap(b, 200, one, two)
	})
	t.Run("two nodes never work on one object at once", func(t *testing.T) {
		one, two := open(t)
		b := newBed(t, one)
		for i := range 50 {
			b.record(serial(fmt.Sprint(i), fmt.Sprint("order/", i%5)))
		}
		workAll(b, one, two)
		b.wantStatus(recibo.Processed, 50)
	})
	t.Run("batches that cross do not deadlock", func(t *testing.T) {
		one, two := open(t)
		cross(newBed(t, one), one, two)
	})
}

// workAll settles everything from both stores and watches that no object is worked on twice at once.
func workAll(b *bed, stores ...recibo.Store) {
	b.Helper()
	var mu sync.Mutex
	busy := map[string]bool{}
	enter := func(object string, in bool) {
		mu.Lock()
		defer mu.Unlock()
		if in && busy[object] {
			b.Errorf("%s is worked on twice at once", object)
		}
		busy[object] = in
	}
	var wg sync.WaitGroup
	for i := range 6 {
		s := stores[i%len(stores)]
		wg.Go(func() {
			for idle := 0; idle < 20; {
				got, err := s.Lease(ctx, recibo.LeaseQuery{Max: 2, For: time.Minute})
				if err != nil {
					b.Errorf("Lease = %v", err)
					return
				}
				if len(got.Leases) == 0 {
					idle++
					time.Sleep(10 * time.Millisecond)
				}
				for _, l := range got.Leases {
					enter(l.Receipt.Object, true)
				}
				for _, l := range got.Leases {
					enter(l.Receipt.Object, false)
					if err := s.Settle(ctx, l.Ref, done); err != nil {
						b.Errorf("Settle = %v", err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// cross records the same keys from both stores in opposite orders, many in each delivery.
func cross(b *bed, stores ...recibo.Store) {
	const keys, deliveries = 40, 20
	var wg sync.WaitGroup
	for i := range deliveries {
		r := delivery("x")
		r.Events = nil
		for k := range keys {
			if i%2 == 1 {
				k = keys - 1 - k
			}
			r.Events = append(r.Events, event(fmt.Sprint("key", k), 1))
		}
		s := stores[i%len(stores)]
		wg.Go(func() {
			if _, err := s.Record(ctx, r); err != nil {
				b.Errorf("Record = %v", err)
			}
		})
	}
	wg.Wait()
	b.wantReceipts(keys)
}
