package provider_test

import (
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

func TestWhatASenderSignsVerifies(t *testing.T) {
	now := time.Unix(1767225600, 0)
	for _, p := range provider.All() {
		body, contentType, err := p.Sample("", "evt_1", now)
		if err != nil {
			t.Fatal(err)
		}
		secret, err := p.NewSecret("")
		if err != nil {
			continue
		}
		signed, err := p.Sign(&provider.SignRequest{Secret: secret, URL: "https://example.test/in/x", Body: body, ContentType: contentType, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.Bind(&recibo.Source{Name: "x", Secrets: []recibo.Secret{secret}})
		if err != nil {
			t.Fatal(err)
		}
		d := &recibo.Delivery{Method: signed.Method, Path: "/in/x", Header: signed.Header, Body: signed.Body}
		verified, err := v.Verify(t.Context(), d)
		if err != nil {
			t.Errorf("%s: Verify: %v", p.Name(), err)
			continue
		}
		for _, e := range v.Events(d, verified) {
			if e.Key == "" || e.Fault != "" {
				t.Errorf("%s: Events: %+v", p.Name(), e)
			}
		}
	}
}
