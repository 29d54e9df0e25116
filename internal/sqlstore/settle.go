package sqlstore

import (
	"context"

	"github.com/recibohq/recibo"
)

// An ending is what an outcome makes of the receipt.
type ending struct {
	status recibo.Status
	final  bool
	// refund is how many attempts are not counted after all.
	refund int64
}

var endings = map[recibo.OutcomeKind]ending{
	recibo.Done:     {status: recibo.Processed, final: true},
	recibo.GiveUp:   {status: recibo.Failed, final: true},
	recibo.Again:    {status: recibo.Received},
	recibo.Returned: {status: recibo.Received, refund: 1},
}

const (
	finishReceipt = `
UPDATE webhook_receipts
SET status = $3, result = $4, error = $5, due_at = NULL, processed_at = $now
WHERE tenant_id = $1 AND id = $2`

	requeueReceipt = `
UPDATE webhook_receipts
SET status = 'received', result = $3, error = $4, attempts = attempts - $5, due_at = $now + $6
WHERE tenant_id = $1 AND id = $2`
)

func settleAll(ctx context.Context, tx Tx, held []*work) error {
	var settled []*work
	var finish, requeue [][]any
	for _, w := range held {
		o := w.outcome
		if o == nil {
			continue
		}
		settled = append(settled, w)
		if end := endings[o.Kind]; end.final {
			finish = append(finish, []any{w.tenant, [16]byte(w.ref.Receipt), string(end.status), o.Result, o.Error})
		} else {
			requeue = append(requeue, []any{w.tenant, [16]byte(w.ref.Receipt), o.Result, o.Error, end.refund, retryIn(o)})
		}
	}
	if err := tx.Exec(ctx, finishReceipt, finish...); err != nil {
		return err
	}
	if err := tx.Exec(ctx, requeueReceipt, requeue...); err != nil {
		return err
	}
	return freeObjects(ctx, tx, byObject(settled))
}

func retryIn(o *recibo.Outcome) int64 {
	if o.Kind == recibo.Again {
		return max(0, o.RetryIn.Microseconds())
	}
	return 0
}

const (
	freeObject = `
UPDATE webhook_objects
SET busy_receipt = NULL, busy_lease = NULL, busy_until = NULL
WHERE tenant_id = $1 AND object_key = $2`

	// wakeBlocked skips a receipt that a lease is looking at: that lease waits for the object's row, which we hold, and
	// will find the object free.
	wakeBlocked = `
UPDATE webhook_receipts
SET due_at = $now, blocked = 0
WHERE tenant_id = $1 AND id = (
	SELECT id
	FROM webhook_receipts
	WHERE tenant_id = $1 AND object_key = $2 AND blocked = 1
	ORDER BY received_at
	LIMIT 1
	FOR UPDATE SKIP LOCKED)
RETURNING 1`
)

// freeObjects lets the next receipt of each object go.
func freeObjects(ctx context.Context, tx Tx, settled []*work) error {
	if len(settled) == 0 {
		return nil
	}
	calls := make([][]any, len(settled))
	for i, w := range settled {
		calls[i] = []any{w.tenant, *w.object}
	}
	if err := tx.Exec(ctx, freeObject, calls...); err != nil {
		return err
	}
	return tx.Query(ctx, wakeBlocked, calls, func(call int, _ Scan) error {
		settled[call].woke = true
		return nil
	})
}
