// Package postgres keeps receipts in PostgreSQL: one store for several nodes.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/sqlstore"
)

// Durability is what an accepted delivery outlives.
type Durability = sqlstore.Durability

// The classes of durability.
const (
	D0 = sqlstore.D0 // a killed process
	D1 = sqlstore.D1 // also a power cut of the database's machine: the default
	D2 = sqlstore.D2 // also the loss of that machine: needs a synchronous standby
)

// ErrNotFound: the tenant has no such receipt.
var ErrNotFound = sqlstore.ErrNotFound

// Options of a Store. Zero values mean the defaults.
type Options struct {
	Durability   Durability    // default: D1
	Queue        int           // calls that may wait for a commit, half of them of one source; default 2048
	CommitWithin time.Duration // from a call to its durable answer; default 1.5 seconds
	Connections  int           // of this store at most; default 8
	Logger       *slog.Logger  // default: discard
}

func (o *Options) withDefaults() Options {
	var opts Options
	if o != nil {
		opts = *o
	}
	opts.Durability = opts.Durability.OrDefault()
	if opts.Connections <= 0 {
		opts.Connections = 8
	}
	return opts
}

// A Store is a [recibo.Store] in PostgreSQL. Its clock is the database's.
type Store struct {
	*sqlstore.Store
}

var (
	_ recibo.Store = (*Store)(nil)
	_ recibo.Waker = (*Store)(nil)
)

// Open connects to the database that url names, checks that it is as durable as asked, and brings its schema up to date.
// opts may be nil.
func Open(ctx context.Context, url string, opts *Options) (*Store, error) {
	o := opts.withDefaults()
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil { // without what it says: it may hold the password
		return nil, errors.New("open postgres: the URL cannot be read; want postgres://user@host/database")
	}
	configure(cfg, &o)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	db := &database{pool: pool}
	if err := checkDurability(ctx, pool, o.Durability); err != nil {
		return nil, errors.Join(fmt.Errorf("open postgres: %w", err), db.Close())
	}
	d := dialect(o.Durability)
	if err := sqlstore.Migrate(ctx, db, d); err != nil {
		return nil, errors.Join(fmt.Errorf("open postgres: %w", err), db.Close())
	}
	s := sqlstore.New(db, d, sqlstore.Options{Queue: o.Queue, CommitWithin: o.CommitWithin, Logger: o.Logger})
	return &Store{s}, nil
}
