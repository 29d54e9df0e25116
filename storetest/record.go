package storetest

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recibohq/recibo"
)

var recordPromises = []promise{
	{"a fresh event is accepted and waits", func(b *bed) {
		got := b.wantRecord(delivery("a"), accepted)
		if got[0].Receipt.IsZero() {
			b.Error("it has no receipt")
		}
		b.wantStatus(recibo.Received, 1)
	}},
	{"a fresh event wakes the workers", func(b *bed) {
		b.record(delivery("a"))
		select {
		case <-b.Store.Wake():
		case <-time.After(time.Second):
			b.Error("no wake within a second")
		}
	}},
	{"events of one delivery are kept together and answered in order", func(b *bed) {
		r := delivery("a")
		r.Events = append(r.Events, event("b", 1), event("c", 1))
		b.wantRecord(r, accepted, accepted, accepted)
		b.wantReceipts(3)
		next := delivery("x")
		next.Events = []recibo.Event{event("b", 1), event("d", 1), event("a", 1)}
		b.wantRecord(next, duplicate, accepted, duplicate)
		b.wantReceipts(4)
	}},
	{"each destination gets a receipt", func(b *bed) {
		r := delivery("a")
		r.Destinations = []string{"billing", "crm"}
		b.wantRecord(r, accepted)
		b.wantReceipts(2)
		b.wantRecord(copyOf(r), duplicate)
		b.wantReceipts(2)
	}},
	{"a destination added later gets what it has not got", func(b *bed) {
		r := delivery("a")
		r.Destinations = []string{"billing"}
		first := b.wantRecord(r, accepted)
		r = copyOf(r)
		r.Destinations = []string{"billing", "crm"}
		second := b.wantRecord(r, accepted)
		b.wantReceipts(2)
		if first[0].Receipt != second[0].Receipt {
			b.Errorf("receipt = %s, want that of the first destination, %s", second[0].Receipt, first[0].Receipt)
		}
	}},
	{"one event that cannot be kept keeps out its whole delivery and nobody else", func(b *bed) {
		bad := delivery("a")
		bad.Events = append(bad.Events, event("b", 1))
		bad.Events[1].Type = "no\x00text"
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() { b.record(delivery(fmt.Sprint("good", i))) })
		}
		_, err := again(func() ([]recibo.Recorded, error) { return b.Store.Record(ctx, bad) })
		wg.Wait()
		if err == nil {
			b.Error("Record of a NUL character succeeded")
		}
		b.wantReceipts(20)
	}},
	{"values that a column cannot hold are refused", func(b *bed) {
		for name, spoil := range map[string]func(*recibo.Recording){
			"invalid UTF-8":     func(r *recibo.Recording) { r.Events[0].ID = "\xff" },
			"a long type":       func(r *recibo.Recording) { r.Events[0].Type = string(make([]byte, 5000)) },
			"a range outside":   func(r *recibo.Recording) { r.Events[0].End = len(r.Body) + 1 },
			"a negative range":  func(r *recibo.Recording) { r.Events[0].Start = -1 },
			"no key":            func(r *recibo.Recording) { r.Events[0].Key = "" },
			"no tenant":         func(r *recibo.Recording) { r.Tenant = "" },
			"no events":         func(r *recibo.Recording) { r.Events = nil },
			"no destination":    func(r *recibo.Recording) { r.Destinations = nil },
			"a NUL destination": func(r *recibo.Recording) { r.Destinations = []string{"\x00"} },
		} {
			r := delivery("a")
			spoil(r)
			_, err := again(func() ([]recibo.Recorded, error) { return b.Store.Record(ctx, r) })
			if err == nil {
				b.Errorf("Record of %s succeeded", name)
			}
		}
		b.wantReceipts(0)
	}},
	{"a closed store refuses every call", func(b *bed) {
		b.record(delivery("a"))
		l := b.lease(1, 1)[0]
		if err := b.Store.Store.(io.Closer).Close(); err != nil {
			b.Fatal(err)
		}
		want := recibo.ErrStoreClosed
		b.want(want, "Record", func() error { _, err := b.Store.Record(ctx, delivery("b")); return err })
		b.want(want, "Lease", func() error {
			_, err := b.Store.Lease(ctx, recibo.LeaseQuery{Max: 1, For: time.Minute})
			return err
		})
		b.want(want, "Extend", func() error { _, err := b.Store.Extend(ctx, l.Ref, time.Minute); return err })
		b.want(want, "SaveStep", func() error { return b.Store.SaveStep(ctx, l.Ref, recibo.KeptStep{Name: "a"}) })
		b.want(want, "Settle", func() error { return b.Store.Settle(ctx, l.Ref, recibo.Outcome{Kind: recibo.Done}) })
	}},
}

var copyPromises = []promise{
	{"a copy is a duplicate of the same receipt", func(b *bed) {
		r := delivery("a")
		first := b.wantRecord(r, accepted)
		second := b.wantRecord(copyOf(r), duplicate)
		if first[0].Receipt != second[0].Receipt {
			b.Errorf("receipt of the copy = %s, want %s", second[0].Receipt, first[0].Receipt)
		}
		b.wantReceipts(1)
	}},
	{"of 100 copies at once exactly one is accepted", func(b *bed) {
		wantOneAccepted(b, b.Store)
		b.wantReceipts(1)
	}},
	{"the same key twice in one delivery is accepted once", func(b *bed) {
		r := delivery("a")
		r.Events = append(r.Events, r.Events[0])
		got := b.wantRecord(r, accepted, duplicate)
		if got[0].Receipt != got[1].Receipt {
			b.Errorf("receipts = %s and %s, want one", got[0].Receipt, got[1].Receipt)
		}
		b.wantReceipts(1)
	}},
	{"another scope, namespace or destination has a memory of its own", func(b *bed) {
		b.wantRecord(delivery("a"), accepted)
		for name, change := range map[string]func(*recibo.Recording){
			"scope":       func(r *recibo.Recording) { r.Scope = "group" },
			"namespace":   func(r *recibo.Recording) { r.Namespace = "source/other" },
			"destination": func(r *recibo.Recording) { r.Destinations = []string{"crm"} },
		} {
			r := delivery("a")
			change(r)
			if got := b.record(r); got[0].Verdict != recibo.Accepted {
				b.Errorf("with another %s: %s, want accepted", name, got[0].Verdict)
			}
		}
		b.wantReceipts(4)
	}},
	{"a token is spent once, whatever id comes with it", func(b *bed) {
		r := tokenDelivery("a", "t1", 1)
		b.wantRecord(r, accepted)
		b.wantRecord(copyOf(r), duplicate)
		b.wantRecord(tokenDelivery("b", "t1", 1), conflict(recibo.TokenSpent))
		b.wantRecord(tokenDelivery("b", "t2", 1), accepted)
		b.wantReceipts(2)
	}},
	{"a known token id with other content is a conflict", func(b *bed) {
		b.wantRecord(tokenDelivery("a", "t1", 1), accepted)
		b.wantRecord(tokenDelivery("a", "t2", 2), conflict(recibo.OtherContent))
		b.wantReceipts(1)
	}},
	{"copies in many batches are all duplicates", func(b *bed) {
		r := delivery("a")
		b.wantRecord(r, accepted)
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() { b.wantRecord(copyOf(r), duplicate) })
		}
		wg.Wait()
		b.wantRecord(delivery("b"), accepted)
		b.wantReceipts(2)
	}},
}

// tokenDelivery is one event of a sender that signs a token and not the body.
func tokenDelivery(id, token string, content byte) *recibo.Recording {
	r := delivery(id)
	e := &r.Events[0]
	e.Key, e.Token = recibo.Key("tok:"+id), recibo.Key("tok:"+token)
	e.Content = recibo.Fingerprint{content}
	return r
}

// wantOneAccepted records 100 copies at once, in turn on each of the stores.
func wantOneAccepted(b *bed, stores ...recibo.Store) {
	b.Helper()
	r := delivery("a")
	var fresh, copies atomic.Int64
	var receipts sync.Map
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range 100 {
		s, c := stores[i%len(stores)], copyOf(r)
		wg.Go(func() {
			<-start
			got, err := again(func() ([]recibo.Recorded, error) { return s.Record(ctx, c) })
			switch {
			case err != nil:
				b.Errorf("Record = %v", err)
				return
			case got[0].Verdict == recibo.Accepted:
				fresh.Add(1)
			case got[0].Verdict == recibo.Duplicate:
				copies.Add(1)
			}
			receipts.Store(got[0].Receipt, true)
		})
	}
	close(start)
	wg.Wait()
	n := 0
	receipts.Range(func(any, any) bool { n++; return true })
	if fresh.Load() != 1 || copies.Load() != 99 || n != 1 {
		b.Errorf("%d accepted, %d duplicates, %d receipts; want 1, 99, 1", fresh.Load(), copies.Load(), n)
	}
}

// A Crowd says how to fill a store's queue.
type Crowd struct {
	Queue      int                    // calls that may wait
	Committers int                    // each has one more in its hands
	Stop       func() (resume func()) // keeps the store from committing until resume is called
}

// Full holds a store to its bound: what it cannot take it refuses at once, and one source has half of the queue at most.
func Full(t *testing.T, s recibo.Store, c Crowd) {
	b := newBed(t, s)
	resume := c.Stop()
	for i := range c.Committers {
		b.crowd(fmt.Sprint("first", i), 1, 0)
	}
	b.crowd("loud", c.Queue, c.Queue-c.Queue/2)
	b.crowd("quiet", c.Queue/2, 0)
	b.crowd("third", 3, 3)
	resume()
	for range 100 { // the calls that wait end by themselves
		if counts, err := b.shows.Counts(ctx, tenant); err == nil && counts[recibo.Received] == c.Committers+c.Queue {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.wantReceipts(c.Committers + c.Queue)
}

// crowd sends n deliveries of one source and wants so many refused; the others wait.
func (b *bed) crowd(source string, n, refused int) {
	b.Helper()
	var full atomic.Int64
	for i := range n {
		r := delivery(fmt.Sprint(source, i))
		r.Source = source
		go func() {
			if _, err := b.Store.Record(ctx, r); errors.Is(err, recibo.ErrStoreFull) {
				full.Add(1)
			}
		}()
	}
	time.Sleep(100 * time.Millisecond)
	if got := int(full.Load()); got != refused {
		b.Errorf("source %s: %d of %d refused, want %d", source, got, n, refused)
	}
}

// Poisoned holds a store to its promise that a value which only the database refuses fails alone. The database is to
// refuse the event type "poison".
func Poisoned(t *testing.T, s recibo.Store) {
	b := newBed(t, s)
	var wg sync.WaitGroup
	for i := range 60 {
		r := delivery(fmt.Sprint(i))
		if i%20 == 7 {
			r.Events = append(r.Events, event(fmt.Sprint(i, "poison"), 1))
			r.Events[1].Type = "poison"
		}
		wg.Go(func() {
			if _, err := s.Record(ctx, r); (err != nil) != (len(r.Events) == 2) {
				b.Errorf("Record of delivery %d = %v", i, err)
			}
		})
	}
	wg.Wait()
	b.wantReceipts(57)
}

// RecordOne records one event.
func RecordOne(t *testing.T, s recibo.Store) {
	newBed(t, s).record(delivery("a"))
}
