package postgres_test

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/pgtest"
	"github.com/recibohq/recibo/postgres"
	"github.com/recibohq/recibo/storetest"
)

var ctx = context.Background()

// connect opens a session beside the store.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(ctx) })
	return conn
}

func execute(t *testing.T, conn *pgx.Conn, stmt string) {
	t.Helper()
	if _, err := conn.Exec(ctx, stmt); err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
}

func TestAFullQueueRefusesAndOneSourceHasHalfOfIt(t *testing.T) {
	// Waits for locks are not bounded here, so that the committer stands still for as long as the test wants.
	url := pgtest.Start(t).NewSchema(t) + "&lock_timeout=0"
	s := open(t, url, &postgres.Options{Queue: 8, CommitWithin: 30 * time.Second})
	other := connect(t, url)
	storetest.Full(t, s, storetest.Crowd{Queue: 8, Committers: 2, Stop: func() func() {
		execute(t, other, "BEGIN")
		execute(t, other, "LOCK TABLE webhook_receipts")
		return func() { execute(t, other, "ROLLBACK") }
	}})
}

func TestAValueThatTheDatabaseRefusesFailsAlone(t *testing.T) {
	url := pgtest.Start(t).NewSchema(t)
	s := open(t, url, &postgres.Options{CommitWithin: 20 * time.Second})
	execute(t, connect(t, url), "ALTER TABLE webhook_receipts ADD CHECK (event_type <> 'poison')")
	storetest.Poisoned(t, s)
}

func TestOpenMigratesOnce(t *testing.T) {
	url := pgtest.Start(t).NewSchema(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := postgres.Open(ctx, url, nil)
			if err != nil {
				t.Errorf("Open = %v", err)
				return
			}
			s.Close()
		})
	}
	wg.Wait()
	var n int
	if err := connect(t, url).QueryRow(ctx, "SELECT COUNT(*) FROM recibo_schema").Scan(&n); err != nil || n != 1 {
		t.Errorf("migrations done = %d, %v; want 1", n, err)
	}
}

func TestOpenRefusesADatabaseThatNeedsANewerBinary(t *testing.T) {
	url := pgtest.Start(t).NewSchema(t)
	open(t, url, nil).Close()
	other := connect(t, url)
	execute(t, other, "INSERT INTO recibo_schema VALUES (900, 1, 0)")
	open(t, url, nil).Close() // newer, but made so that this binary can go on

	execute(t, other, "INSERT INTO recibo_schema VALUES (901, 900, 0)")
	_, err := postgres.Open(ctx, url, nil)
	if err == nil || !strings.Contains(err.Error(), "use a newer recibo") {
		t.Errorf("Open = %v, want that it asks for a newer recibo", err)
	}
}

func TestOpenRefusesAServerThatIsNotAsDurableAsAsked(t *testing.T) {
	url := pgtest.Start(t).NewSchema(t)
	for _, c := range []struct {
		url  string
		d    postgres.Durability
		want string
	}{
		{url + "&synchronous_commit=off", postgres.D1, "synchronous_commit = on"},
		{url, postgres.D2, "synchronous_standby_names"},
		{url + "&synchronous_commit=local", postgres.D2, "synchronous_commit = on"},
		{url + "&default_transaction_read_only=on", postgres.D0, "read-only"},
	} {
		s, err := postgres.Open(ctx, c.url, &postgres.Options{Durability: c.d})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open in class %s = %v, want something about %q", c.d, err, c.want)
		}
	}
	open(t, url+"&synchronous_commit=off", &postgres.Options{Durability: postgres.D0})
}

func TestABadURLIsNotInTheError(t *testing.T) {
	_, err := postgres.Open(ctx, "postgres://user:geheim@host:port/db", nil)
	if err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("Open = %v, want an error without the password", err)
	}
}

func TestNodesOnOneDatabaseNeverDeadlock(t *testing.T) {
	url := pgtest.Start(t).NewDatabase(t)
	for range 3 {
		storetest.Nodes(t, func(t *testing.T) (one, two recibo.Store) {
			// A deadlock is retried and so not seen but by the server; the wait for its detection is.
			execute(t, connect(t, url), "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
			o := &postgres.Options{CommitWithin: 20 * time.Second}
			return open(t, url, o), open(t, url, o)
		})
	}
	var deadlocks int
	row := connect(t, url).QueryRow(ctx, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
	if err := row.Scan(&deadlocks); err != nil || deadlocks != 0 {
		t.Errorf("deadlocks = %d, %v; want none", deadlocks, err)
	}
}

func TestAConnectionCutAfterCommitIsAnErrorAndThenADuplicate(t *testing.T) {
	server := pgtest.Start(t)
	url := server.NewSchema(t)
	p := newProxy(t, strings.Split(strings.SplitN(url, "host=", 2)[1], "&")[0])
	s := open(t, strings.Replace(url, p.serverHost, p.host, 1), nil)
	storetest.RecordOne(t, s)
	r := benchRecording("cut")
	p.cut.Store(true)
	if got, err := s.Record(ctx, r); err == nil {
		t.Fatalf("Record over a cut connection = %v, want an error", got)
	}
	p.cut.Store(false)
	got, err := s.Record(ctx, r)
	if err != nil || got[0].Verdict != recibo.Duplicate {
		t.Errorf("Record again = %v, %v; want duplicate", got, err)
	}
}

// A proxy passes bytes between the store and the server, and when told to swallows the answer to a commit and hangs up.
type proxy struct {
	host, serverHost string
	cut              atomic.Bool
}

func newProxy(t *testing.T, escapedHost string) *proxy {
	t.Helper()
	serverDir := strings.ReplaceAll(escapedHost, "%2F", "/")
	dir, err := os.MkdirTemp("", "proxy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &proxy{serverHost: escapedHost, host: strings.ReplaceAll(dir, "/", "%2F")}
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client, filepath.Join(serverDir, ".s.PGSQL.5432"))
		}
	}()
	return p
}

func (p *proxy) serve(client net.Conn, server string) {
	defer client.Close()
	up, err := net.Dial("unix", server)
	if err != nil {
		return
	}
	defer up.Close()
	go func() { _, _ = io.Copy(up, client); up.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := up.Read(buf)
		if err != nil || p.cut.Load() && strings.Contains(string(buf[:n]), "COMMIT\x00") {
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}

func TestACommitWithAWarningIsNotDurable(t *testing.T) {
	url := pgtest.Start(t).NewSchema(t)
	s := open(t, url, nil)
	// What a session hears when its wait for the standby is cut short is a warning and success.
	execute(t, connect(t, url), `
CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE WARNING 'might not have been replicated to the standby'; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER warn AFTER INSERT ON webhook_receipts DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW WHEN (NEW.event_id = 'warned') EXECUTE FUNCTION warn()`)
	r := benchRecording("warned")
	if got, err := s.Record(ctx, r); err == nil || !strings.Contains(err.Error(), "not durable") {
		t.Errorf("Record = %v, %v; want that it is not durable", got, err)
	}
	got, err := s.Record(ctx, benchRecording("fine"))
	if err != nil || got[0].Verdict != recibo.Accepted {
		t.Errorf("Record of another = %v, %v; want accepted", got, err)
	}
}
