// Package sqlite keeps receipts in a SQLite file: the whole store of one machine, inside the process.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/sqlstore"
)

// Durability is what an accepted delivery outlives.
type Durability = sqlstore.Durability

// The classes of durability that one file can have.
const (
	D0 = sqlstore.D0 // a killed process: synchronous NORMAL
	D1 = sqlstore.D1 // also a power cut: synchronous FULL, the default
)

// ErrNotFound: the tenant has no such receipt.
var ErrNotFound = sqlstore.ErrNotFound

// Options of a Store. Zero values mean the defaults.
type Options struct {
	Durability   Durability       // default: D1
	Queue        int              // calls that may wait for a commit, half of them of one source; default 2048
	CommitWithin time.Duration    // from a call to its durable answer; default 1.5 seconds
	Now          func() time.Time // the store's clock; default time.Now
	Logger       *slog.Logger     // default: discard
}

func (o *Options) withDefaults() Options {
	var opts Options
	if o != nil {
		opts = *o
	}
	opts.Durability = opts.Durability.OrDefault()
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return opts
}

// A Store is a [recibo.Store] in a SQLite file.
type Store struct {
	*sqlstore.Store
}

var (
	_ recibo.Store = (*Store)(nil)
	_ recibo.Waker = (*Store)(nil)
)

// Open opens the file at path, creating it for this user alone if it is not there, and brings its schema up to date.
// opts may be nil. A file on a network file system is refused, as is one that cannot be as durable as asked.
func Open(path string, opts *Options) (*Store, error) {
	o := opts.withDefaults()
	if o.Durability != D0 && o.Durability != D1 {
		return nil, fmt.Errorf("open %s: durability %s: one file does not outlive its machine; "+
			"choose D1, or PostgreSQL with a standby", path, o.Durability)
	}
	if err := prepareFile(path); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db, err := openDB(path, &o)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := sqlstore.Migrate(context.Background(), db, dialect); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	s := sqlstore.New(db, dialect, sqlstore.Options{Queue: o.Queue, CommitWithin: o.CommitWithin, Logger: o.Logger})
	return &Store{s}, nil
}
