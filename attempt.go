package recibo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
	"unicode/utf8"
)

// An Attempt is one run of a handler under a lease.
type Attempt struct {
	Receipt
	Number int // 1 for the first try

	store  Store
	ref    LeaseRef
	mu     sync.Mutex
	steps  map[string][]byte
	result string
}

// SetResult says what was done, for people: "created invoice 123". It is kept with the receipt when the attempt
// succeeds, cut to [MaxResult] bytes.
func (a *Attempt) SetResult(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.result = cut(text)
}

// IdempotencyKey is the same for every attempt on the receipt: give it to what the handler calls. Where the handler
// calls several, use [Step], whose keys differ.
func (a *Attempt) IdempotencyKey() string { return a.ID.String() }

// cut shortens text to MaxResult bytes at the border of a character.
func cut(text string) string {
	if len(text) <= MaxResult {
		return text
	}
	end := MaxResult
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// run does one attempt and settles it.
func (w *Worker) run(parent context.Context, l *Lease) {
	began := w.opts.Now()
	ctx, cancel := context.WithCancelCause(parent)
	a := &Attempt{Receipt: l.Receipt, Number: l.Attempt, store: w.store, ref: l.Ref, steps: keptSteps(l.Steps)}
	held := w.hold(ctx, cancel, l.Ref)
	err := w.handle(ctx, a)
	cause := context.Cause(ctx)
	cancel(nil)
	<-held
	o := w.outcome(a, err, cause)
	if errors.Is(cause, ErrLeaseLost) {
		w.logAttempt(l, o, began, cause)
		return
	}
	w.logAttempt(l, o, began, w.settle(parent, l.Ref, o))
}

// hold extends the lease at each third of it while ctx lasts, and cancels ctx when the lease is lost. The channel closes
// when it has ended.
func (w *Worker) hold(ctx context.Context, cancel context.CancelCauseFunc, ref LeaseRef) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		extended := w.opts.Now() // by this process's clock: the store's may differ
		ticker := time.NewTicker(max(min(w.opts.LeaseFor/3, w.opts.Poll), time.Millisecond))
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			now := w.opts.Now()
			if now.Sub(extended) < w.opts.LeaseFor/3 {
				continue
			}
			_, err := w.store.Extend(ctx, ref, w.opts.LeaseFor)
			switch {
			case err == nil:
				extended = now
			case errors.Is(err, ErrLeaseLost), now.Sub(extended) > w.opts.LeaseFor:
				cancel(ErrLeaseLost)
			}
		}
	}()
	return ended
}

// handle calls the handler. A panic is an attempt that failed.
func (w *Worker) handle(ctx context.Context, a *Attempt) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.opts.Logger.Error("handler panicked", "receipt", a.ID.String(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return w.handler.Handle(ctx, a)
}

// settle writes the outcome, again while the store fails: a lost outcome costs another attempt.
func (w *Worker) settle(ctx context.Context, ref LeaseRef, o Outcome) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.opts.LeaseFor)
	defer cancel()
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := w.store.Settle(ctx, ref, o)
		if err == nil || errors.Is(err, ErrLeaseLost) || errors.Is(err, ErrStoreClosed) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// logAttempt writes the one line of a settled attempt. lost says why it could not be settled.
func (w *Worker) logAttempt(l *Lease, o Outcome, began time.Time, lost error) {
	ctx, level := context.Background(), slog.LevelInfo
	if lost != nil || o.Kind == GiveUp {
		level = slog.LevelWarn
	}
	if !w.opts.Logger.Enabled(ctx, level) {
		return
	}
	attrs := append(make([]slog.Attr, 0, 10),
		slog.String("receipt", l.Ref.Receipt.String()), slog.Int("attempt", l.Attempt), slog.String("outcome", string(o.Kind)),
		slog.String("source", l.Receipt.Source), slog.String("tenant", l.Receipt.Tenant), slog.String("type", l.Receipt.Type),
		slog.Int64("duration_ms", w.opts.Now().Sub(began).Milliseconds()))
	if o.Error != "" {
		attrs = append(attrs, slog.String("error", o.Error))
	}
	if o.Kind == Again {
		attrs = append(attrs, slog.Duration("retry_in", o.RetryIn))
	}
	if lost != nil {
		attrs = append(attrs, slog.String("not_settled", lost.Error()))
	}
	w.opts.Logger.LogAttrs(ctx, level, "attempt", attrs...)
}
