package config

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// Directory resolves the secrets and binds every source to its provider. All that is wrong is reported, with its place.
// fetch gets the keys that senders publish; nil is over the network, from public addresses only.
func (c *Config) Directory(fetch recibo.Fetch) (*recibo.Directory, error) {
	if fetch == nil {
		fetch = provider.NewFetch(nil)
	}
	sources := make([]recibo.Source, 0, len(c.Sources))
	var errs []error
	for i := range c.Sources {
		s, err := c.source(i)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.Fetch = fetch
		sources = append(sources, s)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	dir, err := recibo.NewDirectory(sources...)
	if err != nil {
		return nil, c.placeSources(err)
	}
	return dir, nil
}

// placeSources gives each of the directory's errors the place of its source.
func (c *Config) placeSources(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return c.doc.at("$.sources", err)
	}
	var errs []error
	for _, e := range joined.Unwrap() {
		path := "$.sources"
		var wrong *recibo.SourceError
		if errors.As(e, &wrong) {
			for i, s := range c.Sources {
				if s.Name == wrong.Source {
					path = fmt.Sprintf("$.sources[%d].name", i)
				}
			}
		}
		errs = append(errs, c.doc.at(path, e))
	}
	return errors.Join(errs...)
}

func (c *Config) source(i int) (recibo.Source, error) {
	s := &c.Sources[i]
	path := fmt.Sprintf("$.sources[%d]", i)
	if s.Name == "" {
		return recibo.Source{}, c.doc.at(path, errors.New("a source needs a name"))
	}
	p, err := c.provider(s, path)
	if err != nil {
		return recibo.Source{}, err
	}
	secrets, err := c.secrets(s.Secrets, path+".secrets")
	if err != nil {
		return recibo.Source{}, err
	}
	return recibo.Source{
		Name: s.Name, ID: s.ID, Provider: p, Variant: s.Variant, Path: s.Path, Tenant: s.Tenant, Scope: s.Scope,
		Account: s.Account, Mode: s.Mode, Secrets: secrets, PublicKeys: s.PublicKeys, Params: c.params(s, p),
		Accounts: s.Accounts, Require: s.Require, TimeKind: recibo.TimeKind(s.TimeKind), Tolerance: time.Duration(s.Tolerance), Horizon: time.Duration(s.Horizon),
		MaxBody: int64(orServer(s.MaxBody, c.Server.MaxBody)), Destinations: []string{c.Destinations[0].Name},
		Order: recibo.Order(s.Order),
	}, nil
}

func orServer(own, server Size) Size {
	if own != 0 {
		return own
	}
	return server
}

// provider finds the source's sender: in the catalogue, or in its own profile.
func (c *Config) provider(s *Source, path string) (*provider.Provider, error) {
	switch {
	case s.Provider == "":
		return nil, c.doc.at(path, fmt.Errorf("source %s needs a provider: see recibo providers list", s.Name))
	case s.Provider != "custom" && s.Profile != nil:
		return nil, c.doc.at(path+".profile", errors.New("a profile is for provider: custom"))
	case s.Provider == "custom":
		return c.custom(s, path)
	}
	p, err := provider.Lookup(s.Provider)
	if err != nil {
		return nil, c.doc.at(path+".provider", err)
	}
	return p, nil
}

// custom reads a home-made sender, written here or in a file of its own.
func (c *Config) custom(s *Source, path string) (*provider.Provider, error) {
	if s.Profile == nil {
		return nil, c.doc.at(path, fmt.Errorf("source %s is custom: describe the sender under profile, or name its file: "+
			"profile: file:sender.yaml", s.Name))
	}
	if _, inline := s.Profile.(*ast.MappingNode); inline {
		return provider.ParseNode(c.doc.name, s.Profile)
	}
	name, ok := strings.CutPrefix(scalar(s.Profile), "file:")
	if !ok {
		return nil, c.doc.at(path+".profile", errors.New("want a mapping, or file: and a path"))
	}
	text, err := os.ReadFile(name) //nolint:gosec // the operator names it
	if err != nil {
		return nil, c.doc.at(path+".profile", fmt.Errorf("%s: %w", name, withoutPath(err)))
	}
	return provider.Parse(name, text)
}

// params are the source's own, and the public URL of a sender that signs it, made from the server's.
func (c *Config) params(s *Source, p *provider.Provider) map[string]string {
	params := make(map[string]string, len(s.Params)+1)
	for name, value := range s.Params {
		params[name] = value
	}
	if _, own := params[publicURL]; own || c.Server.PublicURL == "" || !declares(p, publicURL) {
		return params
	}
	params[publicURL] = strings.TrimSuffix(c.Server.PublicURL, "/") + s.path()
	return params
}

func (s *Source) path() string {
	if s.Path != "" {
		return s.Path
	}
	return "/in/" + s.Name
}

func declares(p *provider.Provider, param string) bool {
	return slices.ContainsFunc(p.Describe().Params, func(d provider.Param) bool { return d.Name == param })
}

const publicURL = "public_url"

func (c *Config) secrets(refs []Ref, path string) ([]recibo.Secret, error) {
	secrets := make([]recibo.Secret, 0, len(refs))
	for _, ref := range refs {
		s, err := c.secret(&ref, path)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, s)
	}
	return secrets, nil
}

func (c *Config) secret(ref *Ref, path string) (recibo.Secret, error) {
	text, err := ref.resolve(c.lookupEnv)
	switch {
	case err != nil:
		return recibo.Secret{}, c.doc.at(path, err)
	case ref.insecure():
		return recibo.InsecureSecret(text), nil
	default:
		return recibo.NewSecret(text), nil
	}
}

// SignSecret is the secret that signs what goes to destination i.
func (c *Config) SignSecret(i int) (recibo.Secret, error) {
	return c.secret(&c.Destinations[i].Sign.Secret, fmt.Sprintf("$.destinations[%d].sign.secret", i))
}

// DatabaseURL is the address of PostgreSQL.
func (c *Config) DatabaseURL() (string, error) {
	text, err := c.Store.URL.resolve(c.lookupEnv)
	if err != nil {
		return "", c.doc.at("$.store.url", err)
	}
	return text, nil
}

// Prefixes are the private networks that the destination may be in.
func (n Network) Prefixes() []netip.Prefix {
	var prefixes []netip.Prefix
	for _, p := range n.Allow {
		prefixes = append(prefixes, netip.Prefix(p))
	}
	return prefixes
}

// Waits are the waits after failed attempts; nil means the default schedule.
func (r Retry) Waits() []time.Duration {
	var waits []time.Duration
	for _, d := range r.Delays {
		waits = append(waits, time.Duration(d))
	}
	return waits
}

// Spread is the schedule's jitter as a worker takes it: 0 is the default, negative is none.
func (r Retry) Spread() float64 {
	switch {
	case r.Jitter == nil:
		return 0
	case *r.Jitter == 0:
		return -1
	}
	return float64(*r.Jitter)
}

// A Summary says in a line what a source is and what its sender's signature is worth.
type Summary struct {
	Name, Path, Protection string
}

// Summaries are the sources' lines, for the start.
func (c *Config) Summaries() ([]Summary, error) {
	lines := make([]Summary, 0, len(c.Sources))
	for i := range c.Sources {
		s := &c.Sources[i]
		p, err := c.provider(s, fmt.Sprintf("$.sources[%d]", i))
		if err != nil {
			return nil, err
		}
		for _, v := range p.Describe().Variants {
			if v.Name == s.Variant || (s.Variant == "" && v.Main) {
				lines = append(lines, Summary{s.Name, s.path(), fmt.Sprintf("%s, %s: %s", p.Title(), v.Grade, v.Protection[0])})
			}
		}
	}
	return lines, nil
}
