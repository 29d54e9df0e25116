package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/recibohq/recibo/internal/sqlstore"
)

// A server is what PostgreSQL says of itself to one of our sessions.
type server struct {
	recovering        bool
	readOnly          string
	fsync             string
	fullPageWrites    string
	synchronousCommit string
	standbys          string
}

const selectServer = `
SELECT pg_is_in_recovery(), current_setting('transaction_read_only'), current_setting('fsync'),
	current_setting('full_page_writes'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names')`

func checkDurability(ctx context.Context, pool *pgxpool.Pool, d sqlstore.Durability) error {
	var s server
	err := pool.QueryRow(ctx, selectServer).Scan(&s.recovering, &s.readOnly, &s.fsync, &s.fullPageWrites,
		&s.synchronousCommit, &s.standbys)
	if err != nil {
		return err
	}
	if s.recovering {
		return errors.New("the server is a standby: connect to the primary (target_session_attrs=read-write finds it)")
	}
	if s.readOnly == "on" {
		return errors.New("transactions are read-only here: set default_transaction_read_only to off, or connect to the primary")
	}
	return s.check(d)
}

// check says what to change where the server does not keep the class.
func (s *server) check(d sqlstore.Durability) error {
	wrong := func(setting, value, want string) error {
		return fmt.Errorf("durability %s needs %s = %s, the server has %s: change it, or choose a lower class",
			d, setting, want, value)
	}
	flushed := s.synchronousCommit == "on" || s.synchronousCommit == "remote_apply"
	switch {
	case d == sqlstore.D0:
		return nil
	case s.fsync != "on":
		return wrong("fsync", s.fsync, "on")
	case s.fullPageWrites != "on":
		return wrong("full_page_writes", s.fullPageWrites, "on")
	case s.synchronousCommit == "off":
		return wrong("synchronous_commit", s.synchronousCommit, "on")
	case d == sqlstore.D1:
		return nil // local and remote_write flush the primary's disk
	case !flushed:
		return wrong("synchronous_commit", s.synchronousCommit, "on")
	case s.standbys == "":
		return wrong("synchronous_standby_names", "none", "a standby's name")
	}
	return nil
}
