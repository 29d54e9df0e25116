package recibo_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
	"github.com/recibohq/recibo/sqlite"
)

// A whole program: what the sender repeats is answered and not run again.
func Example() {
	dir, err := os.MkdirTemp("", "recibo")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "receipts.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	secret := recibo.NewSecret("whsec_as_stripe_shows_it")
	sources, err := recibo.NewDirectory(recibo.Source{
		Name: "stripe", Provider: provider.MustLookup("stripe"), Secrets: []recibo.Secret{secret},
	})
	if err != nil {
		log.Fatal(err) // no secret, no start
	}
	receiver, err := recibo.NewReceiver(store, sources, nil)
	if err != nil {
		log.Fatal(err)
	}
	ran := make(chan string)
	worker, err := recibo.NewWorker(store, recibo.HandlerFunc(func(_ context.Context, a *recibo.Attempt) error {
		ran <- a.Type
		return nil // an error would mean: again later
	}), nil)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- worker.Run(ctx) }()

	for range 3 { // as a sender that did not hear the first answers
		answer := post(receiver, secret)
		fmt.Println(answer.Code, answer.Header().Get("Recibo-Verdict"))
	}
	fmt.Println("ran", <-ran)
	stop()
	fmt.Println("stopped", <-stopped, store.Close())
	// Output:
	// 200 accepted
	// 200 duplicate
	// 200 duplicate
	// ran invoice.paid
	// stopped <nil> <nil>
}

// post sends the event evt_1 as Stripe would.
func post(h http.Handler, secret recibo.Secret) *httptest.ResponseRecorder {
	signed, err := provider.MustLookup("stripe").Sign(&provider.SignRequest{
		Secret: secret, Body: []byte(`{"id":"evt_1","type":"invoice.paid"}`), Now: time.Now(),
	})
	if err != nil {
		log.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/in/stripe", strings.NewReader(string(signed.Body)))
	r.Header = signed.Header
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func ExampleNewDirectory() {
	_, err := recibo.NewDirectory(recibo.Source{Name: "stripe", Provider: provider.MustLookup("stripe")})
	fmt.Println(err)
	// Output: source "stripe": it has no secret: give the one that Stripe shows
}

func ExamplePermanent() {
	handle := func(_ context.Context, a *recibo.Attempt) error {
		if a.Type == "" {
			return recibo.Permanent(fmt.Errorf("no retry will give %s a type", a.Key))
		}
		return nil
	}
	fmt.Println(handle(context.Background(), &recibo.Attempt{Receipt: recibo.Receipt{Key: "id:evt_1"}}))
	// Output: no retry will give id:evt_1 a type
}
