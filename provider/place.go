package provider

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A placeKind says in which part of a delivery a place is.
type placeKind string

const (
	inHeader    placeKind = "header"
	inQuery     placeKind = "query"
	inJSON      placeKind = "json"
	inForm      placeKind = "form"
	inParam     placeKind = "param"     // not in the delivery: the source's own configuration
	inSignature placeKind = "signature" // the time that stands beside the signature
	inXML       placeKind = "xml"
	inClaim     placeKind = "claim" // in the token that is the signature
	inWhole     placeKind = "body"  // the body itself, which is the token
)

// innerText ends a name whose value is a JSON text: what follows is read of that.
const innerText = "{}"

// anyItem is the path segment that stands for each element of a list.
const anyItem = "[]"

// A place is where one fact stands in a delivery: "json:data.object.id", "header:X-GitHub-Event".
type place struct {
	kind  placeKind
	name  string   // as written after the colon
	names []string // of a header, canonical: one for each prefix that the sender uses, else one
	path  []string // of JSON: the names from the outside in
	item  bool     // within an item of a batch; path is then relative to the item
	inner *place   // what is read of the JSON text that stands at path
	index int      // among the fields that are read
}

func (p *place) String() string {
	if p.name == "" {
		return string(p.kind)
	}
	if len(p.names) > 1 {
		return "header:" + strings.Join(p.names, "|header:")
	}
	return string(p.kind) + ":" + p.name
}

// same says that two places are one.
func (p *place) same(o *place) bool {
	if p.kind == inHeader {
		return o.kind == inHeader && slices.Equal(p.names, o.names)
	}
	return p.kind == o.kind && p.name == o.name
}

// inBody says that the place is covered by a signature over the whole body.
func (p *place) inBody() bool { return p.pathed() || p.kind == inForm }

// pathed says that the place is in a document.
func (p *place) pathed() bool { return p.kind == inJSON || p.kind == inXML }

// parsePlace reads "kind:name". prefixes replace a leading "*" in a header's name.
func parsePlace(text string, prefixes []string) (place, error) {
	if text == string(inSignature) || text == string(inWhole) {
		return place{kind: placeKind(text)}, nil
	}
	kind, name, ok := strings.Cut(text, ":")
	p := place{kind: placeKind(kind), name: name}
	if !ok || name == "" {
		return p, fmt.Errorf("%q is no place: write header:NAME, query:NAME, json:PATH, xml:PATH, form:NAME, claim:PATH or param:NAME", text)
	}
	switch p.kind {
	case inHeader:
		p.names = headerNames(name, prefixes)
	case inJSON, inClaim, inXML:
		outer, inner, embedded := strings.Cut(name, innerText+".")
		if embedded {
			within, err := parsePlace("json:"+inner, nil)
			if err != nil {
				return p, err
			}
			p.inner = &within
		}
		p.path = splitPath(outer)
		if slices.Contains(p.path, "") {
			return p, fmt.Errorf("%q has an empty name in its path", text)
		}
	case inQuery, inForm, inParam, inSignature:
	default:
		return p, fmt.Errorf("%q is no place: %q is none of header, query, json, xml, form, claim, param", text, kind)
	}
	return p, nil
}

func headerNames(name string, prefixes []string) []string {
	rest, varies := strings.CutPrefix(name, "*")
	if !varies {
		return []string{http.CanonicalHeaderKey(name)}
	}
	names := make([]string, len(prefixes))
	for i, prefix := range prefixes {
		names[i] = http.CanonicalHeaderKey(prefix + rest)
	}
	return names
}

// splitPath splits "a.b[].c" into a, b, [], c. A backslash takes the next character as it is: "a\.b" is one name.
func splitPath(text string) []string {
	var path []string
	var name strings.Builder
	named := true // a name is due: at the start and after each dot
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			name.WriteByte(text[i])
		case strings.HasPrefix(text[i:], anyItem):
			if name.Len() > 0 {
				path = append(path, name.String())
			}
			path = append(path, anyItem)
			name.Reset()
			named = false
			i++
		case text[i] == '.':
			if named {
				path = append(path, name.String())
			}
			name.Reset()
			named = true
		default:
			name.WriteByte(text[i])
		}
	}
	if named || name.Len() > 0 {
		path = append(path, name.String())
	}
	return path
}

// A choice is one or more places, the first that is present counts: "json:account|json:context".
type choice []place

func parseChoice(text string, prefixes []string) (choice, error) {
	var c choice
	for alternative := range strings.SplitSeq(text, "|") {
		p, err := parsePlace(strings.TrimSpace(alternative), prefixes)
		if err != nil {
			return nil, err
		}
		c = append(c, p)
	}
	return c, nil
}

func (c choice) String() string {
	texts := make([]string, len(c))
	for i := range c {
		texts[i] = c[i].String()
	}
	return strings.Join(texts, "|")
}

// names says that any of the places is the header called name.
func (c choice) names(name string) bool {
	return slices.ContainsFunc(c, func(p place) bool { return slices.Contains(p.names, name) })
}

// all says that there is a place and that every alternative satisfies f.
func (c choice) all(f func(*place) bool) bool {
	for i := range c {
		if !f(&c[i]) {
			return false
		}
	}
	return len(c) > 0
}

// A fieldSet is what is read of a body: paths of a JSON document and names of a form.
type fieldSet struct {
	paths [][]string
	names []string
}

// maxPaths is how many paths one walk can follow: a bit each.
const maxPaths = 64

// add has p read, and tells it where its value will be.
func (s *fieldSet) add(p *place) error {
	switch p.kind {
	case inJSON, inClaim, inXML:
		p.index = slices.IndexFunc(s.paths, func(path []string) bool { return slices.Equal(path, p.path) })
		if p.index < 0 {
			p.index = len(s.paths)
			s.paths = append(s.paths, p.path)
		}
	case inForm:
		p.index = slices.Index(s.names, p.name)
		if p.index < 0 {
			p.index = len(s.names)
			s.names = append(s.names, p.name)
		}
	}
	if len(s.paths) > maxPaths || len(s.names) > maxPaths {
		return fmt.Errorf("more than %d places are read", maxPaths)
	}
	return nil
}

func (s *fieldSet) clone() fieldSet {
	return fieldSet{slices.Clone(s.paths), slices.Clone(s.names)}
}
