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

// rules returns a variant; the empty name is the main one's.
func (p *Provider) rules(variant string) (*rules, error) {
	r, ok := p.variants[orDefault(variant, p.main)]
	if !ok {
		names := slices.Sorted(maps.Keys(p.variants))
		return nil, fmt.Errorf("provider %s has no variant %q: it has %s", p.Name(), variant, strings.Join(names, ", "))
	}
	return r, nil
}
