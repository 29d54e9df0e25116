package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/config"
	"github.com/recibohq/recibo/internal/forward"
	"github.com/recibohq/recibo/postgres"
	"github.com/recibohq/recibo/provider"
	"github.com/recibohq/recibo/sqlite"
)

func openStore(ctx context.Context, c *config.Config, o Options) (Store, error) {
	durability := classes[c.Store.Durability]
	if c.Store.Driver == "postgres" {
		url, err := c.DatabaseURL()
		if err != nil {
			return nil, err
		}
		return postgres.Open(ctx, url, &postgres.Options{Durability: durability})
	}
	return sqlite.Open(c.Store.Path, &sqlite.Options{Durability: durability, Now: o.Now})
}

// classes are the configuration's words for durability.
var classes = map[string]sqlite.Durability{"process": postgres.D0, "full": postgres.D1, "replicated": postgres.D2}

// newForwarder makes the handler that sends events on, signed by Standard Webhooks.
func newForwarder(c *config.Config, now func() time.Time) (recibo.Handler, error) {
	d := &c.Destinations[0]
	secret, err := c.SignSecret(0)
	if err != nil {
		return nil, err
	}
	return forward.NewHTTP(d.Name, d.URL, forward.HTTPOptions{
		Sign: signer(secret), Allow: d.Network.Prefixes(), Timeout: time.Duration(d.Timeout), Conns: c.Work.Concurrency, Now: now,
	})
}

// signer signs what goes to the application by Standard Webhooks; the receipt's id is the webhook-id.
func signer(secret recibo.Secret) forward.Signer {
	p := provider.MustLookup("standard-webhooks")
	return func(id string, at time.Time, body []byte) (http.Header, error) {
		signed, err := p.Sign(&provider.SignRequest{Secret: secret, Body: body, ID: id, Now: at})
		if err != nil {
			return nil, err
		}
		return signed.Header, nil
	}
}
