package crash

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The variables by which recibo.yaml refers to its secrets.
const (
	stripeVariable   = "RECIBO_CRASH_STRIPE_SECRET"
	shopVariable     = "RECIBO_CRASH_SHOP_SECRET"
	databaseVariable = "RECIBO_CRASH_DATABASE_URL"
)

// scratch is where the program under test is built; TestMain makes and removes it.
var scratch string

// program builds the real program, once.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "recibo")
	out, err := exec.Command("go", "build", "-o", path, "../../cmd/recibo").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build ../../cmd/recibo: %w\n%s", err, out)
	}
	return path, nil
})

// A site is what a gateway's processes share: a configuration, an address, a database and a log.
type site struct {
	url     string // where Stripe sends to
	address string
	program string
	config  string
	log     string
	env     []string
}

// lease is short, so that what a killed process held comes back soon.
const lease = time.Second

// newSite prepares a gateway in front of the shop. drain is what a stop gives to running attempts.
func newSite(t *testing.T, db *database, s *shop, drain time.Duration) *site {
	t.Helper()
	program, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	address := freeAddress(t)
	g := &site{
		url: "http://" + address + "/in/stripe", address: address, program: program,
		config: filepath.Join(dir, "recibo.yaml"), log: filepath.Join(dir, "recibo.log"),
		env: append(os.Environ(), stripeVariable+"="+stripeSecret, shopVariable+"="+shopSecret, databaseVariable+"="+db.url),
	}
	text := fmt.Sprintf(`version: 1
server: {listen: %q, drain: %s}
store: %s
work: {lease: %s}
sources:
  - name: stripe
    provider: stripe
    secrets: [env:%s]
destinations:
  - name: shop
    url: %s
    network: {allow: [127.0.0.0/8]}
    sign: {secret: env:%s}
    retry: {delays: [200ms, 500ms%s]}
`, address, drain, db.yaml, lease, stripeVariable, s.url, shopVariable, strings.Repeat(", 1s", 60))
	if err := os.WriteFile(g.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.showLog(t) })
	return g
}

// freeAddress is on a port that no dialer picks for its own end: else a sender that dials a dead gateway could take it.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000))
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return address
	}
	t.Fatal("no free port between 20000 and 30000")
	return ""
}

// showLog prints the end of the log of a test that failed.
func (g *site) showLog(t *testing.T) {
	text, err := os.ReadFile(g.log)
	if !t.Failed() || err != nil {
		return
	}
	lines := strings.Split(string(text), "\n")
	t.Logf("the end of the gateway's log:\n%s", strings.Join(lines[max(0, len(lines)-40):], "\n"))
}

// A gateway is one process.
type gateway struct {
	cmd   *exec.Cmd
	ready chan time.Duration // gets how long it took
	ended chan struct{}
	err   error // of the process, once it has ended
}

// startWithin is when a start is given up; whether it was soon enough is for the check.
const startWithin = 15 * time.Second

// start runs the gateway and returns when it is ready; how long that took is part of the history.
func (g *site) start(t *testing.T, h *history) *gateway {
	t.Helper()
	p := g.launch(t)
	select {
	case took := <-p.ready:
		h.starts = append(h.starts, took)
		return p
	case <-p.ended:
		t.Fatalf("the gateway ended before it was ready: %v", p.err)
	case <-time.After(startWithin):
		t.Fatalf("the gateway was not ready within %s", startWithin)
	}
	return nil
}

// launch runs the gateway until it is stopped or the test ends, and does not wait until it is ready.
func (g *site) launch(t *testing.T) *gateway {
	t.Helper()
	log, err := os.OpenFile(g.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the process has its own
	p := &gateway{
		cmd:   exec.CommandContext(t.Context(), g.program, "serve", "--config", g.config),
		ready: make(chan time.Duration, 1), ended: make(chan struct{}),
	}
	p.cmd.Env, p.cmd.Stderr = g.env, log
	// A group of its own, to be killed as a whole, and no life of its own: it dies with the tests, however they end.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill(t) })
	go p.watch(out, began)
	return p
}

// watch reads what the process prints, to its end.
func (p *gateway) watch(out io.Reader, began time.Time) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "ready" {
			p.ready <- time.Since(began)
		}
	}
	p.err = p.cmd.Wait()
	close(p.ended)
}

// kill ends the process at once, with all that it started.
func (p *gateway) kill(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
		return
	default:
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Error(err)
	}
	p.await(t, 10*time.Second)
}

// stop asks for an orderly stop and wants exit code 0 within the time.
func (p *gateway) stop(t *testing.T, within time.Duration) {
	t.Helper()
	p.signal(t)
	p.stopped(t, within)
}

func (p *gateway) signal(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

func (p *gateway) stopped(t *testing.T, within time.Duration) {
	t.Helper()
	p.await(t, within)
	if p.err != nil {
		t.Errorf("the gateway ended with %v after SIGTERM, want exit code 0", p.err)
	}
}

func (p *gateway) await(t *testing.T, within time.Duration) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(within):
		t.Fatalf("the gateway still runs after %s", within)
	}
}
