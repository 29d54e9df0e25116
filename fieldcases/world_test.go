package fieldcases

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/config"
	"github.com/recibohq/recibo/internal/gateway"
	"github.com/recibohq/recibo/sqlite"
)

// A world is the gateway of one case, with everything around it that the case sets: the clock, the handler, the store's
// health and the peers' addresses.
type world struct {
	t        *testing.T
	c        *fieldCase
	yaml     string
	store    *sqlite.Store
	db       *sql.DB // a second pair of eyes on the store
	path     string
	clock    *clock
	handler  *handler
	journal  *journal
	nodes    []*node
	next     int // the node that the next request goes to
	answers  []reply
	resident int64             // bytes, at the start of the step
	peers    map[string]string // a connection's own address to the peer that the gateway sees
	outbound int               // connections that the gateway wanted to open
	peerLock sync.Mutex
}

// A node is one gateway process of the case.
type node struct {
	addr string
	port *port
	stop func() error
}

// newWorld starts the case's gateway on an empty store.
func newWorld(t *testing.T, c *fieldCase) (*world, error) {
	w := &world{t: t, c: c, path: filepath.Join(t.TempDir(), "case.db"), peers: map[string]string{}}
	w.clock = newClock(time.Unix(c.Config.BaseTime, 0))
	w.journal = &journal{decisions: map[string]decision{}}
	w.handler = newHandler(w)
	var err error
	if w.yaml, err = configuration(t, c, c.Config.Sources[0].Secrets); err != nil {
		return nil, err
	}
	if w.store, err = sqlite.Open(w.path, &sqlite.Options{Now: w.clock.now}); err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = w.store.Close() })
	if w.db, err = sql.Open("sqlite", "file:"+w.path+"?_pragma=busy_timeout(5000)"); err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = w.db.Close() })
	for range max(c.Config.Gateway.Instances, 1) {
		if err := w.startNode(); err != nil {
			return nil, err
		}
	}
	t.Cleanup(func() {
		w.handler.release()
		for _, n := range w.nodes {
			_ = n.stop()
		}
	})
	return w, nil
}

// startNode starts one more gateway on the store.
func (w *world) startNode() error {
	c, err := config.Parse("case.yaml", []byte(w.yaml), func(string) (string, bool) { return "", false })
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p := &port{Store: w.store}
	g, err := gateway.New(context.Background(), c, gateway.Options{
		Logger: slog.New(w.journal), Now: w.clock.now, Listener: &disguise{listener, w}, Handler: recibo.HandlerFunc(w.handler.of(p)),
		Store: p, Poll: 5 * time.Millisecond, Fetch: w.fetch,
	})
	if err != nil {
		_ = listener.Close()
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	w.nodes = append(w.nodes, &node{
		addr: listener.Addr().String(), port: p, stop: sync.OnceValue(func() error { cancel(); return <-ended }),
	})
	return nil
}

// fetch lets nothing out, and counts who wanted to.
func (w *world) fetch(context.Context, string) ([]byte, error) {
	w.peerLock.Lock()
	defer w.peerLock.Unlock()
	w.outbound++
	return nil, errors.New("the case has no network")
}

// kill ends a node as a power cut would: nothing it does reaches the store any more. Its goroutines end with the case.
func (w *world) kill(n *node) {
	n.port.set(func(p *port) { p.dead = true })
	for i, other := range w.nodes {
		if other == n {
			w.nodes = append(w.nodes[:i], w.nodes[i+1:]...)
		}
	}
	w.t.Cleanup(func() { w.handler.release(); _ = n.stop() })
}

// A port is a node's way to the store. The case can cut it, and a dead node has none.
type port struct {
	*sqlite.Store
	mu                 sync.Mutex
	dead, down, paused bool
}

var errDown = errors.New("store is down")

func (p *port) set(change func(*port)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

func (p *port) err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead || p.down {
		return errDown
	}
	return nil
}

// Close leaves the store open: it is the case's.
func (p *port) Close() error { return nil }

func (p *port) Record(ctx context.Context, r *recibo.Recording) ([]recibo.Recorded, error) {
	if err := p.err(); err != nil {
		return nil, err
	}
	return p.Store.Record(ctx, r)
}

func (p *port) Lease(ctx context.Context, q recibo.LeaseQuery) (*recibo.Leased, error) {
	p.mu.Lock()
	paused := p.paused || p.dead || p.down
	p.mu.Unlock()
	if paused {
		return &recibo.Leased{}, nil
	}
	return p.Store.Lease(ctx, q)
}

func (p *port) Extend(ctx context.Context, l recibo.LeaseRef, d time.Duration) (time.Time, error) {
	if err := p.err(); err != nil {
		return time.Time{}, err
	}
	return p.Store.Extend(ctx, l, d)
}

func (p *port) SaveStep(ctx context.Context, l recibo.LeaseRef, s recibo.KeptStep) error {
	if err := p.err(); err != nil {
		return err
	}
	return p.Store.SaveStep(ctx, l, s)
}

func (p *port) Settle(ctx context.Context, l recibo.LeaseRef, o recibo.Outcome) error {
	p.mu.Lock()
	dead := p.dead
	p.mu.Unlock()
	if dead {
		return recibo.ErrLeaseLost // so that the zombie does not try for long
	}
	if err := p.err(); err != nil {
		return err
	}
	return p.Store.Settle(ctx, l, o)
}

// A disguise is a listener whose connections come from the addresses that the case says.
type disguise struct {
	net.Listener
	w *world
}

func (d *disguise) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	d.w.peerLock.Lock()
	defer d.w.peerLock.Unlock()
	return &disguised{c, d.w.peers[c.RemoteAddr().String()]}, nil
}

type disguised struct {
	net.Conn
	peer string
}

func (c *disguised) RemoteAddr() net.Addr {
	if ip := net.ParseIP(c.peer); ip != nil {
		return &net.TCPAddr{IP: ip, Port: 40000}
	}
	return c.Conn.RemoteAddr()
}

// A decision is what the gateway's log says of a delivery.
type decision struct{ verdict, reason string }

// A journal is the gateway's log: it is kept whole, and the decisions are read from it.
type journal struct {
	mu        sync.Mutex
	text      []byte
	decisions map[string]decision
}

func (j *journal) Enabled(context.Context, slog.Level) bool { return true }
func (j *journal) WithAttrs([]slog.Attr) slog.Handler       { return j }
func (j *journal) WithGroup(string) slog.Handler            { return j }

func (j *journal) Handle(_ context.Context, r slog.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var d decision
	var delivery string
	j.text = fmt.Appendf(j.text, "%s", r.Message)
	r.Attrs(func(a slog.Attr) bool {
		j.text = fmt.Appendf(j.text, " %s=%s", a.Key, a.Value)
		switch a.Key {
		case "delivery":
			delivery = a.Value.String()
		case "verdict":
			d.verdict = a.Value.String()
		case "reason":
			d.reason = a.Value.String()
		}
		return true
	})
	j.text = append(j.text, '\n')
	if r.Message == "decision" {
		j.decisions[delivery] = d
	}
	return nil
}

func (j *journal) decided(delivery string) (decision, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	d, ok := j.decisions[delivery]
	return d, ok
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return string(j.text)
}
