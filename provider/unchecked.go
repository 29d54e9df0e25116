package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/recibohq/recibo"
)

// unchecked is a sender that gives nothing to check. What keeps strangers out is that they do not know the address, or
// what stands before the receiver: a proxy that lets in certain addresses or client certificates.
type unchecked struct{}

func newUnchecked(*rules) scheme { return unchecked{} }

func (unchecked) covers(p *place) bool { return p.kind == inParam }

func (unchecked) wholeBody() bool { return false }

func (unchecked) parts() []string { return nil }

func (unchecked) verify(context.Context, *verifier, *recibo.Delivery, *reading) error { return nil }

func (unchecked) seal(*sealing) error { return nil }

// paramOpen is how a source says that it may be open to all.
const paramOpen = "insecure_open"

// minSecretPath is how many characters of the path's last segment must be more than names.
const minSecretPath = 16

// checkOpen has a source of an unchecked sender be at an address that nobody can guess, or say that it need not be.
func (p *Provider) checkOpen(s *recibo.Source) error {
	if len(s.Secrets) > 0 || len(s.PublicKeys) > 0 {
		return fmt.Errorf("provider %s sends nothing that a secret or key could check: leave them out", p.Name())
	}
	switch s.Params[paramOpen] {
	case "true":
		return nil
	case "", "false":
	default:
		return fmt.Errorf(`parameter %s is "true" or "false"`, paramOpen)
	}
	last := s.Path[strings.LastIndexByte(s.Path, '/')+1:]
	for _, name := range []string{s.Name, s.ID, p.Name()} {
		if name != "" {
			last = strings.ReplaceAll(strings.ToLower(last), strings.ToLower(name), "")
		}
	}
	if len(last) < minSecretPath {
		return fmt.Errorf("provider %s signs nothing, so the address is the only secret: end its path in %d or more random characters, "+
			"or set the parameter %s: \"true\" where something else keeps strangers out", p.Name(), minSecretPath, paramOpen)
	}
	return nil
}

// params are those that a source can have: the file's, and what an unchecked sender needs.
func (p *Provider) params() map[string]paramFile {
	all := maps.Clone(p.file.Params)
	for _, r := range p.variants {
		if r.sign.algorithm == algNone {
			if all == nil {
				all = map[string]paramFile{}
			}
			all[paramOpen] = paramFile{About: `"true" lets the address be one that can be guessed: anybody can then send events`}
		}
	}
	return all
}

// checkUser holds the secrets of a sender with HTTP Basic to "user:password": it is the password that must be long.
func (s *signing) checkUser(secrets [][]byte, src *recibo.Source) error {
	if s.algorithm != algBasic {
		return nil
	}
	for i, secret := range secrets {
		_, password, ok := bytes.Cut(secret, []byte{':'})
		if !ok {
			return errors.New(`a secret of HTTP Basic is "user:password": join the two with a colon`)
		}
		if err := src.Secrets[i].CheckKey(password); err != nil {
			return fmt.Errorf("the password: %w", err)
		}
	}
	return nil
}
