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

// A watch sees whether an object is worked on twice at once.
type watch struct {
	*bed
	mu   sync.Mutex
	busy map[string]bool
}

func (w *watch) enter(object string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy[object] {
		w.Errorf("%s is worked on twice at once", object)
	}
	w.busy[object] = true
}

func (w *watch) leave(object string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy[object] = false
}

// workAll settles everything from all stores under a watch.
func workAll(b *bed, stores ...recibo.Store) {
	w := &watch{bed: b, busy: map[string]bool{}}
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for idle := 0; idle < 20; {
				if w.workOnce(stores[i%len(stores)]) == 0 {
					idle++
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
}

func (w *watch) workOnce(s recibo.Store) (n int) {
	got, err := s.Lease(ctx, recibo.LeaseQuery{Max: 2, For: time.Minute})
	if err != nil {
		w.Errorf("Lease = %v", err)
		return 0
	}
	for _, l := range got.Leases {
		w.enter(l.Receipt.Object)
	}
	for _, l := range got.Leases {
		w.leave(l.Receipt.Object)
		if err := s.Settle(ctx, l.Ref, done); err != nil {
			w.Errorf("Settle = %v", err)
		}
	}
	return len(got.Leases)
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
