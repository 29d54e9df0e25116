package sqlstore

import (
	"context"

	"github.com/recibohq/recibo"
)

// A taking is one round of a call of Lease, on its way through a commit.
type taking struct {
	query   recibo.LeaseQuery
	tenants []string
	share   int // of each tenant
	most    int // of all of them
	leases  []lease
	more    []string // the tenants that had their share and may have more
}

// A lease is one taken, with where its event's bytes lie in the delivery's body.
type lease struct {
	recibo.Lease
	start, end int64
}

// A candidate is a receipt that is due, locked by us.
type candidate struct {
	id     [16]byte
	tenant string
	object *[16]byte
	lease  int64
	now    int64 // the store's clock when it was found
}

// run takes what is free of what it finds. It locks objects once, in order: a second look in the same transaction would
// lock them out of order and deadlock with another node.
func (t *taking) run(ctx context.Context, tx Tx) error {
	t.leases, t.more = nil, nil
	found, err := t.pick(ctx, tx)
	if err != nil {
		return err
	}
	free, err := t.claimObjects(ctx, tx, found)
	if err != nil {
		return err
	}
	return t.take(ctx, tx, free)
}

// The picks lock what they find; what another node looks at is passed over.
const (
	pickWaiting = `
SELECT id, tenant_id, object_key, lease, $now
FROM webhook_receipts
WHERE tenant_id = $1 AND status = 'received' AND due_at <= $now
ORDER BY due_at
LIMIT $2
FOR UPDATE SKIP LOCKED`

	pickLost = `
SELECT id, tenant_id, object_key, lease, $now
FROM webhook_receipts
WHERE tenant_id = $1 AND status = 'processing' AND due_at <= $now
ORDER BY due_at
LIMIT $2
FOR UPDATE SKIP LOCKED`
)

func (t *taking) pick(ctx context.Context, tx Tx) ([]candidate, error) {
	stmt := pickWaiting
	if t.query.Lost {
		stmt = pickLost
	}
	calls := make([][]any, len(t.tenants))
	for i, tenant := range t.tenants {
		calls[i] = []any{tenant, int64(t.share)}
	}
	var found []candidate
	of := make([]int, len(t.tenants))
	err := tx.Query(ctx, stmt, calls, func(call int, scan Scan) error {
		var c candidate
		err := scan(&c.id, &c.tenant, &c.object, &c.lease, &c.now)
		found = append(found, c)
		of[call]++
		return err
	})
	for i, n := range of {
		if n == t.share {
			t.more = append(t.more, t.tenants[i])
		}
	}
	return found[:min(t.most, len(found))], err
}

const takeReceipt = `
UPDATE webhook_receipts
SET status = 'processing', lease = lease + 1, attempts = attempts + 1, due_at = $3, blocked = 0
WHERE tenant_id = $1 AND id = $2
RETURNING lease, due_at, attempts, source, namespace, destination, delivery_id, idempotency_key, event_id, event_type,
	account, object, version, occurred_at, received_at, run, part_start, part_end`

// take counts an attempt on each receipt: a crash inside the handler must use one up.
func (t *taking) take(ctx context.Context, tx Tx, free []candidate) error {
	calls := make([][]any, len(free))
	for i, c := range free {
		calls[i] = []any{c.tenant, c.id, t.until(c)}
	}
	return tx.Query(ctx, takeReceipt, calls, func(call int, scan Scan) error {
		l, err := scanLease(scan)
		l.Receipt.ID, l.Receipt.Tenant = free[call].id, free[call].tenant
		l.Ref.Receipt = l.Receipt.ID
		t.leases = append(t.leases, l)
		return err
	})
}

func (t *taking) until(c candidate) int64 { return c.now + t.query.For.Microseconds() }

func scanLease(scan Scan) (l lease, err error) {
	r := &l.Receipt
	var key string
	var until, attempts, receivedAt, run int64
	var occurredAt *int64
	err = scan(&l.Ref.Number, &until, &attempts, &r.Source, &r.Namespace, &r.Destination, (*[16]byte)(&r.Delivery), &key,
		&r.EventID, &r.Type, &r.Account, &r.Object, &r.Version, &occurredAt, &receivedAt, &run, &l.start, &l.end)
	l.Until, l.Attempt = fromMicros(until), int(attempts)
	r.Key, r.Run = recibo.Key(key), int(run)
	r.OccurredAt, r.ReceivedAt = fromNullMicros(occurredAt), fromMicros(receivedAt)
	return l, err
}
