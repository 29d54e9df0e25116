package provider

import (
	"bytes"
	"context"
	"fmt"

	"github.com/recibohq/recibo"
)

// paddleClassic signs all fields of the form but the signature itself, as PHP serializes them: each with its length in
// front, sorted by name. https://developer.paddle.com/webhook-reference/verifying-webhooks
type paddleClassic struct{ rules *rules }

func newPaddleClassic(r *rules) scheme { return &paddleClassic{r} }

const paddleSignature = "p_signature"

var paddleFields = &templatePart{kind: sortedPart}

func (*paddleClassic) covers(p *place) bool {
	return p.kind == inParam || p.kind == inForm && p.name != paddleSignature
}

func (*paddleClassic) wholeBody() bool { return true }

func (*paddleClassic) parts() []string { return []string{"all form fields"} }

func (s *paddleClassic) verify(ctx context.Context, v *verifier, d *recibo.Delivery, r *reading) error {
	if err := v.findSignatures(d, r); err != nil {
		return err
	}
	fields, err := formFields(d.Body)
	if err != nil {
		return fmt.Errorf("%w: %w", recibo.BadSignature, err)
	}
	if err := v.choose(ctx, d, r); err != nil {
		return err
	}
	if !v.prove(r, []piece{{bytes: phpSerialized(fields), from: paddleFields}}) {
		return recibo.BadSignature
	}
	return nil
}

// phpSerialized is a sorted form as PHP's serialize writes an array of strings. Lengths are of bytes.
func phpSerialized(fields []formField) []byte {
	var b bytes.Buffer
	n := 0
	for _, f := range fields {
		if f.name != paddleSignature {
			n++
		}
	}
	fmt.Fprintf(&b, "a:%d:{", n)
	for _, f := range fields {
		if f.name != paddleSignature {
			fmt.Fprintf(&b, `s:%d:"%s";s:%d:"%s";`, len(f.name), f.name, len(f.value), f.value)
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

func (s *paddleClassic) seal(sealing *sealing) error {
	fields, err := formFields(sealing.body)
	if err != nil {
		return err
	}
	signature, err := sealing.sign([]piece{{bytes: phpSerialized(fields)}})
	if err != nil {
		return err
	}
	return sealing.put(signature)
}
