package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/recibohq/recibo"
)

// adyen signs eight fields of each item, joined by colons that are not escaped, and puts the signature into the item:
// https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures
type adyen struct{ rules *rules }

func newAdyen(r *rules) scheme { return &adyen{r} }

// adyenFields are what is signed, below notificationItems[].NotificationRequestItem.
var adyenFields = [...]string{
	"pspReference", "originalReference", "merchantAccountCode", "merchantReference",
	"amount.value", "amount.currency", "eventCode", "success",
}

const (
	adyenItems     = "notificationItems[]"
	adyenItem      = "NotificationRequestItem"
	adyenSignature = "additionalData.hmacSignature"
	// adyenMayHoldColon is the one field that may: were there two, the border between them could be moved.
	adyenMayHoldColon = 3
	maxAdyenItems     = 1000
)

// adyenPaths are the fields of one item, and its signature last.
var adyenPaths = func() (paths [][]string) {
	for _, name := range append(adyenFields[:], adyenSignature) {
		paths = append(paths, splitPath(adyenItem+"."+name))
	}
	return paths
}()

func (*adyen) covers(p *place) bool {
	for _, name := range adyenFields {
		if p.kind == inJSON && p.name == adyenItems+"."+adyenItem+"."+name {
			return true
		}
	}
	return p.kind == inParam
}

func (*adyen) wholeBody() bool { return false }

func (*adyen) parts() []string {
	names := make([]string, len(adyenFields))
	for i, name := range adyenFields {
		names[i] = "json:" + adyenItems + "." + adyenItem + "." + name
	}
	return names
}

// verify succeeds if any item's signature is right. Items whose signature is not are left out, not a reason to refuse
// those beside them.
func (a *adyen) verify(_ context.Context, v *verifier, d *recibo.Delivery, r *reading) error {
	items, err := walk(d.Body, [][]string{splitPath(adyenItems)}, make([]value, 1))
	if err != nil || len(items) == 0 || len(items) > maxAdyenItems {
		return fmt.Errorf("%w: no readable list of at most %d items", recibo.MissingSignature, maxAdyenItems)
	}
	result := &itemResult{make([]bool, len(items)), make([]recibo.Fingerprint, len(items))}
	err = recibo.BadSignature
	var proved []piece
	for i, s := range items {
		itemErr := a.verifyItem(v, d.Body[s.start:s.end], r)
		if itemErr != nil {
			if len(items) == 1 {
				err = itemErr
			}
			continue
		}
		result.good[i], result.contents[i] = true, fingerprint(tagSigned, r.pieces)
		proved = append(proved, r.pieces...)
	}
	if proved == nil {
		return err
	}
	r.pieces, r.own = proved, result
	return nil
}

func (a *adyen) verifyItem(v *verifier, item []byte, r *reading) error {
	pieces, signature, err := adyenSigned(item)
	if err != nil {
		return fmt.Errorf("%w: %w", recibo.BadSignature, err)
	}
	if signature == "" {
		return recibo.MissingSignature
	}
	r.signatures = r.signatures[:0]
	if err := v.decodeSignatures([]string{signature}, r); err != nil {
		return err
	}
	if !v.prove(r, pieces) {
		return recibo.BadSignature
	}
	return nil
}

// adyenSigned returns what is signed of an item, and the signature in it.
func adyenSigned(item []byte) (pieces []piece, signature string, err error) {
	values := make([]value, len(adyenPaths))
	if _, err := walk(item, adyenPaths, values); err != nil {
		return nil, "", err
	}
	for i, v := range values {
		text, _, err := v.read(item)
		switch {
		case err != nil:
			return nil, "", err
		case i == len(adyenFields):
			return pieces, text, nil
		case i != adyenMayHoldColon && strings.Contains(text, ":"):
			return nil, "", fmt.Errorf("%s holds the separator", adyenFields[i])
		}
		if i > 0 {
			pieces = append(pieces, piece{bytes: []byte(":")})
		}
		pieces = append(pieces, piece{bytes: []byte(text)})
	}
	return pieces, signature, nil
}

func (*adyen) seal(s *sealing) error {
	items, err := walk(s.body, [][]string{splitPath(adyenItems)}, make([]value, 1))
	if err != nil {
		return err
	}
	body := s.body
	for i := len(items) - 1; i >= 0; i-- { // from the end, so that what is before keeps its place
		at := items[i]
		pieces, _, err := adyenSigned(s.body[at.start:at.end])
		if err != nil {
			return err
		}
		signature, err := s.sign(pieces)
		if err != nil {
			return err
		}
		item, err := setText(body[at.start:at.end], splitPath(adyenItem+"."+adyenSignature), signature)
		if err != nil {
			return err
		}
		body = splice(body, at, item)
	}
	s.body = body
	return nil
}
