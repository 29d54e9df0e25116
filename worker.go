package recibo

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// A Handler does the work of one event. An error means again later, by the retry schedule; see also [Permanent] and
// [RetryAfter]. It runs at least once per event, and never for a forged or repeated one.
type Handler interface {
	Handle(ctx context.Context, a *Attempt) error
}

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(ctx context.Context, a *Attempt) error

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, a *Attempt) error { return f(ctx, a) }

// WorkerOptions adjusts a Worker. The zero value, or nil, is the default.
type WorkerOptions struct {
	Logger *slog.Logger     // default: discard. One line per settled attempt
	Now    func() time.Time // default: time.Now
	// LeaseFor is how long an attempt holds its receipt without a sign of life; it is extended at each third. Default: one
	// minute.
	LeaseFor time.Duration
	// Concurrency is how many attempts run at once. Default: 16.
	Concurrency int
	// Retry are the waits after a failed attempt; there is one attempt more than waits. Default: [DefaultRetry].
	Retry []time.Duration
	// Jitter is by which part of itself a wait is spread, either way, so that what failed together does not return
	// together. Default: a fifth, 0.2; negative: none.
	Jitter float64
	// Poll is how long the worker waits at the most before it looks again: another process may have made work, and its clock
	// may have jumped. Default: one second.
	Poll time.Duration
	// StopWithin is how long running attempts may take once Run is told to stop; then their context is cancelled and their
	// leases are given back, uncounted. Default: 20 seconds.
	StopWithin time.Duration
}

func (o *WorkerOptions) withDefaults() WorkerOptions {
	var w WorkerOptions
	if o != nil {
		w = *o
	}
	if w.Logger == nil {
		w.Logger = slog.New(slog.DiscardHandler)
	}
	if w.Now == nil {
		w.Now = time.Now
	}
	if w.Retry == nil {
		w.Retry = DefaultRetry
	}
	w.LeaseFor = orDefault(w.LeaseFor, time.Minute)
	w.Jitter = max(orDefault(w.Jitter, 0.2), 0)
	w.Concurrency = orDefault(w.Concurrency, 16)
	w.Poll = orDefault(w.Poll, time.Second)
	w.StopWithin = orDefault(w.StopWithin, 20*time.Second)
	return w
}

// A Worker leases receipts that are due and runs a Handler for each.
type Worker struct {
	store   Store
	handler Handler
	opts    WorkerOptions
}

// NewWorker makes a worker; nothing runs before Run. opts may be nil.
func NewWorker(store Store, h Handler, opts *WorkerOptions) (*Worker, error) {
	if store == nil || h == nil {
		return nil, errors.New("a worker needs a store and a handler")
	}
	w := &Worker{store: store, handler: h, opts: opts.withDefaults()}
	if w.opts.Concurrency < 1 || w.opts.LeaseFor < 0 || w.opts.Jitter > 1 {
		return nil, errors.New("a worker's concurrency and lease are positive, and its jitter is at most 1")
	}
	return w, nil
}

// Run works until ctx ends, then until the running attempts have settled or [WorkerOptions.StopWithin] has passed and
// their leases are given back. It returns nil then.
func (w *Worker) Run(ctx context.Context) error {
	// Attempts outlive ctx: a stop lets them finish.
	attempts, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	s := &shift{
		Worker:  w,
		attempt: func(l *Lease) { w.run(attempts, l) },
		slots:   make(chan struct{}, w.opts.Concurrency),
	}
	for ctx.Err() == nil {
		if !s.work(ctx) {
			s.idle(ctx)
		}
	}
	late := time.AfterFunc(w.opts.StopWithin, func() { cancel(errStopping) })
	s.running.Wait()
	late.Stop()
	cancel(nil)
	return nil
}

// errStopping is why a handler's context ends when a stop takes too long.
var errStopping = errors.New("worker is stopping")

// A shift is one Run of a worker.
type shift struct {
	*Worker
	attempt func(*Lease)  // does one and settles it
	slots   chan struct{} // one element per running attempt
	running sync.WaitGroup
}

// work leases what can start at once and starts it. It says whether there may be more.
func (s *shift) work(ctx context.Context) bool {
	free := cap(s.slots) - len(s.slots)
	if free == 0 {
		return false
	}
	leased, err := s.lease(ctx, LeaseQuery{Max: free, For: s.opts.LeaseFor})
	if err != nil {
		return false
	}
	for _, l := range leased.Leases {
		s.start(ctx, l)
	}
	if leased.Lost {
		s.workAlone(ctx)
	}
	return len(leased.Leases) > 0
}

// workAlone runs the receipts whose last lease was lost, one at a time and with nothing beside them: one of them may be
// what kills the process, and must use up no tries but its own.
func (s *shift) workAlone(ctx context.Context) {
	s.running.Wait()
	for ctx.Err() == nil {
		leased, err := s.lease(ctx, LeaseQuery{Max: 1, For: s.opts.LeaseFor, Lost: true})
		if err != nil || len(leased.Leases) == 0 {
			return
		}
		s.start(ctx, leased.Leases[0])
		s.running.Wait()
	}
}

// lease asks the store whether or not ctx ends meanwhile: a lease that was taken and not heard of would be lost.
func (s *shift) lease(ctx context.Context, q LeaseQuery) (*Leased, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.LeaseFor)
	defer cancel()
	leased, err := s.store.Lease(ctx, q)
	if err != nil {
		s.opts.Logger.Error("lease", "error", err)
	}
	return leased, err
}

// start runs an attempt, or gives its lease back if the stop came first.
func (s *shift) start(ctx context.Context, l Lease) {
	s.slots <- struct{}{}
	s.running.Go(func() {
		defer func() { <-s.slots }()
		switch {
		case ctx.Err() != nil:
			s.unrun(ctx, &l, Outcome{Kind: Returned})
		case l.Attempt > s.tries():
			s.unrun(ctx, &l, Outcome{Kind: GiveUp, Error: "tries used up: the last attempt's lease was lost"})
		default:
			s.attempt(&l)
		}
	})
}

// unrun settles a lease without an attempt.
func (s *shift) unrun(ctx context.Context, l *Lease, o Outcome) {
	s.logAttempt(l, o, s.opts.Now(), s.settle(ctx, l.Ref, o))
}

// tries is how many attempts a receipt has. What kills the process never returns, so they are also counted here.
func (w *Worker) tries() int { return len(w.opts.Retry) + 1 }

// idle waits until there may be work: something became due here, a slot came free, or a poll's time has passed.
func (s *shift) idle(ctx context.Context) {
	timer := time.NewTimer(s.opts.Poll)
	defer timer.Stop()
	var wake <-chan struct{}
	if waker, ok := s.store.(Waker); ok && len(s.slots) < cap(s.slots) {
		wake = waker.Wake()
	}
	var freed chan struct{}
	if len(s.slots) == cap(s.slots) {
		freed = s.slots
	}
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-wake:
	case freed <- struct{}{}: // possible only once an attempt has left
		<-s.slots
	}
}
