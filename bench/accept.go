package main

import (
	"context"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/postgres"
	"github.com/recibohq/recibo/provider"
	"github.com/recibohq/recibo/sqlite"
)

// newSQLite accepts into a SQLite file with full sync, as a program does that sets no option.
func newSQLite(place string) (*subject, error) {
	store, err := sqlite.Open(place, nil)
	if err != nil {
		return nil, err
	}
	return newAccepting(store)
}

// newPostgres accepts into a PostgreSQL database, as a program does that sets no option.
func newPostgres(ctx context.Context, place string) (*subject, error) {
	store, err := postgres.Open(ctx, place, nil)
	if err != nil {
		return nil, err
	}
	return newAccepting(store)
}

func newAccepting(b backing) (*subject, error) {
	count := &counting{backing: b}
	receiver, err := newReceiver(count)
	if err != nil {
		return nil, err
	}
	return &subject{serve: receiver, count: count, close: b.Close}, nil
}

func newReceiver(store recibo.Store) (*recibo.Receiver, error) {
	sources, err := recibo.NewDirectory(recibo.Source{
		Name: sender, Provider: provider.MustLookup(sender), Secrets: []recibo.Secret{recibo.NewSecret(secret)}, Path: path,
	})
	if err != nil {
		return nil, err
	}
	return recibo.NewReceiver(store, sources, nil)
}

// withWorker adds a worker whose handler does nothing.
func withWorker(s *subject, err error) (*subject, error) {
	if err != nil {
		return nil, err
	}
	nothing := recibo.HandlerFunc(func(context.Context, *recibo.Attempt) error { return nil })
	worker, err := recibo.NewWorker(s.count, nothing, nil)
	if err != nil {
		return nil, err
	}
	s.work = func(ctx context.Context) { _ = worker.Run(ctx) } // it returns nil
	return s, nil
}
