package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/config"
	"github.com/recibohq/recibo/internal/gateway"
	"github.com/recibohq/recibo/internal/pgtest"
	"github.com/recibohq/recibo/provider"
	"github.com/recibohq/recibo/sqlite"
)

const secret = "whsec_secret_of_the_gateway_tests"

// A running gateway with the application behind it.
type running struct {
	t    *testing.T
	addr string
	stop func() error
}

// start runs a gateway on store until the test ends or stop is called.
func start(t *testing.T, store, app string) *running {
	t.Helper()
	c, err := config.Parse("test.yaml", fmt.Appendf(nil, `version: 1
store: %s
sources:
  - {name: stripe, provider: stripe, secrets: ["insecure-literal:%s"]}
destinations:
  - {name: app, url: %q, network: {allow: [127.0.0.0/8]}, sign: {secret: "insecure-literal:whsec_YXBwLXNlY3JldC1vZi10ZXN0cw=="}}
`, store, secret, app), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(t.Context(), c, gateway.Options{Listener: l})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	r := &running{t: t, addr: g.Addr().String(), stop: sync.OnceValue(func() error { cancel(); return <-ended })}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("Run = %v, want nil after a stop", err)
		}
	})
	return r
}

// send sends the event id and returns the status and the verdict; status 0 means no answer.
func (r *running) send(id string) (status int, verdict string) {
	signed, err := provider.MustLookup("stripe").Sign(&provider.SignRequest{
		Secret: recibo.NewSecret(secret), Body: []byte(`{"id":"` + id + `","type":"paid"}`), Now: time.Now(),
	})
	if err != nil {
		r.t.Error(err)
		return 0, ""
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+r.addr+"/in/stripe", bytes.NewReader(signed.Body))
	if err != nil {
		r.t.Error(err)
		return 0, ""
	}
	req.Header = signed.Header
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, resp.Header.Get("Recibo-Verdict")
}

func app(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func sqliteAt(path string) string { return fmt.Sprintf("{driver: sqlite, path: %q}", path) }

func TestGatewayForwardsWhatItAccepted(t *testing.T) {
	var calls atomic.Int32
	g := start(t, sqliteAt(filepath.Join(t.TempDir(), "r.db")), app(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	for i, want := range []string{"accepted", "duplicate", "duplicate"} {
		if status, verdict := g.send("evt_1"); status != 200 || verdict != want {
			t.Errorf("copy %d: %d %s, want 200 %s", i+1, status, verdict, want)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); calls.Load() == 0 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	if err := g.stop(); err != nil {
		t.Fatal(err)
	}
	if calls.Load() != 1 {
		t.Errorf("the application was called %d times, want 1", calls.Load())
	}
}

func TestGatewaysOnOneDatabaseAcceptOneOf100Copies(t *testing.T) {
	database := fmt.Sprintf("{driver: postgres, url: %q}", "insecure-literal:"+pgtest.Start(t).NewDatabase(t))
	var calls atomic.Int32
	url := app(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	nodes := []*running{start(t, database, url), start(t, database, url)}
	var mu sync.Mutex
	verdicts := map[string]int{}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			status, verdict := nodes[i%2].send("evt_1")
			mu.Lock()
			defer mu.Unlock()
			verdicts[fmt.Sprint(status, " ", verdict)]++
		})
	}
	all.Wait()
	if verdicts["200 accepted"] != 1 || verdicts["200 duplicate"] != 99 {
		t.Errorf("answers = %v, want one accepted and 99 duplicates", verdicts)
	}
}

func TestGatewayStopsWithoutCuttingWhatItAccepted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	entered := make(chan struct{}, 100)
	g := start(t, sqliteAt(path), app(t, func(_ http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		select { // slower than the stop waits? no: it ends before, and must be settled
		case <-time.After(500 * time.Millisecond):
		case <-r.Context().Done():
		}
	}))
	var accepted atomic.Int32
	var senders sync.WaitGroup
	for n := range 8 {
		senders.Go(func() {
			for i := 0; ; i++ {
				status, verdict := g.send(fmt.Sprintf("evt_%d_%d", n, i))
				if verdict == "accepted" {
					accepted.Add(1)
				}
				if status != 200 { // 503 while it drains, 0 once it no longer listens
					return
				}
			}
		})
	}
	<-entered
	if err := g.stop(); err != nil {
		t.Fatal(err)
	}
	senders.Wait()
	store, err := sqlite.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	counts, err := store.Counts(context.Background(), recibo.DefaultTenant)
	if err != nil {
		t.Fatal(err)
	}
	if total := counts[recibo.Received] + counts[recibo.Processed]; total < int(accepted.Load()) {
		t.Errorf("%d receipts for %d accepted answers", total, accepted.Load())
	}
	if counts[recibo.Processing] != 0 || counts[recibo.Failed] != 0 || counts[recibo.Processed] == 0 {
		t.Errorf("counts = %v, want none under a lease and those that ran processed", counts)
	}
}

func TestGatewayTellsWhenItIsReady(t *testing.T) {
	g := start(t, sqliteAt(filepath.Join(t.TempDir(), "r.db")), app(t, func(http.ResponseWriter, *http.Request) {}))
	for path, want := range map[string]int{"/livez": 200, "/readyz": 200, "/": 404, "//in//stripe/": 405} {
		resp, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).
			Get("http://" + g.addr + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("GET %s: %d, want %d", path, resp.StatusCode, want)
		}
	}
}

func TestGatewayRefusesToStartOnMistakes(t *testing.T) {
	text := `version: 1
store: {path: %s}
sources:
  - {name: stripe, provider: stripe, secrets: ["insecure-literal:%s"]}
destinations:
  - {name: app, url: "%s", sign: {secret: "insecure-literal:whsec_YXBwLXNlY3JldC1vZi10ZXN0cw=="}}
`
	good := filepath.Join(t.TempDir(), "r.db")
	for name, c := range map[string]struct{ path, secret, url, says string }{
		"an empty secret":        {good, "", "http://127.0.0.1/", "secret"},
		"no address":             {good, secret, "127.0.0.1:80", "http://host/path"},
		"a store in no folder":   {"/nowhere/r.db", secret, "http://127.0.0.1/", "/nowhere/r.db"},
		"a destination password": {good, secret, "http://u:p@127.0.0.1/", "http://host/path"},
	} {
		c2, err := config.Parse("test.yaml", fmt.Appendf(nil, text, c.path, c.secret, c.url), func(string) (string, bool) { return "", false })
		if err == nil {
			_, err = gateway.New(t.Context(), c2, gateway.Options{})
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error that says %q", name, err, c.says)
		}
	}
}
