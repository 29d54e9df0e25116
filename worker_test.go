package recibo_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/sqlite"
)

// openSQLite opens a store that the test closes. It does not flush: what outlives a power cut is tested elsewhere.
func openSQLite(t *testing.T) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "receipts.db"), &sqlite.Options{Durability: sqlite.D0})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	return store
}

// recordEvent keeps one event with the id and returns its receipt.
func recordEvent(t *testing.T, store recibo.Store, id string) recibo.ReceiptID {
	t.Helper()
	now := time.Now()
	body := []byte(`{"id":"` + id + `"}`)
	got, err := store.Record(t.Context(), &recibo.Recording{
		Delivery: recibo.NewDeliveryID(now), Source: "s", Tenant: "t", Scope: "t", Namespace: "source/s", ReceivedAt: now,
		Header: []byte(`{"Content-Type":"application/json"}`), Body: body, Destinations: []string{""}, TypeSigned: true,
		AccountSigned: true, Events: []recibo.Event{{Key: recibo.Key("id:" + id), Type: "paid", End: len(body)}},
	})
	if err != nil || len(got) != 1 || got[0].Verdict != recibo.Accepted {
		t.Fatalf("record %s: %+v, %v; want accepted", id, got, err)
	}
	return got[0].Receipt
}

// startWorker runs a worker until the test ends.
func startWorker(t *testing.T, store recibo.Store, h recibo.HandlerFunc, opts *recibo.WorkerOptions) (stop func()) {
	t.Helper()
	worker, err := recibo.NewWorker(store, h, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v, want nil after a stop", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// status is where the receipt is in its life.
func status(t *testing.T, store *sqlite.Store, id recibo.ReceiptID) recibo.Status {
	t.Helper()
	r, err := store.Receipt(context.Background(), "t", id)
	if err != nil {
		t.Fatal(err)
	}
	return r.Status
}

func TestWorkerRunsAnEventOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openSQLite(t)
		var got []string
		stop := startWorker(t, store, func(_ context.Context, a *recibo.Attempt) error {
			got = append(got, fmt.Sprintf("%s %s %d", a.Key, a.Body, a.Number))
			a.SetResult("created invoice 123")
			return nil
		}, nil)
		id := recordEvent(t, store, "evt_1")
		time.Sleep(time.Hour)
		stop()
		if want := []string{`id:evt_1 {"id":"evt_1"} 1`}; !slices.Equal(got, want) {
			t.Errorf("runs = %q, want %q", got, want)
		}
		r, err := store.Receipt(context.Background(), "t", id)
		if err != nil || r.Status != recibo.Processed || r.Result != "created invoice 123" {
			t.Errorf("receipt = %+v, %v; want processed with its result", r, err)
		}
	})
}

func TestWorkerRetriesByItsScheduleAndThenGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openSQLite(t)
		retry := recibo.DefaultRetry[:5] // the longer waits are polled for too often to be quick
		var at []time.Time
		startWorker(t, store, func(context.Context, *recibo.Attempt) error {
			at = append(at, time.Now())
			return errors.New("503 from shop")
		}, &recibo.WorkerOptions{Retry: retry})
		id := recordEvent(t, store, "evt_1")
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if len(at) != len(retry)+1 {
			t.Fatalf("%d attempts, want %d", len(at), len(retry)+1)
		}
		for i, wait := range retry {
			got := at[i+1].Sub(at[i])
			if got < wait*8/10 || got > wait*12/10+2*time.Second {
				t.Errorf("wait %d was %s, want %s, a fifth more or less, and a poll", i+1, got, wait)
			}
		}
		if s := status(t, store, id); s != recibo.Failed {
			t.Errorf("status = %s, want failed", s)
		}
	})
}

func TestWorkerTakesAPanicForAFailedAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openSQLite(t)
		runs := 0
		startWorker(t, store, func(context.Context, *recibo.Attempt) error {
			if runs++; runs == 1 {
				panic("nil map")
			}
			return nil
		}, nil)
		id := recordEvent(t, store, "evt_1")
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := status(t, store, id); runs != 2 || s != recibo.Processed {
			t.Errorf("%d runs, status %s; want 2 and processed", runs, s)
		}
	})
}

func TestWorkerObeysPermanentAndRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openSQLite(t)
		runs := map[recibo.Key][]time.Time{}
		var mu sync.Mutex
		startWorker(t, store, func(_ context.Context, a *recibo.Attempt) error {
			mu.Lock()
			defer mu.Unlock()
			runs[a.Key] = append(runs[a.Key], time.Now())
			if a.Key == "id:bad" {
				return recibo.Permanent(errors.New("no such order"))
			}
			if a.Number == 1 {
				return recibo.RetryAfter(errors.New("429"), 40*time.Minute)
			}
			return nil
		}, nil)
		bad, busy := recordEvent(t, store, "bad"), recordEvent(t, store, "busy")
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if s := status(t, store, bad); len(runs["id:bad"]) != 1 || s != recibo.Failed {
			t.Errorf("permanent: %d runs, %s; want 1, failed", len(runs["id:bad"]), s)
		}
		at := runs["id:busy"]
		if s := status(t, store, busy); len(at) != 2 || s != recibo.Processed {
			t.Fatalf("retry after: %d runs, %s; want 2, processed", len(at), s)
		}
		if wait := at[1].Sub(at[0]); wait < 40*time.Minute || wait > 40*time.Minute+2*time.Second {
			t.Errorf("waited %s, want the 40 minutes that were asked for", wait)
		}
	})
}

func TestWorkerExtendsTheLeaseOfALongAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openSQLite(t)
		runs := 0
		slow := func(ctx context.Context, _ *recibo.Attempt) error {
			runs++
			select {
			case <-time.After(10 * time.Minute):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		startWorker(t, store, slow, nil)
		startWorker(t, store, slow, nil) // would take it as soon as the lease ran out
		id := recordEvent(t, store, "evt_1")
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := status(t, store, id); runs != 1 || s != recibo.Processed {
			t.Errorf("%d runs, %s; want 1, processed", runs, s)
		}
	})
}

func TestWorkerCancelsAnAttemptWhoseLeaseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openSQLite(t)
		var cause error
		startWorker(t, &noExtend{store}, func(ctx context.Context, a *recibo.Attempt) error {
			if a.Number > 1 {
				return nil
			}
			<-ctx.Done()
			cause = context.Cause(ctx)
			return cause
		}, nil)
		id := recordEvent(t, store, "evt_1")
		time.Sleep(time.Hour)
		synctest.Wait()
		if !errors.Is(cause, recibo.ErrLeaseLost) {
			t.Errorf("the attempt's context ended by %v, want %v", cause, recibo.ErrLeaseLost)
		}
		if s := status(t, store, id); s != recibo.Processed {
			t.Errorf("status = %s, want processed by the next attempt", s)
		}
	})
}

// noExtend is a store that cannot extend a lease.
type noExtend struct{ recibo.Store }

func (noExtend) Extend(context.Context, recibo.LeaseRef, time.Duration) (time.Time, error) {
	return time.Time{}, errors.New("connection refused")
}

func TestWorkerGivesLeasesBackUncountedWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openSQLite(t)
		var numbers []int
		stuck := func(ctx context.Context, a *recibo.Attempt) error {
			numbers = append(numbers, a.Number)
			<-ctx.Done()
			return ctx.Err()
		}
		stop := startWorker(t, store, stuck, nil)
		id := recordEvent(t, store, "evt_1")
		time.Sleep(time.Second)
		stop()
		if s := status(t, store, id); s != recibo.Received {
			t.Errorf("status after the stop = %s, want received", s)
		}
		stop = startWorker(t, store, stuck, nil)
		time.Sleep(time.Second)
		stop()
		if want := []int{1, 1}; !slices.Equal(numbers, want) {
			t.Errorf("attempt numbers = %v, want %v: the first was given back", numbers, want)
		}
	})
}

func TestWorkerLetsRunningAttemptsFinishWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openSQLite(t)
		stop := startWorker(t, store, func(ctx context.Context, _ *recibo.Attempt) error {
			time.Sleep(10 * time.Second)
			return ctx.Err()
		}, nil)
		id := recordEvent(t, store, "evt_1")
		time.Sleep(time.Second)
		stop()
		if s := status(t, store, id); s != recibo.Processed {
			t.Errorf("status after the stop = %s, want processed", s)
		}
	})
}

func TestWorkerRunsWhatLostItsLeaseAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openSQLite(t)
		for i := range 3 {
			recordEvent(t, store, fmt.Sprintf("lost-%d", i))
		}
		if _, err := store.Lease(t.Context(), recibo.LeaseQuery{Max: 3, For: time.Second}); err != nil { // a process that died
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		for i := range 20 {
			recordEvent(t, store, fmt.Sprintf("new-%d", i))
		}
		var mu sync.Mutex
		running, beside := 0, 0
		startWorker(t, store, func(_ context.Context, a *recibo.Attempt) error {
			mu.Lock()
			running++
			if a.Number == 2 && running > 1 {
				beside++
			}
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			if a.Number == 2 && running > 1 {
				beside++
			}
			running--
			return nil
		}, nil)
		time.Sleep(time.Hour)
		synctest.Wait()
		counts, err := store.Counts(context.Background(), "t")
		if err != nil || counts[recibo.Processed] != 23 {
			t.Errorf("counts = %v, %v; want 23 processed", counts, err)
		}
		if beside != 0 {
			t.Errorf("an attempt ran beside one whose last lease was lost %d times, want 0", beside)
		}
	})
}

func TestStepIsNotRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openSQLite(t)
		var keys []string
		mails := 0
		startWorker(t, store, func(ctx context.Context, a *recibo.Attempt) error {
			charge, err := recibo.Step(ctx, a, recibo.StepSpec{Name: "charge"}, func(_ context.Context, key string) (string, error) {
				keys = append(keys, key)
				return "ch_1", nil
			})
			if err != nil || charge != "ch_1" {
				t.Errorf("attempt %d: Step = %q, %v; want ch_1", a.Number, charge, err)
			}
			if mails++; mails < 3 {
				return errors.New("mail server is down")
			}
			return nil
		}, nil)
		id := recordEvent(t, store, "evt_1")
		time.Sleep(time.Hour)
		synctest.Wait()
		if want := []string{id.String() + ":charge"}; !slices.Equal(keys, want) {
			t.Errorf("charged with keys %q, want %q", keys, want)
		}
		if s := status(t, store, id); s != recibo.Processed {
			t.Errorf("status = %s, want processed", s)
		}
	})
}

func TestStepRefusesABadNameForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openSQLite(t)
		startWorker(t, store, func(ctx context.Context, a *recibo.Attempt) error {
			_, err := recibo.Step(ctx, a, recibo.StepSpec{Name: "Charge the card"}, func(context.Context, string) (int, error) {
				t.Error("the step ran")
				return 0, nil
			})
			return err
		}, nil)
		id := recordEvent(t, store, "evt_1")
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := status(t, store, id); s != recibo.Failed {
			t.Errorf("status = %s, want failed at once", s)
		}
	})
}

func TestWorkerGivesUpOnWhatKillsItsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openSQLite(t)
		id := recordEvent(t, store, "evt_1")
		for range 3 { // processes that died at it: leased, never settled
			if leased, err := store.Lease(t.Context(), recibo.LeaseQuery{Max: 1, For: time.Second}); err != nil || len(leased.Leases) == 0 {
				leased, err = store.Lease(t.Context(), recibo.LeaseQuery{Max: 1, For: time.Second, Lost: true})
				if err != nil || len(leased.Leases) != 1 {
					t.Fatalf("lease = %+v, %v", leased, err)
				}
			}
			time.Sleep(2 * time.Second)
		}
		startWorker(t, store, func(context.Context, *recibo.Attempt) error {
			t.Error("it ran a fourth time")
			return nil
		}, &recibo.WorkerOptions{Retry: []time.Duration{time.Second, time.Second}})
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := status(t, store, id); s != recibo.Failed {
			t.Errorf("status = %s, want failed after three tries", s)
		}
	})
}
