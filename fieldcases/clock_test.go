package fieldcases

import (
	"slices"
	"sync"
	"time"
)

// A clock is the case's: it moves only when the runner moves it.
type clock struct {
	mu    sync.Mutex
	at    time.Time
	sleep []sleeper
}

type sleeper struct {
	until time.Time
	woken chan struct{}
}

func newClock(at time.Time) *clock { return &clock{at: at} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) wakeAt(at time.Time) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := sleeper{at, make(chan struct{})}
	c.sleep = append(c.sleep, s)
	return s.woken
}

// set moves the clock and wakes who sleeps until then.
func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.at) {
		c.at = at
	}
	c.sleep = slices.DeleteFunc(c.sleep, func(s sleeper) bool {
		if s.until.After(c.at) {
			return false
		}
		close(s.woken)
		return true
	})
}

// nextWake is when the first sleeper wakes; zero if nobody sleeps.
func (c *clock) nextWake() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	var next time.Time
	for _, s := range c.sleep {
		if next.IsZero() || s.until.Before(next) {
			next = s.until
		}
	}
	return next
}

// at is the moment of an offset of the case.
func (w *world) at(offset float64) time.Time {
	return time.Unix(w.c.Config.BaseTime, 0).Add(time.Duration(offset * float64(time.Second)))
}

// advance moves the clock to at. What falls due on the way happens at its time: the clock stops at each such moment until
// nothing is left to do there. While an attempt sleeps it goes by a fraction of the lease, so that leases are extended.
func (w *world) advance(at time.Time) {
	w.settle()
	for now := w.clock.now(); now.Before(at); now = w.clock.now() {
		next := at
		if wake := w.clock.nextWake(); !wake.IsZero() {
			next = earliest(next, wake, now.Add(w.lease()/4))
		}
		if due := w.nextDue(now); !due.IsZero() {
			next = earliest(next, due)
		}
		w.clock.set(next)
		w.settle()
	}
}

func earliest(times ...time.Time) time.Time {
	return slices.MinFunc(times, time.Time.Compare)
}

func (w *world) lease() time.Duration {
	if s := w.c.Config.Gateway.LeaseS; s > 0 {
		return time.Duration(s * float64(time.Second))
	}
	return time.Minute
}

// nextDue is when the next receipt falls due after now; zero if none waits.
func (w *world) nextDue(now time.Time) time.Time {
	var due *int64
	if err := w.db.QueryRow("SELECT MIN(due_at) FROM webhook_receipts WHERE due_at > ?", now.UnixMicro()).Scan(&due); err != nil {
		w.t.Fatalf("read due times: %v", err)
	}
	if due == nil {
		return time.Time{}
	}
	return time.UnixMicro(*due)
}

// settle waits, in real time, until nothing is left to do at this moment of the clock.
func (w *world) settle() {
	deadline := time.Now().Add(30 * time.Second)
	for quiet := 0; quiet < 4; {
		w.bury()
		if w.handler.busy() || w.due() > 0 && !w.idle() {
			quiet = 0
		} else {
			quiet++
		}
		if time.Now().After(deadline) {
			w.t.Errorf("work at %s does not end", w.clock.now())
			return
		}
		time.Sleep(4 * time.Millisecond)
	}
}

// bury takes away the nodes that a kill struck and starts others.
func (w *world) bury() {
	for {
		select {
		case p := <-w.handler.kills:
			for _, n := range w.nodes {
				if n.port == p {
					w.kill(n)
					if err := w.startNode(); err != nil {
						w.t.Fatal(err)
					}
					break
				}
			}
		default:
			return
		}
	}
}

// due counts receipts that could be worked on now.
func (w *world) due() (n int) {
	if err := w.db.QueryRow("SELECT COUNT(*) FROM webhook_receipts WHERE due_at <= ?", w.clock.now().UnixMicro()).Scan(&n); err != nil {
		w.t.Fatalf("count due receipts: %v", err)
	}
	return n
}

// idle says that no node works: paused, down, or waiting for a sleeping attempt to run what was lost alone.
func (w *world) idle() bool {
	for _, n := range w.nodes {
		n.port.mu.Lock()
		works := !n.port.paused && !n.port.down && !n.port.dead
		n.port.mu.Unlock()
		if works {
			return !w.clock.nextWake().IsZero()
		}
	}
	return true
}
