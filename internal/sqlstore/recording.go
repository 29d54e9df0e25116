package sqlstore

import (
	"github.com/recibohq/recibo"
)

// A recording is a call of Record on its way through a commit.
type recording struct {
	*recibo.Recording
	rows    []row // of the events without a fault, one per destination, in order
	results []recibo.Recorded
}

// A row is a receipt to be.
type row struct {
	event    int
	id       recibo.ReceiptID
	identity recibo.Identity
	token    recibo.Identity // zero for an event without one
	args     []any
	fresh    bool
	known    *recibo.Known // the receipt that it met
}

var receiptTable = &Table{Name: "webhook_receipts", Columns: []Column{
	{"id", ID}, {"identity", ID}, {"token", ID},
	{"tenant_id", Text}, {"scope", Text}, {"namespace", Text}, {"source", Text}, {"destination", Text},
	{"idempotency_key", Text}, {"delivery_id", ID},
	{"event_id", Text}, {"event_type", Text}, {"account", Text},
	{"object", Text}, {"object_key", ID}, {"version", Text},
	{"content", Bytes}, {"secret_id", Bytes},
	{"occurred_at", Int}, {"sent_at", Int}, {"received_at", Int},
	{"part_start", Int}, {"part_end", Int},
	{"due_at", Now},
}}

// newRecording does what needs no database, in the caller's goroutine.
func newRecording(r *recibo.Recording) *recording {
	rec := &recording{Recording: r, results: make([]recibo.Recorded, len(r.Events))}
	rec.rows = make([]row, 0, len(r.Events)*len(r.Destinations))
	for i := range r.Events {
		if r.Events[i].Fault != "" {
			continue
		}
		for _, destination := range r.Destinations {
			rec.rows = append(rec.rows, newRow(r, i, destination))
		}
	}
	return rec
}

func newRow(r *recibo.Recording, event int, destination string) row {
	e := &r.Events[event]
	w := row{
		event:    event,
		id:       recibo.NewReceiptID(r.ReceivedAt),
		identity: recibo.NewIdentity(r.Scope, r.Namespace, e.Key, destination),
	}
	var token, object any
	if e.Token != "" {
		w.token = recibo.NewIdentity(r.Scope, r.Namespace, e.Token, destination)
		token = [16]byte(w.token)
	}
	if r.Serial && e.Object != "" {
		object = objectKey(r.Tenant, r.Namespace, e.Object)
	}
	w.args = []any{
		[16]byte(w.id), [16]byte(w.identity), token,
		r.Tenant, r.Scope, r.Namespace, r.Source, destination,
		string(e.Key), [16]byte(r.Delivery),
		e.ID, e.Type, e.Account,
		e.Object, object, e.Version,
		e.Content[:], r.Secret[:],
		microsOrNil(e.OccurredAt), microsOrNil(r.SentAt), micros(r.ReceivedAt),
		int64(e.Start), int64(e.End),
	}
	return w
}

// objectKey names an object within its tenant and namespace, as narrow as an identity.
func objectKey(tenant, namespace, object string) [16]byte {
	return recibo.NewIdentity(tenant, namespace, recibo.Key(object), "object")
}

func (rec *recording) anyFresh() bool {
	for i := range rec.rows {
		if rec.rows[i].fresh {
			return true
		}
	}
	return false
}

// judge fills in the results from what the rows met. It returns the rows that were added for an event that must not act
// after all, since one of its destinations knows it under another name or with other content.
func (rec *recording) judge() (undo []*row) {
	for i := range rec.results {
		rec.results[i] = recibo.Recorded{Verdict: recibo.Held, Reason: rec.Events[i].Fault}
	}
	for first := 0; first < len(rec.rows); {
		end := first + 1
		for end < len(rec.rows) && rec.rows[end].event == rec.rows[first].event {
			end++
		}
		undo = append(undo, rec.judgeEvent(rec.rows[first:end])...)
		first = end
	}
	return undo
}

// judgeEvent judges one event by its rows: held or in conflict if any says so, else accepted if any is fresh.
func (rec *recording) judgeEvent(rows []row) (undo []*row) {
	e := &rec.Events[rows[0].event]
	result := recibo.Recorded{Verdict: recibo.Duplicate, Receipt: rows[0].id}
	if !rows[0].fresh {
		result.Receipt = rows[0].known.Receipt
	}
	for i := range rows {
		if rows[i].fresh {
			undo = append(undo, &rows[i])
			if result.Verdict == recibo.Duplicate {
				result.Verdict = recibo.Accepted
			}
			continue
		}
		verdict, reason := recibo.Judge(e, rec.Recording, rows[i].known)
		if verdict != recibo.Duplicate {
			result = recibo.Recorded{Verdict: verdict, Reason: reason, Receipt: rows[i].known.Receipt}
		}
	}
	rec.results[rows[0].event] = result
	if result.Verdict == recibo.Accepted {
		return nil
	}
	return undo
}

// followUndone gives an event that met a receipt of its own delivery the result of that receipt's event, once the receipt
// is taken back: a copy of what is held is held.
func (rec *recording) followUndone(undo []*row) {
	for _, u := range undo {
		for i := range rec.rows {
			if w := &rec.rows[i]; w.known != nil && w.known.Receipt == u.id {
				rec.results[w.event] = rec.results[u.event]
			}
		}
	}
}

// kept says whether anything of the delivery is: a receipt, or an item for review.
func (rec *recording) kept() bool {
	for i := range rec.results {
		if rec.results[i].Verdict != recibo.Duplicate {
			return true
		}
	}
	return false
}
