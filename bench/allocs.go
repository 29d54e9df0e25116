package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/postgres"
	"github.com/recibohq/recibo/sqlite"
)

// allocations counts those of an accept with each store, and with none.
func (b *bench) allocations(ctx context.Context) error {
	file, err := b.place(ctx, "sqlite")
	if err != nil {
		return err
	}
	database, err := b.place(ctx, "postgres")
	if err != nil {
		return err
	}
	inFile, err := sqlite.Open(file, nil)
	if err != nil {
		return err
	}
	inDatabase, err := postgres.Open(ctx, database, nil)
	if err != nil {
		return errors.Join(err, inFile.Close())
	}
	for key, store := range map[string]recibo.Store{
		"allocs_per_accept": inFile, "allocs_per_accept_postgres": inDatabase, "allocs_without_store": nowhere{},
	} {
		n, countErr := allocsPerAccept(store, b.plan.accepts)
		b.single[key] = n
		err = errors.Join(err, countErr)
	}
	return errors.Join(err, inFile.Close(), inDatabase.Close())
}

// nowhere is a store that keeps nothing and accepts everything at once.
type nowhere struct{ recibo.Store }

// Record accepts each event.
func (nowhere) Record(_ context.Context, r *recibo.Recording) ([]recibo.Recorded, error) {
	recorded := make([]recibo.Recorded, len(r.Events))
	for i := range recorded {
		recorded[i] = recibo.Recorded{Verdict: recibo.Accepted, Receipt: recibo.NewReceiptID(r.ReceivedAt)}
	}
	return recorded, nil
}

// allocsPerAccept counts the allocations of n accepts in this process, the store's with them: from the receiver's call to
// its answer, without net/http's. As many callers as connections share commits, as they do under load.
func allocsPerAccept(store recibo.Store, n int) (float64, error) {
	receiver, err := newReceiver(store)
	if err != nil {
		return 0, err
	}
	warm := 4 * connections // statements are prepared and pools filled by then
	b, err := signBatch(warm+n, bodySize, time.Now())
	if err != nil {
		return 0, err
	}
	deliveries := newDeliveries(receiver, b)
	if err := deliveries.answer(warm); err != nil {
		return 0, err
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if err := deliveries.answer(n); err != nil {
		return 0, err
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n), nil
}

// deliveries are a batch's requests as the receiver gets them.
type deliveries struct {
	receiver   *recibo.Receiver
	batch      *batch
	signatures [][]string // the header's value of each
	callers    []*caller
	next       atomic.Int64
}

func newDeliveries(receiver *recibo.Receiver, b *batch) *deliveries {
	d := &deliveries{receiver: receiver, batch: b, signatures: make([][]string, len(b.stamps))}
	text := bytes.Clone(b.text)
	begin := bytes.LastIndex(text[:b.signature], []byte("t="))
	for i := range b.stamps {
		b.put(text, i)
		d.signatures[i] = []string{string(text[begin : b.signature+len(b.stamps[i].signature)])}
	}
	for range connections {
		d.callers = append(d.callers, newCaller(b))
	}
	return d
}

// answer has the next n deliveries answered by all callers together.
func (d *deliveries) answer(n int) error {
	first := d.next.Load()
	var refused atomic.Int64
	var callers sync.WaitGroup
	for _, c := range d.callers {
		callers.Go(func() {
			for i := d.next.Add(1) - 1; i < first+int64(n); i = d.next.Add(1) - 1 {
				if c.call(d, int(i)) != http.StatusOK {
					refused.Add(1)
				}
			}
		})
	}
	callers.Wait()
	d.next.Store(first + int64(n))
	if refused.Load() > 0 {
		return fmt.Errorf("count allocations: %d of %d deliveries were not accepted", refused.Load(), n)
	}
	return nil
}

// A caller makes one call at a time, with a request and a response writer that it uses again and that allocate nothing.
type caller struct {
	request *http.Request
	text    []byte
	body    body
	header  http.Header
	status  int
}

// A body can be read again.
type body struct{ bytes.Reader }

// Close does nothing.
func (*body) Close() error { return nil }

func newCaller(b *batch) *caller {
	c := &caller{text: bytes.Clone(b.text), header: http.Header{}}
	request := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: path}, Body: &c.body, ContentLength: int64(len(b.text) - b.body),
		Header: http.Header{"Content-Type": {"application/json"}, "User-Agent": {"Stripe/1.0"}},
	}
	c.request = request.WithContext(context.Background())
	return c
}

func (c *caller) call(d *deliveries, i int) int {
	d.batch.put(c.text, i)
	c.body.Reset(c.text[d.batch.body:])
	c.request.Header["Stripe-Signature"] = d.signatures[i]
	clear(c.header)
	d.receiver.ServeHTTP(c, c.request)
	return c.status
}

// Header is the answer's, used again.
func (c *caller) Header() http.Header { return c.header }

// WriteHeader keeps the status.
func (c *caller) WriteHeader(status int) { c.status = status }

// Write drops the answer's body.
func (c *caller) Write(p []byte) (int, error) { return len(p), nil }

// SetReadDeadline is what net/http's own writer has, so that none has to say that it cannot.
func (c *caller) SetReadDeadline(time.Time) error { return nil }
