package recibo

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// DefaultRetry are the waits after a failed attempt: ten attempts over about two days.
var DefaultRetry = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour,
	12 * time.Hour, 24 * time.Hour,
}

// maxRetryAfter caps a wait that the other side asked for.
const maxRetryAfter = time.Hour

type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// Permanent marks err as one that no retry will mend: the receipt ends as failed at once.
func Permanent(err error) error { return permanentError{err} }

type retryAfterError struct {
	error
	wait time.Duration
}

func (e retryAfterError) Unwrap() error { return e.error }

// RetryAfter marks err with the wait that the other side asked for, in place of the schedule's. It is capped at one hour.
func RetryAfter(err error, wait time.Duration) error { return retryAfterError{err, wait} }

// outcome decides what a handler's return means. cause is why its context ended, nil if it had not.
func (w *Worker) outcome(a *Attempt, err, cause error) Outcome {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		return Outcome{Kind: Done, Result: a.result}
	}
	o := Outcome{Kind: Again, Error: cut(err.Error())}
	var permanent permanentError
	switch {
	case errors.As(err, &permanent):
		o.Kind = GiveUp
	case errors.Is(cause, errStopping) && errors.Is(err, context.Canceled), errors.Is(err, errStopping):
		o.Kind = Returned
	case a.Number >= w.tries():
		o.Kind = GiveUp
	default:
		o.RetryIn = w.wait(a.Number, err)
	}
	return o
}

// wait is how long to wait after attempt n failed with err.
func (w *Worker) wait(n int, err error) time.Duration {
	var asked retryAfterError
	if errors.As(err, &asked) {
		return min(max(asked.wait, 0), maxRetryAfter)
	}
	return jitter(w.opts.Retry[n-1], w.opts.Jitter)
}

// jitter spreads d by part of itself, either way.
func jitter(d time.Duration, part float64) time.Duration {
	return time.Duration(float64(d) * (1 - part + 2*part*rand.Float64())) //nolint:gosec // not a secret
}
