package provider

import (
	"context"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/recibohq/recibo"
)

// A templateScheme is a sender whose rule is data: a signature in one place over a template.
type templateScheme struct{ rules *rules }

func newTemplateScheme(r *rules) scheme { return &templateScheme{r} }

func (s *templateScheme) covers(p *place) bool {
	return s.rules.sign.covers(p) || p.pathed() && s.packed()
}

func (s *templateScheme) wholeBody() bool {
	t := s.rules.sign.template
	return t.wholeBody() || t.has(documentPart) || t.has(sortedPart) || s.packed()
}

// packed says that the field is signed that holds the document, and with it all that is read.
func (s *templateScheme) packed() bool {
	field := place{kind: inForm, name: s.rules.packing.field}
	return field.name != "" && s.rules.sign.template.find(&field) != nil
}

func (s *templateScheme) parts() []string {
	names := s.rules.sign.template.names()
	for i := range s.rules.sign.listed.parts {
		names = append(names, s.rules.sign.listed.parts[i].name())
	}
	return names
}

// covers says that a valid signature proves p.
func (s *signing) covers(p *place) bool {
	return s.template.covers(p) || s.template.has(valuesPart) && s.listed.find(p) != nil
}

// find returns the signed part that is p.
func (s *signing) find(p *place) *templatePart {
	if part := s.template.find(p); part != nil {
		return part
	}
	return s.listed.find(p)
}

func (s *templateScheme) verify(ctx context.Context, v *verifier, d *recibo.Delivery, r *reading) error {
	if err := v.findSignatures(d, r); err != nil {
		return err
	}
	if err := v.choose(ctx, d, r); err != nil {
		return err
	}
	pieces, err := v.pieces(d, r)
	if err != nil {
		return err
	}
	if !v.prove(r, pieces) {
		return recibo.BadSignature
	}
	return nil
}

// pieces are what the template stands for in d.
func (v *verifier) pieces(d *recibo.Delivery, r *reading) (pieces []piece, err error) {
	pieces = r.pieces
	for i := range v.sign.template {
		part := &v.sign.template[i]
		if part.kind == valuesPart {
			if pieces, err = v.listedHeaders(d, r, pieces); err != nil {
				return nil, err
			}
			continue
		}
		bytes, err := v.part(part, d, r)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, piece{bytes: bytes, from: part, cut: part.cut})
	}
	return pieces, nil
}

// part is what stands for a part of the template in d.
func (v *verifier) part(part *templatePart, d *recibo.Delivery, r *reading) ([]byte, error) {
	switch part.kind {
	case literalPart:
		return part.literal, nil
	case secretPart:
		return nil, nil // the prover has it
	case crcPart:
		return r.keep(strconv.FormatUint(uint64(crc32.ChecksumIEEE(d.Body)), 10)), nil
	case hashPart:
		return r.keep(part.sum(d.Body)), nil
	case urlPart:
		return r.keep(v.params[paramURL]), nil
	case pathPart:
		return r.keep(pathOf(v.params[paramURL])), nil
	case methodPart:
		return r.keep(d.Method), nil
	case placePart:
		return v.placed(part, d, r)
	default:
		return v.body(part, d, r)
	}
}

// body is the body as the template has it.
func (v *verifier) body(part *templatePart, d *recibo.Delivery, r *reading) ([]byte, error) {
	bytes := d.Body
	var err error
	switch part.kind {
	case stringPart:
		bytes, err = jsonString(d.Body)
	case sortedPart:
		bytes, err = sortedForm(d.Body)
	case documentPart:
		doc, unreadable := v.unproved(d, r)
		if unreadable != nil {
			return nil, unreadable
		}
		bytes = doc.src
	}
	if err == nil && part.border.start {
		err = part.border.begins(string(bytes[:min(len(bytes), 256)]))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: body: %w", recibo.BadSignature, err)
	}
	return bytes, nil
}

// placed is the text at a place that is signed by itself.
func (v *verifier) placed(part *templatePart, d *recibo.Delivery, r *reading) ([]byte, error) {
	text, err := v.partText(&part.place, d, r)
	if err != nil {
		return nil, err
	}
	if part.place.same(&v.time.from) {
		if r.verified.At, err = parseTime(text, v.time.unit); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", recibo.MalformedSignature, &part.place, err)
		}
		return r.keep(text), nil
	}
	if !part.constant() {
		if err := part.border.check(text, v.params); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", recibo.MalformedSignature, &part.place, err)
		}
	}
	return r.keep(text), nil
}

func (v *verifier) partText(p *place, d *recibo.Delivery, r *reading) (string, error) {
	switch p.kind {
	case inHeader:
		return header(d.Header, p.names[min(r.set, len(p.names)-1)])
	case inSignature:
		text := r.written.time
		if p.name != "" {
			text = r.written.text(p.name)
		}
		return v.found(p, text, text != "", nil)
	case inParam:
		return v.params[p.name], nil
	case inQuery:
		text, ok, err := queryValue(d.RawQuery, p.name)
		return v.found(p, text, ok, err)
	default:
		doc, err := v.unproved(d, r)
		if err != nil {
			return "", err
		}
		text, ok, err := doc.field(p)
		return v.found(p, text, ok, err)
	}
}

// sum is the hash of the body as it is written.
func (p *templatePart) sum(body []byte) string {
	h := hashes[p.hash]()
	h.Write(body)
	return p.encoding.encode(h.Sum(nil))
}

// pathOf is the path of an address, query and all.
func pathOf(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if i := strings.IndexAny(rest, "/?"); ok && i >= 0 {
		return rest[i:]
	}
	return "/"
}

// paramURL is the parameter that holds the address as the sender knows it: behind a proxy no header can be trusted to
// say it.
const paramURL = "public_url"
