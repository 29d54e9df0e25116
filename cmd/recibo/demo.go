package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/recibohq/recibo/internal/config"
	"github.com/recibohq/recibo/internal/gateway"
)

type demoOptions struct {
	databaseURL string
	json        bool
	verbose     bool
}

func newDemo(e *env) *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the promise: one payment, sent many ways, acts once",
		Long: "Start a gateway and a tiny shop on this machine, send one payment five times, copies at once, a forgery,\n" +
			"a changed byte and a late capture, and say whether the promise held. Exit 0 only if it did.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), e) },
	}
	cmd.Flags().StringVar(&o.databaseURL, "database-url", "", "run on this PostgreSQL, in a schema of its own, instead of SQLite")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the counts as JSON")
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "show the gateway's log on standard error")
	return cmd
}

// demoLimit bounds the whole demonstration.
const demoLimit = 30 * time.Second

func (o *demoOptions) run(ctx context.Context, e *env) error {
	ctx, cancel := context.WithTimeout(ctx, demoLimit)
	defer cancel()
	report, err := o.play(ctx, e)
	if err != nil {
		return couldNot(err)
	}
	if o.json {
		if err := json.NewEncoder(e.stdout).Encode(report); err != nil {
			return couldNot(err)
		}
	} else {
		report.print(e)
	}
	if !report.PromiseHeld {
		return &exitError{exitNo, errSilent}
	}
	return nil
}

// play starts the shop and the gateway, sends everything and stops both.
func (o *demoOptions) play(ctx context.Context, e *env) (*demoReport, error) {
	dir, err := os.MkdirTemp("", "recibo-demo-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	database, drop, err := o.database(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer drop()

	shop, err := newShop()
	if err != nil {
		return nil, err
	}
	defer shop.close()
	stop, addr, err := o.gateway(ctx, e, demoConfig(database, shop.url()))
	if err != nil {
		return nil, err
	}
	sender := &demoSender{url: "http://" + addr + "/in/payments", shop: shop}
	report, err := sender.sendAll(ctx)
	if stopErr := stop(); err == nil {
		err = stopErr
	}
	return report, err
}

// gateway runs a real gateway on a loopback port until stop is called.
func (o *demoOptions) gateway(ctx context.Context, e *env, yaml string) (stop func() error, addr string, err error) {
	c, err := config.Parse("demo.yaml", []byte(yaml), e.lookup)
	if err != nil {
		return nil, "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	options := gateway.Options{Listener: listener}
	if o.verbose {
		options.Logger = slog.New(slog.NewTextHandler(e.stderr, nil))
	}
	g, err := gateway.New(ctx, c, options)
	if err != nil {
		_ = listener.Close()
		return nil, "", err
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- g.Run(running) }()
	return func() error { cancel(); return <-ended }, g.Addr().String(), nil
}

// Secrets of the demonstration: they guard nothing.
const (
	demoWindow       = 2 * time.Second
	demoSecret       = "whsec_demo_of_recibo_on_this_machine"
	demoForgedSecret = "whsec_what_a_forger_would_have_to_guess"
	demoShopSecret   = "whsec_cmVjaWJvLWRlbW8tc2hvcC1zZWNyZXQ="
)

// demoConfig is what an operator would write for one Stripe source and one shop.
func demoConfig(store, shop string) string {
	return fmt.Sprintf(`version: 1
store: %s
sources:
  - name: payments
    provider: stripe
    secrets: ["insecure-literal:%s"]
    tolerance: %s
destinations:
  - name: shop
    url: %s
    network: {allow: [127.0.0.0/8]}
    sign: {secret: "insecure-literal:%s"}
`, store, demoSecret, demoWindow, shop, demoShopSecret)
}

// database says where the demonstration keeps its receipts, and how to drop it afterwards.
func (o *demoOptions) database(ctx context.Context, dir string) (store string, drop func(), err error) {
	if o.databaseURL == "" {
		return fmt.Sprintf("{driver: sqlite, path: %q}", filepath.Join(dir, "demo.db")), func() {}, nil
	}
	url, drop, err := demoSchema(ctx, o.databaseURL)
	if err != nil {
		return "", nil, fmt.Errorf("database: %w", err)
	}
	return fmt.Sprintf("{driver: postgres, url: %q}", "insecure-literal:"+url), drop, nil
}
