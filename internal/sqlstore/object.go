package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"slices"
)

// claimObject takes an object that nobody holds, or whose holder's lease ran out. If somebody holds it, it locks the row
// all the same, so that the holder cannot free it before our receipt is put off.
const claimObject = `
INSERT INTO webhook_objects (tenant_id, object_key, busy_receipt, busy_lease, busy_until)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, object_key) DO UPDATE
SET busy_receipt = excluded.busy_receipt, busy_lease = excluded.busy_lease, busy_until = excluded.busy_until
WHERE webhook_objects.busy_until IS NULL OR webhook_objects.busy_until <= $6
RETURNING 1`

// claimObjects returns the candidates that may be worked on: those without an object, and one for each object that could
// be taken. The others wait until the holder's lease ends; settling wakes them earlier.
func (t *taking) claimObjects(ctx context.Context, tx Tx, found []candidate) (free []candidate, err error) {
	var claims, waits []candidate
	for _, c := range found {
		if c.object == nil {
			free = append(free, c)
		} else {
			claims = append(claims, c)
		}
	}
	if len(claims) == 0 {
		return free, nil
	}
	claims, waits = onePerObject(claims)
	calls := make([][]any, len(claims))
	for i, c := range claims {
		calls[i] = []any{c.tenant, *c.object, c.id, c.lease + 1, t.until(c), c.now}
	}
	got := make([]bool, len(claims))
	err = tx.Query(ctx, claimObject, calls, func(call int, _ Scan) error {
		got[call] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, c := range claims {
		if got[i] {
			free = append(free, c)
		} else {
			waits = append(waits, c)
		}
	}
	return free, putOff(ctx, tx, waits)
}

// onePerObject sorts candidates by object, the order in which all transactions lock them, and keeps the first found of
// each, which has been due longest.
func onePerObject(claims []candidate) (first, others []candidate) {
	slices.SortStableFunc(claims, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), bytes.Compare(a.object[:], b.object[:]))
	})
	for i, c := range claims {
		if i > 0 && c.tenant == claims[i-1].tenant && *c.object == *claims[i-1].object {
			others = append(others, c)
		} else {
			first = append(first, c)
		}
	}
	return first, others
}

const putOffReceipt = `
UPDATE webhook_receipts
SET blocked = 1, due_at = (
	SELECT busy_until
	FROM webhook_objects
	WHERE tenant_id = $1 AND object_key = $3)
WHERE tenant_id = $1 AND id = $2`

func putOff(ctx context.Context, tx Tx, waits []candidate) error {
	calls := make([][]any, len(waits))
	for i, c := range waits {
		calls[i] = []any{c.tenant, c.id, *c.object}
	}
	return tx.Exec(ctx, putOffReceipt, calls...)
}
