package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/sqlite"
	"github.com/recibohq/recibo/storetest"
)

func openFile(t *testing.T, path string, opts *sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) recibo.Store {
		return openFile(t, filepath.Join(t.TempDir(), "r.db"), nil)
	})
}

func TestSQLiteKeepsEverythingWhileItIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	storetest.Reopen(t, func() recibo.Store { return openFile(t, path, nil) })
}
