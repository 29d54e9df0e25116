package provider

import (
	"context"
	"fmt"

	"github.com/recibohq/recibo"
)

// An itemToken is a sender of batches that shows the secret in each item, as Microsoft Graph shows clientState. An item with
// another one is left out, not a reason to refuse those beside it.
type itemToken struct{ templateScheme }

// newToken makes the scheme of a sender that shows its secret: in one place, or in each item.
func newToken(r *rules) scheme {
	for i := range r.sign.from {
		if _, ok := afterItem(r.sign.from[i].path); ok {
			return &itemToken{templateScheme{r}}
		}
	}
	return newTemplateScheme(r)
}

// afterItem is what follows the last list of a path.
func afterItem(path []string) ([]string, bool) {
	for i := len(path) - 2; i >= 0; i-- {
		if path[i] == anyItem {
			return path[i+1:], true
		}
	}
	return nil, false
}

// itemResult is what became of each item, and what the good ones are over.
type itemResult struct {
	good     []bool
	contents []recibo.Fingerprint
}

func (r *itemResult) proved(item int) bool { return r.good[item] }

func (r *itemResult) content(item int) recibo.Fingerprint { return r.contents[item] }

func (s *itemToken) verify(_ context.Context, v *verifier, d *recibo.Delivery, r *reading) error {
	doc, err := v.read(d, r)
	if err != nil || len(doc.items) == 0 || len(doc.items) > maxItems {
		return fmt.Errorf("%w: no readable list of at most %d items", recibo.MissingSignature, maxItems)
	}
	result := &itemResult{make([]bool, len(doc.items)), make([]recibo.Fingerprint, len(doc.items))}
	err = recibo.BadSignature
	any := false
	for i, at := range doc.items {
		item := doc.src[at.start:at.end]
		shown, missing := s.shown(item)
		switch {
		case missing != nil && len(doc.items) == 1:
			err = missing
		case missing == nil && v.proveWith(r, nil, [][]byte{shown}):
			any = true
			result.good[i], result.contents[i] = true, fingerprint(tagItem, []piece{{bytes: item}})
		}
	}
	if !any {
		return err
	}
	r.own = result
	return nil
}

// shown is the secret that an item shows.
func (s *itemToken) shown(item []byte) ([]byte, error) {
	from := &s.rules.sign.from[0]
	path, _ := afterItem(from.path)
	values := make([]value, 1)
	if _, err := walk(item, [][]string{path}, values); err != nil {
		return nil, fmt.Errorf("%w: %w", recibo.MalformedSignature, err)
	}
	text, ok, err := values[0].read(item)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", recibo.MalformedSignature, err)
	case !ok || text == "":
		return nil, fmt.Errorf("%w: no %s", recibo.MissingSignature, from)
	}
	return s.rules.sign.encoding.decode(text)
}

func (s *itemToken) seal(sealing *sealing) error {
	secret, err := sealing.sign(nil)
	if err != nil {
		return err
	}
	from := &s.rules.sign.from[0]
	path, _ := afterItem(from.path)
	items, err := walk(sealing.body, [][]string{from.path[:len(from.path)-len(path)]}, make([]value, 1))
	if err != nil {
		return err
	}
	for i := len(items) - 1; i >= 0; i-- { // from the end, so that what is before keeps its place
		item, err := setText(sealing.body[items[i].start:items[i].end], path, secret)
		if err != nil {
			return err
		}
		sealing.body = splice(sealing.body, items[i], item)
	}
	return nil
}
