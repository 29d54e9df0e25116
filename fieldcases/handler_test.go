package fieldcases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/recibohq/recibo"
)

// A handler does what the case's rules say and keeps a ledger of its attempts.
type handler struct {
	w        *world
	mu       sync.Mutex
	attempts []*attempt
	running  int           // attempts that are neither asleep nor struck
	released chan struct{} // closed at the case's end
	once     sync.Once
	struck   int // kill rules that have struck
	kills    chan *port
}

// An attempt is one call of the handler.
type attempt struct {
	body       []byte
	decoded    []byte // a form's own text, for events that are told in one
	key        string
	object     string
	kind       string
	began      time.Time
	ended      time.Time
	succeeded  bool
	acceptedAt time.Time
}

func newHandler(w *world) *handler {
	return &handler{w: w, released: make(chan struct{}), kills: make(chan *port, 64)}
}

// release lets everything that still sleeps end.
func (h *handler) release() { h.once.Do(func() { close(h.released) }) }

// holds says that the attempt is about the event: the text occurs in its bytes, as received or decoded.
func (a *attempt) holds(event string) bool {
	return bytes.Contains(a.body, []byte(event)) || bytes.Contains(a.decoded, []byte(event))
}

// of is the handler as a node's worker calls it.
func (h *handler) of(p *port) func(context.Context, *recibo.Attempt) error {
	return func(ctx context.Context, ra *recibo.Attempt) error {
		a := &attempt{body: ra.Body, key: string(ra.Key), object: ra.Object, kind: ra.Type, began: h.w.clock.now(), acceptedAt: ra.ReceivedAt}
		if text, err := url.QueryUnescape(string(ra.Body)); err == nil {
			a.decoded = []byte(text)
		}
		h.mu.Lock()
		h.running++
		h.attempts = append(h.attempts, a)
		r, ok := h.rule(a)
		h.mu.Unlock()
		err := h.do(ctx, p, r, ok)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.running--
		a.ended, a.succeeded = h.w.clock.now(), err == nil
		return err
	}
}

// rule is the first one that fits the attempt, which is the last of the ledger. h.mu is held.
func (h *handler) rule(a *attempt) (rule, bool) {
	for _, r := range h.w.c.Config.Handler {
		if r.When.Contains != "" && !a.holds(r.When.Contains) || r.When.Type != "" && r.When.Type != a.kind {
			continue
		}
		if r.UntilOffsetS > 0 && !a.began.Before(h.w.at(r.UntilOffsetS)) {
			continue
		}
		earlier := 0
		for _, other := range h.attempts {
			if other != a && other.key == a.key {
				earlier++
			}
		}
		if r.Times > 0 && earlier >= r.Times {
			continue
		}
		return r, true
	}
	return rule{}, false
}

var errHandler = errors.New("the handler failed")

func (h *handler) do(ctx context.Context, p *port, r rule, ok bool) error {
	if !ok {
		return nil
	}
	switch r.Do {
	case "ok":
		return nil
	case "fail":
		return errHandler
	case "fail_permanent":
		return recibo.Permanent(errHandler)
	case "panic":
		panic("the handler panicked")
	case "kill":
		h.die(ctx, p)
		return errHandler
	case "slow":
		if err := h.sleep(ctx, r.Seconds); err != nil {
			return err
		}
		return h.do(ctx, p, rule{Do: r.Then}, r.Then != "")
	default:
		h.w.t.Errorf("not understood: handler rule do: %q", r.Do)
		return errHandler
	}
}

// die takes the node down in the middle of the attempt; another one starts at once, as the case's init would do it.
func (h *handler) die(ctx context.Context, p *port) {
	p.set(func(p *port) { p.dead = true })
	h.mu.Lock()
	h.running--
	h.struck++
	h.mu.Unlock()
	h.kills <- p
	select {
	case <-h.released:
	case <-ctx.Done():
	}
	h.mu.Lock()
	h.running++
	h.mu.Unlock()
}

// sleep lasts by the case's clock.
func (h *handler) sleep(ctx context.Context, seconds float64) error {
	woken := h.w.clock.wakeAt(h.w.clock.now().Add(time.Duration(seconds * float64(time.Second))))
	h.mu.Lock()
	h.running--
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		h.running++
		h.mu.Unlock()
	}()
	select {
	case <-woken:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("slow: %w", context.Cause(ctx))
	case <-h.released:
		return errHandler
	}
}

// busy says that an attempt is doing something that takes no time by the clock.
func (h *handler) busy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.running > 0
}

func (h *handler) ledger() []attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]attempt, len(h.attempts))
	for i, a := range h.attempts {
		all[i] = *a
	}
	return all
}
