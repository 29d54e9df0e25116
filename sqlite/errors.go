package sqlite

import (
	"errors"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/recibohq/recibo/internal/sqlstore"
)

var dialect = &sqlstore.Dialect{
	Name:      "sqlite",
	OneWriter: true,
	Transient: func(err error) bool { return oneOf(err, lib.SQLITE_BUSY, lib.SQLITE_LOCKED) },
	Refused: func(err error) bool {
		return oneOf(err, lib.SQLITE_CONSTRAINT, lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH, lib.SQLITE_ERROR)
	},
	// After a failed flush the page cache can no longer be trusted. A full disk is no such case: SQLite takes the
	// transaction back, and later ones succeed once there is space.
	Fatal: func(err error) bool {
		return oneOf(err, lib.SQLITE_IOERR, lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB)
	},
}

// oneOf compares the primary code, the low byte of what SQLite says.
func oneOf(err error, codes ...int) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	for _, code := range codes {
		if e.Code()&0xff == code {
			return true
		}
	}
	return false
}
