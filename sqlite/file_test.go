package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/sqlite"
	"github.com/recibohq/recibo/storetest"
)

// connect opens the file beside the store, as another process would.
func connect(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, stmt string) {
	t.Helper()
	if _, err := db.Exec(stmt); err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
}

func TestAFullQueueRefusesAndOneSourceHasHalfOfIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	s := openFile(t, path, &sqlite.Options{Queue: 8, CommitWithin: 20 * time.Second})
	other := connect(t, path)
	storetest.Full(t, s, storetest.Crowd{Queue: 8, Committers: 1, Stop: func() func() {
		execute(t, other, "BEGIN IMMEDIATE")
		return func() { execute(t, other, "ROLLBACK") }
	}})
}

func TestAValueThatTheDatabaseRefusesFailsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	s := openFile(t, path, &sqlite.Options{CommitWithin: 20 * time.Second})
	other := connect(t, path)
	execute(t, other, `
CREATE TRIGGER poison BEFORE INSERT ON webhook_receipts WHEN NEW.event_type = 'poison'
BEGIN SELECT RAISE(ABORT, 'no'); END`)
	storetest.Poisoned(t, s)
}

func TestOpenMigratesOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := sqlite.Open(path, nil)
			if err != nil {
				t.Errorf("Open = %v", err)
				return
			}
			s.Close()
		})
	}
	wg.Wait()
	var n int
	if err := connect(t, path).QueryRow("SELECT COUNT(*) FROM recibo_schema").Scan(&n); err != nil || n != 1 {
		t.Errorf("migrations done = %d, %v; want 1", n, err)
	}
}

func TestOpenRefusesADatabaseThatNeedsANewerBinary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	openFile(t, path, nil).Close()
	other := connect(t, path)
	execute(t, other, "INSERT INTO recibo_schema VALUES (900, 1, 0)")
	openFile(t, path, nil).Close() // newer, but made so that this binary can go on

	execute(t, other, "INSERT INTO recibo_schema VALUES (901, 900, 0)")
	_, err := sqlite.Open(path, nil)
	if err == nil || !strings.Contains(err.Error(), "use a newer recibo") {
		t.Errorf("Open = %v, want that it asks for a newer recibo", err)
	}
}

func TestOpenRefusesWhatIsNotAsDurableAsAsked(t *testing.T) {
	dir := t.TempDir()
	for path, opts := range map[string]*sqlite.Options{
		filepath.Join(dir, "d2.db"):         {Durability: 3},
		":memory:":                          nil,
		filepath.Join(dir, "missing", "db"): nil,
	} {
		if s, err := sqlite.Open(path, opts); err == nil {
			s.Close()
			t.Errorf("Open(%s) succeeded", path)
		}
	}
	openFile(t, filepath.Join(dir, "d0.db"), &sqlite.Options{Durability: sqlite.D0})
}

func TestTheFileIsForItsOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	openFile(t, filepath.Join(dir, "r?%20#.db"), nil)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 || !strings.HasPrefix(f.Name(), "r?%20#.db") {
			t.Errorf("%s has mode %o, want r?%%20#.db and 600", f.Name(), mode)
		}
	}
}

func TestTheClockIsTheOneThatWasGiven(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	s := openFile(t, filepath.Join(t.TempDir(), "r.db"), &sqlite.Options{Now: func() time.Time { return now }})
	storetest.RecordOne(t, s)
	leased, err := s.Lease(context.Background(), recibo.LeaseQuery{Max: 1, For: time.Minute})
	if err != nil || len(leased.Leases) != 1 {
		t.Fatalf("Lease = %v, %v", leased, err)
	}
	if got, want := leased.Leases[0].Until, now.Add(time.Minute); !got.Equal(want) {
		t.Errorf("until = %s, want %s", got, want)
	}
	l := leased.Leases[0]
	if err := s.Settle(context.Background(), l.Ref, recibo.Outcome{Kind: recibo.Done, Result: "shipped"}); err != nil {
		t.Fatal(err)
	}
	r, err := s.Receipt(context.Background(), l.Receipt.Tenant, l.Receipt.ID)
	if err != nil {
		t.Fatal(err)
	}
	ended := r.Status == recibo.Processed && r.Result == "shipped" && r.ProcessedAt.Equal(now) && r.DueAt.IsZero()
	if !ended || r.Attempts != 1 {
		t.Errorf("receipt = %+v, want it processed at %s", r, now)
	}
	if _, err := s.Receipt(context.Background(), "another", l.Receipt.ID); !errors.Is(err, sqlite.ErrNotFound) {
		t.Errorf("Receipt of another tenant = %v, want not found", err)
	}
}

func TestABlockedCommitIsAnsweredInTimeAndNothingIsAccepted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	s := openFile(t, path, &sqlite.Options{CommitWithin: 100 * time.Millisecond})
	other := connect(t, path)
	execute(t, other, "BEGIN IMMEDIATE")
	start := time.Now()
	_, err := s.Record(context.Background(), benchRecording("a"))
	if took := time.Since(start); err == nil || errors.Is(err, recibo.ErrStoreFull) || took > 900*time.Millisecond {
		t.Errorf("Record = %v after %s, want an error of unknown outcome within a second", err, took)
	}
	execute(t, other, "ROLLBACK")
}
