package storetest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recibohq/recibo"
)

var leasePromises = []promise{
	{"a lease brings what was recorded, byte for byte", func(b *bed) {
		r := delivery("a")
		r.Header, r.Body = []byte("{\"X\":\"\u00e9\"}"), []byte("\x00\xff[first][second]")
		r.Events[0].Start, r.Events[0].End = 2, 9
		r.Events[0].Object, r.Events[0].Version = "order/1", "7"
		r.Events[0].OccurredAt = time.UnixMicro(1_700_000_000_000_001).UTC()
		r.Destinations = []string{"billing"}
		id := b.record(r)[0].Receipt
		want := recibo.Receipt{
			ID: id, Tenant: tenant, Source: "shop", Namespace: "source/shop", Destination: "billing",
			Delivery: r.Delivery, Key: "id:a", EventID: "a", Type: "order.paid", Account: "acct_1",
			Object: "order/1", Version: "7", OccurredAt: r.Events[0].OccurredAt,
			ReceivedAt: r.ReceivedAt.UTC().Truncate(time.Microsecond),
			Header:     r.Header, Body: []byte("[first]"), Run: 1,
		}
		if diff := cmp.Diff(want, b.lease(1, 1)[0].Receipt); diff != "" {
			b.Errorf("receipt (-want +got):\n%s", diff)
		}
	}},
	{"each event of a delivery gets its own bytes", func(b *bed) {
		r := delivery("a")
		r.Body = []byte("[one,two]")
		r.Events = []recibo.Event{event("a", 4), event("b", 8)}
		r.Events[0].Start, r.Events[1].Start = 1, 5
		b.record(r)
		got := map[string]string{}
		for _, l := range b.lease(2, 2) {
			got[l.Receipt.EventID] = string(l.Receipt.Body)
		}
		if diff := cmp.Diff(map[string]string{"a": "one", "b": "two"}, got); diff != "" {
			b.Errorf("bodies (-want +got):\n%s", diff)
		}
	}},
	{"an empty body and no headers stay empty", func(b *bed) {
		r := delivery("a")
		r.Header, r.Body, r.Events[0].End = nil, nil, 0
		b.record(r)
		if l := b.lease(1, 1)[0]; len(l.Receipt.Header) != 0 || len(l.Receipt.Body) != 0 {
			b.Errorf("header %q, body %q; want nothing", l.Receipt.Header, l.Receipt.Body)
		}
	}},
	{"an attempt is counted before it runs", func(b *bed) {
		b.record(delivery("a"))
		if l := b.loseOne(); l.Attempt != 1 {
			b.Errorf("attempt = %d, want 1", l.Attempt)
		}
		if l := b.lost(1)[0]; l.Attempt != 2 {
			b.Errorf("attempt after a lost lease = %d, want 2", l.Attempt)
		}
	}},
	{"the end of a lease is by the store's clock and in the future", func(b *bed) {
		b.record(delivery("a"))
		l := b.lease(1, 1)[0]
		if d := time.Until(l.Until); d < 30*time.Second || d > 90*time.Second {
			b.Errorf("leased for a minute, ends in %s", d)
		}
	}},
	{"no more is leased than was asked for", func(b *bed) {
		for i := range 7 {
			b.record(delivery(fmt.Sprint(i)))
		}
		b.lease(3, 3)
		b.lease(0, 0)
		b.lease(10, 4)
	}},
	{"a held receipt is not leased again", func(b *bed) {
		b.record(delivery("a"))
		b.lease(1, 1)
		b.lease(1, 0)
		b.lost(0)
	}},
	{"a lost lease needs no janitor and is found only when asked for", func(b *bed) {
		b.record(delivery("a"))
		if got := b.query(recibo.LeaseQuery{Max: 0}); got.Lost {
			b.Error("Lost is said before any lease")
		}
		b.loseOne()
		got := b.query(recibo.LeaseQuery{Max: 10})
		if len(got.Leases) != 0 || !got.Lost {
			b.Errorf("Lease = %d receipts, lost %t; want none, true", len(got.Leases), got.Lost)
		}
		got = b.query(recibo.LeaseQuery{Max: 10, Lost: true})
		if len(got.Leases) != 1 || got.Lost {
			b.Errorf("Lease(lost) = %d receipts, lost %t; want 1, false", len(got.Leases), got.Lost)
		}
	}},
	{"numbers of leases only grow", func(b *bed) {
		b.record(delivery("a"))
		first := b.loseOne()
		second := b.lost(1)[0]
		if second.Ref.Number <= first.Ref.Number {
			b.Errorf("numbers %d, then %d", first.Ref.Number, second.Ref.Number)
		}
	}},
	{"a tenant with much work does not starve the others", func(b *bed) {
		for i := range 300 {
			b.record(delivery(fmt.Sprint(i)))
		}
		for _, name := range []string{"aa", "small", "tiny", "zz"} {
			r := delivery("x")
			r.Tenant, r.Scope = name, name
			b.record(r)
		}
		seen := map[string]int{}
		for range 5 {
			for _, l := range b.lease(2, 2) {
				seen[l.Receipt.Tenant]++
			}
		}
		if len(seen) != 5 {
			b.Errorf("ten leases went to %v, want all five tenants among them", seen)
		}
	}},
	{"what one tenant leaves goes to the others", func(b *bed) {
		for i := range 20 {
			b.record(delivery(fmt.Sprint(i)))
		}
		r := delivery("x")
		r.Tenant = "small"
		b.record(r)
		b.lease(10, 10)
	}},
	{"leases at once do not overlap", func(b *bed) {
		for i := range 60 {
			b.record(delivery(fmt.Sprint(i)))
		}
		wantNoOverlap(b, 60, b.Store)
	}},
	{"a held lease can be extended", func(b *bed) {
		b.record(delivery("a"))
		l := b.query(recibo.LeaseQuery{Max: 1, For: 2 * time.Second}).Leases[0]
		until, err := again(func() (time.Time, error) { return b.Store.Extend(ctx, l.Ref, time.Hour) })
		if err != nil || until.Sub(l.Until) < 30*time.Minute {
			b.Errorf("Extend by an hour = %s, %v; the lease ended at %s", until, err, l.Until)
		}
	}},
	{"a lease that ran out but that nobody took can be extended", func(b *bed) {
		b.record(delivery("a"))
		l := b.loseOne()
		b.want(nil, "Extend", func() error { _, err := b.Store.Extend(ctx, l.Ref, time.Minute); return err })
		b.lost(0)
	}},
	{"a kept step comes with the next lease, as it was first kept", func(b *bed) {
		b.record(delivery("a"))
		l := b.lease(1, 1)[0]
		if len(l.Steps) != 0 {
			b.Errorf("steps of the first lease = %v", l.Steps)
		}
		charge := recibo.KeptStep{Name: "charge", Result: []byte(`{"id":"ch_1"}`)}
		other, mail := recibo.KeptStep{Name: "charge", Result: []byte(`2`)}, recibo.KeptStep{Name: "mail", Result: []byte(`true`)}
		for _, step := range []recibo.KeptStep{charge, other, mail} {
			b.want(nil, "SaveStep", func() error { return b.Store.SaveStep(ctx, l.Ref, step) })
		}
		b.settle(l, recibo.Outcome{Kind: recibo.Again})
		l = b.lease(1, 1)[0]
		want := []recibo.KeptStep{charge, mail}
		if diff := cmp.Diff(want, l.Steps); diff != "" {
			b.Errorf("steps (-want +got):\n%s", diff)
		}
	}},
	{"a step that cannot be kept is refused", func(b *bed) {
		b.record(delivery("a"))
		l := b.lease(1, 1)[0]
		for _, name := range []string{"", "\x00", "\xff", strings.Repeat("x", 5000)} {
			_, err := again(func() (int, error) { return 0, b.Store.SaveStep(ctx, l.Ref, recibo.KeptStep{Name: name}) })
			if err == nil {
				b.Errorf("SaveStep(%.10q) succeeded", name)
			}
		}
	}},
}

// wantNoOverlap leases from eight goroutines, in turn on each of the stores, until nothing is left.
func wantNoOverlap(b *bed, want int, stores ...recibo.Store) {
	b.Helper()
	var mu sync.Mutex
	seen := map[recibo.ReceiptID]int{}
	var wg sync.WaitGroup
	for i := range 8 {
		s := stores[i%len(stores)]
		wg.Go(func() {
			for empty := 0; empty < 3; {
				got, err := again(func() (*recibo.Leased, error) {
					return s.Lease(ctx, recibo.LeaseQuery{Max: 3, For: time.Minute})
				})
				if err != nil {
					b.Errorf("Lease = %v", err)
					return
				}
				if len(got.Leases) == 0 {
					empty++
				}
				mu.Lock()
				for _, l := range got.Leases {
					seen[l.Ref.Receipt]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for id, n := range seen {
		if n != 1 {
			b.Errorf("%s was leased %d times", id, n)
		}
	}
	if len(seen) != want {
		b.Errorf("%d receipts were leased, want %d", len(seen), want)
	}
}
