package postgres_test

import (
	"context"
	"testing"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/pgtest"
	"github.com/recibohq/recibo/postgres"
	"github.com/recibohq/recibo/storetest"
)

func open(t testing.TB, url string, opts *postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestPostgres(t *testing.T) {
	server := pgtest.Start(t)
	storetest.Run(t, func(t *testing.T) recibo.Store { return open(t, server.NewSchema(t), nil) })
}

func TestPostgresKeepsEverythingWhileItIsClosed(t *testing.T) {
	url := pgtest.Start(t).NewDatabase(t)
	storetest.Reopen(t, func() recibo.Store { return open(t, url, nil) })
}

func TestTwoNodesOnOnePostgres(t *testing.T) {
	server := pgtest.Start(t)
	storetest.Nodes(t, func(t *testing.T) (one, two recibo.Store) {
		url := server.NewSchema(t)
		return open(t, url, nil), open(t, url, nil)
	})
}
