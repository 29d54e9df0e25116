package postgres

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/recibohq/recibo/internal/pgtest"
	"github.com/recibohq/recibo/internal/sqlstore"
)

func TestHotStatementsUseIndexes(t *testing.T) {
	ctx := context.Background()
	url := pgtest.Start(t).NewSchema(t)
	s, err := Open(ctx, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan"); err != nil {
		t.Fatal(err)
	}
	for name, stmt := range sqlstore.Hot {
		plan := explain(t, conn, name, stmt)
		if strings.Contains(plan, "Seq Scan on webhook_") || name != "selectSteps" && strings.Contains(plan, "Sort") {
			t.Errorf("%s:\n%s", name, plan)
		}
		if strings.HasPrefix(name, "pick") && !regexp.MustCompile(`Index Cond: .*due_at <= \$`).MatchString(plan) {
			t.Errorf("%s does not search by time:\n%s", name, plan)
		}
	}
}

func explain(t *testing.T, conn *pgx.Conn, name, stmt string) string {
	t.Helper()
	prepared, err := conn.Prepare(context.Background(), name, rewrite(stmt))
	if err != nil {
		t.Fatalf("prepare %s: %v", name, err)
	}
	call := `EXECUTE "` + name + `"`
	if n := len(prepared.ParamOIDs); n > 0 {
		call += "(" + strings.TrimSuffix(strings.Repeat("NULL, ", n), ", ") + ")"
	}
	rows, err := conn.Query(context.Background(), "EXPLAIN (COSTS OFF) "+call, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatalf("explain %s: %v", name, err)
	}
	steps, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("explain %s: %v", name, err)
	}
	return strings.Join(steps, "\n")
}
