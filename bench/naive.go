package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"net/http"
	"net/url"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // pgx
	"modernc.org/sqlite"
)

// What most people write: a table with a UNIQUE key, and for each request one INSERT that commits before the answer.
const (
	naiveSQLiteTable = `
CREATE TABLE IF NOT EXISTS webhooks (
	id TEXT NOT NULL PRIMARY KEY,
	body BLOB NOT NULL,
	received_at INTEGER NOT NULL
) STRICT`

	naivePostgresTable = `
CREATE TABLE IF NOT EXISTS webhooks (
	id TEXT PRIMARY KEY,
	body BYTEA NOT NULL,
	received_at BIGINT NOT NULL
)`

	naiveInsert = `
INSERT INTO webhooks (id, body, received_at)
VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING`
)

// newNaiveSQLite commits each request to a SQLite file with full sync, flushed in the cheaper way that the store uses too.
func newNaiveSQLite(ctx context.Context, place string) (*subject, error) {
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return nil, err
	}
	q := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)"}}
	return newNaive(ctx, "sqlite", "file:"+place+"?"+q.Encode(), naiveSQLiteTable)
}

// newNaivePostgres commits each request to a PostgreSQL database.
func newNaivePostgres(ctx context.Context, place string) (*subject, error) {
	return newNaive(ctx, "pgx", place, naivePostgresTable)
}

func newNaive(ctx context.Context, driver, dsn, table string) (*subject, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(naiveConnections)
	db.SetMaxIdleConns(naiveConnections)
	if _, err := db.ExecContext(ctx, table); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	insert, err := db.PrepareContext(ctx, naiveInsert)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	serve := func(w http.ResponseWriter, r *http.Request) { naive(w, r, insert) }
	return &subject{serve: http.HandlerFunc(serve), close: db.Close}, nil
}

func naive(w http.ResponseWriter, r *http.Request, insert *sql.Stmt) {
	body, ok := readSigned(r)
	if !ok {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	at := bytes.Index(body, []byte("evt_"))
	if at < 0 || len(body) < at+len(blankID) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	id := string(body[at : at+len(blankID)])
	if _, err := insert.ExecContext(r.Context(), id, body, time.Now().UnixMicro()); err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}
