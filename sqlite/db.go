package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"modernc.org/sqlite"

	"github.com/recibohq/recibo/internal/sqlstore"
)

// readers is how many connections read beside the writer.
const readers = 4

// A database is one writer connection and a few that only read.
type database struct {
	now           func() time.Time
	write, read   *sql.DB
	writes, reads *statements
}

// openDB opens both pools and checks that they are as asked.
func openDB(path string, o *Options) (*database, error) {
	// SQLite itself uses fdatasync where there is one; the transpiled library has to be told. What is durable is the same.
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return nil, err
	}
	synchronous := "FULL"
	if o.Durability == D0 {
		synchronous = "NORMAL"
	}
	write, err := sql.Open("sqlite", dsn(path, "immediate", synchronous, writerCache))
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	read, err := sql.Open("sqlite", dsn(path, "deferred", synchronous, readerCache)+"&_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	db := &database{now: o.Now, write: write, read: read}
	db.writes, db.reads = newStatements(write), newStatements(read)
	if err := check(write, synchronous); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Page caches, in KiB.
const (
	writerCache = 32 << 10
	readerCache = 4 << 10
)

func dsn(path, begin, synchronous string, cache int) string {
	q := url.Values{"_txlock": {begin}, "_pragma": {
		"busy_timeout(1000)",
		"journal_mode(WAL)",
		"synchronous(" + synchronous + ")",
		"fullfsync(1)", // macOS: without it a flush stops in the drive's cache
		"checkpoint_fullfsync(1)",
		fmt.Sprintf("cache_size(-%d)", cache),
		"wal_autocheckpoint(4000)",
		"foreign_keys(0)",
	}}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}
	return u.String()
}

// oldestSQLite is the release that fixed the corruption by a WAL reset.
const oldestSQLite = 3_051_003

// check asks the writer what it is; a pragma that does not apply is silent otherwise.
func check(write *sql.DB, synchronous string) error {
	var version, mode string
	var sync int
	if err := write.QueryRow("SELECT sqlite_version()").Scan(&version); err != nil {
		return err
	}
	if err := write.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if err := write.QueryRow("PRAGMA synchronous").Scan(&sync); err != nil {
		return err
	}
	var major, minor, patch int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return fmt.Errorf("sqlite version %q: %w", version, err)
	}
	want := map[string]int{"NORMAL": 1, "FULL": 2}[synchronous]
	switch {
	case major*1_000_000+minor*1_000+patch < oldestSQLite:
		return fmt.Errorf("sqlite %s can corrupt its log: build with 3.51.3 or newer", version)
	case mode != "wal":
		return fmt.Errorf("journal mode is %s and not wal: the file system may not allow shared memory; use a local disk", mode)
	case sync != want:
		return fmt.Errorf("synchronous is %d and not %d (%s): this build of SQLite does not allow it", sync, want, synchronous)
	}
	return nil
}

// Begin starts the one write transaction; it waits for other processes, never for a reader.
func (db *database) Begin(context.Context) (sqlstore.Tx, error) {
	if err := db.writes.prepareMissed(); err != nil {
		return nil, err
	}
	// Not with the caller's context: the driver would start a goroutine per statement to watch it.
	t, err := db.write.BeginTx(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	return &tx{db: db, tx: t, bound: map[string]*statement{}}, nil
}

// Query reads what is committed. It does not watch ctx, for the same reason.
func (db *database) Query(_ context.Context, stmt string, calls [][]any, row sqlstore.Row) error {
	if len(calls) == 0 {
		return nil
	}
	s, err := db.reads.get(stmt)
	if err != nil {
		return err
	}
	return s.query(db.now, calls, row)
}

func (db *database) Close() error {
	return errors.Join(db.writes.close(), db.reads.close(), db.read.Close(), db.write.Close())
}

// A tx is the write transaction.
type tx struct {
	db    *database
	tx    *sql.Tx
	bound map[string]*statement
}

// get binds a prepared statement to the transaction, once.
func (t *tx) get(stmt string) (*statement, error) {
	if s := t.bound[stmt]; s != nil {
		return s, nil
	}
	if s := t.db.writes.find(stmt); s != nil {
		t.bound[stmt] = &statement{stmt: t.tx.Stmt(s.stmt), now: s.now}
		return t.bound[stmt], nil
	}
	text, now := rewrite(stmt)
	s, err := t.tx.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	t.bound[stmt] = &statement{stmt: s, now: now}
	return t.bound[stmt], nil
}

func (t *tx) Exec(_ context.Context, stmt string, calls ...[]any) error {
	if len(calls) == 0 {
		return nil
	}
	s, err := t.get(stmt)
	if err != nil {
		return err
	}
	for _, args := range calls {
		if _, err := s.stmt.Exec(s.bind(t.db.now, args)...); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) Query(_ context.Context, stmt string, calls [][]any, row sqlstore.Row) error {
	if len(calls) == 0 {
		return nil
	}
	s, err := t.get(stmt)
	if err != nil {
		return err
	}
	return s.query(t.db.now, calls, row)
}

func (t *tx) Insert(_ context.Context, into *sqlstore.Table, rows [][]any) ([]bool, error) {
	added := make([]bool, len(rows))
	if len(rows) == 0 {
		return added, nil
	}
	s, err := t.get(insertStatement(into))
	if err != nil {
		return nil, err
	}
	for i, args := range rows {
		r, err := s.stmt.Exec(s.bind(t.db.now, args)...)
		if err != nil {
			return nil, err
		}
		n, err := r.RowsAffected()
		if err != nil {
			return nil, err
		}
		added[i] = n == 1
	}
	return added, nil
}

func (t *tx) Script(_ context.Context, script string) error {
	_, err := t.tx.Exec(script)
	return err
}

func (t *tx) Commit(context.Context) error { return t.tx.Commit() }

func (t *tx) Rollback() { _ = t.tx.Rollback() }
