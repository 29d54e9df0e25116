package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/recibohq/recibo"
)

// Lease takes up to q.Max receipts that are due, some of each tenant in turn, and counts an attempt on each.
func (s *Store) Lease(ctx context.Context, q recibo.LeaseQuery) (*recibo.Leased, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	if q.For <= 0 {
		return nil, errors.New("lease: for no time: want more than nothing")
	}
	leased, err := s.lease(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("lease: %w", err)
	}
	return leased, nil
}

func (s *Store) lease(ctx context.Context, q recibo.LeaseQuery) (*recibo.Leased, error) {
	taken, err := s.takeDue(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := s.addBodies(ctx, taken); err != nil {
		return nil, err
	}
	if err := s.addSteps(ctx, taken); err != nil {
		return nil, err
	}
	leased := &recibo.Leased{Leases: make([]recibo.Lease, len(taken))}
	for i := range taken {
		leased.Leases[i] = taken[i].Lease
	}
	leased.Lost, err = s.anyLost(ctx)
	return leased, err
}

// maxRounds bounds how often one lease looks again, because some tenants had less than their share or what it found waits
// for its object.
const maxRounds = 4

// takeDue takes the same share of each tenant whose turn it is, then what is left of whoever has more. It looks for such
// tenants before it asks for a transaction: a poll that finds nothing writes nothing.
func (s *Store) takeDue(ctx context.Context, q recibo.LeaseQuery) ([]lease, error) {
	if q.Max <= 0 {
		return nil, nil
	}
	tenants, err := s.nextTenants(ctx, q)
	if err != nil {
		return nil, err
	}
	var leases []lease
	share := q.Max / max(1, len(tenants)) // rounded down, so that the last ones get theirs
	for round := 0; round < maxRounds && len(tenants) > 0 && len(leases) < q.Max; round++ {
		o := newOp()
		o.take = &taking{query: q, tenants: tenants, share: share, most: q.Max - len(leases)}
		if err := s.submit(ctx, s.takes, o); err != nil {
			if len(leases) > 0 {
				break // what the earlier rounds took is the caller's
			}
			return nil, err
		}
		leases = append(leases, o.take.leases...)
		tenants, share = o.take.more, q.Max-len(leases)
	}
	return leases, nil
}

// The event's bytes and the headers are read after the commit: they do not change, and the writer is not kept waiting.
const selectBody = `
SELECT headers, substr(body, $3, $4)
FROM webhook_bodies
WHERE tenant_id = $1 AND delivery_id = $2`

func (s *Store) addBodies(ctx context.Context, leases []lease) error {
	calls := make([][]any, len(leases))
	for i := range leases {
		r := &leases[i]
		calls[i] = []any{r.Receipt.Tenant, [16]byte(r.Receipt.Delivery), r.start + 1, r.end - r.start}
	}
	return s.db.Query(ctx, selectBody, calls, func(call int, scan Scan) error {
		return scan(&leases[call].Receipt.Header, &leases[call].Receipt.Body)
	})
}

const selectSteps = `
SELECT name, result
FROM webhook_steps
WHERE receipt_id = $1 AND run = $2
ORDER BY kept_at, name`

// addSteps reads the kept steps of the receipts that were leased before; nobody but us can add to them now.
func (s *Store) addSteps(ctx context.Context, leases []lease) error {
	var again []*lease
	var calls [][]any
	for i := range leases {
		if l := &leases[i]; l.Ref.Number > 1 {
			again = append(again, l)
			calls = append(calls, []any{[16]byte(l.Ref.Receipt), int64(l.Receipt.Run)})
		}
	}
	return s.db.Query(ctx, selectSteps, calls, func(call int, scan Scan) error {
		var step recibo.KeptStep
		err := scan(&step.Name, &step.Result)
		again[call].Steps = append(again[call].Steps, step)
		return err
	})
}

const existsLost = `
SELECT 1
WHERE EXISTS (
	SELECT 1
	FROM webhook_receipts
	WHERE status = 'processing' AND due_at <= $now)`

func (s *Store) anyLost(ctx context.Context) (lost bool, err error) {
	err = s.db.Query(ctx, existsLost, [][]any{nil}, func(int, Scan) error {
		lost = true
		return nil
	})
	return lost, err
}
