package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/recibohq/recibo/internal/config"
	"github.com/recibohq/recibo/internal/gateway"
)

type serveOptions struct {
	config string
}

func newServe(e *env) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway",
		Long: "Run the gateway: take deliveries, record them, forward the events.\n" +
			"SIGTERM stops it in order: nothing accepted is cut, leases are given back.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), e) },
	}
	cmd.Flags().StringVar(&o.config, "config", "", "the configuration file (default $RECIBO_CONFIG, then recibo.yaml)")
	return cmd
}

func (o *serveOptions) run(ctx context.Context, e *env) error {
	c, err := config.Load(o.file(e), e.lookup)
	if err != nil {
		return &exitError{exitNo, err}
	}
	g, err := gateway.New(ctx, c, gateway.Options{Logger: newLogger(e.stderr, c.Log)})
	if err != nil {
		return &exitError{exitNo, err}
	}
	sources, err := c.Summaries()
	if err != nil {
		return &exitError{exitNo, err}
	}
	e.printf("recibo %s · %s · %s, %s durability\n", version, runtime.Version(), c.Store.Driver, c.Store.Durability)
	e.printf("intake     http://%s   %d sources\n", g.Addr(), len(c.Sources))
	for _, s := range sources {
		e.printf("source     %-16s POST %-24s %s\n", s.Name, s.Path, s.Protection)
	}
	e.printf("ready\n")
	if err := g.Run(ctx); err != nil {
		return couldNot(err)
	}
	return nil
}

func (o *serveOptions) file(e *env) string {
	if o.config != "" {
		return o.config
	}
	if name, ok := e.lookup("RECIBO_CONFIG"); ok && name != "" {
		return name
	}
	if _, err := os.Stat("recibo.yaml"); err != nil {
		if _, err := os.Stat("/etc/recibo/recibo.yaml"); err == nil {
			return "/etc/recibo/recibo.yaml"
		}
	}
	return "recibo.yaml"
}

func newLogger(w io.Writer, l config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(l.Level)) // the configuration was checked
	o := &slog.HandlerOptions{Level: level}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
