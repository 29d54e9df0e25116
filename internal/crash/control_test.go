package crash

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recibohq/recibo"
)

// honest is a small history in which every promise is kept: a copy that met a kept event, one whose first request was
// lost after it was recorded, one that was never taken, and one that was called again.
func honest() *history {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	return &history{
		answers: []answer{
			{key: "id:a", sent: at(0), at: at(5), status: 200, verdict: recibo.Accepted, receipt: "rcp_a"},
			{key: "id:a", sent: at(3), at: at(9), status: 200, verdict: recibo.Duplicate, receipt: "rcp_a"},
			{key: "id:b", sent: at(0), at: at(5)},
			{key: "id:b", sent: at(6), at: at(9), status: 200, verdict: recibo.Duplicate, receipt: "rcp_b"},
			{key: "id:c", sent: at(0), at: at(5), status: 503},
		},
		calls: []call{{"id:a", "rcp_a"}, {"id:b", "rcp_b"}, {"id:b", "rcp_b"}},
		acts:  []call{{"id:a", "rcp_a"}, {"id:b", "rcp_b"}},
		receipts: []receipt{
			{id: "rcp_a", key: "id:a", status: recibo.Processed, lease: 1, attempts: 1},
			{id: "rcp_b", key: "id:b", status: recibo.Processed, lease: 2, attempts: 2},
		},
		starts: []time.Duration{50 * time.Millisecond},
	}
}

// doctorings are changes that break a promise, with what the check has to say of each.
var doctorings = []struct {
	name   string
	doctor func(h *history)
	want   string
}{
	{"an acknowledged receipt is gone", func(h *history) { h.receipts = slices.Delete(h.receipts, 0, 1) }, "lost: "},
	{"an answer names another receipt", func(h *history) { h.acknowledged().receipt = "rcp_other" }, "lost: rcp_other"},
	{"an event was accepted twice", func(h *history) {
		h.acknowledged().verdict = recibo.Accepted
		h.answers = append(h.answers, *h.acknowledged())
	}, "accepted 2 times"},
	{"an event was accepted after a copy of it was acknowledged", func(h *history) {
		late := *h.acknowledged()
		late.sent, late.at, late.verdict = late.at.Add(time.Hour), late.at.Add(time.Hour), recibo.Accepted
		h.answers = append(h.answers, late)
	}, "accepted after"},
	{"a fresh event was called a duplicate", func(h *history) {
		key := h.acknowledged().key
		h.answers = slices.DeleteFunc(h.answers, func(a answer) bool {
			return a.key == key && (a.verdict == recibo.Accepted || !a.acknowledged())
		})
		h.answers = append(h.answers, answer{key: key, status: 200, verdict: recibo.Duplicate, receipt: h.receipts[0].id})
	}, "a duplicate of nothing"},
	{"a key has two receipts", func(h *history) {
		second := h.receipts[0]
		second.id = "rcp_second"
		h.receipts = append(h.receipts, second)
	}, "2 receipts"},
	{"a receipt was left in processing", func(h *history) { h.receipts[0].status = recibo.Processing }, "is processing"},
	{"a receipt failed", func(h *history) { h.receipts[0].status = recibo.Failed }, "is failed"},
	{"the shop acted again", func(h *history) { h.acts = append(h.acts, h.acts[0]) }, "acted 2 times"},
	{"the shop never acted", func(h *history) { h.acts = slices.Delete(h.acts, 0, 1) }, "acted 0 times"},
	{"a key came under a second Idempotency-Key", func(h *history) {
		h.calls = append(h.calls, call{h.calls[0].key, "rcp_second"})
	}, `with Idempotency-Key "rcp_second"`},
	{"the shop was called for what is not kept", func(h *history) {
		h.calls = append(h.calls, call{"id:unknown", "rcp_unknown"})
	}, "not in the store"},
	{"a receipt is of nobody", func(h *history) {
		h.receipts = append(h.receipts, receipt{id: "rcp_x", key: "id:x", status: recibo.Processed})
	}, "nobody sent it"},
	{"a good request was refused", func(h *history) { h.acknowledged().status = 401 }, "answered 401"},
	{"a good request met an error of ours", func(h *history) { h.acknowledged().status = 500 }, "answered 500"},
	{"a good request went to review", func(h *history) { h.acknowledged().verdict = recibo.Held }, `verdict "held"`},
	{"a start was slow", func(h *history) { h.starts[0] = 3 * time.Second }, "ready after 3s"},
	{"the shop saw a forgery", func(h *history) { h.odd = append(h.odd, "a forgery") }, "a forgery"},
}

// acknowledged is an answer to doctor: the first 2xx about the first receipt.
func (h *history) acknowledged() *answer {
	i := slices.IndexFunc(h.answers, func(a answer) bool { return a.acknowledged() && a.key == h.receipts[0].key })
	return &h.answers[i]
}

func (h *history) clone() *history {
	return &history{
		answers: slices.Clone(h.answers), calls: slices.Clone(h.calls), acts: slices.Clone(h.acts),
		receipts: slices.Clone(h.receipts), starts: slices.Clone(h.starts), odd: slices.Clone(h.odd),
	}
}

// checkTheCheck doctors h in every way and wants each to be seen. Whatever run h comes from, a check of it that finds
// nothing then means something.
func checkTheCheck(t *testing.T, h *history) {
	t.Helper()
	for _, d := range doctorings {
		doctored := h.clone()
		d.doctor(doctored)
		broken := doctored.broken()
		if !slices.ContainsFunc(broken, func(what string) bool { return strings.Contains(what, d.want) }) {
			t.Errorf("%s: the check reports %q, want something with %q", d.name, first(broken), d.want)
		}
	}
}

func TestTheCheckFindsNothingInAnHonestHistory(t *testing.T) {
	if broken := honest().broken(); len(broken) > 0 {
		t.Errorf("broken() of an honest history = %q, want nothing", broken)
	}
}

func TestTheCheckReportsEveryBrokenPromise(t *testing.T) {
	checkTheCheck(t, honest())
}

// first keeps a report readable.
func first(broken []string) []string { return broken[:min(len(broken), 20)] }
