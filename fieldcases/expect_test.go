package fieldcases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/url"
	"os"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fits says whether a status is one that the case names.
func (o oneOf) fits(status int) bool {
	for _, want := range o {
		switch {
		case want == "closed" && status == 0,
			strings.HasSuffix(want, "xx") && status/100 == int(want[0]-'0'),
			want == strconv.Itoa(status):
			return true
		}
	}
	return len(o) == 0
}

// check compares one answer with what the step expects.
func (w *world) check(s *step, r *reply) {
	t, e := w.t, &s.Expect
	t.Helper()
	if r.status == 500 {
		t.Errorf("answered 500, which no answer may be")
	}
	if !e.Status.fits(r.status) {
		t.Errorf("answered %d, want %v (decision %s)\n%s", r.status, e.Status, r.decision, tail(w.journal.String()))
	}
	if len(e.Decision) > 0 && !e.Decision.has(r.decision) {
		t.Errorf("decided %s, want %v\n%s", r.decision, e.Decision, tail(w.journal.String()))
	}
	if e.WithinS > 0 && r.took.Seconds() > e.WithinS {
		t.Errorf("answered after %s, want within %g s", r.took, e.WithinS)
	}
	if e.ClosedWithinS > 0 && r.closed.Seconds() > e.ClosedWithinS {
		t.Errorf("closed after %s, want within %g s", r.closed, e.ClosedWithinS)
	}
	if e.ReadBytesMax > 0 && r.wrote > e.ReadBytesMax {
		t.Errorf("took %d bytes of the body, want at most %d", r.wrote, e.ReadBytesMax)
	}
	if e.Answer != nil {
		w.checkAnswer(e.Answer, r)
	}
}

func tail(log string) string { return log[max(0, len(log)-400):] }

func (w *world) checkAnswer(a *answer, r *reply) {
	t := w.t
	t.Helper()
	for name, want := range a.Headers {
		if got := r.header.Get(name); got != want {
			t.Errorf("header %s: %q, want %q", name, got, want)
		}
	}
	for _, name := range a.HeadersAbsent {
		if got, there := r.header[name]; there {
			t.Errorf("header %s: %q, want none", name, got)
		}
	}
	if got, _, _ := mime.ParseMediaType(r.header.Get("Content-Type")); a.ContentType != "" && got != a.ContentType {
		t.Errorf("content type %q, want %q", got, a.ContentType)
	}
	if a.Body != nil && string(r.body) != *a.Body {
		t.Errorf("body %q, want %q", r.body, *a.Body)
	}
	if a.JSON != nil {
		var got any
		d := json.NewDecoder(bytes.NewReader(r.body))
		d.UseNumber()
		if err := d.Decode(&got); err != nil || !reflect.DeepEqual(got, a.JSON) {
			t.Errorf("body %s, %v; want as data %v", r.body, err, a.JSON)
		}
	}
	for _, text := range a.NotContains {
		if bytes.Contains(r.body, []byte(text)) || strings.Contains(fmt.Sprint(r.header), text) {
			t.Errorf("the answer contains %q", text)
		}
	}
	if a.SameAsStep != nil {
		if diff := cmp.Diff(comparable(w.answers[*a.SameAsStep]), comparable(*r)); diff != "" {
			t.Errorf("the answer differs from that of step %d:\n%s", *a.SameAsStep, diff)
		}
	}
	if a.NoRedirect && r.status/100 == 3 {
		t.Errorf("answered the redirect %d", r.status)
	}
}

// comparable is an answer less what honestly differs between two: ids, dates, lengths, and how it was decided where the
// sender does not see it.
func comparable(r reply) map[string]any {
	h := r.header.Clone()
	for _, name := range []string{"Recibo-Delivery", "Date", "Content-Length", "Retry-After"} {
		h.Del(name)
	}
	body := r.body
	if id := r.header.Get("Recibo-Delivery"); id != "" {
		body = bytes.ReplaceAll(body, []byte(id), []byte("dlv"))
	}
	return map[string]any{"header": h, "body": string(body)}
}

// checkAfter compares what holds once everything that was due is done.
func (w *world) checkAfter(a *after, s *step, replies []reply) {
	t := w.t
	t.Helper()
	w.advance(w.clock.now().Add(time.Duration(a.SettleS * float64(time.Second))))
	ledger := w.handler.ledger()
	w.checkRuns(a, ledger)
	w.checkStored(a, s)
	for decision, want := range a.Verdicts {
		got := 0
		for i := range replies {
			if replies[i].decision == decision {
				got++
			}
		}
		if got != want {
			t.Errorf("%d answers were %s, want %d", got, decision, want)
		}
	}
	for _, p := range a.MaxParallel {
		if got := atOnce(ledger, p.Events); got > p.Max {
			t.Errorf("%d attempts on %v at once, want at most %d", got, p.Events, p.Max)
		}
	}
	for _, order := range a.SuccessOrder {
		w.checkOrder(order, ledger)
	}
	for _, want := range a.EventJSON {
		w.checkEventJSON(want, ledger)
	}
	for _, want := range a.Key {
		w.checkContains("key", want, ledger, func(a *attempt) string { return a.key })
	}
	for _, want := range a.Object {
		w.checkContains("object", want, ledger, func(a *attempt) string { return a.object })
	}
	for _, text := range a.LeaksForbidden {
		w.checkLeak(text)
	}
	if a.MemoryGrowthMaxMebi > 0 {
		if grown := float64(resident()-w.resident) / (1 << 20); grown > a.MemoryGrowthMaxMebi {
			t.Errorf("memory grew by %.1f MiB, want at most %g", grown, a.MemoryGrowthMaxMebi)
		}
	}
	if len(a.Alarms) > 0 || len(a.ForwardNotContains) > 0 {
		t.Errorf("%v", unsupportedError("alarms or a forward destination as expectations"))
	}
	w.peerLock.Lock()
	defer w.peerLock.Unlock()
	if a.Outbound == "none" && w.outbound > 0 {
		t.Errorf("%d connections were to be opened, want none", w.outbound)
	}
}

func (w *world) checkRuns(a *after, ledger []attempt) {
	t := w.t
	t.Helper()
	for _, want := range a.Runs {
		successes, attempts := 0, 0
		within := true
		for i := range ledger {
			if !ledger[i].holds(want.Event) {
				continue
			}
			attempts++
			if ledger[i].succeeded {
				if successes++; successes == 1 && want.WithinS > 0 {
					within = ledger[i].ended.Sub(ledger[i].acceptedAt).Seconds() <= want.WithinS
				}
			}
		}
		if want.Successes != nil && successes != *want.Successes || want.SuccessesMin != nil && successes < *want.SuccessesMin ||
			want.Attempts != nil && attempts != *want.Attempts || !within {
			t.Errorf("%s: %d successes of %d attempts (in time %v), want %s", want.Event, successes, attempts, within, asJSON(want))
		}
	}
	total, byKey := 0, map[string]int{}
	for i := range ledger {
		if ledger[i].succeeded {
			total++
			byKey[ledger[i].key]++
		}
	}
	if a.TotalSuccesses != nil && total != *a.TotalSuccesses {
		t.Errorf("%d successes, want %d", total, *a.TotalSuccesses)
	}
	for key, n := range byKey {
		if a.MaxSuccessesPerEvent != nil && n > *a.MaxSuccessesPerEvent {
			t.Errorf("%s succeeded %d times, want at most %d", key, n, *a.MaxSuccessesPerEvent)
		}
	}
}

func asJSON(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// checkStored looks at the rows.
func (w *world) checkStored(a *after, s *step) {
	t := w.t
	t.Helper()
	if a.Receipts != nil {
		if got := w.count("SELECT COUNT(*) FROM webhook_receipts"); got != *a.Receipts {
			t.Errorf("%d receipts, want %d", got, *a.Receipts)
		}
	}
	if a.ReviewOpen != nil {
		if got := w.count("SELECT COUNT(*) FROM webhook_reviews WHERE status = 'open'"); got != *a.ReviewOpen {
			t.Errorf("%d open review items, want %d", got, *a.ReviewOpen)
		}
	}
	if a.StoredBodyEqual && w.count("SELECT COUNT(*) FROM webhook_bodies WHERE body = ?", s.body(1)) == 0 {
		t.Errorf("no stored body equals the bytes that were sent")
	}
	for _, want := range a.ReceiptStatus {
		n := 1
		if want.Count != nil {
			n = *want.Count
		}
		const about = `SELECT COUNT(*) FROM webhook_receipts r JOIN webhook_bodies b ON b.delivery_id = r.delivery_id
			WHERE r.status = ? AND instr(substr(CAST(b.body AS TEXT), r.part_start + 1, r.part_end - r.part_start), ?) > 0`
		if got := w.count(about, want.Is, want.Event); got != n {
			t.Errorf("%s: %d receipts are %s, want %d", want.Event, got, want.Is, n)
		}
	}
}

func (w *world) count(query string, args ...any) (n int) {
	if err := w.db.QueryRow(query, args...).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// atOnce is how many attempts on any of the events ran at the same moment.
func atOnce(ledger []attempt, events []string) int {
	most := 0
	for i := range ledger {
		n := 0
		for j := range ledger {
			if concerns(&ledger[j], events) && !ledger[j].began.After(ledger[i].began) && (ledger[j].ended.IsZero() || ledger[j].ended.After(ledger[i].began)) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func concerns(a *attempt, events []string) bool {
	for _, e := range events {
		if a.holds(e) {
			return true
		}
	}
	return false
}

func (w *world) checkOrder(events []string, ledger []attempt) {
	w.t.Helper()
	var got []string
	for i := range ledger {
		for _, e := range events {
			if ledger[i].succeeded && ledger[i].holds(e) {
				got = append(got, e)
			}
		}
	}
	if diff := cmp.Diff(events, got); diff != "" {
		w.t.Errorf("succeeded in another order (-want +got):\n%s", diff)
	}
}

func (w *world) checkEventJSON(want eventJSON, ledger []attempt) {
	w.t.Helper()
	for i := range ledger {
		if !ledger[i].holds(want.Event) {
			continue
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(ledger[i].document()))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			w.t.Errorf("%s: the event is no JSON: %v", want.Event, err)
			return
		}
		for _, name := range strings.Split(want.Path, ".") {
			if m, ok := v.(map[string]any); ok {
				v = m[name]
			}
		}
		if !reflect.DeepEqual(v, want.Equals) {
			w.t.Errorf("%s: %s is %v, want %v", want.Event, want.Path, v, want.Equals)
		}
		return
	}
	w.t.Errorf("%s: no attempt", want.Event)
}

// document is the event's JSON: the body itself, or what a form carries.
func (a *attempt) document() []byte {
	if form, err := url.ParseQuery(string(a.body)); err == nil && form.Has("payload") {
		return []byte(form.Get("payload"))
	}
	return a.body
}

// resident is this process's memory, once what nobody holds is given back.
func resident() int64 {
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var total, pages int64
	_, _ = fmt.Sscan(string(text), &total, &pages)
	return pages * int64(os.Getpagesize())
}

func (w *world) checkContains(what string, want contains, ledger []attempt, of func(*attempt) string) {
	w.t.Helper()
	for i := range ledger {
		if ledger[i].holds(want.Event) && strings.Contains(of(&ledger[i]), want.Contains) {
			return
		}
	}
	w.t.Errorf("%s: no %s contains %q", want.Event, what, want.Contains)
}

// checkLeak looks for text in answers, the log and the store's files.
func (w *world) checkLeak(text string) {
	w.t.Helper()
	if strings.Contains(w.journal.String(), text) {
		w.t.Errorf("%q is in the log", text)
	}
	for i := range w.answers {
		if bytes.Contains(w.answers[i].body, []byte(text)) || strings.Contains(fmt.Sprint(w.answers[i].header), text) {
			w.t.Errorf("%q is in an answer", text)
		}
	}
	for _, suffix := range []string{"", "-wal"} {
		if stored, err := os.ReadFile(w.path + suffix); err == nil && bytes.Contains(stored, []byte(text)) {
			w.t.Errorf("%q is in the store", text)
		}
	}
}
