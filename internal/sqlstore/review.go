package sqlstore

import (
	"bytes"
	"context"
	"slices"

	"github.com/recibohq/recibo"
)

// upsertReview counts a copy of what waits already. Its facts stay those of the first; last_at moves on.
const upsertReview = `
INSERT INTO webhook_reviews (id, identity, tenant_id, scope, namespace, source, idempotency_key, delivery_id, receipt_id,
	verdict, reason, first_at, last_at, event_id, event_type, account, object, version, content, secret_id,
	occurred_at, sent_at, part_start, part_end)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)
ON CONFLICT (identity) DO UPDATE
SET copies = webhook_reviews.copies + 1, last_at = excluded.last_at`

// keepReviews writes the items of a batch, sorted like the receipts and for the same reason.
func keepReviews(ctx context.Context, tx Tx, recs []*recording) error {
	var calls [][]any
	for _, rec := range recs {
		for i := range rec.results {
			if v := rec.results[i].Verdict; v == recibo.Held || v == recibo.Conflict {
				calls = append(calls, reviewArgs(rec.Recording, i, rec.results[i]))
			}
		}
	}
	if len(calls) == 0 {
		return nil
	}
	slices.SortStableFunc(calls, func(a, b []any) int {
		x, y := a[1].([16]byte), b[1].([16]byte)
		return bytes.Compare(x[:], y[:])
	})
	return tx.Exec(ctx, upsertReview, calls...)
}

func reviewArgs(r *recibo.Recording, event int, result recibo.Recorded) []any {
	e := &r.Events[event]
	var met any
	if !result.Receipt.IsZero() {
		met = [16]byte(result.Receipt)
	}
	return []any{
		[16]byte(recibo.NewReceiptID(r.ReceivedAt)), reviewIdentity(r, e),
		r.Tenant, r.Scope, r.Namespace, r.Source, string(e.Key), [16]byte(r.Delivery), met,
		string(result.Verdict), string(result.Reason), micros(r.ReceivedAt),
		e.ID, e.Type, e.Account, e.Object, e.Version, e.Content[:], r.Secret[:],
		microsOrNil(e.OccurredAt), microsOrNil(r.SentAt), int64(e.Start), int64(e.End),
	}
}

// reviewIdentity is what one item is made per: source, key and content. The tenant is in it since the row is his.
func reviewIdentity(r *recibo.Recording, e *recibo.Event) [16]byte {
	return recibo.NewIdentity(r.Tenant, r.Source, e.Key, string(e.Content[:]))
}
