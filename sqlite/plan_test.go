package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/recibohq/recibo/internal/sqlstore"
)

func TestHotStatementsUseIndexes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	o := (*Options)(nil).withDefaults()
	db, err := openDB(path, &o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, stmt := range sqlstore.Hot {
		plan := explain(t, db, stmt)
		for _, step := range strings.Split(plan, "\n") {
			whole := strings.HasPrefix(step, "SCAN") && strings.Contains(step, "webhook_") &&
				!strings.Contains(step, "INDEX webhook_receipts_leased") // as short as there are leases
			if whole || strings.Contains(step, "TEMP B-TREE") && name != "selectSteps" {
				t.Errorf("%s: %q in\n%s", name, step, plan)
			}
		}
	}
}

func explain(t *testing.T, db *database, stmt string) string {
	t.Helper()
	text, _ := rewrite(stmt)
	args := make([]any, strings.Count(text, "?"))
	rows, err := db.read.Query("EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatalf("explain: %v\n%s", err, text)
	}
	defer func() { _ = rows.Close() }()
	var steps []string
	err = each(rows, func() error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}

func TestRewriteKeepsTheOrderOfArguments(t *testing.T) {
	for stmt, want := range map[string]string{
		"a = $1 AND b = $2":                "a = ? AND b = ?",
		"a = $1, b = $now":                 "a = ?, b = ?",
		"b = $now WHERE a = $1":            "b = ?2 WHERE a = ?1",
		"a = $2 AND b = $1":                "a = ?2 AND b = ?1",
		"a = $1 OR b = $1":                 "a = ?1 OR b = ?1",
		"a = $now OR b = $now":             "a = ?1 OR b = ?1",
		"x FOR UPDATE SKIP LOCKED, c = $1": "x , c = ?",
	} {
		if got, _ := rewrite(stmt); got != want {
			t.Errorf("rewrite(%q) = %q, want %q", stmt, got, want)
		}
	}
}
