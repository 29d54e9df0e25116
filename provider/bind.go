package provider

import (
	"fmt"
	"maps"
	"slices"

	"github.com/recibohq/recibo"
)

// Bind makes the verifier of a source: its secrets and keys are decoded and checked here, not at the first request.
func (p *Provider) Bind(s *recibo.Source) (recibo.Verifier, error) {
	r, err := p.rules(s.Variant)
	if err != nil {
		return nil, err
	}
	if err := p.checkSource(r, s); err != nil {
		return nil, err
	}
	v := &verifier{
		rules: r, params: maps.Clone(s.Params), after: r.after.clone(), item: r.item.clone(), format: r.sign.format.with(s.Params),
	}
	if v.prover, v.secrets, err = r.sign.keys(s); err != nil {
		return nil, err
	}
	if r.sign.published != nil && len(s.PublicKeys) == 0 {
		if v.keySet = newKeySet(r, s); v.keySet.certificate == nil {
			if err := checkFetched(v.keySet.address()); err != nil {
				return nil, fmt.Errorf("%w: give the parameters that %s stands for", err, r.sign.published.url)
			}
		}
	}
	if r.token.decrypt {
		if v.decrypters, err = r.sign.decrypters(s.Secrets); err != nil {
			return nil, err
		}
	}
	for _, text := range s.Require {
		if err := v.addRequired(text); err != nil {
			return nil, err
		}
	}
	if len(r.handshakes) > 0 {
		return &challenger{v}, nil
	}
	return v, nil
}

func (p *Provider) checkSource(r *rules, s *recibo.Source) error {
	declared := slices.Sorted(maps.Keys(p.params()))
	for _, name := range slices.Sorted(maps.Keys(s.Params)) {
		if !slices.Contains(declared, name) {
			return fmt.Errorf("provider %s has no parameter %q%s", p.Name(), name, suggestion(name, declared))
		}
	}
	for _, name := range declared {
		if p.file.Params[name].Required && s.Params[name] == "" {
			return fmt.Errorf("provider %s needs the parameter %s: %s", p.Name(), name, p.file.Params[name].About)
		}
	}
	if r.open() {
		if err := p.checkOpen(r, s); err != nil {
			return err
		}
	}
	return p.checkKeys(r, s)
}

// checkKeys has a source have what its sender is verified with, and nothing else.
func (p *Provider) checkKeys(r *rules, s *recibo.Source) error {
	secrets, keys := len(s.Secrets), len(s.PublicKeys)
	switch {
	case r.sign.algorithm == algNone && secrets+keys > 0:
		return fmt.Errorf("provider %s sends nothing that a secret or key could check: leave them out", p.Name())
	case r.sign.algorithm == algNone:
		return nil
	case r.sign.symmetric() && secrets == 0:
		return fmt.Errorf("it has no secret: give the one that %s shows", p.Title())
	case r.sign.symmetric() && keys > 0:
		return fmt.Errorf("provider %s verifies with a secret, not with public keys: leave them out", p.Name())
	case r.sign.symmetric():
		return nil
	case keys == 0 && r.sign.published == nil:
		return fmt.Errorf("it has no public key: give the one that %s shows", p.Title())
	case keys == 0 && s.Fetch == nil:
		return fmt.Errorf("it has no public key: give the one that %s publishes, or a Fetch to get it with", p.Title())
	case secrets > 0 && !r.token.decrypt:
		return fmt.Errorf("provider %s verifies with a public key, not with secrets: leave them out", p.Name())
	}
	return nil
}

// keys makes the prover, and identifies the secrets of a symmetric sender.
func (s *signing) keys(src *recibo.Source) (prover, []recibo.SecretID, error) {
	if s.algorithm == algNone {
		return nil, nil, nil
	}
	if !s.symmetric() {
		k, err := s.publicKeys(src.PublicKeys)
		return k, nil, err
	}
	secrets, err := decodeSecrets(src.Secrets, s.secret, src.Mode == "test")
	if err != nil {
		return nil, nil, err
	}
	switch s.algorithm {
	case algToken, algBasic:
		c := newCredentials(secrets)
		return c, c.ids, s.checkUser(secrets, src)
	case algKeyed:
		h := newKeyedHashes(secrets, hashes[s.hash])
		return h, h.ids, nil
	}
	m := newMACs(s.derived(secrets), hashes[s.hash])
	ids := make([]recibo.SecretID, len(m.keys))
	for i, key := range m.keys {
		ids[i] = key.id
	}
	return m, ids, nil
}

func (v *verifier) addRequired(text string) error {
	p, err := parsePlace(text, v.sign.prefixes)
	switch {
	case err != nil:
	case p.kind == inParam || p.kind == inSignature || p.kind == inClaim || p.kind == inWhole:
		err = fmt.Errorf("%s cannot be missing, or is the profile's to ask for", &p)
	case p.pathed() && (p.kind == inXML) != v.packing.xml:
		err = fmt.Errorf("%s: the document of this sender is of the other kind", &p)
	}
	if err != nil {
		return fmt.Errorf("require: %w", err)
	}
	set := &v.after
	if v.within(&p) {
		set = &v.item
	} else if slices.Contains(p.path, anyItem) {
		return fmt.Errorf("require: %s is not within the items of this sender", &p)
	}
	if err := set.add(&p); err != nil {
		return fmt.Errorf("require: %w", err)
	}
	v.require = append(v.require, p)
	return nil
}
