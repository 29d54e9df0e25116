package main

import (
	"context"
	"crypto/rand"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// demoSchema makes a schema that only this demonstration uses, so that it never works on receipts that are already
// there, and returns the database's address with that schema in front.
func demoSchema(ctx context.Context, database string) (address string, drop func(), err error) {
	name := "recibo_demo_" + strings.ToLower(rand.Text()[:12])
	if err := execOnce(ctx, database, "CREATE SCHEMA "+name); err != nil {
		return "", nil, err
	}
	drop = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = execOnce(ctx, database, "DROP SCHEMA "+name+" CASCADE") // what stays behind is one small schema
	}
	return withSearchPath(database, name), drop, nil
}

func execOnce(ctx context.Context, database, statement string) error {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

// withSearchPath adds the parameter to either form of address that PostgreSQL knows.
func withSearchPath(database, schema string) string {
	u, err := url.Parse(database)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return database + " search_path=" + schema
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}
