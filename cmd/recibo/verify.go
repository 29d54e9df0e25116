package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

type verifyOptions struct {
	provider, variant      string
	secretFrom, publicFrom string
	params                 map[string]string
	now                    string
	explain, json          bool
}

func newVerify(e *env) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check a captured request offline",
		Long: "Check a captured request offline: raw HTTP (the request line, headers, an empty line, the body), a HAR file or a\n" +
			"curl command. Without a file, or with -, it is read from standard input. Exit 1 if it would be refused.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.provider, "provider", "", "the sender")
	f.StringVar(&o.variant, "variant", "", "one of the ways in which the sender signs")
	f.StringVar(&o.secretFrom, "secret-from", "", "the secret: env:NAME, file:PATH or - for standard input")
	f.StringVar(&o.publicFrom, "public-key-from", "", "an asymmetric sender's public key, likewise")
	f.StringToStringVar(&o.params, "param", nil, "what the scheme needs and is no secret: public_url=…")
	f.StringVar(&o.now, "now", "", "judge the signed time as of then, RFC 3339 (default: now)")
	f.BoolVar(&o.explain, "explain", false, "if it is refused, try the likely causes and name the one that would verify")
	f.BoolVar(&o.json, "json", false, "print JSON")
	_ = cmd.MarkFlagRequired("provider")
	return cmd
}

// A checked is what verify prints.
type checked struct {
	Verified bool          `json:"verified"`
	Reason   recibo.Reason `json:"reason,omitempty"`
	Detail   string        `json:"detail,omitempty"`
	SignedAt *time.Time    `json:"signed_at,omitempty"`
	Events   []checkedItem `json:"events,omitempty"`
	Cause    string        `json:"would_verify_with,omitempty"`
	Meaning  string        `json:"meaning,omitempty"`
	Tried    []string      `json:"tried,omitempty"`
}

type checkedItem struct {
	Key   recibo.Key    `json:"key"`
	ID    string        `json:"id,omitempty"`
	Type  string        `json:"type,omitempty"`
	Fault recibo.Reason `json:"fault,omitempty"`
}

func (o *verifyOptions) run(ctx context.Context, e *env, args []string) error {
	p, source, err := o.source(e)
	if err != nil {
		return no("%w", err)
	}
	name := "-"
	if len(args) > 0 {
		name = args[0]
	}
	raw, err := readFile(e, name)
	if err != nil {
		return couldNot(err)
	}
	d, err := parseCapture(raw)
	if err != nil {
		return no("%s: %w", name, err)
	}
	now := time.Now()
	if o.now != "" {
		if now, err = time.Parse(time.RFC3339, o.now); err != nil {
			return no("--now: %w", err)
		}
	}
	got, err := o.judge(ctx, p, source, d, now)
	if err != nil {
		return no("%w", err)
	}
	if o.json {
		err = json.NewEncoder(e.stdout).Encode(got)
	} else {
		got.print(e)
	}
	if err == nil && got.Reason != "" {
		return &exitError{exitNo, errSilent}
	}
	return err
}

// judge checks the request, and looks for the cause of a refusal if that was asked for.
func (o *verifyOptions) judge(ctx context.Context, p *provider.Provider, s *recibo.Source, d *recibo.Delivery, now time.Time) (*checked, error) {
	verifier, err := p.Bind(s)
	if err != nil {
		if !o.explain {
			return nil, err
		}
		verifier = nil // the secret itself may be what is wrong
	}
	got := &checked{Reason: recibo.BadSignature, Detail: fmt.Sprint(err)}
	if verifier != nil {
		got = check(ctx, verifier, d, now)
	}
	if o.explain && !got.Verified {
		var found *cause
		if found, got.Tried = explain(ctx, p, s, d); found != nil {
			got.Cause, got.Meaning = found.tried, found.meaning
		}
	}
	return got, nil
}

// source is a source of the sender with the keys that the flags name.
func (o *verifyOptions) source(e *env) (*provider.Provider, *recibo.Source, error) {
	p, err := provider.Lookup(o.provider)
	if err != nil {
		return nil, nil, err
	}
	source := &recibo.Source{Name: "captured", Path: "/in/captured", Provider: p, Variant: o.variant, Params: o.params}
	if o.secretFrom != "" {
		secret, err := readSecret(e, o.secretFrom)
		if err != nil {
			return nil, nil, flagError("--secret-from", err)
		}
		source.Secrets = []recibo.Secret{secret}
	}
	if o.publicFrom != "" {
		key, err := readReference(e, o.publicFrom)
		if err != nil {
			return nil, nil, flagError("--public-key-from", err)
		}
		source.PublicKeys = []string{key}
	}
	return p, source, nil
}

func check(ctx context.Context, v recibo.Verifier, d *recibo.Delivery, now time.Time) *checked {
	verified, err := v.Verify(ctx, d)
	if err != nil {
		got := &checked{Detail: err.Error()}
		if !errors.As(err, &got.Reason) {
			got.Reason = recibo.BadSignature
		}
		return got
	}
	got := &checked{Verified: true}
	if !verified.At.IsZero() {
		at := verified.At.UTC()
		got.SignedAt = &at
		if err := v.Profile().Fresh(now.Sub(at), 0, 0); err != nil {
			got.Detail = err.Error()
			errors.As(err, &got.Reason)
		}
	}
	for _, event := range v.Events(d, verified) {
		got.Events = append(got.Events, checkedItem{event.Key, event.ID, event.Type, event.Fault})
	}
	return got
}

func (c *checked) print(e *env) {
	switch {
	case !c.Verified:
		e.printf("refused: %s\n", c.Detail)
		c.printCause(e)
		return
	case c.Reason != "":
		e.printf("refused: the signature is right, but %s\n", c.Detail)
	default:
		e.printf("verified\n")
	}
	if c.SignedAt != nil {
		e.printf("  signed at  %s\n", c.SignedAt.Format(time.RFC3339))
	}
	for _, item := range c.Events {
		line := fmt.Sprintf("%s  type %q", item.Key, item.Type)
		if item.Fault != "" {
			line = "for review: " + string(item.Fault)
		}
		e.printf("  event      %s\n", line)
	}
}

func (c *checked) printCause(e *env) {
	switch {
	case c.Cause != "":
		e.printf("  it would verify with %s. %s\n", c.Cause, c.Meaning)
	case len(c.Tried) > 0:
		e.printf("  nothing that was tried would verify: the secret is another one, or the bytes were changed on the way\n")
	}
	if len(c.Tried) > 0 {
		e.printf("  tried: %s\n", strings.Join(c.Tried, " · "))
	}
}
