package forward_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/forward"
	"github.com/recibohq/recibo/provider"
)

const secret = "whsec_cmVjaWJvLWZvcndhcmQtdGVzdC1zZWNyZXQ="

func sign(id string, at time.Time, body []byte) (http.Header, error) {
	signed, err := provider.MustLookup("standard-webhooks").Sign(&provider.SignRequest{
		Secret: recibo.NewSecret(secret), ID: id, Now: at, Body: body,
	})
	if err != nil {
		return nil, err
	}
	return signed.Header, nil
}

// call forwards one event to an application that answers by h.
func call(t *testing.T, allow string, h http.HandlerFunc, change func(*recibo.Attempt)) error {
	t.Helper()
	app := httptest.NewServer(h)
	defer app.Close()
	o := forward.HTTPOptions{Sign: sign}
	if allow != "" {
		o.Allow = []netip.Prefix{netip.MustParsePrefix(allow)}
	}
	d, err := forward.NewHTTP("shop", app.URL+"/hooks", o)
	if err != nil {
		t.Fatal(err)
	}
	a := &recibo.Attempt{Number: 2, Receipt: recibo.Receipt{
		ID: recibo.NewReceiptID(time.Now()), Source: "stripe", Tenant: "default", Type: "invoice.paid", Key: "id:evt_1",
		Header: []byte(`{"Content-Type":"application/json; charset=utf-8","X-Kept":"1"}`), Body: []byte("{\"id\":\"evt_1\"}\r\n"),
	}}
	if change != nil {
		change(a)
	}
	return d.Handle(context.Background(), a)
}

func TestForwardSendsTheBytesSignedAndExplained(t *testing.T) {
	verifier, err := provider.MustLookup("standard-webhooks").Bind(&recibo.Source{Secrets: []recibo.Secret{recibo.NewSecret(secret)}})
	if err != nil {
		t.Fatal(err)
	}
	var got *http.Request
	var body []byte
	err = call(t, "127.0.0.0/8", func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(body) != "{\"id\":\"evt_1\"}\r\n" {
		t.Errorf("body %q, want the bytes as they came", body)
	}
	if _, err := verifier.Verify(context.Background(), &recibo.Delivery{Header: got.Header, Body: body}); err != nil {
		t.Errorf("the application cannot verify it: %v", err)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json; charset=utf-8", "Recibo-Source": "stripe", "Recibo-Tenant": "default",
		"Recibo-Type": "invoice.paid", "Recibo-Key": "id:evt_1", "Recibo-Attempt": "2", "X-Kept": "",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Header.Get(name), want)
		}
	}
	if key := got.Header.Get("Idempotency-Key"); !strings.HasPrefix(key, "rcp_") || key != got.Header.Get("Webhook-Id") {
		t.Errorf("Idempotency-Key %q, webhook-id %q; want the receipt's id", key, got.Header.Get("Webhook-Id"))
	}
}

func TestForwardRefusesPrivateAddressesUnlessAllowed(t *testing.T) {
	called := false
	err := call(t, "", func(http.ResponseWriter, *http.Request) { called = true }, nil)
	if err == nil || called || !strings.Contains(err.Error(), "network.allow") {
		t.Errorf("Handle = %v, called %v; want an error that names network.allow, and no call", err, called)
	}
}

func TestForwardFollowsNoRedirect(t *testing.T) {
	calls := 0
	err := call(t, "127.0.0.0/8", func(w http.ResponseWriter, r *http.Request) {
		calls++
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}, nil)
	if err == nil || calls != 1 {
		t.Errorf("Handle = %v after %d calls; want an error after one", err, calls)
	}
}

func TestForwardTakesAnythingButA2xxForAFailure(t *testing.T) {
	for _, status := range []int{200, 202, 204, 301, 400, 404, 410, 429, 500, 503} {
		err := call(t, "127.0.0.0/8", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }, nil)
		if (err == nil) != (status/100 == 2) {
			t.Errorf("%d: Handle = %v", status, err)
		}
	}
}

func TestForwardMakesASendersTextSafeInHeaders(t *testing.T) {
	var got string
	err := call(t, "127.0.0.0/8", func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Recibo-Type") }, func(a *recibo.Attempt) {
		a.Type = "paid\r\nX-Admin: 1"
	})
	if err != nil || strings.ContainsAny(got, "\r\n") || got == "" {
		t.Errorf("Handle = %v, Recibo-Type %q; want it encoded", err, got)
	}
}

func TestForwardRefusesAddressesThatAreNone(t *testing.T) {
	for _, address := range []string{"", "shop", "ftp://shop/x", "http://", "http://user:pass@shop/x", "http://[::1"} {
		if _, err := forward.NewHTTP("shop", address, forward.HTTPOptions{Sign: sign}); err == nil {
			t.Errorf("NewHTTP(%q) succeeded", address)
		}
	}
}
