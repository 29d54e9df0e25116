package recibo

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Directory is the sources that a receiver serves, checked and ready to verify.
type Directory struct {
	byPath map[string]*address
}

// An address is a source with what NewDirectory made of it.
type address struct {
	Source
	verifier  Verifier
	profile   *Profile
	namespace string
}

// A SourceError is what is wrong with one source.
type SourceError struct {
	Source string // its name
	Err    error
}

// Error names the source and what is wrong.
func (e *SourceError) Error() string { return fmt.Sprintf("source %q: %v", e.Source, e.Err) }

// Unwrap is what is wrong, without the name.
func (e *SourceError) Unwrap() error { return e.Err }

// NewDirectory checks sources and binds each to its provider. A source without a usable secret or key is an error, as are
// two sources that would share a path, a name, or a secret without sharing a memory. All that is wrong is reported, as
// joined errors of type [*SourceError].
func NewDirectory(sources ...Source) (*Directory, error) {
	dir := &Directory{byPath: make(map[string]*address, len(sources))}
	if len(sources) == 0 {
		return nil, errors.New("no sources: name at least one")
	}
	var all []*address
	var errs []error
	for _, s := range sources {
		a, err := newAddress(s)
		if err == nil {
			err = dir.add(a, all)
		}
		if err != nil {
			errs = append(errs, &SourceError{Source: s.Name, Err: err})
			continue
		}
		all = append(all, a)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return dir, nil
}

func newAddress(s Source) (*address, error) {
	if s.Name == "" {
		return nil, errors.New("it has no name")
	}
	if s.Provider == nil {
		return nil, errors.New("it has no provider")
	}
	if s.Order != OrderNone && s.Order != OrderSerial {
		return nil, fmt.Errorf("unknown order %q: want %q", s.Order, OrderSerial)
	}
	s = s.withDefaults()
	v, err := s.Provider.Bind(&s)
	if err != nil {
		return nil, err
	}
	p, err := s.profile(v)
	if err != nil {
		return nil, err
	}
	if p.SharedKey && len(s.Accounts) == 0 {
		return nil, fmt.Errorf("provider %s signs for all its customers with one key: name the allowed accounts", s.Provider.Name())
	}
	return &address{Source: s, verifier: v, profile: p, namespace: s.namespace()}, nil
}

// profile is the sender's, with the kind of time that the source settles.
func (s *Source) profile(v Verifier) (*Profile, error) {
	p := v.Profile()
	switch {
	case s.TimeKind == NoTime || s.TimeKind == p.TimeKind:
		return p, nil
	case s.TimeKind != SendTime && s.TimeKind != EventTime:
		return nil, fmt.Errorf("unknown kind of time %q: want %q or %q", s.TimeKind, SendTime, EventTime)
	case p.TimeKind == NoTime:
		return nil, errors.New("the sender signs no time: leave its kind out")
	}
	settled := *p
	settled.TimeKind = s.TimeKind
	return &settled, nil
}

func (dir *Directory) add(a *address, others []*address) error {
	if o, taken := dir.byPath[a.Path]; taken {
		return fmt.Errorf("path %s is also that of source %q", a.Path, o.Name)
	}
	for _, o := range others {
		if err := a.compatible(o); err != nil {
			return err
		}
	}
	dir.byPath[a.Path] = a
	return nil
}

// compatible holds two sources to the rules of namespaces: joined ones agree, and a secret never serves two memories.
func (a *address) compatible(o *address) error {
	joined := a.namespace == o.namespace && a.Scope == o.Scope
	switch {
	case a.Name == o.Name:
		return errors.New("the name is taken by another source")
	case a.ID == o.ID:
		return fmt.Errorf("id %q is also that of source %q", a.ID, o.Name)
	case !joined && shareAny(a.verifier.Secrets(), o.verifier.Secrets()):
		return fmt.Errorf("it has a secret of source %q but not its memory: a capture of one would run at the other; "+
			"give them one scope and account, or two secrets", o.Name)
	case !joined:
		return nil
	case a.Tenant != o.Tenant && (a.Scope == a.Tenant || o.Scope == o.Tenant):
		return fmt.Errorf("it is joined to source %q of another tenant", o.Name)
	case a.profile.Family != o.profile.Family || a.profile.KeyKind != o.profile.KeyKind:
		return fmt.Errorf("it is joined to source %q, whose events are named in another way", o.Name)
	case !slices.Equal(a.Destinations, o.Destinations):
		return fmt.Errorf("it is joined to source %q, which has other destinations", o.Name)
	}
	return nil
}

func shareAny(a, b []SecretID) bool {
	return slices.ContainsFunc(a, func(id SecretID) bool { return slices.Contains(b, id) })
}

// find returns the address for an escaped request path, by exact match and never by a redirect.
func (dir *Directory) find(path string) *address {
	if a := dir.byPath[path]; a != nil {
		return a
	}
	return dir.byPath[normalPath(path)]
}

// normalPath folds "//" and drops a final "/"; senders are configured by hand.
func normalPath(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}
