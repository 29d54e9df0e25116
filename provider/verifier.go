package provider

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"slices"

	"github.com/recibohq/recibo"
)

// A verifier judges the deliveries of one source.
type verifier struct {
	*rules
	prover  prover
	secrets []recibo.SecretID
	format  format
	keySet  *keySet // of a source that was given no keys
	// decrypters are the source's own keys, where tokens are encrypted to it.
	decrypters []crypto.PrivateKey
	params     map[string]string
	require    []place
	after      fieldSet // the rules' and what the source requires
	item       fieldSet
}

var (
	_ recibo.Verifier   = (*verifier)(nil)
	_ recibo.Challenger = (*challenger)(nil)
	_ recibo.Greeter    = (*challenger)(nil)
)

func (v *verifier) Profile() *recibo.Profile { return &v.profile }

func (v *verifier) Secrets() []recibo.SecretID { return slices.Clone(v.secrets) }

// Verify checks the signature. Until it has, everything in d is whatever an attacker sent.
func (v *verifier) Verify(ctx context.Context, d *recibo.Delivery) (*recibo.Verified, error) {
	r := newReading()
	for _, p := range v.sign.pins {
		value, err := header(d.Header, p.header)
		if err != nil {
			return nil, err
		}
		if value != p.value {
			return nil, fmt.Errorf("%w: %s is not %s", recibo.MalformedSignature, p.header, p.value)
		}
	}
	if err := v.scheme.verify(ctx, v, d, r); err != nil {
		return nil, err
	}
	if v.proves && !usable(r.pieces) {
		return nil, fmt.Errorf("%w: %w", recibo.BadSignature, errProof)
	}
	if v.time.from.inBody() && r.verified.At.IsZero() {
		v.readTime(d, r)
	}
	r.verified.Content = v.content(d, r)
	r.verified.Scheme = r
	return &r.verified, nil
}

// readTime reads a signed time that stands in the body.
func (v *verifier) readTime(d *recibo.Delivery, r *reading) {
	text, err := v.view(d, r).field(&v.time.from)
	if err == nil {
		r.verified.At, err = parseTime(text, v.time.unit)
	}
	if err != nil && r.fault == nil {
		r.fault = fmt.Errorf("%s: %w", &v.time.from, err)
	}
}

// content digests what verified, less what changes between tries; where the body is not signed, the body, for then only
// it says whether two deliveries are alike.
func (v *verifier) content(d *recibo.Delivery, r *reading) recibo.Fingerprint {
	if v.key.kind == recibo.KeyToken || v.key.kind == recibo.KeyCredential {
		return fingerprint(tagBody, v.withoutCuts(d.Body, d, r))
	}
	if len(v.cuts) == 0 {
		return fingerprint(tagSigned, r.pieces)
	}
	pieces := make([]piece, 0, len(r.pieces)+2*len(v.cuts))
	for _, p := range r.pieces {
		if p.from != nil && p.from.kind == bodyPart {
			pieces = append(pieces, v.withoutCuts(p.bytes, d, r)...)
		} else {
			pieces = append(pieces, p)
		}
	}
	return fingerprint(tagSigned, pieces)
}

// withoutCuts is the body with the members that are renewed per try cut out. A body that cannot be read is not cut.
func (v *verifier) withoutCuts(body []byte, d *recibo.Delivery, r *reading) []piece {
	if len(v.cuts) == 0 {
		return []piece{{bytes: body}}
	}
	doc, err := v.read(d, r)
	if err != nil || !doc.inBody {
		return []piece{{bytes: body}}
	}
	if !looksLikeJSON(doc.src) {
		return []piece{{bytes: doc.withoutFields(v.cuts)}}
	}
	var spans []span
	for i := range v.cuts {
		if s, ok := doc.span(&v.cuts[i]); ok {
			spans = append(spans, s)
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	return without(body, spans)
}

// read reads the body, once.
func (v *verifier) read(d *recibo.Delivery, r *reading) (*document, error) {
	if r.doc == nil {
		body := d.Body
		if r.token != nil {
			body = r.token
		}
		r.doc, r.docErr = readDocument(body, &v.after, v.packing)
	}
	return r.doc, r.docErr
}

// findSignatures reads the signatures and the time beside them. Only the headers of the source's one variant are looked
// at, so that nobody can strip a request down to a weaker one.
func (v *verifier) findSignatures(d *recibo.Delivery, r *reading) error {
	err := error(recibo.MissingSignature)
	for i := range v.sign.from {
		from := &v.sign.from[i]
		text, missing := v.signatureText(from, d, r)
		if errors.Is(missing, recibo.MissingSignature) && len(v.sign.from) > 1 {
			continue
		}
		if missing != nil {
			return missing
		}
		switch err = v.format.read(text, &r.written); {
		case errors.Is(err, errNoSignature):
			return fmt.Errorf("%w: %w in %s", recibo.MissingSignature, err, from)
		case err != nil:
			return fmt.Errorf("%w: %s: %w", recibo.MalformedSignature, from, err)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: no %s", err, v.sign.from)
	}
	return v.decodeSignatures(r.written.signatures, r)
}

// decodeSignatures keeps those of the right length. One that is no signature does not spoil those beside it.
func (v *verifier) decodeSignatures(texts []string, r *reading) error {
	size := v.prover.size()
	for _, text := range texts {
		signature, err := v.sign.encoding.decode(text)
		if err == nil && len(signature) > 0 && (size == 0 || len(signature) == size) {
			r.signatures = append(r.signatures, signature)
		}
	}
	if len(r.signatures) == 0 {
		return fmt.Errorf("%w: not %s of the right length", recibo.MalformedSignature, v.sign.encoding)
	}
	return nil
}

func (v *verifier) signatureText(from *place, d *recibo.Delivery, r *reading) (string, error) {
	switch from.kind {
	case inHeader:
		for i, name := range from.names {
			if len(d.Header[name]) > 0 {
				r.set = i
				break
			}
		}
		return header(d.Header, from.names[r.set])
	case inQuery:
		text, ok, err := queryValue(d.RawQuery, from.name)
		return v.found(from, text, ok, err)
	default:
		doc, err := v.unproved(d, r)
		if err != nil {
			return "", err
		}
		text, ok, err := doc.field(from)
		return v.found(from, text, ok, err)
	}
}

// unproved is the body as far as the signature itself needs it, read once.
func (v *verifier) unproved(d *recibo.Delivery, r *reading) (*document, error) {
	if doc, ok := r.own.(*document); ok {
		return doc, nil
	}
	doc, err := readDocument(d.Body, &v.before, v.packing)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", recibo.MalformedSignature, err)
	}
	r.own = doc
	return doc, nil
}

// found sorts out what was read of a signed place before anything is verified.
func (v *verifier) found(p *place, text string, ok bool, err error) (string, error) {
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %s: %w", recibo.MalformedSignature, p, err)
	case !ok || text == "":
		return "", fmt.Errorf("%w: no %s", recibo.MissingSignature, p)
	case len(text) > maxSignatureText:
		return "", fmt.Errorf("%w: %s has %d bytes", recibo.MalformedSignature, p, len(text))
	}
	return text, nil
}

// prove checks the signatures over pieces and keeps them if one is right.
func (v *verifier) prove(r *reading, pieces []piece) bool {
	return v.proveWith(r, pieces, r.signatures)
}

func (v *verifier) proveWith(r *reading, pieces []piece, signatures [][]byte) bool {
	prover := v.prover
	if r.keys != nil {
		prover = r.keys
	}
	id, ok := prover.prove(pieces, signatures)
	if ok {
		r.verified.Secret, r.pieces = id, pieces
	}
	return ok
}
