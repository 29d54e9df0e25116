package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/recibohq/recibo"
)

// A work is a call under a lease: Extend, SaveStep or Settle. Exactly one of the last three is set.
type work struct {
	ref     recibo.LeaseRef
	extend  time.Duration
	step    *recibo.KeptStep
	outcome *recibo.Outcome

	lost   bool  // the fence refused it; nothing is changed
	until  int64 // of an extended lease
	woke   bool  // another receipt became due
	tenant string
	object *[16]byte
	run    int64
}

// makesDue says whether workers have something to look for.
func (w *work) makesDue() bool {
	if w.lost || w.outcome == nil {
		return false
	}
	return w.woke || w.outcome.Kind == recibo.Returned || w.outcome.Kind == recibo.Again
}

// Extend moves the end of a held lease to now and d by the store's clock. A lease that ran out but that nobody took since
// is held on.
func (s *Store) Extend(ctx context.Context, l recibo.LeaseRef, d time.Duration) (time.Time, error) {
	w := &work{ref: l, extend: d}
	if d <= 0 {
		return time.Time{}, fmt.Errorf("extend lease of %s: by %s: want more than nothing", l.Receipt, d)
	}
	if err := s.do(ctx, w); err != nil {
		return time.Time{}, fmt.Errorf("extend lease of %s: %w", l.Receipt, err)
	}
	return fromMicros(w.until), nil
}

// SaveStep keeps a finished step of the receipt's run. The first result of a name stays.
func (s *Store) SaveStep(ctx context.Context, l recibo.LeaseRef, step recibo.KeptStep) error {
	if err := checkStep(step); err != nil {
		return fmt.Errorf("save step of %s: %w", l.Receipt, err)
	}
	if err := s.do(ctx, &work{ref: l, step: &step}); err != nil {
		return fmt.Errorf("save step of %s: %w", l.Receipt, err)
	}
	return nil
}

func checkStep(step recibo.KeptStep) error {
	if step.Name == "" {
		return errors.New("it has no name")
	}
	if len(step.Result) > maxStep {
		return fmt.Errorf("result has %d bytes, more than %d", len(step.Result), maxStep)
	}
	return checkText("name", step.Name, maxText)
}

// Settle ends a held lease with the attempt's outcome. A lease that ran out but that nobody took since may still be
// settled: what was done was done once, and refusing it would only have it done again.
func (s *Store) Settle(ctx context.Context, l recibo.LeaseRef, o recibo.Outcome) error {
	if _, ok := endings[o.Kind]; !ok {
		return fmt.Errorf("settle %s: unknown outcome %q", l.Receipt, o.Kind)
	}
	o.Result, o.Error = clip(o.Result), clip(o.Error)
	if err := s.do(ctx, &work{ref: l, outcome: &o}); err != nil {
		return fmt.Errorf("settle %s: %w", l.Receipt, err)
	}
	return nil
}

func (s *Store) do(ctx context.Context, w *work) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	o := newOp()
	o.work = w
	if err := s.submit(ctx, s.works, o); err != nil {
		return err
	}
	if w.lost {
		return recibo.ErrLeaseLost
	}
	return nil
}

// workAll fences the calls, then does those that passed: each kind of statement for all of them at once, receipts in the
// order of their ids and objects in that of their keys.
func (s *Store) workAll(ctx context.Context, tx Tx, batch []*op) error {
	works := works(batch)
	if len(works) == 0 {
		return nil
	}
	if err := fence(ctx, tx, works); err != nil {
		return err
	}
	if err := fenceObjects(ctx, tx, works); err != nil {
		return err
	}
	held := slices.DeleteFunc(works, func(w *work) bool { return w.lost })
	if err := extendAll(ctx, tx, held); err != nil {
		return err
	}
	if err := saveSteps(ctx, tx, held); err != nil {
		return err
	}
	return settleAll(ctx, tx, held)
}

func works(batch []*op) []*work {
	var ws []*work
	for _, o := range batch {
		if o.work != nil {
			ws = append(ws, o.work)
		}
	}
	slices.SortStableFunc(ws, func(a, b *work) int { return bytes.Compare(a.ref.Receipt[:], b.ref.Receipt[:]) })
	return ws
}

// fence locks the receipt if the lease is the last one taken. A [recibo.LeaseRef] names no tenant; its receipt's id does.
const fenceReceipt = `
SELECT tenant_id, object_key, run
FROM webhook_receipts
WHERE id = $1 AND lease = $2 AND status = 'processing'
FOR UPDATE`

func fence(ctx context.Context, tx Tx, works []*work) error {
	calls := make([][]any, len(works))
	for i, w := range works {
		w.lost, w.woke, w.object = true, false, nil
		calls[i] = []any{[16]byte(w.ref.Receipt), w.ref.Number}
	}
	err := tx.Query(ctx, fenceReceipt, calls, func(call int, scan Scan) error {
		w := works[call]
		w.lost = false
		return scan(&w.tenant, &w.object, &w.run)
	})
	settleOnce(works)
	return err
}

// settleOnce refuses all but the first Settle of a lease in one batch, as it would be with a commit between them.
func settleOnce(works []*work) {
	settled := map[recibo.ReceiptID]bool{}
	for _, w := range works {
		if w.outcome == nil || w.lost {
			continue
		}
		w.lost = settled[w.ref.Receipt]
		settled[w.ref.Receipt] = true
	}
}

// fenceObject locks the object if the lease still holds it: when the lease had run out, another receipt may have it now.
const fenceObject = `
SELECT 1
FROM webhook_objects
WHERE tenant_id = $1 AND object_key = $2 AND busy_receipt = $3 AND busy_lease = $4
FOR UPDATE`

func fenceObjects(ctx context.Context, tx Tx, works []*work) error {
	withObject := byObject(works)
	if len(withObject) == 0 {
		return nil
	}
	calls := make([][]any, len(withObject))
	for i, w := range withObject {
		w.lost = true
		calls[i] = []any{w.tenant, *w.object, [16]byte(w.ref.Receipt), w.ref.Number}
	}
	return tx.Query(ctx, fenceObject, calls, func(call int, scan Scan) error {
		withObject[call].lost = false
		return nil
	})
}

// byObject are the calls that still hold and whose receipt has an object, in the order in which objects are locked.
func byObject(works []*work) []*work {
	var with []*work
	for _, w := range works {
		if !w.lost && w.object != nil {
			with = append(with, w)
		}
	}
	slices.SortStableFunc(with, func(a, b *work) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), bytes.Compare(a.object[:], b.object[:]))
	})
	return with
}

const (
	extendLease = `
UPDATE webhook_receipts
SET due_at = $now + $3
WHERE tenant_id = $1 AND id = $2
RETURNING due_at`

	extendObject = `
UPDATE webhook_objects
SET busy_until = $3
WHERE tenant_id = $1 AND object_key = $2`
)

func extendAll(ctx context.Context, tx Tx, held []*work) error {
	var extends []*work
	var calls, objects [][]any
	for _, w := range held {
		if w.extend > 0 {
			extends = append(extends, w)
			calls = append(calls, []any{w.tenant, [16]byte(w.ref.Receipt), w.extend.Microseconds()})
		}
	}
	if len(extends) == 0 {
		return nil
	}
	err := tx.Query(ctx, extendLease, calls, func(call int, scan Scan) error { return scan(&extends[call].until) })
	if err != nil {
		return err
	}
	for _, w := range byObject(extends) {
		objects = append(objects, []any{w.tenant, *w.object, w.until})
	}
	return tx.Exec(ctx, extendObject, objects...)
}

const insertStep = `
INSERT INTO webhook_steps (receipt_id, run, name, result, kept_at)
VALUES ($1, $2, $3, $4, $now)
ON CONFLICT DO NOTHING`

func saveSteps(ctx context.Context, tx Tx, held []*work) error {
	var calls [][]any
	for _, w := range held {
		if w.step != nil {
			calls = append(calls, []any{[16]byte(w.ref.Receipt), w.run, w.step.Name, notNil(w.step.Result)})
		}
	}
	return tx.Exec(ctx, insertStep, calls...)
}
