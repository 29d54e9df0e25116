package powercut

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/sqlite"
)

var cycles = flag.Int("cycles", 5, "how often the power is cut")

// controlCycles is enough for the check to show that it can fail: nearly every cut loses something that was not flushed.
const controlCycles = 5

func TestReceiptsOfClassD1OutliveAPowerCut(t *testing.T) {
	recorded, lost := cutOften(t, sqlite.D1, *cycles)
	t.Logf("%d power cuts, %d acknowledged receipts, %d lost", *cycles, recorded, lost)
	if lost > 0 {
		t.Errorf("%d of %d acknowledged receipts lost, want 0", lost, recorded)
	}
}

func TestTheCheckSeesReceiptsOfClassD0Lost(t *testing.T) {
	recorded, lost := cutOften(t, sqlite.D0, controlCycles)
	t.Logf("%d power cuts, %d acknowledged receipts, %d lost", controlCycles, recorded, lost)
	if lost == 0 {
		t.Errorf("none of %d acknowledged receipts lost, though the store does not flush: the check sees no loss", recorded)
	}
}

// cutOften cuts the power again and again under one database, and counts what was acknowledged and what of it is gone.
func cutOften(t *testing.T, class sqlite.Durability, times int) (recorded, lost int) {
	t.Helper()
	d := newDisk(t)
	path := filepath.Join(d.dir, "r.db")
	all := make(acks)
	for cycle := range times {
		maps.Copy(all, cut(t, d, startRecorder(t, path, class, cycle)))
	}
	checkFile(t, path)
	return len(all), missing(t, path, all)
}

// cut cuts the power at a random time while r records, and brings the disk back.
func cut(t *testing.T, d *disk, r *recorder) acks {
	t.Helper()
	time.Sleep(rand.N(400 * time.Millisecond))
	out := time.Now()
	err := d.cutPower()
	acknowledged := r.kill(t, out)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.powerUp(); err != nil {
		t.Fatal(err)
	}
	return acknowledged
}

// missing counts the receipts that the store at path does not know any more: what it knows is a duplicate, of the receipt
// that was acknowledged.
func missing(t *testing.T, path string, acknowledged acks) (lost int) {
	t.Helper()
	store, err := sqlite.Open(path, &sqlite.Options{CommitWithin: time.Minute}) // what is known counts, not how soon it is said
	if err != nil {
		t.Fatal(err)
	}
	for keys := range slices.Chunk(slices.Collect(maps.Keys(acknowledged)), 500) {
		results, err := store.Record(context.Background(), recording(keys...))
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if r.Verdict != recibo.Duplicate || r.Receipt.String() != acknowledged[keys[i]] {
				lost++
			}
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return lost
}

func checkFile(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var answer string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&answer); err != nil || answer != "ok" {
		t.Errorf("PRAGMA integrity_check after the cuts = %q, %v, want ok", answer, err)
	}
}

// The test binary runs in three roles: started by go test, with mounts of its own, and as a recorder.
const (
	roleVariable = "RECIBO_POWERCUT_ROLE"
	roleTests    = "tests"
	roleRecorder = "recorder"
)

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); {
	case role == roleRecorder:
		err := record(os.Args[1], os.Args[2], os.Args[3])
		fmt.Fprintln(os.Stderr, "recorder:", err)
		os.Exit(1)
	case role == roleTests, os.Geteuid() != 0:
		os.Exit(m.Run())
	default:
		os.Exit(runWithOwnMounts())
	}
}

// runWithOwnMounts runs the tests in a mount namespace of their own: however they end, the kernel unmounts their disks.
func runWithOwnMounts() int {
	runtime.LockOSThread() // Pdeathsig is sent when the thread ends, not the process
	tests := exec.Command("/proc/self/exe", os.Args[1:]...)
	tests.Env = append(os.Environ(), roleVariable+"="+roleTests)
	tests.Stdout, tests.Stderr = os.Stdout, os.Stderr
	tests.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if err := tests.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "powercut: tests in their own mount namespace:", err)
		return 1
	}
	return 0
}
