package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// A demoShop is the application behind the gateway: it charges a card for each call that recibo signed. It does not
// look for repeats itself, so every call that reaches it costs somebody money.
type demoShop struct {
	server   *http.Server
	listener net.Listener
	verifier recibo.Verifier

	mu      sync.Mutex
	charges map[string]int // by the event's key
	refused int
}

func newShop() (*demoShop, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	verifier, err := provider.MustLookup("standard-webhooks").Bind(&recibo.Source{
		Name: "recibo", Secrets: []recibo.Secret{recibo.NewSecret(demoShopSecret)},
	})
	if err != nil {
		return nil, err
	}
	s := &demoShop{listener: listener, verifier: verifier, charges: map[string]int{}}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.server.Serve(listener) }() // ends with close
	return s, nil
}

func (s *demoShop) url() string { return "http://" + s.listener.Addr().String() + "/charge" }

func (s *demoShop) close() { _ = s.server.Close() }

// ServeHTTP charges the card of the event, if the call is recibo's.
func (s *demoShop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err == nil {
		_, err = s.verifier.Verify(r.Context(), &recibo.Delivery{Method: r.Method, Path: r.URL.Path, Header: r.Header, Body: body})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.refused++
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.charges[r.Header.Get("Recibo-Key")]++
}

// charged is how often the card was charged for an event.
func (s *demoShop) charged(event string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.charges["id:"+event]
}

// total is how often any card was charged.
func (s *demoShop) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0
	for _, n := range s.charges {
		sum += n
	}
	return sum
}

// await waits until at least n charges were made, or ctx ends.
func (s *demoShop) await(ctx context.Context, n int) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for s.total() < n {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
