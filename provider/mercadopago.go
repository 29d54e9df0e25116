package provider

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/recibohq/recibo"
)

// mercadoPago signs what the notification is about, its request id and a time, never the body. Pairs that are missing are
// left out with their label: https://www.mercadopago.com.br/developers/pt/docs/your-integrations/notifications/webhooks
type mercadoPago struct{}

func newMercadoPago(*rules) scheme { return mercadoPago{} }

// mercadoParts are the manifest's parts in order, each with its label.
var mercadoParts = []struct {
	label string
	part  templatePart
}{
	{"id:", templatePart{kind: placePart, place: place{kind: inQuery, name: "data.id"}}},
	{";request-id:", templatePart{kind: placePart, place: place{kind: inHeader, name: "x-request-id", names: []string{"X-Request-Id"}}}},
	{";ts:", templatePart{kind: placePart, place: place{kind: inSignature}, time: true}},
}

func (mercadoPago) covers(p *place) bool {
	for i := range mercadoParts {
		if mercadoParts[i].part.place.same(p) {
			return true
		}
	}
	return false
}

func (mercadoPago) wholeBody() bool { return false }

func (mercadoPago) parts() []string {
	return []string{"query:data.id", "header:x-request-id", "time in the signature header"}
}

func (m mercadoPago) verify(_ context.Context, v *verifier, d *recibo.Delivery, r *reading) error {
	if err := v.findSignatures(d, r); err != nil {
		return err
	}
	values, err := mercadoValues(d, r.written.time)
	if err != nil {
		return err
	}
	if r.verified.At, err = parseTime(r.written.time, auto); err != nil || strings.Contains(r.written.time, "-") {
		return fmt.Errorf("%w: ts: %w", recibo.MalformedSignature, errTime)
	}
	// The documents ask for the id in lower case, today's SDKs take it as received.
	for _, id := range slices.Compact([]string{values[0], strings.ToLower(values[0])}) {
		values[0] = id
		if v.prove(r, manifest(values)) {
			return nil
		}
	}
	return recibo.BadSignature
}

// mercadoValues are the values of mercadoParts, empty where missing.
func mercadoValues(d *recibo.Delivery, at string) (values [3]string, err error) {
	id, _, err := queryValue(d.RawQuery, "data.id")
	if err != nil {
		return values, fmt.Errorf("%w: data.id: %w", recibo.MalformedSignature, err)
	}
	requestID := ""
	if len(d.Header["X-Request-Id"]) > 0 {
		if requestID, err = header(d.Header, "X-Request-Id"); err != nil {
			return values, err
		}
	}
	values = [3]string{id, requestID, at}
	for _, value := range values {
		if strings.Contains(value, ";") {
			return values, fmt.Errorf("%w: a part holds the separator", recibo.MalformedSignature)
		}
	}
	return values, nil
}

// manifest is "id:…;request-id:…;ts:…;" without the pairs that are missing.
func manifest(values [3]string) []piece {
	var pieces []piece
	for i, value := range values {
		if value == "" {
			continue
		}
		label := mercadoParts[i].label
		if len(pieces) == 0 {
			label = strings.TrimPrefix(label, ";")
		}
		pieces = append(pieces, piece{bytes: []byte(label)}, piece{bytes: []byte(value), from: &mercadoParts[i].part})
	}
	return append(pieces, piece{bytes: []byte(";")})
}

func (mercadoPago) seal(s *sealing) error {
	at := millis.format(s.now)
	_, query, _ := strings.Cut(s.url, "?")
	id, ok, err := queryValue(query, "data.id")
	if err != nil {
		return err
	}
	if !ok {
		if id, err = s.field("data.id"); err != nil {
			return err
		}
		s.addQuery("data.id=" + url.QueryEscape(id) + "&type=" + url.QueryEscape(s.kind))
	}
	requestID := s.header.Get("X-Request-Id")
	if requestID == "" {
		requestID = newUUID()
		s.header.Set("X-Request-Id", requestID)
	}
	signature, err := s.sign(manifest([3]string{id, requestID, at}))
	if err != nil {
		return err
	}
	s.header.Set(s.rules.sign.from[0].names[0], s.format.write(signature, at, nil))
	return nil
}
