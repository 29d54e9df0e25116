// Command shop receives Stripe's webhooks on its own SQLite file: a whole program for a user of the library.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
	"github.com/recibohq/recibo/sqlite"
)

func main() {
	store := must(sqlite.Open("receipts.db", nil))
	sources := must(recibo.NewDirectory(recibo.Source{Name: "stripe", Provider: provider.MustLookup("stripe"),
		Secrets: []recibo.Secret{recibo.NewSecret(os.Getenv("STRIPE_WEBHOOK_SECRET"))}}))
	receiver := must(recibo.NewReceiver(store, sources, nil))
	worker := must(recibo.NewWorker(store, recibo.HandlerFunc(fulfil), nil))
	go func() { log.Fatal(worker.Run(context.Background())) }()
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", receiver)) //nolint:gosec // POST /in/stripe; put a proxy in front
}

// fulfil runs for each event until it succeeds, never for a forged, repeated or stale one.
func fulfil(_ context.Context, a *recibo.Attempt) error {
	a.SetResult("saw " + a.Type)
	return nil
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
