package storetest

import (
	"fmt"
	"time"

	"github.com/recibohq/recibo"
)

var objectPromises = []promise{
	{"no two attempts on one object hold a lease", func(b *bed) {
		for i := range 5 {
			b.record(serial(fmt.Sprint(i), "order/1"))
		}
		b.record(serial("other", "order/2"))
		b.lease(10, 2)
		b.lease(10, 0)
	}},
	{"objects are free where no order was asked for", func(b *bed) {
		for i := range 3 {
			r := serial(fmt.Sprint(i), "order/1")
			r.Serial = false
			b.record(r)
		}
		b.lease(10, 3)
	}},
	{"an object of another tenant or namespace is another object", func(b *bed) {
		b.record(serial("a", "order/1"))
		r := serial("b", "order/1")
		r.Namespace = "source/other"
		b.record(r)
		r = serial("c", "order/1")
		r.Tenant, r.Scope = "other", "other"
		b.record(r)
		b.lease(10, 3)
	}},
	{"settling lets the next event of the object go, in order of arrival", func(b *bed) {
		for i := range 4 {
			b.record(serial(fmt.Sprint(i), "order/1"))
			time.Sleep(2 * time.Millisecond) // one after the other, by the clock
		}
		for i := range 4 {
			l := b.lease(10, 1)[0]
			if l.Receipt.EventID != fmt.Sprint(i) {
				b.Errorf("event %s runs, want %d", l.Receipt.EventID, i)
			}
			b.lease(10, 0)
			b.settle(l, done)
		}
		b.wantStatus(recibo.Processed, 4)
	}},
	{"settling what blocked another wakes the workers", func(b *bed) {
		b.record(serial("a", "order/1"))
		b.record(serial("b", "order/1"))
		l := b.lease(10, 1)[0]
		select {
		case <-b.Store.Wake():
		default:
		}
		b.settle(l, done)
		select {
		case <-b.Store.Wake():
		case <-time.After(time.Second):
			b.Error("no wake within a second")
		}
	}},
	{"an event that waits for its next try does not hold its object", func(b *bed) {
		b.record(serial("a", "order/1"))
		b.record(serial("b", "order/1"))
		b.settle(b.lease(10, 1)[0], recibo.Outcome{Kind: recibo.Again, RetryIn: time.Hour})
		if l := b.lease(10, 1)[0]; l.Receipt.EventID != "b" {
			b.Errorf("event %s runs, want b", l.Receipt.EventID)
		}
	}},
	{"settling another event does not cut short a wait for the next try", func(b *bed) {
		b.record(serial("a", "order/1"))
		b.settle(b.lease(1, 1)[0], recibo.Outcome{Kind: recibo.Again, RetryIn: time.Hour})
		b.record(serial("b", "order/1"))
		b.settle(b.lease(10, 1)[0], done)
		b.lease(10, 0)
	}},
	{"a lost lease frees its object without a janitor", func(b *bed) {
		b.record(serial("a", "order/1"))
		b.record(serial("b", "order/1"))
		first := b.loseOne()
		l := b.lease(10, 1)[0]
		if l.Receipt.ID == first.Receipt.ID {
			b.Error("the lost receipt came back without being asked for")
		}
		wantLost(b, first) // its lease was not taken, but its object was
		b.lost(0)
		b.settle(l, done)
		if again := b.lost(1)[0]; again.Receipt.ID != first.Receipt.ID {
			b.Errorf("lost receipt = %s, want %s", again.Receipt.ID, first.Receipt.ID)
		}
	}},
	{"an object is held as long as its lease is extended", func(b *bed) {
		b.record(serial("a", "order/1"))
		b.record(serial("b", "order/1"))
		l := b.query(recibo.LeaseQuery{Max: 1, For: 300 * time.Millisecond}).Leases[0]
		b.want(nil, "Extend", func() error { _, err := b.Store.Extend(ctx, l.Ref, time.Minute); return err })
		time.Sleep(350 * time.Millisecond)
		b.lease(10, 0)
		b.settle(l, done)
		b.lease(10, 1)
	}},
}

// serial is an event of an object that wants its attempts one at a time.
func serial(key, object string) *recibo.Recording {
	r := delivery(key)
	r.Serial = true
	r.Events[0].Object = object
	return r
}
