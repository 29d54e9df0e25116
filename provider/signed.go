package provider

import (
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/recibohq/recibo"
)

// A templateScheme is a sender whose rule is data: a signature in one place over a template.
type templateScheme struct{ rules *rules }

func newTemplateScheme(r *rules) scheme { return &templateScheme{r} }

func (s *templateScheme) covers(p *place) bool { return s.rules.sign.template.covers(p) }

func (s *templateScheme) wholeBody() bool { return s.rules.sign.template.has(bodyPart) }

func (s *templateScheme) parts() []string { return s.rules.sign.template.names() }

func (s *templateScheme) verify(v *verifier, d *recibo.Delivery, r *reading) error {
	if err := v.findSignatures(d, r); err != nil {
		return err
	}
	pieces := r.pieces
	for i := range v.sign.template {
		part := &v.sign.template[i]
		bytes, err := v.part(part, d, r)
		if err != nil {
			return err
		}
		pieces = append(pieces, piece{bytes: bytes, from: part, cut: part.cut})
	}
	if !v.prove(r, pieces) {
		return recibo.BadSignature
	}
	return nil
}

// part is what stands for a part of the template in d.
func (v *verifier) part(part *templatePart, d *recibo.Delivery, r *reading) ([]byte, error) {
	switch part.kind {
	case literalPart:
		return part.literal, nil
	case bodyPart:
		return d.Body, nil
	case crcPart:
		return r.keep(strconv.FormatUint(uint64(crc32.ChecksumIEEE(d.Body)), 10)), nil
	case urlPart:
		return r.keep(v.params[paramURL]), nil
	case methodPart:
		return r.keep(d.Method), nil
	case secretPart:
		return nil, nil // the prover has it
	}
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
	for _, separator := range part.forbid {
		if !part.constant() && strings.Contains(text, separator) {
			return nil, fmt.Errorf("%w: %s holds the separator %q", recibo.MalformedSignature, &part.place, separator)
		}
	}
	return r.keep(text), nil
}

func (v *verifier) partText(p *place, d *recibo.Delivery, r *reading) (string, error) {
	switch p.kind {
	case inHeader:
		return header(d.Header, p.names[min(r.set, len(p.names)-1)])
	case inSignature:
		return v.found(p, r.time, r.time != "", nil)
	case inParam:
		return v.params[p.name], nil
	case inQuery:
		text, ok, err := queryValue(d.RawQuery, p.name)
		return v.found(p, text, ok, err)
	default:
		doc, ok := r.own.(*document)
		if !ok {
			var err error
			if doc, err = readDocument(d.Body, &v.before, ""); err != nil {
				return "", fmt.Errorf("%w: %w", recibo.MalformedSignature, err)
			}
			r.own = doc
		}
		text, ok, err := doc.field(p)
		return v.found(p, text, ok, err)
	}
}

// paramURL is the parameter that holds the address as the sender knows it: behind a proxy no header can be trusted to
// say it.
const paramURL = "public_url"
