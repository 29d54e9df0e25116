package sqlstore

import (
	"context"

	"github.com/recibohq/recibo"
)

// The statements find a receipt by a digest in which scope, namespace and destination are: tenants of one scope share a
// memory, so the tenant is compared and not asked for.
const (
	knownColumns = `
SELECT id, idempotency_key, event_id, event_type, account, content, secret_id, source, tenant_id
FROM webhook_receipts`

	selectByIdentity = knownColumns + `
WHERE identity = $1`

	selectByToken = knownColumns + `
WHERE token = $1`
)

// A reader runs queries: a transaction, or the database between transactions.
type reader interface {
	Query(ctx context.Context, stmt string, calls [][]any, row Row) error
}

// findKnown looks for the receipts that kept rows out: by key, then by token.
func findKnown(ctx context.Context, from reader, rows []*row) error {
	if err := findBy(ctx, from, selectByIdentity, rows, func(w *row) recibo.Identity { return w.identity }); err != nil {
		return err
	}
	var byToken []*row
	for _, w := range rows {
		if w.known == nil && w.token != (recibo.Identity{}) {
			byToken = append(byToken, w)
		}
	}
	return findBy(ctx, from, selectByToken, byToken, func(w *row) recibo.Identity { return w.token })
}

func findBy(ctx context.Context, from reader, stmt string, rows []*row, by func(*row) recibo.Identity) error {
	if len(rows) == 0 {
		return nil
	}
	calls := make([][]any, len(rows))
	for i, w := range rows {
		calls[i] = []any{[16]byte(by(w))}
	}
	return from.Query(ctx, stmt, calls, func(call int, scan Scan) error {
		k := new(recibo.Known)
		var key string
		var content, secret []byte
		err := scan((*[16]byte)(&k.Receipt), &key, &k.ID, &k.Type, &k.Account, &content, &secret, &k.Source, &k.Tenant)
		k.Key = recibo.Key(key)
		copy(k.Content[:], content)
		copy(k.Secret[:], secret)
		rows[call].known = k
		return err
	})
}

// answerKnown answers the deliveries of which all is known and nothing is for review, and returns the others. A committed
// receipt is a final fact, so these need no commit of their own. Not where the standby must have it too: there a row can
// be seen before the standby has it.
func (s *Store) answerKnown(ctx context.Context, batch []*op) (rest []*op) {
	recs := recordings(batch)
	if s.dialect.Flush != "" || len(recs) == 0 {
		return batch
	}
	if err := findKnown(ctx, s.db, sortedRows(recs)); err != nil {
		return batch // the commit will say what is wrong
	}
	for _, o := range batch {
		if o.record != nil && o.record.onlyCopies() {
			o.done <- nil
			continue
		}
		rest = append(rest, o)
	}
	return rest
}

// onlyCopies judges a recording whose rows all met a receipt.
func (rec *recording) onlyCopies() bool {
	for i := range rec.rows {
		if rec.rows[i].known == nil {
			return false
		}
	}
	rec.judge()
	return !rec.kept()
}
