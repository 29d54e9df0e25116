package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/recibohq/recibo"
)

// ErrNotFound: the tenant has no such receipt.
var ErrNotFound = errors.New("not found")

// A Receipt is a kept receipt as it stands, without its body.
type Receipt struct {
	recibo.Receipt
	Status      recibo.Status
	Lease       int64
	Attempts    int
	DueAt       time.Time // when it may be leased next, or its lease ends; zero once it is settled
	SentAt      time.Time
	ProcessedAt time.Time
	Result      string
	Error       string
}

const selectReceipt = `
SELECT source, namespace, destination, delivery_id, idempotency_key, event_id, event_type, account, object, version,
	occurred_at, sent_at, received_at, run, status, lease, attempts, due_at, processed_at, result, error
FROM webhook_receipts
WHERE tenant_id = $1 AND id = $2`

// Receipt reads one receipt of a tenant, or answers [ErrNotFound].
func (s *Store) Receipt(ctx context.Context, tenant string, id recibo.ReceiptID) (*Receipt, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	var found *Receipt
	err := s.db.Query(ctx, selectReceipt, [][]any{{tenant, [16]byte(id)}}, func(_ int, scan Scan) (err error) {
		found, err = scanReceipt(scan)
		return err
	})
	if err == nil && found == nil {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read receipt %s: %w", id, err)
	}
	found.ID, found.Tenant = id, tenant
	return found, nil
}

func scanReceipt(scan Scan) (*Receipt, error) {
	r := new(Receipt)
	var key, status string
	var receivedAt, run, attempts int64
	var occurredAt, sentAt, dueAt, processedAt *int64
	err := scan(&r.Source, &r.Namespace, &r.Destination, (*[16]byte)(&r.Delivery), &key, &r.EventID, &r.Type, &r.Account,
		&r.Object, &r.Version, &occurredAt, &sentAt, &receivedAt, &run, &status, &r.Lease, &attempts, &dueAt, &processedAt,
		&r.Result, &r.Error)
	r.Key, r.Status, r.Run, r.Attempts = recibo.Key(key), recibo.Status(status), int(run), int(attempts)
	r.OccurredAt, r.SentAt, r.ReceivedAt = fromNullMicros(occurredAt), fromNullMicros(sentAt), fromMicros(receivedAt)
	r.DueAt, r.ProcessedAt = fromNullMicros(dueAt), fromNullMicros(processedAt)
	return r, err
}

const countReceipts = `
SELECT status, COUNT(*)
FROM webhook_receipts
WHERE tenant_id = $1
GROUP BY status`

// Counts says how many receipts of a tenant are in each status. It reads all of them.
func (s *Store) Counts(ctx context.Context, tenant string) (map[recibo.Status]int, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	counts := map[recibo.Status]int{}
	err := s.db.Query(ctx, countReceipts, [][]any{{tenant}}, func(_ int, scan Scan) error {
		var status string
		var n int64
		err := scan(&status, &n)
		counts[recibo.Status(status)] = int(n)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count receipts: %w", err)
	}
	return counts, nil
}

// A Review is an item that waits for a person.
type Review struct {
	ID              recibo.ReceiptID // of the item; an approved one's receipt has its own
	Source          string
	Key             recibo.Key
	Verdict         recibo.Verdict
	Reason          recibo.Reason
	Status          string
	Copies          int
	FirstAt, LastAt time.Time
	Delivery        recibo.DeliveryID
	Met             recibo.ReceiptID // the receipt that it met; zero if none
	EventID, Type   string
}

const selectReviews = `
SELECT id, source, idempotency_key, verdict, reason, status, copies, first_at, last_at, delivery_id, receipt_id, event_id,
	event_type
FROM webhook_reviews
WHERE tenant_id = $1 AND status = 'open'
ORDER BY last_at DESC
LIMIT $2`

// Reviews lists a tenant's open items, the latest first.
func (s *Store) Reviews(ctx context.Context, tenant string, limit int) ([]Review, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	var items []Review
	err := s.db.Query(ctx, selectReviews, [][]any{{tenant, int64(limit)}}, func(_ int, scan Scan) error {
		item, err := scanReview(scan)
		items = append(items, item)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list reviews: %w", err)
	}
	return items, nil
}

func scanReview(scan Scan) (r Review, err error) {
	var key, verdict, reason string
	var copies, firstAt, lastAt int64
	var met *[16]byte
	err = scan((*[16]byte)(&r.ID), &r.Source, &key, &verdict, &reason, &r.Status, &copies, &firstAt, &lastAt,
		(*[16]byte)(&r.Delivery), &met, &r.EventID, &r.Type)
	r.Key, r.Verdict, r.Reason = recibo.Key(key), recibo.Verdict(verdict), recibo.Reason(reason)
	r.Copies, r.FirstAt, r.LastAt = int(copies), fromMicros(firstAt), fromMicros(lastAt)
	if met != nil {
		r.Met = *met
	}
	return r, err
}

const countReviews = `
SELECT COUNT(*), COALESCE(SUM(copies), 0)
FROM webhook_reviews
WHERE tenant_id = $1 AND status = 'open'`

// ReviewCount says how many items of a tenant are open, and how many deliveries they stand for.
func (s *Store) ReviewCount(ctx context.Context, tenant string) (items, copies int, err error) {
	if err := s.enter(); err != nil {
		return 0, 0, err
	}
	defer s.leave()
	err = s.db.Query(ctx, countReviews, [][]any{{tenant}}, func(_ int, scan Scan) error {
		var n, c int64
		err := scan(&n, &c)
		items, copies = int(n), int(c)
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count reviews: %w", err)
	}
	return items, copies, nil
}
