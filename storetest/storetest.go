// Package storetest is what every [recibo.Store] must keep, as a table of promises. A new promise of Store is a case here
// first.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/recibohq/recibo"
)

// A promise is one sentence about a store and how to see that it is kept.
type promise struct {
	says string
	keep func(*bed)
}

// Run holds a store to all promises, each on a fresh store that open gives: as it is, and behind a [Failing] that fails
// the first call of each method, so that what is left after a failed call is seen to be nothing.
func Run(t *testing.T, open func(t *testing.T) recibo.Store) {
	promises := concat(recordPromises, copyPromises, reviewPromises, leasePromises, settlePromises, objectPromises,
		failurePromises)
	t.Run("as it is", func(t *testing.T) {
		for _, p := range promises {
			t.Run(p.says, func(t *testing.T) { p.keep(newBed(t, open(t))) })
		}
	})
	t.Run("after a failed call", func(t *testing.T) {
		for _, p := range promises {
			t.Run(p.says, func(t *testing.T) {
				b := newBed(t, open(t))
				for _, c := range []Call{Record, Lease, Extend, SaveStep, Settle} {
					b.Store.Next(c, Before)
				}
				p.keep(b)
			})
		}
	})
}

func concat(lists ...[]promise) (all []promise) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// Shows is what a store has beyond [recibo.Store] for its tests to look at.
type Shows interface {
	Counts(ctx context.Context, tenant string) (map[recibo.Status]int, error)
	ReviewCount(ctx context.Context, tenant string) (items, copies int, err error)
}

// A bed is a store under test, with calls that must succeed. One injected failure per call is repeated away.
type bed struct {
	*testing.T
	Store *Failing
	shows Shows
}

func newBed(t *testing.T, s recibo.Store) *bed {
	shows, ok := s.(Shows)
	if !ok {
		t.Fatalf("%T cannot be looked at: it needs Counts and ReviewCount", s)
	}
	return &bed{T: t, Store: NewFailing(s), shows: shows}
}

var ctx = context.Background()

// again repeats a call that failed by injection.
func again[T any](call func() (T, error)) (T, error) {
	v, err := call()
	if errors.Is(err, ErrInjected) {
		v, err = call()
	}
	return v, err
}

func (b *bed) record(r *recibo.Recording) []recibo.Recorded {
	b.Helper()
	got, err := again(func() ([]recibo.Recorded, error) { return b.Store.Record(ctx, r) })
	if err != nil {
		b.Fatalf("Record = %v", err)
	}
	if len(got) != len(r.Events) {
		b.Fatalf("Record of %d events = %d results", len(r.Events), len(got))
	}
	return got
}

// wantRecord records r and compares the verdicts.
func (b *bed) wantRecord(r *recibo.Recording, want ...recibo.Recorded) []recibo.Recorded {
	b.Helper()
	got := b.record(r)
	for i, w := range want {
		if got[i].Verdict != w.Verdict || got[i].Reason != w.Reason {
			b.Errorf("Record event %d = %s %q, want %s %q", i, got[i].Verdict, got[i].Reason, w.Verdict, w.Reason)
		}
	}
	return got
}

func (b *bed) query(q recibo.LeaseQuery) *recibo.Leased {
	b.Helper()
	if q.For == 0 {
		q.For = time.Minute
	}
	got, err := again(func() (*recibo.Leased, error) { return b.Store.Lease(ctx, q) })
	if err != nil {
		b.Fatalf("Lease(%+v) = %v", q, err)
	}
	return got
}

// lease takes up to max receipts for a minute, and wants so many of them.
func (b *bed) lease(most, want int) []recibo.Lease {
	b.Helper()
	got := b.query(recibo.LeaseQuery{Max: most}).Leases
	if len(got) != want {
		b.Fatalf("Lease(max %d) took %d, want %d", most, len(got), want)
	}
	return got
}

// loseOne leases one receipt so shortly that the lease has run out on return.
func (b *bed) loseOne() recibo.Lease {
	b.Helper()
	got := b.query(recibo.LeaseQuery{Max: 1, For: time.Millisecond}).Leases
	if len(got) != 1 {
		b.Fatalf("Lease(max 1) took %d, want 1", len(got))
	}
	time.Sleep(20 * time.Millisecond)
	return got[0]
}

// lost takes what other leases lost.
func (b *bed) lost(want int) []recibo.Lease {
	b.Helper()
	got := b.query(recibo.LeaseQuery{Max: 10, Lost: true}).Leases
	if len(got) != want {
		b.Fatalf("Lease(lost) took %d, want %d", len(got), want)
	}
	return got
}

func (b *bed) settle(l recibo.Lease, o recibo.Outcome) {
	b.Helper()
	b.want(nil, "Settle", func() error { return b.Store.Settle(ctx, l.Ref, o) })
}

// want compares the error of a call.
func (b *bed) want(want error, name string, call func() error) {
	b.Helper()
	_, err := again(func() (struct{}, error) { return struct{}{}, call() })
	if !errors.Is(err, want) {
		b.Errorf("%s = %v, want %v", name, err, want)
	}
}

// wantReceipts compares how many receipts of the tenant there are, whatever their status.
func (b *bed) wantReceipts(want int) {
	b.Helper()
	counts, err := b.shows.Counts(ctx, tenant)
	if err != nil {
		b.Fatal(err)
	}
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if sum != want {
		b.Errorf("%d receipts are kept (%v), want %d", sum, counts, want)
	}
}

func (b *bed) wantStatus(status recibo.Status, want int) {
	b.Helper()
	counts, err := b.shows.Counts(ctx, tenant)
	if err != nil {
		b.Fatal(err)
	}
	if counts[status] != want {
		b.Errorf("receipts by status = %v, want %d %s", counts, want, status)
	}
}

func (b *bed) wantReviews(items, copies int) {
	b.Helper()
	gotItems, gotCopies, err := b.shows.ReviewCount(ctx, tenant)
	if err != nil {
		b.Fatal(err)
	}
	if gotItems != items || gotCopies != copies {
		b.Errorf("%d review items for %d deliveries, want %d for %d", gotItems, gotCopies, items, copies)
	}
}

// What a Record is wanted to say.
var (
	accepted  = recibo.Recorded{Verdict: recibo.Accepted}
	duplicate = recibo.Recorded{Verdict: recibo.Duplicate}
)

func held(r recibo.Reason) recibo.Recorded {
	return recibo.Recorded{Verdict: recibo.Held, Reason: r}
}

func conflict(r recibo.Reason) recibo.Recorded {
	return recibo.Recorded{Verdict: recibo.Conflict, Reason: r}
}

const tenant = "acme"

// delivery is one event with a signed id, named by key, in a body of its own.
func delivery(key string) *recibo.Recording {
	now := time.Now()
	body := fmt.Sprintf(`{"id":%q}`, key)
	return &recibo.Recording{
		Delivery: recibo.NewDeliveryID(now), RequestID: "req-1",
		Source: "shop", Tenant: tenant, Scope: tenant, Namespace: "source/shop",
		ReceivedAt: now, Secret: recibo.SecretID{1},
		Header: []byte(`{"Content-Type":"application/json"}`), Body: []byte(body),
		Events:       []recibo.Event{event(key, len(body))},
		Destinations: []string{""},
	}
}

func event(key string, end int) recibo.Event {
	return recibo.Event{
		Key: recibo.Key("id:" + key), ID: key, Type: "order.paid", Account: "acct_1",
		Content: recibo.Fingerprint{1}, End: end,
	}
}

// copyOf is the same event in another delivery.
func copyOf(r *recibo.Recording) *recibo.Recording {
	c := *r
	c.Delivery = recibo.NewDeliveryID(time.Now())
	c.Events = append([]recibo.Event(nil), r.Events...)
	return &c
}
