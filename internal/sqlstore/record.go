package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/recibohq/recibo"
)

// Record keeps a receipt per event and destination unless its key is taken. It shares a commit with the calls that wait
// beside it. If ctx ends first the commit goes on, so r must not be changed afterwards.
func (s *Store) Record(ctx context.Context, r *recibo.Recording) ([]recibo.Recorded, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	if err := checkRecording(r); err != nil {
		return nil, fmt.Errorf("record delivery %s: %w", r.Delivery, err)
	}
	o := newOp()
	o.record = newRecording(r)
	if err := s.submit(ctx, s.records, o); err != nil {
		return nil, fmt.Errorf("record delivery %s: %w", r.Delivery, err)
	}
	return o.record.results, nil
}

// errVanished: a receipt kept ours out and was gone when we looked, since its transaction was rolled back or it was
// purged. Never accepted: the insert is tried again.
var errVanished = errors.New("the receipt that held the key is gone")

// recordAll inserts, looks at what was not inserted, judges, and keeps the bodies. The look is a statement of its own: in
// one with the insert it would not see a receipt committed meanwhile.
func (s *Store) recordAll(ctx context.Context, tx Tx, batch []*op) (changed bool, err error) {
	recs := recordings(batch)
	if len(recs) == 0 {
		return true, nil
	}
	rows := sortedRows(recs)
	if err := insertReceipts(ctx, tx, rows); err != nil {
		return false, err
	}
	lost := slices.DeleteFunc(rows, func(w *row) bool { return w.fresh })
	if err := findKnown(ctx, tx, lost); err != nil {
		return false, err
	}
	if slices.ContainsFunc(lost, func(w *row) bool { return w.known == nil }) {
		return false, errVanished
	}
	if err := judgeAll(ctx, tx, recs); err != nil {
		return false, err
	}
	if err := keepReviews(ctx, tx, recs); err != nil {
		return false, err
	}
	return insertBodies(ctx, tx, recs)
}

func recordings(batch []*op) []*recording {
	recs := make([]*recording, 0, len(batch))
	for _, o := range batch {
		if o.record != nil {
			recs = append(recs, o.record)
		}
	}
	return recs
}

// sortedRows orders rows by identity: unsorted, batches of two nodes deadlock.
func sortedRows(recs []*recording) []*row {
	rows := make([]*row, 0, len(recs))
	for _, rec := range recs {
		for i := range rec.rows {
			rows = append(rows, &rec.rows[i])
		}
	}
	slices.SortStableFunc(rows, func(a, b *row) int { return bytes.Compare(a.identity[:], b.identity[:]) })
	return rows
}

func insertReceipts(ctx context.Context, tx Tx, rows []*row) error {
	args := make([][]any, len(rows))
	for i, w := range rows {
		args[i] = w.args
		w.known = nil
	}
	added, err := tx.Insert(ctx, receiptTable, args)
	if err != nil {
		return err
	}
	for i, w := range rows {
		w.fresh = added[i]
	}
	return nil
}

const deleteReceipt = `
DELETE FROM webhook_receipts
WHERE tenant_id = $1 AND id = $2`

// judgeAll judges each recording. Where a receipt has to be taken back, its delivery runs alone: a neighbour may have been
// judged by that receipt.
func judgeAll(ctx context.Context, tx Tx, recs []*recording) error {
	for _, rec := range recs {
		undo := rec.judge()
		if len(undo) == 0 {
			continue
		}
		if len(recs) > 1 {
			return errBlame
		}
		rec.followUndone(undo)
		var calls [][]any
		for _, w := range undo {
			calls = append(calls, []any{rec.Tenant, [16]byte(w.id)})
			w.fresh = false
		}
		if err := tx.Exec(ctx, deleteReceipt, calls...); err != nil {
			return err
		}
	}
	return nil
}

var bodyTable = &Table{Name: "webhook_bodies", Columns: []Column{
	{"delivery_id", ID}, {"tenant_id", Text}, {"request_id", Text}, {"received_at", Int},
	{"headers", Bytes}, {"body", Bytes},
}}

// insertBodies keeps the body of each delivery of which anything was kept, once.
func insertBodies(ctx context.Context, tx Tx, recs []*recording) (kept bool, err error) {
	var rows [][]any
	for _, rec := range recs {
		if rec.kept() {
			rows = append(rows, bodyArgs(rec.Recording))
		}
	}
	if len(rows) == 0 {
		return false, nil
	}
	_, err = tx.Insert(ctx, bodyTable, rows)
	return true, err
}

func bodyArgs(r *recibo.Recording) []any {
	return []any{[16]byte(r.Delivery), r.Tenant, r.RequestID, micros(r.ReceivedAt), notNil(r.Header), notNil(r.Body)}
}

// notNil keeps an empty value from becoming NULL.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
