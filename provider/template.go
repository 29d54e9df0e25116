package provider

import (
	"errors"
	"fmt"
	"strings"
)

// A partKind says what a part of a template stands for.
type partKind byte

const (
	literalPart partKind = iota
	placePart
	bodyPart
	crcPart // CRC-32 of the body in decimal: it binds the body to nothing
	urlPart // the configured one, query and all
	methodPart
	secretPart // the source's secret itself
)

// A templatePart is a literal or a slot of what is signed.
type templatePart struct {
	kind    partKind
	literal []byte
	place   place
	cut     bool     // renewed per try: left out of the fingerprint
	time    bool     // the signed time: its form alone shows where it ends
	forbid  []string // the literals beside it, which its value may not hold
}

// A template is what a sender signs, in order: "{time}.{body}".
type template []templatePart

var partWords = map[string]partKind{"body": bodyPart, "crc32": crcPart, "url": urlPart, "method": methodPart, "secret": secretPart}

func parseTemplate(text string, prefixes []string) (template, error) {
	var t template
	for text != "" {
		literal, rest, found := strings.Cut(text, "{")
		if literal != "" {
			t = append(t, templatePart{literal: []byte(literal)})
		}
		if !found {
			break
		}
		slot, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, errors.New(`"{" without "}"`)
		}
		part, err := parseSlot(slot, prefixes)
		if err != nil {
			return nil, err
		}
		t = append(t, part)
		text = after
	}
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
	p, err := parsePlace(slot, prefixes)
	if err != nil {
		return templatePart{}, fmt.Errorf("{%s}: want {time}, {body}, {crc32}, {url}, {method}, {secret} or {KIND:NAME}", slot)
	}
	return templatePart{kind: placePart, place: p}, nil
}

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
	case p.inBody() && t.has(bodyPart):
		return true
	default:
		return t.find(p) != nil
	}
}

// settle notes what each part may not hold and checks that nobody can move the borders between parts: two parts of free
// length need a literal between them.
func (t template) settle() error {
	free := -1 // the part of free length since the last literal
	for i := range t {
		part := &t[i]
		if part.kind == literalPart || part.kind == secretPart { // nobody can write the secret into a part beside it
			free = -1
			continue
		}
		if i > 0 && t[i-1].kind == literalPart {
			part.forbid = append(part.forbid, string(t[i-1].literal))
		}
		if i+1 < len(t) && t[i+1].kind == literalPart {
			part.forbid = append(part.forbid, string(t[i+1].literal))
		}
		if part.time || part.constant() {
			continue
		}
		if free >= 0 {
			return fmt.Errorf("%s and %s have no separator between them: their border could be moved", t[free].name(), part.name())
		}
		free = i
	}
	return nil
}

// constant says that nothing in a delivery can change the part.
func (p *templatePart) constant() bool {
	return p.kind == urlPart || p.kind == methodPart || p.kind == placePart && p.place.kind == inParam
}

// name is the part as people know it.
func (p *templatePart) name() string {
	switch p.kind {
	case bodyPart:
		return "body"
	case crcPart:
		return "CRC-32 of the body"
	case urlPart:
		return "URL"
	case methodPart:
		return "method"
	case secretPart:
		return "the secret"
	case placePart:
		if p.place.kind == inSignature {
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
