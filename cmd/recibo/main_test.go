package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/recibohq/recibo/internal/pgtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"recibo": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PORT", freePort(t))
			e.Setenv("APP_PORT", freePort(t))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"ready": ready},
	})
}

// freePort is a port that nobody listens on at the moment.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// ready waits until a gateway is: "ready ADDRESS".
func ready(ts *testscript.TestScript, _ bool, args []string) {
	for range 200 {
		resp, err := http.Get("http://" + args[0] + "/readyz")
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	ts.Fatalf("no gateway became ready at %s", args[0])
}

// runDemo runs the demonstration and returns its report.
func runDemo(t *testing.T, args ...string) *demoReport {
	t.Helper()
	var stdout, stderr bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, lookup: os.LookupEnv}
	began := time.Now()
	if code := run(append([]string{"demo", "--json"}, args...), e); code != exitDone {
		t.Fatalf("exit %d, want 0\n%s%s", code, stdout.String(), stderr.String())
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it took %s, want under 15 seconds", took)
	}
	var report demoReport
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	return &report
}

func wantPromise(t *testing.T, r *demoReport) {
	t.Helper()
	want := demoReport{
		Actions:     1,
		EqualCopies: demoCopies{Sent: 5, Accepted: 1, Duplicate: 4, Actions: 1},
		Concurrent:  demoCopies{Sent: demoAtOnce, Accepted: 1, Duplicate: demoAtOnce - 1, Actions: 1},
		Forged:      demoRefuse{Sent: 3, Refused: 3, Status: 401},
		Changed:     demoRefuse{Sent: 2, Refused: 2, Status: 401},
		Late:        demoRefuse{Sent: 1, Refused: 1, Status: 400},
		PromiseHeld: true,
	}
	if *r != want {
		t.Errorf("report = %+v\nwant %+v", *r, want)
	}
}

func TestDemoHoldsThePromiseOnSQLite(t *testing.T) { wantPromise(t, runDemo(t)) }

func TestDemoHoldsThePromiseOnPostgreSQL(t *testing.T) {
	url := pgtest.Start(t).NewDatabase(t)
	wantPromise(t, runDemo(t, "--database-url", url))
	var schemas int
	if err := queryOnce(t.Context(), url, "SELECT COUNT(*) FROM pg_namespace WHERE nspname LIKE 'recibo_demo_%'", &schemas); err != nil || schemas != 0 {
		t.Errorf("%d schemas of the demonstration are left, %v; want none", schemas, err)
	}
}

func TestDemoSaysWhenThePromiseIsBroken(t *testing.T) {
	for name, breakIt := range map[string]func(*demoReport){
		"two charges":         func(r *demoReport) { r.EqualCopies.Actions = 2 },
		"no charge":           func(r *demoReport) { r.EqualCopies.Actions = 0 },
		"two accepted":        func(r *demoReport) { r.Concurrent.Accepted, r.Concurrent.Duplicate = 2, 18 },
		"an error to a copy":  func(r *demoReport) { r.Concurrent.Duplicate, r.Concurrent.Other = 18, 1 },
		"a forgery taken":     func(r *demoReport) { r.Forged.Refused = 2 },
		"a late copy taken":   func(r *demoReport) { r.Late.Refused = 0 },
		"nothing late sent":   func(r *demoReport) { r.Late = demoRefuse{} },
		"a charge of no name": func(r *demoReport) {},
	} {
		r := demoReport{
			EqualCopies: demoCopies{Sent: 5, Accepted: 1, Duplicate: 4, Actions: 1},
			Concurrent:  demoCopies{Sent: 20, Accepted: 1, Duplicate: 19, Actions: 1},
			Forged:      demoRefuse{Sent: 3, Refused: 3}, Changed: demoRefuse{Sent: 2, Refused: 2}, Late: demoRefuse{Sent: 1, Refused: 1},
		}
		if r.judge(2); !r.PromiseHeld {
			t.Fatal("a good report is broken")
		}
		breakIt(&r)
		total := r.EqualCopies.Actions + r.Concurrent.Actions
		if name == "a charge of no name" {
			total++
		}
		if r.judge(total); r.PromiseHeld {
			t.Errorf("%s: the promise held", name)
		}
	}
}

func queryOnce(ctx context.Context, url, query string, into any) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	return conn.QueryRow(ctx, query).Scan(into)
}
