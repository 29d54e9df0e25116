package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/sqlstore"
	"github.com/recibohq/recibo/storetest"
)

var errFlush = errors.New("disk I/O error (1034)")

// A badDisk is a database whose commits cannot be flushed.
type badDisk struct{ *database }

type badTx struct{ sqlstore.Tx }

func (d badDisk) Begin(ctx context.Context) (sqlstore.Tx, error) {
	t, err := d.database.Begin(ctx)
	return badTx{t}, err
}

func (badTx) Commit(context.Context) error { return errFlush }

func TestAFailedFlushEndsTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	o := (*Options)(nil).withDefaults()
	db, err := openDB(path, &o)
	if err != nil {
		t.Fatal(err)
	}
	d := *dialect
	d.Fatal = func(err error) bool { return errors.Is(err, errFlush) }
	bad := sqlstore.New(badDisk{db}, &d, sqlstore.Options{})
	defer bad.Close()
	r := &recibo.Recording{
		Tenant: "acme", Source: "shop", ReceivedAt: time.Now(), Destinations: []string{""},
		Events: []recibo.Event{{Key: "id:a"}},
	}
	if _, err := bad.Record(context.Background(), r); !errors.Is(err, errFlush) {
		t.Errorf("Record = %v, want the flush's error", err)
	}
	_, err = bad.Lease(context.Background(), recibo.LeaseQuery{Max: 1, For: 1})
	if err == nil || !strings.Contains(err.Error(), "restart") {
		t.Errorf("Lease afterwards = %v, want that it asks for a restart", err)
	}
}

func TestAnHourPassesInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(filepath.Join(t.TempDir(), "r.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		storetest.RecordOne(t, s)
		for attempt := 1; attempt <= 3; attempt++ {
			leased, err := s.Lease(t.Context(), recibo.LeaseQuery{Max: 1, For: time.Hour, Lost: attempt > 1})
			if err != nil || len(leased.Leases) != 1 || leased.Leases[0].Attempt != attempt {
				t.Fatalf("Lease = %+v, %v; want attempt %d", leased, err, attempt)
			}
			time.Sleep(time.Hour + time.Second)
		}
	})
}
