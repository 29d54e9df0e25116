package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The servers under test are this program: here, the test's.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// tiny measures nothing well and everything once.
var tiny = plan{
	warm: 50 * time.Millisecond, phase: 200 * time.Millisecond, rounds: 1, within: time.Minute,
	halfRate: 200 * time.Millisecond, memory: 500 * time.Millisecond, turns: 0, accepts: 300,
}

func TestAMeasurementHasEveryFigure(t *testing.T) {
	p := tiny
	p.profiles = t.TempDir()
	results, err := measureAll(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	values := results.values()
	for _, key := range []string{
		"accept_sqlite_over_mac", "accept_postgres_over_mac", "accept_sqlite_over_naive", "accept_postgres_over_naive",
		"duplicate_over_mac", "duplicate_postgres_over_mac", "refuse_over_mac", "life_over_accept",
		"life_postgres_over_accept", "p99_accept_ms", "p99_accept_postgres_ms", "rss_mb", "rss_growth",
		"allocs_per_accept", "allocs_per_accept_postgres", "generator_cpu_share",
	} {
		if v, measured := values[key]; !measured || v < 0 {
			t.Errorf("%s = %v, %v; want that it is measured", key, v, measured)
		}
	}
	if n, measured := values["refuse_store_calls"]; !measured || n != 0 {
		t.Errorf("refuse_store_calls = %v, %v; want 0, measured", n, measured)
	}
	if _, err := json.Marshal(values); err != nil {
		t.Errorf("marshal the values: %v", err)
	}
	if profiles, err := os.ReadDir(p.profiles); err != nil || len(profiles) != 11 {
		t.Errorf("profiles: %v, %v; want one for each phase", profiles, err)
	}
	var table bytes.Buffer
	if err := results.table(&table); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(table.String(), "met") + strings.Count(table.String(), "missed"); lines < len(results.figures()) {
		t.Errorf("%d figures are judged, want %d:\n%s", lines, len(results.figures()), &table)
	}
}

func TestAMeasurementThatIsStoppedLeavesNothingBehind(t *testing.T) {
	t.Setenv("TMPDIR", diskDir(t))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := measureAll(ctx, full); err == nil {
		t.Error("measureAll ended well within 3 seconds")
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// diskDir is a directory that PostgreSQL's user can reach, unlike the test's own.
func diskDir(t *testing.T) string {
	t.Helper()
	dir, err := scratch("recibo-bench-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestUnknownFlagsAndArgumentsAreUsageErrors(t *testing.T) {
	for _, args := range [][]string{{"--fast"}, {"sqlite"}} {
		var stdout, stderr bytes.Buffer
		if code := run(args, nil, &stdout, &stderr); code != 2 || stdout.Len() > 0 || stderr.Len() == 0 {
			t.Errorf("bench %q: exit %d, stdout %q, stderr %q; want 2, nothing, a reason", args, code, &stdout, &stderr)
		}
	}
}

func TestEveryFigureHasAKeyOfItsOwn(t *testing.T) {
	r := newResults()
	r.resident = []float64{1, 1, 1, 1}
	var keys []string
	for _, f := range r.figures() {
		if f.key == "" || f.title == "" || slices.Contains(keys, f.key) {
			t.Errorf("figure %+v: want a title and a key that no other has", f)
		}
		keys = append(keys, f.key)
	}
}
