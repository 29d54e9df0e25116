package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// open says that whoever knows the address can have events accepted there: anybody, or any customer of a sender that signs
// for all of them with one key and does not sign for whom.
func (r *rules) open() bool { return r.sign.algorithm == algNone || r.anyones }

// checkOpen has a source of such a sender be at an address that nobody can guess, or say that it need not be.
func (p *Provider) checkOpen(r *rules, s *recibo.Source) error {
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
		why := "signs nothing"
		if r.anyones {
			why = "signs for all its customers with one key"
		}
		return fmt.Errorf("provider %s %s, so the address is the only secret: end its path in %d or more random characters, "+
			"or set the parameter %s: \"true\" where something else keeps strangers out", p.Name(), why, minSecretPath, paramOpen)
	}
	return nil
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
