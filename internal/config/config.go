// Package config reads the gateway's YAML file. Unknown and repeated keys are errors, every error says file, line, column
// and what to do, and secrets stand in it by reference only.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// A Config is the file.
type Config struct {
	Version      int           `yaml:"version"`
	Server       Server        `yaml:"server"`
	Store        Store         `yaml:"store"`
	Log          Log           `yaml:"log"`
	Work         Work          `yaml:"work"`
	Sources      []Source      `yaml:"sources"`
	Destinations []Destination `yaml:"destinations"`

	doc       *document
	lookupEnv func(string) (string, bool)
}

// Server is the public side.
type Server struct {
	Listen       string   `yaml:"listen"`        // default 127.0.0.1:8080
	PublicURL    string   `yaml:"public_url"`    // as senders see it, for those that sign the URL: https://hooks.example.com
	MaxBody      Size     `yaml:"max_body"`      // default 2MiB
	AnswerWithin Duration `yaml:"answer_within"` // not durable by then: 503; default 2s
	ReadHeaders  Duration `yaml:"read_headers"`  // default 5s
	ReadBody     Duration `yaml:"read_body"`     // default 10s
	Drain        Duration `yaml:"drain"`         // on stop, for what runs; default 20s
}

// Store is where receipts are kept.
type Store struct {
	Driver     string `yaml:"driver"`     // sqlite (default) or postgres
	Path       string `yaml:"path"`       // of the SQLite file; default recibo.db
	URL        Ref    `yaml:"url"`        // of PostgreSQL
	Durability string `yaml:"durability"` // full (default): also a power cut; process: a killed process only; replicated: also a lost node
}

// Log says what is logged to standard error.
type Log struct {
	Level  string `yaml:"level"`  // debug, info (default), warn, error
	Format string `yaml:"format"` // text (default) or json
}

// Work says how receipts are worked on.
type Work struct {
	Lease       Duration `yaml:"lease"`       // default 1m
	Concurrency int      `yaml:"concurrency"` // attempts at once; default 16
}

// Source is one configured address of a sender.
type Source struct {
	Name       string            `yaml:"name"`
	ID         string            `yaml:"id"`
	Provider   string            `yaml:"provider"` // a slug of the catalogue, or custom
	Profile    ast.Node          `yaml:"profile"`  // for custom: the sender in the catalogue's format, or file:PATH of it
	Variant    string            `yaml:"variant"`
	Path       string            `yaml:"path"`
	Tenant     string            `yaml:"tenant"`
	Scope      string            `yaml:"scope"`
	Account    string            `yaml:"account"`
	Mode       string            `yaml:"mode"`
	Secrets    []Ref             `yaml:"secrets"`
	PublicKeys []string          `yaml:"public_keys"`
	Params     map[string]string `yaml:"params"`
	Accounts   []string          `yaml:"accounts"`
	Require    []string          `yaml:"require"`
	TimeKind   string            `yaml:"time_kind"`
	Tolerance  Duration          `yaml:"tolerance"`
	Horizon    Duration          `yaml:"horizon"`
	MaxBody    Size              `yaml:"max_body"`
	Order      string            `yaml:"order"`
}

// Destination is where events are forwarded to.
type Destination struct {
	Name    string   `yaml:"name"`
	URL     string   `yaml:"url"`
	Network Network  `yaml:"network"`
	Sign    Sign     `yaml:"sign"`
	Timeout Duration `yaml:"timeout"` // default 15s
	Retry   Retry    `yaml:"retry"`
}

// Network opens private networks to a destination, on purpose.
type Network struct {
	Allow []Prefix `yaml:"allow"`
}

// Sign is how recibo signs what it forwards: by Standard Webhooks.
type Sign struct {
	Secret Ref `yaml:"secret"` // whsec_…
}

// Retry is the schedule after a failed attempt.
type Retry struct {
	Delays []Duration `yaml:"delays"`
	Jitter *Percent   `yaml:"jitter"` // default 20%
}

// Load reads the file at path. lookupEnv is os.LookupEnv but in tests.
func Load(path string, lookupEnv func(string) (string, bool)) (*Config, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("%s: %w; name the file with --config", path, withoutPath(err))
	}
	return Parse(path, text, lookupEnv)
}

// Parse reads a configuration; name stands for it in errors.
func Parse(name string, text []byte, lookupEnv func(string) (string, bool)) (*Config, error) {
	doc, err := newDocument(name, text)
	if err != nil {
		return nil, err
	}
	c := &Config{doc: doc, lookupEnv: lookupEnv}
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(c); err != nil {
		return nil, doc.place(err)
	}
	c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Config) withDefaults() {
	setDefault(&c.Server.Listen, "127.0.0.1:8080")
	setDefault(&c.Store.Driver, "sqlite")
	setDefault(&c.Store.Path, "recibo.db")
	setDefault(&c.Store.Durability, "full")
	setDefault(&c.Log.Level, "info")
	setDefault(&c.Log.Format, "text")
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// check reports everything that is wrong by itself; what depends on secrets and providers is found by Directory.
func (c *Config) check() error {
	errs := []error{
		c.oneOf("$.store.driver", c.Store.Driver, "sqlite", "postgres"),
		c.oneOf("$.store.durability", c.Store.Durability, "process", "full", "replicated"),
		c.oneOf("$.log.level", c.Log.Level, "debug", "info", "warn", "error"),
		c.oneOf("$.log.format", c.Log.Format, "text", "json"),
	}
	add := func(path, format string, args ...any) {
		errs = append(errs, c.doc.at(path, fmt.Errorf(format, args...)))
	}
	if c.Version != 1 {
		add("$.version", "version %d: write version: 1 at the top", c.Version)
	}
	if c.Store.Driver == "postgres" && c.Store.URL.text == "" {
		add("$.store.driver", "postgres needs store.url: write url: env:RECIBO_DATABASE_URL")
	}
	if len(c.Sources) == 0 {
		add("$.sources", "no sources: name at least one")
	}
	if len(c.Destinations) != 1 {
		add("$.destinations", "%d destinations: name exactly one", len(c.Destinations))
	}
	for i, d := range c.Destinations {
		path := fmt.Sprintf("$.destinations[%d]", i)
		if d.Name == "" {
			add(path, "a destination needs a name")
		}
		if d.Sign.Secret.text == "" {
			add(path, "destination %s needs sign.secret: the application verifies what recibo sends with it", d.Name)
		}
	}
	return errors.Join(errs...)
}

func (c *Config) oneOf(path, got string, want ...string) error {
	for _, w := range want {
		if got == w {
			return nil
		}
	}
	return c.doc.at(path, fmt.Errorf("%q: want one of %q", got, want))
}
