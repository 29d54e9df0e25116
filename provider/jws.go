package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/recibohq/recibo"
)

// jws is a sender whose signature is a token: a JWS in its compact form (RFC 7515) with one pinned algorithm. The token is
// all that is sent, or it stands in a header and binds the body by a hash in a claim, or it binds nothing and is no more
// than a credential. Of its header only the name of the key is used: jku, x5u, jwk and the like never are.
type jws struct{ rules *rules }

func newJWS(r *rules) scheme { return &jws{r} }

func (j *jws) covers(p *place) bool {
	return p.kind == inClaim || p.kind == inParam || p.inBody() && j.wholeBody()
}

func (j *jws) wholeBody() bool { return j.rules.token.whole || j.rules.token.body != nil }

func (j *jws) parts() []string {
	t := &j.rules.token
	parts := []string{"claims of the token"}
	if t.whole {
		return []string{"the token"}
	}
	if t.body != nil {
		parts = append(parts, "body, by "+t.body.place.String())
	}
	if t.url != nil {
		parts = append(parts, "URL, by "+t.url.place.String())
	}
	return parts
}

// The parts that a token binds.
var (
	jwsBody = &templatePart{kind: bodyPart}
	jwsURL  = &templatePart{kind: urlPart}
)

func (j *jws) verify(ctx context.Context, v *verifier, d *recibo.Delivery, r *reading) error {
	text, err := j.text(v, d, r)
	if err != nil {
		return err
	}
	token, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{v.sign.jose})
	if err != nil {
		return fmt.Errorf("%w: %w", recibo.MalformedSignature, err)
	}
	payload, err := v.tokenPayload(ctx, d, r, token)
	if err != nil {
		return err
	}
	if v.token.decrypt && sealed(string(payload)) { // signed once it was encrypted, not before
		open, err := v.decrypt(string(payload))
		if err != nil {
			return err
		}
		payload = []byte(open)
	}
	claims := &document{src: payload, inBody: true, paths: make([]value, len(v.token.set.paths))}
	if err := claims.walk(&v.token.set); err != nil {
		return fmt.Errorf("%w: claims: %w", recibo.BadSignature, err)
	}
	if err := v.judgeClaims(d, claims); err != nil {
		return err
	}
	r.claims = claims
	j.bound(v, d, r, payload)
	return v.tokenTimes(r)
}

// bound notes what the token proved: itself, or the body and the address.
func (j *jws) bound(v *verifier, d *recibo.Delivery, r *reading, payload []byte) {
	switch {
	case v.token.whole:
		r.token = payload
		r.pieces = append(r.pieces, piece{bytes: payload, from: jwsBody})
		return
	case v.token.body == nil:
		r.pieces = append(r.pieces, piece{bytes: payload})
		return
	case v.token.url != nil:
		r.pieces = append(r.pieces, piece{bytes: []byte(v.params[paramURL] + "\n"), from: jwsURL})
	}
	r.pieces = append(r.pieces, piece{bytes: d.Body, from: jwsBody})
}

// text is the token as it was sent.
func (j *jws) text(v *verifier, d *recibo.Delivery, r *reading) (string, error) {
	from := &v.sign.from[0]
	var text string
	switch from.kind {
	case inWhole:
		text = string(bytes.TrimRight(d.Body, "\r\n"))
		if text == "" || strings.HasPrefix(text, "{") {
			return "", fmt.Errorf("%w: the body is no token", recibo.MissingSignature)
		}
	case inHeader:
		written, err := v.signatureText(from, d, r)
		if err != nil {
			return "", err
		}
		if err := v.format.read(written, &r.written); err != nil {
			return "", fmt.Errorf("%w: %s: %w", recibo.MalformedSignature, from, err)
		}
		text = r.written.signatures[0]
	default:
		doc, err := v.unproved(d, r)
		if err != nil {
			return "", err
		}
		var ok bool
		if text, ok, err = doc.field(from); err != nil || !ok || text == "" {
			return "", fmt.Errorf("%w: no %s", recibo.MissingSignature, from)
		}
	}
	if v.token.decrypt && sealed(text) {
		return v.decrypt(text)
	}
	return text, nil
}

// tokenPayload checks the signature with the source's keys and returns what it is over.
func (v *verifier) tokenPayload(ctx context.Context, d *recibo.Delivery, r *reading, token *jose.JSONWebSignature) ([]byte, error) {
	if keys, ok := v.prover.(*macs); ok {
		m := &tokenMAC{macs: keys}
		payload, err := token.Verify(m)
		if err != nil {
			return nil, recibo.BadSignature
		}
		r.verified.Secret = m.id
		return payload, nil
	}
	keys, err := v.keys(ctx, d, r, token.Signatures[0].Protected.KeyID)
	if err != nil {
		return nil, err
	}
	for _, key := range keys.keys {
		if payload, err := token.Verify(key.key); err == nil {
			r.verified.Secret = key.id
			return payload, nil
		}
	}
	return nil, recibo.BadSignature
}

// tokenMAC lets the secrets of a source check a token: go-jose takes one key, and none that is shorter than its hash.
type tokenMAC struct {
	macs *macs
	id   recibo.SecretID
}

func (m *tokenMAC) VerifyPayload(payload, signature []byte, _ jose.SignatureAlgorithm) error {
	if len(signature) == m.macs.size() {
		if id, ok := m.macs.prove([]piece{{bytes: payload}}, [][]byte{signature}); ok {
			m.id = id
			return nil
		}
	}
	return recibo.BadSignature
}

// tokenTimes reads until when the token lives, and the time that the rules name.
func (v *verifier) tokenTimes(r *reading) error {
	if text, ok, err := r.claims.field(&v.token.expires); err != nil {
		return fmt.Errorf("%w: %w", recibo.MalformedSignature, err)
	} else if ok {
		if r.verified.Expires, err = numericDate(text); err != nil {
			return fmt.Errorf("%w: claim exp: %w", recibo.MalformedSignature, err)
		}
	}
	if v.time.from.kind != inClaim {
		return nil
	}
	text, ok, err := r.claims.field(&v.time.from)
	switch {
	case err != nil:
	case !ok:
		err = errors.New("it is missing")
	case v.time.unit == seconds:
		r.verified.At, err = numericDate(text)
	default:
		r.verified.At, err = parseTime(text, v.time.unit)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", recibo.MalformedSignature, &v.time.from, err)
	}
	return nil
}

// numericDate reads seconds since 1970, of which RFC 7519 allows fractions.
func numericDate(text string) (time.Time, error) {
	whole, _, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n <= 0 || len(whole) > 11 {
		return time.Time{}, errTime
	}
	return time.Unix(n, 0).UTC(), nil
}
