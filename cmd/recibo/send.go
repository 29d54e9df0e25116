package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/recibohq/recibo/provider"
)

type sendOptions struct {
	to, secretFrom, keyFrom string
	variant, id, bodyFile   string
	params                  map[string]string
	age                     time.Duration
	duplicate               int
	badSignature, tamper    bool
	json                    bool
}

func newSend(e *env) *cobra.Command {
	var o sendOptions
	cmd := &cobra.Command{
		Use:   "send PROVIDER [TYPE]",
		Short: "Sign a sample event as the sender does, and send it",
		Example: "  recibo send stripe invoice.paid --to http://localhost:8080/in/stripe --secret-from env:STRIPE_SECRET\n" +
			"  recibo send github push --to http://localhost:8080/in/github --secret-from file:secret.txt --duplicate 2",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.to, "to", "", "the address to send to")
	f.StringVar(&o.secretFrom, "secret-from", "", "the secret: env:NAME, file:PATH or - for standard input")
	f.StringVar(&o.keyFrom, "private-key-from", "", "an asymmetric sender's private key, likewise")
	f.StringVar(&o.variant, "variant", "", "one of the ways in which the sender signs")
	f.StringVar(&o.id, "id", "", "the event's id (default: a new one)")
	f.StringVar(&o.bodyFile, "body", "", "a file to send instead of the sample, - for standard input")
	f.StringToStringVar(&o.params, "param", nil, "what the scheme needs and is no secret: webhook_id=…")
	f.DurationVar(&o.age, "age", 0, "sign as if it were sent so long ago")
	f.IntVar(&o.duplicate, "duplicate", 0, "send so many copies after it")
	f.BoolVar(&o.badSignature, "bad-signature", false, "sign with another secret")
	f.BoolVar(&o.tamper, "tamper", false, "change a byte of the body after signing")
	f.BoolVar(&o.json, "json", false, "print an answer a line as JSON")
	_ = cmd.MarkFlagRequired("to")
	return cmd
}

func (o *sendOptions) run(ctx context.Context, e *env, args []string) error {
	signed, err := o.sign(e, args)
	if err != nil {
		return no("%w", err)
	}
	if o.tamper && len(signed.Body) > 0 {
		signed.Body = bytes.Clone(signed.Body)
		signed.Body[len(signed.Body)/2] ^= 1
	}
	if !o.json {
		e.printf("POST %s\n", signed.URL)
	}
	refused := 0
	for n := range o.duplicate + 1 {
		got, err := deliver(ctx, signed)
		if err != nil {
			return couldNot(err)
		}
		got.N = n + 1
		o.print(e, got)
		if got.Status/100 != 2 {
			refused++
		}
	}
	if refused > 0 {
		return no("%d of %d not accepted", refused, o.duplicate+1)
	}
	return nil
}

// sign makes the request as the sender would send it.
func (o *sendOptions) sign(e *env, args []string) (*provider.Signed, error) {
	p, err := provider.Lookup(args[0])
	if err != nil {
		return nil, err
	}
	req := &provider.SignRequest{Variant: o.variant, Params: o.params, URL: o.to, ID: o.id, Now: time.Now().Add(-o.age)}
	if len(args) > 1 {
		req.Type = args[1]
	}
	if err := o.keys(e, p, req); err != nil {
		return nil, err
	}
	if o.bodyFile != "" {
		req.Body, err = readFile(e, o.bodyFile)
	} else {
		req.Body, req.ContentType, err = p.SampleOf(o.variant, req.Type, o.id, req.Now)
	}
	if err != nil {
		return nil, err
	}
	return p.Sign(req)
}

// keys reads what signs, or makes another of its form for a forgery.
func (o *sendOptions) keys(e *env, p *provider.Provider, req *provider.SignRequest) (err error) {
	switch {
	case o.badSignature:
		forged, err := p.NewKeys(o.variant)
		if err != nil {
			return err
		}
		req.Secret, req.PrivateKey = forged.Secret, forged.PrivateKey
		return nil
	case o.secretFrom != "":
		req.Secret, err = readSecret(e, o.secretFrom)
		return flagError("--secret-from", err)
	case o.keyFrom != "":
		req.PrivateKey, err = readReference(e, o.keyFrom)
		return flagError("--private-key-from", err)
	}
	return fmt.Errorf("what signs is missing: give --secret-from or, for a sender with public keys, --private-key-from")
}

func flagError(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// A sentAnswer is what came back for one request.
type sentAnswer struct {
	N       int    `json:"n"`
	Status  int    `json:"status"`
	Millis  int64  `json:"ms"`
	Verdict string `json:"verdict,omitempty"`
	Receipt string `json:"receipt,omitempty"`
	Body    string `json:"body,omitempty"`
}

func deliver(ctx context.Context, signed *provider.Signed) (*sentAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, signed.Method, signed.URL, bytes.NewReader(signed.Body))
	if err != nil {
		return nil, err
	}
	req.Header = signed.Header.Clone()
	began := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	return &sentAnswer{
		Status: resp.StatusCode, Millis: time.Since(began).Milliseconds(), Verdict: resp.Header.Get("Recibo-Verdict"),
		Receipt: resp.Header.Get("Recibo-Receipt"), Body: string(body),
	}, err
}

func (o *sendOptions) print(e *env, a *sentAnswer) {
	if o.json {
		_ = json.NewEncoder(e.stdout).Encode(a) // numbers and text always encode
		return
	}
	e.printf("%3d  %d  %d ms  %-9s  %s", a.N, a.Status, a.Millis, a.Verdict, a.Receipt)
	if a.Body != "" {
		e.printf("  %q", a.Body)
	}
	e.printf("\n")
}

func readFile(e *env, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(e.stdin)
	}
	return os.ReadFile(name) //nolint:gosec // the user names it
}
