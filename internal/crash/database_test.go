package crash

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // the driver of that name

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/pgtest"
)

// A database is where gateways keep their receipts. The check reads it in plain SQL, not through the code under test, and
// on a connection of its own for each query, so that none stays open beside the gateway's.
type database struct {
	yaml   string // the store section of recibo.yaml
	url    string // what the section's reference names; empty for SQLite
	read   reader
	id     string // the expression for a receipt's id as bytes
	intact string // a query that answers ok if what is stored is whole
}

// A reader runs a query and calls row for each row.
type reader func(ctx context.Context, query string, row func(scan) error) error

type scan func(dest ...any) error

// databases makes an empty one, by the name that -store has for it.
var databases = map[string]func(t *testing.T) *database{
	"sqlite": func(t *testing.T) *database {
		path := filepath.Join(t.TempDir(), "recibo.db")
		return &database{
			yaml: fmt.Sprintf("{driver: sqlite, path: %q}", path),
			read: readSQLite(path), id: "id", intact: "PRAGMA integrity_check",
		}
	},
	"postgres": func(t *testing.T) *database {
		url := pgtest.Start(t).NewDatabase(t)
		return &database{
			yaml: "{driver: postgres, url: env:" + databaseVariable + "}", url: url,
			read: readPostgres(url), id: "uuid_send(id)", intact: "SELECT 'ok'",
		}
	},
}

func readSQLite(path string) reader {
	return func(ctx context.Context, query string, row func(scan) error) error {
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(2000)&_pragma=query_only(1)")
		if err != nil {
			return err
		}
		defer func() { _ = db.Close() }()
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			if err := row(rows.Scan); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}

func readPostgres(url string) reader {
	return func(ctx context.Context, query string, row func(scan) error) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }()
		rows, err := conn.Query(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := row(rows.Scan); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}

// unsettled counts the receipts that still have work to come.
func (d *database) unsettled(ctx context.Context) (n int, err error) {
	const query = `SELECT COUNT(*) FROM webhook_receipts WHERE status IN ('received', 'processing')`
	err = d.read(ctx, query, func(scan scan) error { return scan(&n) })
	return n, err
}

func (d *database) receipts(ctx context.Context) (all []receipt, err error) {
	query := `SELECT ` + d.id + `, idempotency_key, status, lease, attempts FROM webhook_receipts`
	err = d.read(ctx, query, func(scan scan) error {
		var r receipt
		var id []byte
		if err := scan(&id, &r.key, &r.status, &r.lease, &r.attempts); err != nil {
			return err
		}
		r.id = recibo.ReceiptID(id).String()
		all = append(all, r)
		return nil
	})
	return all, err
}

// oddities are what must not be in a store that has seen good requests only.
func (d *database) oddities(ctx context.Context) (odd []string, err error) {
	err = d.read(ctx, d.intact, func(scan scan) error {
		var answer string
		err := scan(&answer)
		if answer != "ok" {
			odd = append(odd, "the database is damaged: "+answer)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	const reviews = `SELECT idempotency_key, verdict, reason FROM webhook_reviews`
	err = d.read(ctx, reviews, func(scan scan) error {
		var key, verdict, reason string
		err := scan(&key, &verdict, &reason)
		odd = append(odd, fmt.Sprintf("%s is up for review as %s, %s", key, verdict, reason))
		return err
	})
	return odd, err
}

// addTo adds what the store holds to a history. No gateway runs by then.
func (d *database) addTo(t *testing.T, h *history) {
	t.Helper()
	receipts, err := d.receipts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	odd, err := d.oddities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.receipts, h.odd = append(h.receipts, receipts...), append(h.odd, odd...)
}
