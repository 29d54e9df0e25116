package sqlstore

import (
	"sync"

	"github.com/recibohq/recibo"
)

// Bounds of a batch: what one commit carries.
const (
	maxBatch      = 256
	maxBatchBytes = 8 << 20
)

// An op is one call that waits for a commit. Exactly one of its parts is set.
type op struct {
	record *recording
	work   *work
	take   *taking
	done   chan error // gets one answer
}

func newOp() *op { return &op{done: make(chan error, 1)} }

// A queue holds the calls that wait for a committer.
type queue struct {
	mu       sync.Mutex
	more     sync.Cond
	ops      []*op
	limit    int
	batch    int
	bySource map[string]int // of recordings that wait
	closed   bool
}

func newQueue(limit, batch int) *queue {
	q := &queue{limit: limit, batch: batch, bySource: map[string]int{}}
	q.more.L = &q.mu
	return q
}

// add refuses rather than wait: recordings beyond the limit, those of one source beyond half of it, and work beyond twice
// the limit, so that deliveries cannot keep attempts from being settled.
func (q *queue) add(o *op) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return recibo.ErrStoreClosed
	}
	if o.record != nil {
		if len(q.ops) >= q.limit || q.bySource[o.record.Source] >= max(1, q.limit/2) {
			return recibo.ErrStoreFull
		}
		q.bySource[o.record.Source]++
	} else if len(q.ops) >= 2*q.limit {
		return recibo.ErrStoreFull
	}
	q.ops = append(q.ops, o)
	q.more.Signal()
	return nil
}

// next waits for calls and takes a batch of them; none once the queue is closed and empty.
func (q *queue) next() []*op {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.ops) == 0 {
		if q.closed {
			return nil
		}
		q.more.Wait()
	}
	n, bytes := 0, 0
	for n < min(len(q.ops), q.batch) && bytes < maxBatchBytes {
		if r := q.ops[n].record; r != nil {
			bytes += len(r.Body)
			q.leave(r.Source)
		}
		n++
	}
	batch := append([]*op(nil), q.ops[:n]...)
	rest := copy(q.ops, q.ops[n:])
	clear(q.ops[rest:])
	q.ops = q.ops[:rest]
	return batch
}

func (q *queue) leave(source string) {
	if q.bySource[source]--; q.bySource[source] == 0 {
		delete(q.bySource, source)
	}
}

// close lets committers finish what waits and then end.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Broadcast()
}
