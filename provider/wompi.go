package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recibohq/recibo"
)

// wompi hashes the values that the event lists in signature.properties, the time and the secret, without separators:
// https://docs.wompi.co/docs/colombia/eventos/
//
// Text can be moved between the values, so the joined text is what names an event; nothing but the three known values and
// the time is proved at all.
type wompi struct{ rules *rules }

func newWompi(r *rules) scheme { return &wompi{r} }

// wompiProperties must be listed, in this order: then each value ends where the next one's kind of character begins.
var wompiProperties = []string{"transaction.id", "transaction.status", "transaction.amount_in_cents"}

var (
	wompiText   = &templatePart{kind: placePart, place: place{kind: inSignature, name: "text"}}
	wompiSecret = &templatePart{kind: secretPart}
)

func (*wompi) covers(p *place) bool {
	switch p.kind {
	case inParam:
		return true
	case inSignature:
		return p.name == "text"
	case inJSON:
		property, ok := strings.CutPrefix(p.name, "data.")
		return p.name == "timestamp" || ok && slices.Contains(wompiProperties, property)
	default:
		return false
	}
}

func (*wompi) wholeBody() bool { return false }

func (*wompi) parts() []string {
	parts := make([]string, 0, len(wompiProperties)+1)
	for _, property := range wompiProperties {
		parts = append(parts, "json:data."+property)
	}
	return append(parts, "json:timestamp")
}

func (w *wompi) verify(_ context.Context, v *verifier, d *recibo.Delivery, r *reading) error {
	if err := v.findSignatures(d, r); err != nil {
		return err
	}
	text, err := wompiSigned(d.Body)
	if err != nil {
		return fmt.Errorf("%w: %w", recibo.BadSignature, err)
	}
	if !v.prove(r, []piece{{bytes: []byte(text), from: wompiText}, {from: wompiSecret}}) {
		return recibo.BadSignature
	}
	return nil
}

// wompiSigned is the text that is hashed before the secret.
func wompiSigned(body []byte) (string, error) {
	var paths [][]string
	for i, property := range wompiProperties {
		paths = append(paths, splitPath(fmt.Sprintf("signature.properties.%d", i)), splitPath("data."+property))
	}
	paths = append(paths, splitPath(fmt.Sprintf("signature.properties.%d", len(wompiProperties))), []string{"timestamp"})
	values := make([]value, len(paths))
	if _, err := walk(body, paths, values); err != nil {
		return "", err
	}
	texts := make([]string, len(values))
	for i := range values {
		var err error
		if texts[i], _, err = values[i].read(body); err != nil {
			return "", err
		}
	}
	for i, property := range wompiProperties {
		if texts[2*i] != property {
			return "", fmt.Errorf("the properties are not %v", wompiProperties)
		}
	}
	id, status, amount, at := texts[1], texts[3], texts[5], texts[7]
	const capitals, digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_", "0123456789"
	switch {
	case values[6].kind != 0:
		return "", fmt.Errorf("more properties than %v", wompiProperties)
	case id == "" || status == "" || amount == "" || len(at) != 10,
		strings.Trim(status, capitals) != "" || strings.Trim(amount, digits) != "" || strings.Trim(at, digits) != "",
		strings.TrimRight(id, capitals) != id:
		return "", fmt.Errorf("the values are not of their kinds")
	}
	return id + status + amount + at, nil
}

func (w *wompi) seal(s *sealing) error {
	text, err := wompiSigned(s.body)
	if err != nil {
		return err
	}
	signature, err := s.sign([]piece{{bytes: []byte(text)}, {from: wompiSecret}})
	if err != nil {
		return err
	}
	return s.put(signature)
}
