package provider

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A partKind says what a part of a template stands for.
type partKind byte

const (
	literalPart partKind = iota
	placePart
	bodyPart
	documentPart // the JSON document, also where a field of a form holds it
	stringPart   // the body as a JSON string
	sortedPart   // the fields of a form, names and values, sorted by name
	hashPart     // a hash of the body
	crcPart      // CRC-32 of the body in decimal: it binds the body to nothing
	urlPart      // the configured one, query and all
	pathPart     // of the configured one, query and all
	methodPart
	secretPart // the source's secret itself
	valuesPart // of the headers that the request lists as signed
)

// A templatePart is a literal or a slot of what is signed.
type templatePart struct {
	kind     partKind
	literal  []byte
	place    place
	hash     string   // of a hashPart
	encoding encoding // of a hashPart
	cut      bool     // renewed per try: left out of the fingerprint
	time     bool     // the signed time: its form alone shows where it ends
	border   border
}

// A template is what a sender signs, in order: "{time}.{body}".
type template []templatePart

var partWords = map[string]partKind{
	"body": bodyPart, "crc32": crcPart, "url": urlPart, "path": pathPart, "method": methodPart, "secret": secretPart,
	"document": documentPart, "string:body": stringPart, "sorted_form": sortedPart, "values": valuesPart,
}

// parseTemplate reads "{time}.{body}". A brace that is signed itself is written twice.
func parseTemplate(text string, prefixes []string) (template, error) {
	var t template
	var literal []byte
	end := func() {
		if len(literal) > 0 {
			t = append(t, templatePart{literal: literal})
		}
		literal = nil
	}
	for i := 0; i < len(text); i++ {
		switch doubled := i+1 < len(text) && text[i+1] == text[i]; {
		case (text[i] == '{' || text[i] == '}') && doubled:
			literal = append(literal, text[i])
			i++
		case text[i] == '{':
			slot, _, closed := strings.Cut(text[i+1:], "}")
			if !closed {
				return nil, errors.New(`"{" without "}"`)
			}
			end()
			part, err := parseSlot(slot, prefixes)
			if err != nil {
				return nil, err
			}
			t = append(t, part)
			i += len(slot) + 1
		default:
			literal = append(literal, text[i])
		}
	}
	end()
	if len(t) == 0 {
		return nil, errors.New("nothing is signed: use the scheme token for a sender that only shows a secret")
	}
	return t, nil
}

func parseSlot(slot string, prefixes []string) (templatePart, error) {
	if kind, ok := partWords[slot]; ok {
		return templatePart{kind: kind}, nil
	}
	if slot == "time" {
		return templatePart{kind: placePart, place: place{kind: inSignature}, time: true}, nil
	}
	if name, rest, _ := strings.Cut(slot, ":"); hashes[name] != nil {
		e := encoding(strings.TrimPrefix(rest, "body:"))
		if rest == "body" {
			e = encHex
		}
		if e != encHex && e != encBase64 && e != encBase64URL {
			return templatePart{}, fmt.Errorf("{%s}: want {%s:body} or {%s:body:base64}", slot, name, name)
		}
		return templatePart{kind: hashPart, hash: name, encoding: e}, nil
	}
	p, err := parsePlace(slot, prefixes)
	if err != nil {
		return templatePart{}, fmt.Errorf("{%s}: want one of %s, {time}, {HASH:body} or {KIND:NAME}", slot, slots)
	}
	return templatePart{kind: placePart, place: p}, nil
}

// slots are the words that a slot can be.
var slots = func() string {
	return "{" + strings.Join(slices.Sorted(maps.Keys(partWords)), "}, {") + "}"
}()

// has says that a part of kind is signed.
func (t template) has(kind partKind) bool {
	for i := range t {
		if t[i].kind == kind {
			return true
		}
	}
	return false
}

// find returns the part that is the place p.
func (t template) find(p *place) *templatePart {
	for i := range t {
		if t[i].kind == placePart && t[i].place.same(p) {
			return &t[i]
		}
	}
	return nil
}

// covers says that a signature over t proves p: it is a part itself, or lies in the whole body.
func (t template) covers(p *place) bool {
	switch {
	case p.kind == inParam:
		return true
	case p.inBody() && (t.wholeBody() || t.has(sortedPart)), p.pathed() && t.has(documentPart):
		return true
	default:
		return t.find(p) != nil
	}
}

// wholeBody says that t proves every byte of the body.
func (t template) wholeBody() bool { return t.has(bodyPart) || t.has(stringPart) || t.has(hashPart) }

// constant says that nothing in a delivery can change the part.
func (p *templatePart) constant() bool {
	switch p.kind {
	case urlPart, pathPart, methodPart:
		return true
	default:
		return p.kind == placePart && p.place.kind == inParam
	}
}

// name is the part as people know it.
func (p *templatePart) name() string {
	switch p.kind {
	case bodyPart:
		return "body"
	case crcPart:
		return "CRC-32 of the body"
	case documentPart:
		return "JSON document"
	case stringPart:
		return "body"
	case sortedPart:
		return "all form fields"
	case hashPart:
		return strings.ToUpper(p.hash) + " of the body"
	case valuesPart:
		return "listed headers"
	case urlPart:
		return "URL"
	case pathPart:
		return "path"
	case methodPart:
		return "method"
	case secretPart:
		return "the secret"
	case placePart:
		if p.place.kind == inSignature && p.place.name == "" {
			return "time in the signature header"
		}
		return p.place.String()
	default:
		return string(p.literal)
	}
}

func (t template) names() []string {
	var names []string
	for i := range t {
		if t[i].kind != literalPart && t[i].kind != secretPart {
			names = append(names, t[i].name())
		}
	}
	return names
}
