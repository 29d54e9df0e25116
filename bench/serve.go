package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"time"
)

// A subject is what a server process serves.
type subject struct {
	serve http.Handler
	count *counting             // of one with a store
	work  func(context.Context) // beside the serving; nil for none
	close func() error
}

// subjects by name. A place is where the database is: a file, an address, nothing.
var subjects = map[string]func(ctx context.Context, place string) (*subject, error){
	"mac":            func(context.Context, string) (*subject, error) { return newMAC(), nil },
	"sqlite":         func(_ context.Context, place string) (*subject, error) { return newSQLite(place) },
	"postgres":       newPostgres,
	"sqlite-life":    func(_ context.Context, place string) (*subject, error) { return withWorker(newSQLite(place)) },
	"postgres-life":  func(ctx context.Context, place string) (*subject, error) { return withWorker(newPostgres(ctx, place)) },
	"naive-sqlite":   newNaiveSQLite,
	"naive-postgres": newNaivePostgres,
}

// A greeting is the first thing that a server says: where it listens.
type greeting struct{ Address string }

// An order is what the parent says to a server; each is answered with its counts.
type order struct {
	Profile string // begin a processor profile in this file
	Stop    bool   // end it
}

// serve is a server process: it serves one subject until its input ends, which is when the parent does.
func serve(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) != 2 || subjects[args[0]] == nil {
		return fmt.Errorf("serve: want the name of a subject and a place: %q", args)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := subjects[args[0]](ctx, args[1])
	if err != nil {
		return fmt.Errorf("serve %s: %w", args[0], err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, s.close())
	}
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		if s.work != nil {
			s.work(ctx)
		}
	}()
	server := &http.Server{
		Handler: s.serve, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	err = obey(s, listener.Addr().String(), in, out)
	err = errors.Join(err, server.Close())
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	cancel()
	<-worked
	return errors.Join(err, s.close())
}

// obey does what the parent says until it says no more.
func obey(s *subject, address string, in io.Reader, out io.Writer) error {
	say, orders := json.NewEncoder(out), json.NewDecoder(in)
	if err := say.Encode(greeting{address}); err != nil {
		return err
	}
	for {
		var o order
		err := orders.Decode(&o)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = o.profile()
		}
		if err == nil {
			err = say.Encode(s.count.counts())
		}
		if err != nil {
			return err
		}
	}
}

func (o *order) profile() error {
	if o.Stop {
		pprof.StopCPUProfile()
	}
	if o.Profile == "" {
		return nil
	}
	f, err := os.Create(o.Profile)
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f) // which keeps f for the profile's time
}
