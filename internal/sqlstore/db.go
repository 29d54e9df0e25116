package sqlstore

import "context"

// A DB is an open database. It is all that the stores know of a driver, so that SQLite is used through database/sql and
// PostgreSQL through pgx.
//
// Statements are written for PostgreSQL with arguments $1, $2, … and with $now for the store's clock in microseconds. A
// driver rewrites what its database says otherwise. A statement runs once per argument list, in order. Arguments and
// scanned values are string, int64, []byte, [16]byte, and nil or pointers to these where a column may be NULL.
type DB interface {
	// Begin starts a write transaction in which each statement sees what is committed by then.
	Begin(ctx context.Context) (Tx, error)
	// Query reads what is committed.
	Query(ctx context.Context, stmt string, calls [][]any, row Row) error
	Close() error
}

// A Tx is a write transaction.
type Tx interface {
	Exec(ctx context.Context, stmt string, calls ...[]any) error
	Query(ctx context.Context, stmt string, calls [][]any, row Row) error
	// Insert adds rows unless a UNIQUE constraint keeps them out, in the given order, and says which it added.
	Insert(ctx context.Context, into *Table, rows [][]any) (added []bool, err error)
	// Script runs the statements of a migration.
	Script(ctx context.Context, script string) error
	// Commit's error leaves it unknown whether the transaction took effect.
	Commit(ctx context.Context) error
	// Rollback may follow Commit, and then does nothing.
	Rollback()
}

// A Row gets each row of a query with the index of the argument list that it answers.
type Row func(call int, scan Scan) error

// Scan copies a row's columns into dest.
type Scan func(dest ...any) error

// A Kind is a column's type.
type Kind int

// The kinds. A column of kind Now has no argument: it gets the store's clock.
const (
	Text Kind = iota
	Int
	Bytes
	ID
	Now
)

// A Column of a Table that is inserted into.
type Column struct {
	Name string
	Kind Kind
}

// A Table says how rows are inserted. The first column is the primary key.
type Table struct {
	Name    string
	Columns []Column
}

// A Dialect is what else differs between the databases.
type Dialect struct {
	Name string // of the directory with its migrations
	// Lock makes the migrating transaction the only one.
	Lock string
	// Flush makes a transaction that changed nothing wait for the standby as if it had. Empty: no need.
	Flush string
	// OneWriter says that all calls share one committer, since the database has one writer.
	OneWriter bool
	// Recorders is how many committers share the deliveries where there is more than one writer.
	Recorders int
	// Transient: the database could not do it now and asks to run the whole transaction again.
	Transient func(error) bool
	// Refused: the database did not take a value, so that one call of a batch is to blame.
	Refused func(error) bool
	// Fatal: what the disk holds is no longer known. Only a restart reads it again.
	Fatal func(error) bool
}
