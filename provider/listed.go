package provider

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/recibohq/recibo"
)

// maxListed is how many headers a request may list as signed.
const maxListed = 32

// A headerList is what a sender signs of headers that each request names itself.
type headerList struct {
	from      place // of the names
	separator string
	named     bool   // "name:value", else the value alone
	join      string // between two of them
	parts     []templatePart
}

// find returns the part that is p, if every request must list it.
func (l *headerList) find(p *place) *templatePart {
	for i := range l.parts {
		if l.parts[i].place.same(p) {
			return &l.parts[i]
		}
	}
	return nil
}

// listed reads which headers a sender signs.
func (c *compiler) listed(f *listedFile) {
	s := &c.rules.sign
	switch values := s.template.has(valuesPart); {
	case f == nil && values:
		c.fail("signature.signed", "{values} needs headers: where the list of them stands")
		return
	case f == nil:
		return
	case !values:
		c.fail("signature.headers", "nothing in signed is {values}")
		return
	}
	l := &s.listed
	var err error
	if l.from, err = parsePlace(f.From, s.prefixes); err != nil || l.from.kind != inHeader && l.from.kind != inSignature {
		c.fail("signature.headers.from", "write header:NAME or signature:NAME")
		return
	}
	l.separator, l.join, l.named = f.Separator, f.Join, f.As == "{name}:{value}"
	if l.separator == "" || l.join == "" || !l.named && orDefault(f.As, "{value}") != "{value}" {
		c.fail("signature.headers", `say separator, join, and as: "{value}" or "{name}:{value}"`)
	}
	for _, name := range f.Require {
		p := place{kind: inHeader, name: name, names: []string{http.CanonicalHeaderKey(name)}}
		l.parts = append(l.parts, templatePart{kind: placePart, place: p})
	}
	if s.template.find(&l.from) == nil && (l.find(&l.from) == nil || !l.named) {
		c.fail("signature.headers", "the list itself is not signed: put it into signed, or among the headers that are required")
	}
}

// listedHeaders adds the headers that the request lists. Each that the rules need must be among them.
func (v *verifier) listedHeaders(d *recibo.Delivery, r *reading, pieces []piece) ([]piece, error) {
	l := &v.sign.listed
	list, err := v.partText(&l.from, d, r)
	if err != nil {
		return nil, err
	}
	names := strings.Split(list, l.separator)
	if len(names) > maxListed {
		return nil, fmt.Errorf("%w: more than %d headers in %s", recibo.MalformedSignature, maxListed, &l.from)
	}
	for _, name := range l.names() {
		if !slices.ContainsFunc(names, func(n string) bool { return http.CanonicalHeaderKey(n) == name }) {
			return nil, fmt.Errorf("%w: %s is not among the signed headers", recibo.MissingSignature, name)
		}
	}
	values := make([]string, len(names))
	for i, name := range names {
		if slices.Contains(names[:i], name) || strings.Trim(name, tokenChars) != "" || name == "" {
			return nil, fmt.Errorf("%w: %q in %s", recibo.MalformedSignature, name, &l.from)
		}
		if values[i], err = header(d.Header, http.CanonicalHeaderKey(name)); err != nil {
			return nil, err
		}
	}
	r.vague = l.vague(names, values)
	return v.joinListed(r, pieces, names, values)
}

func (l *headerList) names() []string {
	names := make([]string, len(l.parts))
	for i := range l.parts {
		names[i] = l.parts[i].place.names[0]
	}
	return names
}

// vague says that the joined text could be split into other values: then none of them is a fact.
func (l *headerList) vague(names, values []string) bool {
	for i, value := range values {
		border := l.join
		if l.named && i+1 < len(names) {
			border += names[i+1] + ":"
		}
		if strings.Contains(value, border) && (!l.named || i+1 < len(names)) {
			return true
		}
	}
	return false
}

func (v *verifier) joinListed(r *reading, pieces []piece, names, values []string) ([]piece, error) {
	l := &v.sign.listed
	for i, name := range names {
		before := ""
		if i > 0 {
			before = l.join
		}
		if l.named {
			before += name + ":"
		}
		p := piece{bytes: r.keep(values[i])}
		for j := range l.parts {
			if part := &l.parts[j]; part.place.names[0] == http.CanonicalHeaderKey(name) && !r.vague {
				p.from, p.cut = part, part.cut
			}
		}
		if p.from != nil && p.from.place.same(&v.time.from) {
			var err error
			if r.verified.At, err = parseTime(values[i], v.time.unit); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", recibo.MalformedSignature, &p.from.place, err)
			}
		}
		pieces = append(pieces, piece{bytes: r.keep(before)}, p)
	}
	return pieces, nil
}
