// Package gateway is the front door as one process: it takes deliveries, records them and forwards the events.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/config"
)

// Options adjusts a Gateway.
type Options struct {
	Logger *slog.Logger     // default: discard
	Now    func() time.Time // default: time.Now
	// Listener serves deliveries in place of the configured address.
	Listener net.Listener
	// Handler does the work in place of forwarding.
	Handler recibo.Handler
	// Store keeps receipts in place of the configured one. Run closes it.
	Store Store
	// Fetch gets the keys that senders publish; default: over the network.
	Fetch recibo.Fetch
	// Poll is how often the worker looks for work; default one second.
	Poll time.Duration
}

// A Store is what a gateway owns: it opens it, or is given it, and closes it.
type Store interface {
	recibo.Store
	Close() error
}

// A Gateway is a receiver and a worker on one store, behind one HTTP server.
type Gateway struct {
	store    Store
	receiver *recibo.Receiver
	worker   *recibo.Worker
	server   *http.Server
	listener net.Listener
	drain    time.Duration
	logger   *slog.Logger
	ready    atomic.Bool
}

// New opens the store and checks everything of c that can be wrong. Nothing is served before Run.
func New(ctx context.Context, c *config.Config, o Options) (*Gateway, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	directory, err := c.Directory(o.Fetch)
	if err != nil {
		return nil, err
	}
	handler := o.Handler
	if handler == nil {
		if handler, err = newForwarder(c, o.Now); err != nil {
			return nil, err
		}
	}
	store := o.Store
	if store == nil {
		if store, err = openStore(ctx, c, o); err != nil {
			return nil, err
		}
	}
	g, err := assemble(c, o, store, directory, handler)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return g, nil
}

func assemble(c *config.Config, o Options, s Store, dir *recibo.Directory, h recibo.Handler) (*Gateway, error) {
	receiver, err := recibo.NewReceiver(s, dir, &recibo.ReceiverOptions{
		Logger: o.Logger, Now: o.Now, AnswerWithin: time.Duration(c.Server.AnswerWithin),
		ReadWithin: time.Duration(c.Server.ReadBody),
	})
	if err != nil {
		return nil, err
	}
	drain := time.Duration(c.Server.Drain)
	if drain == 0 {
		drain = 20 * time.Second
	}
	worker, err := recibo.NewWorker(s, h, &recibo.WorkerOptions{
		Logger: o.Logger, Now: o.Now, LeaseFor: time.Duration(c.Work.Lease), Concurrency: c.Work.Concurrency,
		Retry: c.Destinations[0].Retry.Waits(), Jitter: c.Destinations[0].Retry.Spread(), StopWithin: drain, Poll: o.Poll,
	})
	if err != nil {
		return nil, err
	}
	listener := o.Listener
	if listener == nil {
		if listener, err = net.Listen("tcp", c.Server.Listen); err != nil {
			return nil, fmt.Errorf("listen: %w; set server.listen to a free address", err)
		}
	}
	g := &Gateway{store: s, receiver: receiver, worker: worker, listener: listener, drain: drain, logger: o.Logger}
	g.server = g.newServer(time.Duration(c.Server.ReadHeaders))
	return g, nil
}

// newServer bounds what a stranger can hold: headers, idle connections and the time to write. A body's time and size are
// the receiver's.
func (g *Gateway) newServer(readHeaders time.Duration) *http.Server {
	if readHeaders == 0 {
		readHeaders = 5 * time.Second
	}
	// Proxies that speak HTTP/2 do so without TLS behind them.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Protocols:         protocols,
		Handler:           http.HandlerFunc(g.route),
		ReadHeaderTimeout: readHeaders,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(g.logger.Handler(), slog.LevelDebug),
	}
}

// route has no ServeMux, which would redirect an unclean path; a sender takes a redirect for a failure.
func (g *Gateway) route(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/livez":
		w.WriteHeader(http.StatusOK)
	case "/readyz":
		if !g.ready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	default:
		g.receiver.ServeHTTP(w, r)
	}
}

// Addr is where deliveries are taken.
func (g *Gateway) Addr() net.Addr { return g.listener.Addr() }

// drainPause is how long a stopping gateway goes on answering 503 before it closes connections.
const drainPause = 150 * time.Millisecond

// Run serves until ctx ends, then stops in order: new deliveries are answered 503, begun ones are finished, running
// attempts settle or give their leases back, the store closes. It returns nil after such a stop.
func (g *Gateway) Run(ctx context.Context) error {
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	worked := make(chan error, 1)
	go func() { worked <- g.worker.Run(work) }()
	served := make(chan error, 1)
	go func() { served <- g.server.Serve(g.listener) }()
	g.ready.Store(true)

	var err error
	select {
	case <-ctx.Done():
	case err = <-served:
		err = fmt.Errorf("serve: %w", err)
	}
	g.ready.Store(false)
	g.receiver.Drain()
	time.Sleep(drainPause) // kept connections on which a request comes just now get their 503
	shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.drain)
	defer cancel()
	err = errors.Join(err, g.server.Shutdown(shutdown))
	stopWork()
	return errors.Join(err, <-worked, g.store.Close())
}
