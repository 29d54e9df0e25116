package crash

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/recibohq/recibo"
)

// A history is all that was seen from outside, and all that the check reads.
type history struct {
	answers  []answer        // what senders got
	calls    []call          // what the shop was called for
	acts     []call          // the calls on which it acted
	receipts []receipt       // what the store holds in the end
	starts   []time.Duration // from the start of each process to its ready line
	odd      []string        // what must not happen at all, as the shop and the store saw it
}

// An answer is what one request came to. A request that nobody listened to is none: it cannot have had an effect.
type answer struct {
	key      recibo.Key
	sent, at time.Time
	status   int // 0: no answer came, so that the outcome is unknown
	verdict  recibo.Verdict
	receipt  string
	cut      bool // the answer began and did not end
}

func (a answer) acknowledged() bool { return a.status/100 == 2 }

// A call is one signed request that reached the shop.
type call struct {
	key   recibo.Key
	token string // its Idempotency-Key
}

// A receipt is a row of the store.
type receipt struct {
	id       string
	key      recibo.Key
	status   recibo.Status
	lease    int64
	attempts int
}

// readyWithin is how soon a process must be ready, also when it finds what a killed one left.
const readyWithin = 2 * time.Second

// broken lists the promises that the history breaks.
func (h *history) broken() []string {
	broken := slices.Clone(h.odd)
	for i, took := range h.starts {
		if took > readyWithin {
			broken = append(broken, fmt.Sprintf("start %d: ready after %s, want at most %s", i, took, readyWithin))
		}
	}
	lives := h.lives()
	for _, key := range slices.Sorted(maps.Keys(lives)) {
		l := lives[key]
		for _, what := range slices.Concat(l.answeredWrongly(), l.lost(), l.repeated(), l.unworked(), l.actedWrongly()) {
			broken = append(broken, fmt.Sprintf("%s: %s", key, what))
		}
	}
	return broken
}

// A life is what the history says of one key.
type life struct {
	answers     []answer
	calls, acts []call
	receipts    []receipt
}

func (h *history) lives() map[recibo.Key]*life {
	lives := make(map[recibo.Key]*life)
	of := func(key recibo.Key) *life {
		if lives[key] == nil {
			lives[key] = new(life)
		}
		return lives[key]
	}
	for _, a := range h.answers {
		of(a.key).answers = append(of(a.key).answers, a)
	}
	for _, c := range h.calls {
		of(c.key).calls = append(of(c.key).calls, c)
	}
	for _, c := range h.acts {
		of(c.key).acts = append(of(c.key).acts, c)
	}
	for _, r := range h.receipts {
		of(r.key).receipts = append(of(r.key).receipts, r)
	}
	return lives
}

// answeredWrongly: every request is good, so nothing but 2xx and 503 is an honest answer.
func (l *life) answeredWrongly() (broken []string) {
	for _, a := range l.answers {
		switch {
		case a.status == 0 || a.status == http.StatusServiceUnavailable:
		case !a.acknowledged():
			broken = append(broken, fmt.Sprintf("answered %d, want 2xx or 503", a.status))
		case a.verdict != recibo.Accepted && a.verdict != recibo.Duplicate:
			broken = append(broken, fmt.Sprintf("verdict %q, want accepted or duplicate", a.verdict))
		}
	}
	return broken
}

// lost: what was answered 2xx is in the store, under the receipt that the answer named (P3).
func (l *life) lost() (broken []string) {
	for _, a := range l.answers {
		named := func(r receipt) bool { return r.id == a.receipt }
		if a.acknowledged() && !slices.ContainsFunc(l.receipts, named) {
			broken = append(broken, fmt.Sprintf("lost: %s was acknowledged, the store has %v", a.receipt, l.receipts))
		}
	}
	return broken
}

// repeated: of all copies one is fresh (P4). The copies of a key have one content, so their history is linearizable if and
// only if at most one is accepted, that one was sent before any other was acknowledged, and where none is, a request
// without an answer may have been it.
func (l *life) repeated() (broken []string) {
	if len(l.receipts) > 1 {
		broken = append(broken, fmt.Sprintf("%d receipts, want one: %v", len(l.receipts), l.receipts))
	}
	acknowledged := slices.DeleteFunc(slices.Clone(l.answers), func(a answer) bool { return !a.acknowledged() })
	if len(acknowledged) == 0 {
		return broken
	}
	first := slices.MinFunc(acknowledged, func(a, b answer) int { return a.at.Compare(b.at) }).at
	accepted, perhaps := 0, 0
	for _, a := range l.answers {
		switch early := a.sent.Before(first); {
		case a.verdict == recibo.Accepted:
			accepted++
			if !early {
				broken = append(broken, "accepted after an earlier copy was acknowledged")
			}
		case !a.acknowledged() && early:
			perhaps++
		}
	}
	if accepted > 1 {
		broken = append(broken, fmt.Sprintf("accepted %d times, want once", accepted))
	}
	if accepted+perhaps == 0 {
		broken = append(broken, "a duplicate of nothing: no copy was accepted, and none that came first is without an answer")
	}
	return broken
}

// unworked: every receipt ends as processed (P6).
func (l *life) unworked() (broken []string) {
	for _, r := range l.receipts {
		if r.status != recibo.Processed {
			broken = append(broken, fmt.Sprintf("%s is %s after %d attempts, want processed", r.id, r.status, r.attempts))
		}
	}
	return broken
}

// actedWrongly: the shop acts once, however often it is called, because every call carries the receipt's one
// Idempotency-Key; and nothing runs that nobody sent or that is not kept.
func (l *life) actedWrongly() (broken []string) {
	if len(l.answers) == 0 {
		broken = append(broken, "nobody sent it")
	}
	if len(l.receipts) == 0 && len(l.calls) > 0 {
		broken = append(broken, fmt.Sprintf("the shop was called %d times for what is not in the store", len(l.calls)))
	}
	for _, r := range l.receipts {
		if len(l.acts) != 1 {
			broken = append(broken, fmt.Sprintf("%s acted %d times, want once: %v", r.id, len(l.acts), l.acts))
		}
		for _, c := range l.calls {
			if c.token != r.id {
				broken = append(broken, fmt.Sprintf("%s was called with Idempotency-Key %q", r.id, c.token))
			}
		}
	}
	return broken
}

// String gives the figures.
func (h *history) String() string {
	kinds := map[string]int{}
	keys := map[recibo.Key]bool{}
	for _, a := range h.answers {
		kinds[cmp.Or(string(a.verdict), fmt.Sprint(a.status))]++
		if a.acknowledged() {
			keys[a.key] = true
		}
	}
	text := fmt.Sprintf("%d requests (%d accepted, %d duplicates, %d answered 503, %d without an answer), "+
		"%d keys acknowledged, %d receipts, %d calls, %d acts", len(h.answers), kinds[string(recibo.Accepted)],
		kinds[string(recibo.Duplicate)], kinds["503"], kinds["0"], len(keys), len(h.receipts), len(h.calls), len(h.acts))
	if sorted := slices.Sorted(slices.Values(h.starts)); len(sorted) > 0 {
		text += fmt.Sprintf(", ready after p50 %s, max %s", sorted[len(sorted)/2].Round(time.Millisecond),
			sorted[len(sorted)-1].Round(time.Millisecond))
	}
	return text
}
