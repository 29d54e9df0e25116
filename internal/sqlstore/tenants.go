package sqlstore

import (
	"context"
	"sync"

	"github.com/recibohq/recibo"
)

// maxTenants is how many tenants one lease serves at most.
const maxTenants = 64

// A cursor is where the walk over tenants stopped. Each store has its own: it decides whose turn it is, never who may.
type cursor struct {
	mu sync.Mutex
	at string
}

// The walk jumps from tenant to tenant through the index and reads one entry of each.
const (
	waitingTenants = `
WITH RECURSIVE walk (tenant_id) AS (
	SELECT (
		SELECT tenant_id
		FROM webhook_receipts
		WHERE status = 'received' AND tenant_id > $1
		ORDER BY tenant_id
		LIMIT 1)
	UNION ALL
	SELECT (
		SELECT r.tenant_id
		FROM webhook_receipts r
		WHERE r.status = 'received' AND r.tenant_id > walk.tenant_id
		ORDER BY r.tenant_id
		LIMIT 1)
	FROM walk
	WHERE walk.tenant_id IS NOT NULL
)
SELECT walk.tenant_id
FROM walk
WHERE walk.tenant_id IS NOT NULL AND EXISTS (
	SELECT 1
	FROM webhook_receipts r
	WHERE r.status = 'received' AND r.tenant_id = walk.tenant_id AND r.due_at <= $now)
LIMIT $2`

	lostTenants = `
WITH RECURSIVE walk (tenant_id) AS (
	SELECT (
		SELECT tenant_id
		FROM webhook_receipts
		WHERE status = 'processing' AND tenant_id > $1
		ORDER BY tenant_id
		LIMIT 1)
	UNION ALL
	SELECT (
		SELECT r.tenant_id
		FROM webhook_receipts r
		WHERE r.status = 'processing' AND r.tenant_id > walk.tenant_id
		ORDER BY r.tenant_id
		LIMIT 1)
	FROM walk
	WHERE walk.tenant_id IS NOT NULL
)
SELECT walk.tenant_id
FROM walk
WHERE walk.tenant_id IS NOT NULL AND EXISTS (
	SELECT 1
	FROM webhook_receipts r
	WHERE r.status = 'processing' AND r.tenant_id = walk.tenant_id AND r.due_at <= $now)
LIMIT $2`
)

// nextTenants are those whose turn it is: from the cursor on, around the end once.
func (s *Store) nextTenants(ctx context.Context, q recibo.LeaseQuery) ([]string, error) {
	stmt := waitingTenants
	if q.Lost {
		stmt = lostTenants
	}
	s.cursor.mu.Lock()
	defer s.cursor.mu.Unlock()
	want := min(q.Max, maxTenants)
	start := s.cursor.at
	tenants, err := s.walk(ctx, stmt, start, want)
	if err != nil {
		return nil, err
	}
	if len(tenants) < want && start != "" {
		around, err := s.walk(ctx, stmt, "", want-len(tenants))
		if err != nil {
			return nil, err
		}
		for _, t := range around {
			if t > start {
				break
			}
			tenants = append(tenants, t)
		}
	}
	if len(tenants) > 0 {
		s.cursor.at = tenants[len(tenants)-1]
	}
	return tenants, nil
}

func (s *Store) walk(ctx context.Context, stmt, after string, n int) (tenants []string, err error) {
	err = s.db.Query(ctx, stmt, [][]any{{after, int64(n)}}, func(_ int, scan Scan) error {
		var t string
		err := scan(&t)
		tenants = append(tenants, t)
		return err
	})
	return tenants, err
}
