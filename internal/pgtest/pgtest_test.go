package pgtest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/recibohq/recibo/internal/pgtest"
)

func TestEachDatabaseIsEmptyAndDurable(t *testing.T) {
	s := pgtest.Start(t)
	for range 2 {
		conn, err := pgx.Connect(context.Background(), s.NewDatabase(t))
		if err != nil {
			t.Fatal(err)
		}
		var tables int
		var fsync, listen string
		row := conn.QueryRow(context.Background(), `
SELECT (SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'), current_setting('fsync'),
	current_setting('listen_addresses')`)
		if err := row.Scan(&tables, &fsync, &listen); err != nil {
			t.Fatal(err)
		}
		if tables != 0 || fsync != "on" || listen != "" {
			t.Errorf("tables %d, fsync %s, listen_addresses %q; want 0, on, none", tables, fsync, listen)
		}
		if _, err := conn.Exec(context.Background(), "CREATE TABLE t ()"); err != nil {
			t.Fatal(err)
		}
		conn.Close(context.Background())
	}
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	dir := filepath.Join(os.TempDir(), "recibo-pgtest-close")
	s, err := pgtest.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("stat %s = %v, want that it is gone", dir, err)
	}
}
