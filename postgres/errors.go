package postgres

import (
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/recibohq/recibo/internal/sqlstore"
)

// recorders is how many batches of deliveries are under way at once, so that one is prepared while another is flushed.
const recorders = 2

func dialect(d sqlstore.Durability) *sqlstore.Dialect {
	s := &sqlstore.Dialect{
		Name:      "postgres",
		Recorders: recorders,
		Lock:      "SELECT pg_advisory_xact_lock(7311422013350715)",
		Transient: transient,
		Refused:   refused,
		Fatal:     func(error) bool { return false }, // the server recovers or ends by itself
	}
	if d == sqlstore.D2 {
		// A record in the log is what a commit waits for.
		s.Flush = "SELECT pg_logical_emit_message(true, 'recibo', '')"
	}
	return s
}

// transient: serialization failure, deadlock, lock timeout.
func transient(err error) bool {
	return slices.Contains([]string{"40001", "40P01", "55P03"}, code(err))
}

// blameless classes are about the connection, the server and its resources, never about a value.
var blameless = []string{"08", "25", "28", "53", "55", "57", "58", "XX"}

func refused(err error) bool {
	c := code(err)
	return c != "" && !transient(err) && !slices.Contains(blameless, c[:2])
}

func code(err error) string {
	var e *pgconn.PgError
	if !errors.As(err, &e) || len(e.Code) != 5 {
		return ""
	}
	return e.Code
}
