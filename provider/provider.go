package provider

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/recibohq/recibo"
)

// A Provider is a kind of sender, as its file describes it. It is safe for concurrent use.
type Provider struct {
	file     *file
	variants map[string]*rules
	main     string
}

var _ recibo.Provider = (*Provider)(nil)

// customName is the name of a sender whose file gives none.
const customName = "custom"

// mainVariant is the name of a file's first variant if it gives none.
const mainVariant = "main"

// Name is the sender's slug.
func (p *Provider) Name() string { return p.file.Provider }

// Parse reads a sender's file. Its error names file, line, column and field, each problem a [FileError].
func Parse(filename string, yaml []byte) (*Provider, error) {
	o, err := newOrigin(filename, yaml)
	if err != nil {
		return nil, err
	}
	return parse(o)
}

// ParseNode reads a sender that stands within another file; the node knows its lines there.
func ParseNode(filename string, node ast.Node) (*Provider, error) {
	return parse(&origin{filename, node})
}

func parse(o *origin) (*Provider, error) {
	f, err := o.decode()
	if err != nil {
		return nil, err
	}
	f.Provider = orDefault(f.Provider, customName)
	if strings.Trim(f.Provider, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return nil, o.at("provider", fmt.Sprintf("%q is no name: use lower-case letters, digits and hyphens", f.Provider))
	}
	p := &Provider{file: f, main: orDefault(f.Main, mainVariant), variants: map[string]*rules{}}
	errs := []error{p.add(o, p.main, "", &f.Rules)}
	for _, name := range slices.Sorted(maps.Keys(f.Variants)) {
		if name == p.main {
			errs = append(errs, o.at("variants."+name, "it is the main one already"))
			continue
		}
		merged := merge(f.Rules, f.Variants[name])
		errs = append(errs, p.add(o, name, "variants."+name+".", &merged))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Provider) add(o *origin, name, prefix string, f *rulesFile) error {
	c := &compiler{origin: o, prefix: prefix, file: f, rules: &rules{variant: name}}
	r, err := c.compile()
	if err != nil {
		return err
	}
	r.profile.Family = orDefault(r.profile.Family, p.file.Provider)
	p.variants[name] = r
	return p.checkParams(o, r)
}

// addressed are the schemes that sign the address.
var addressed = []string{"twilio", "truelayer"}

// checkParams has the file declare what its rules need.
func (p *Provider) checkParams(o *origin, r *rules) error {
	needed := map[string]bool{}
	if slices.Contains(addressed, r.sign.layout) || r.token.url != nil || r.sign.template.has(urlPart) || r.sign.template.has(pathPart) {
		needed[paramURL] = true
	}
	if r.sign.published != nil {
		for _, found := range paramSlot.FindAllStringSubmatch(r.sign.published.url, -1) {
			if _, declared := p.file.Params[found[1]]; !declared {
				needed[found[1]] = true
			}
		}
	}
	for i := range r.token.claims {
		if name := r.token.claims[i].param; name != "" {
			needed[name] = true
		}
	}
	for i := range r.sign.template {
		if part := &r.sign.template[i]; part.kind == placePart && part.place.kind == inParam {
			needed[part.place.name] = true
		}
	}
	var errs []error
	for i := range r.handshakes {
		for _, name := range r.handshakes[i].params() {
			if _, declared := p.file.Params[name]; !declared {
				errs = append(errs, o.at("params", fmt.Sprintf("declare %s: a handshake needs it", name)))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		if !p.file.Params[name].Required {
			errs = append(errs, o.at("params", fmt.Sprintf("declare %s and that it is required: it is signed", name)))
		}
	}
	return errors.Join(errs...)
}

// rules returns a variant; the empty name is the main one's.
func (p *Provider) rules(variant string) (*rules, error) {
	r, ok := p.variants[orDefault(variant, p.main)]
	if !ok {
		names := slices.Sorted(maps.Keys(p.variants))
		return nil, fmt.Errorf("provider %s has no variant %q: it has %s", p.Name(), variant, strings.Join(names, ", "))
	}
	return r, nil
}

// Bind makes the verifier of a source: its secrets and keys are decoded and checked here, not at the first request.
func (p *Provider) Bind(s *recibo.Source) (recibo.Verifier, error) {
	r, err := p.rules(s.Variant)
	if err != nil {
		return nil, err
	}
	if err := p.checkSource(r, s); err != nil {
		return nil, err
	}
	v := &verifier{rules: r, params: maps.Clone(s.Params), after: r.after.clone(), item: r.item.clone()}
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
	if r.sign.algorithm == algNone {
		return p.checkOpen(s)
	}
	switch {
	case r.sign.symmetric() && len(s.Secrets) == 0:
		return fmt.Errorf("it has no secret: give the one that %s shows", p.Title())
	case r.sign.symmetric() && len(s.PublicKeys) > 0:
		return fmt.Errorf("provider %s verifies with a secret, not with public keys: leave them out", p.Name())
	case !r.sign.symmetric() && len(s.PublicKeys) == 0 && r.sign.published == nil:
		return fmt.Errorf("it has no public key: give the one that %s shows", p.Title())
	case !r.sign.symmetric() && len(s.PublicKeys) == 0 && s.Fetch == nil:
		return fmt.Errorf("it has no public key: give the one that %s publishes, or a Fetch to get it with", p.Title())
	case !r.sign.symmetric() && len(s.Secrets) > 0 && !r.token.decrypt:
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
	if err == nil && (p.kind == inParam || p.kind == inSignature) {
		err = fmt.Errorf("%s cannot be missing", &p)
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
