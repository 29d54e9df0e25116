package provider

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// paramSlot is where a parameter stands in a text: in what surrounds a signature, in an address of keys, in an answer.
var paramSlot = regexp.MustCompile(`\{param:([^}]+)\}`)

// fillParams replaces {param:NAME}.
func fillParams(text string, params map[string]string) string {
	return paramSlot.ReplaceAllStringFunc(text, func(slot string) string { return params[paramSlot.FindStringSubmatch(slot)[1]] })
}

// paramsIn are the names of the parameters in a text.
func paramsIn(text string) []string {
	var names []string
	for _, found := range paramSlot.FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	return names
}

// addressed are the schemes that sign the address.
var addressed = []string{"twilio", "truelayer"}

// signedParams are what the rules cannot verify without.
func (r *rules) signedParams() []string {
	var names []string
	t := r.sign.template
	if slices.Contains(addressed, r.sign.layout) || r.token.url != nil || t.has(urlPart) || t.has(pathPart) {
		names = append(names, paramURL)
	}
	for _, e := range r.sign.format.entries {
		names = append(names, paramsIn(e.prefix)...)
	}
	for i := range r.token.claims {
		if name := r.token.claims[i].param; name != "" {
			names = append(names, name)
		}
	}
	for i := range t {
		if part := &t[i]; part.kind == placePart && part.place.kind == inParam {
			names = append(names, part.place.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// otherParams are what is needed only now and then: for handshakes, and to fetch keys.
func (r *rules) otherParams() []string {
	var names []string
	for i := range r.handshakes {
		names = append(names, r.handshakes[i].params()...)
	}
	if r.sign.published != nil {
		names = append(names, paramsIn(r.sign.published.url)...)
	}
	return names
}

// checkParams has the file declare what its rules need.
func (p *Provider) checkParams(o *origin, r *rules) error {
	var errs []error
	for _, name := range r.otherParams() {
		if _, declared := p.file.Params[name]; !declared {
			errs = append(errs, o.at("params", fmt.Sprintf("declare %s: handshakes or keys need it", name)))
		}
	}
	for _, name := range r.signedParams() {
		if !p.file.Params[name].Required {
			errs = append(errs, o.at("params", fmt.Sprintf("declare %s and that it is required: it is signed", name)))
		}
	}
	return errors.Join(errs...)
}

// params are those that a source can have: the file's, and what a sender needs whose events anybody could send.
func (p *Provider) params() map[string]paramFile {
	all := maps.Clone(p.file.Params)
	for _, r := range p.variants {
		if r.open() {
			if all == nil {
				all = map[string]paramFile{}
			}
			all[paramOpen] = paramFile{About: `"true" lets the address be one that can be guessed: anybody can then send events`}
		}
	}
	return all
}
