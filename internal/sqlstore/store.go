// Package sqlstore is what the SQL stores share: their schema, their statements, and the group commit through which
// concurrent calls wait for one flush.
package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/recibohq/recibo"
)

// Defaults of [Options].
const (
	DefaultQueue        = 2048
	DefaultCommitWithin = 1500 * time.Millisecond
)

// Options of a Store. Zero values mean the defaults.
type Options struct {
	Queue        int           // calls that may wait for a commit; one source may have half of them
	CommitWithin time.Duration // from the call to its durable answer
	Logger       *slog.Logger  // default: discard
}

func (o Options) withDefaults() Options {
	if o.Queue <= 0 {
		o.Queue = DefaultQueue
	}
	if o.CommitWithin <= 0 {
		o.CommitWithin = DefaultCommitWithin
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// A Store is a [recibo.Store] over a SQL database. The packages sqlite and postgres open one.
type Store struct {
	db      DB
	dialect *Dialect
	opts    Options
	wake    chan struct{}

	records, works, takes *queue // one and the same where the database has one writer
	committers            sync.WaitGroup

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup // those that Close waits for
	broken atomic.Pointer[error]

	cursor cursor
}

var (
	_ recibo.Store = (*Store)(nil)
	_ recibo.Waker = (*Store)(nil)
)

// New serves a migrated database. Close closes it.
func New(db DB, d *Dialect, opts Options) *Store {
	s := &Store{db: db, dialect: d, opts: opts.withDefaults(), wake: make(chan struct{}, 1)}
	s.records = newQueue(s.opts.Queue, maxBatch)
	s.works, s.takes = s.records, s.records
	if !d.OneWriter {
		s.works = newQueue(s.opts.Queue, maxBatch)
		// One at a time: two leases in one transaction would lock objects out of order.
		s.takes = newQueue(s.opts.Queue, 1)
	}
	for range max(1, d.Recorders) {
		s.start(s.records)
	}
	if !d.OneWriter {
		s.start(s.works)
		s.start(s.takes)
	}
	return s
}

func (s *Store) start(q *queue) {
	c := &committer{store: s}
	s.committers.Go(func() {
		for batch := q.next(); batch != nil; batch = q.next() {
			c.commit(batch)
		}
	})
}

// Wake signals when something became due in this process.
func (s *Store) Wake() <-chan struct{} { return s.wake }

func (s *Store) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Close refuses further calls, finishes those that wait, and closes the database.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.calls.Wait()
	for _, q := range []*queue{s.records, s.works, s.takes} {
		q.close()
	}
	s.committers.Wait()
	return s.db.Close()
}

// enter admits a call; leave ends it.
func (s *Store) enter() error {
	if broken := s.broken.Load(); broken != nil {
		return *broken
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return recibo.ErrStoreClosed
	}
	s.calls.Add(1)
	return nil
}

func (s *Store) leave() { s.calls.Done() }

// fail ends the store after an error that leaves the disk's content unknown: the page cache may show what was never
// written, so that only a restart reads what is there.
func (s *Store) fail(err error) {
	broken := fmt.Errorf("%w: the database cannot be trusted to be on disk; check the disk and restart", err)
	if s.broken.CompareAndSwap(nil, &broken) {
		s.opts.Logger.Error("store failed", "error", err)
	}
}

// errLate is the answer to a call whose commit did not end in time.
var errLate = errors.New("commit is late: outcome unknown")

// submit has o committed and waits for that, for the end of ctx or for the store's own deadline. The last two leave the
// outcome unknown, for the commit goes on.
func (s *Store) submit(ctx context.Context, q *queue, o *op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := q.add(o); err != nil {
		return err
	}
	late := time.NewTimer(s.opts.CommitWithin)
	defer late.Stop()
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("outcome unknown: %w", ctx.Err())
	case <-late.C:
		return errLate
	}
}

func micros(t time.Time) int64 { return t.UnixMicro() }

// microsOrNil is NULL for the zero time.
func microsOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

func fromNullMicros(us *int64) time.Time {
	if us == nil {
		return time.Time{}
	}
	return fromMicros(*us)
}
