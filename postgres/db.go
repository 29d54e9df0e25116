package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/recibohq/recibo/internal/sqlstore"
)

// A database is a pool of sessions.
type database struct {
	pool *pgxpool.Pool
}

// sessionSettings are those of each session.
var sessionSettings = map[string]string{
	"application_name": "recibo",
	// Bounded waits: a commit that another session blocks is answered late rather than never.
	"lock_timeout":                        "1000",
	"idle_in_transaction_session_timeout": "30000",
	// Every hot statement has its index. While a queue is nearly empty the planner would choose to read the whole table,
	// and keep that plan when it is no longer empty.
	"enable_seqscan": "off",
	"jit":            "off", // a seqscan that is off but needed looks dear enough to be compiled, which takes longer than it
}

// connectWithin bounds a connection attempt unless the URL says so itself.
const connectWithin = 5 * time.Second

func configure(cfg *pgxpool.Config, o *Options) {
	for name, value := range sessionSettings {
		if _, set := cfg.ConnConfig.RuntimeParams[name]; !set {
			cfg.ConnConfig.RuntimeParams[name] = value
		}
	}
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = connectWithin
	}
	cfg.MaxConns = int32(o.Connections)
	cfg.ConnConfig.OnNotice = noteWarning
}

// warned is the key under which a connection remembers that the server warned it.
const warned = "recibo.warned"

// noteWarning: when the standby is gone and the wait for it is cut short, COMMIT succeeds with a warning that it "might
// not have been replicated". That is no success.
func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warned] = n.Message
	}
}

// Begin starts a transaction of the server's clock and of READ COMMITTED, whatever the database's default is.
func (db *database) Begin(ctx context.Context) (sqlstore.Tx, error) {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	t, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		conn.Release()
		return nil, err
	}
	return &tx{conn: conn, tx: t}, nil
}

// Query reads what is committed.
func (db *database) Query(ctx context.Context, stmt string, calls [][]any, row sqlstore.Row) error {
	if len(calls) == 0 {
		return nil
	}
	return queryAll(ctx, db.pool, stmt, calls, row)
}

func (db *database) Close() error {
	db.pool.Close()
	return nil
}

// A tx is a write transaction and the connection that it has.
type tx struct {
	conn *pgxpool.Conn // nil once it was given back
	tx   pgx.Tx
}

func (t *tx) Exec(ctx context.Context, stmt string, calls ...[]any) error {
	if len(calls) == 0 {
		return nil
	}
	return queryAll(ctx, t.tx, stmt, calls, func(int, sqlstore.Scan) error { return nil })
}

func (t *tx) Query(ctx context.Context, stmt string, calls [][]any, row sqlstore.Row) error {
	if len(calls) == 0 {
		return nil
	}
	return queryAll(ctx, t.tx, stmt, calls, row)
}

func (t *tx) Script(ctx context.Context, script string) error {
	_, err := t.conn.Conn().PgConn().Exec(ctx, script).ReadAll()
	return err
}

// Commit's success is one only if the server did not warn.
func (t *tx) Commit(ctx context.Context) error {
	data := t.conn.Conn().PgConn().CustomData()
	delete(data, warned)
	err := t.tx.Commit(ctx)
	if warning, ok := data[warned]; ok && err == nil {
		err = fmt.Errorf("not durable: %v", warning)
		_ = t.conn.Conn().Close(ctx)
	}
	t.release()
	return err
}

// rollbackWithin bounds a rollback; after it the connection is dropped, which rolls back as well.
const rollbackWithin = time.Second

func (t *tx) Rollback() {
	if t.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), rollbackWithin)
	defer cancel()
	_ = t.tx.Rollback(ctx)
	t.release()
}

func (t *tx) release() {
	t.conn.Release()
	t.conn = nil
}

// A session sends batches: the pool, or a transaction.
type session interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	Query(ctx context.Context, stmt string, args ...any) (pgx.Rows, error)
}

// queryAll runs stmt for each of calls in one round trip.
func queryAll(ctx context.Context, s session, stmt string, calls [][]any, row sqlstore.Row) error {
	text := rewrite(stmt)
	if len(calls) == 1 {
		rows, err := s.Query(ctx, text, calls[0]...)
		return readAll(rows, err, 0, row)
	}
	var batch pgx.Batch
	for _, args := range calls {
		batch.Queue(text, args...)
	}
	results := s.SendBatch(ctx, &batch)
	var failed error
	for call := range calls {
		rows, err := results.Query()
		if failed = readAll(rows, err, call, row); failed != nil {
			break
		}
	}
	return errors.Join(failed, results.Close())
}

func readAll(rows pgx.Rows, err error, call int, row sqlstore.Row) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(call, rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// clock is the server's, in microseconds: read once per statement, since an index cannot be searched for a value that
// changes while it is searched.
const clock = "(SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)"

func rewrite(stmt string) string { return strings.ReplaceAll(stmt, "$now", clock) }
