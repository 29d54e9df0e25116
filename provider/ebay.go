package provider

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/recibohq/recibo"
)

// ebay signs the body with ECDSA over SHA-1 and sends the signature in base64 within JSON within base64, with the names of
// key and algorithm beside it: https://github.com/eBay/event-notification-nodejs-sdk/blob/main/lib/validator.js
type ebay struct{ templateScheme }

func newEBay(r *rules) scheme {
	r.sign.hash, r.sign.template = "sha1", template{{kind: bodyPart}}
	return &ebay{templateScheme{r}}
}

// ebayPaths are what the header says.
var ebayPaths = [][]string{{"alg"}, {"digest"}, {"kid"}, {"signature"}}

func (e *ebay) verify(ctx context.Context, v *verifier, d *recibo.Delivery, r *reading) error {
	text, err := v.signatureText(&v.sign.from[0], d, r)
	if err != nil {
		return err
	}
	said, err := ebaySaid(text)
	if err != nil {
		return fmt.Errorf("%w: %w", recibo.MalformedSignature, err)
	}
	signature, err := encBase64.decode(said[3])
	if err != nil {
		return fmt.Errorf("%w: %w", recibo.MalformedSignature, err)
	}
	if r.keys, err = v.keys(ctx, d, r, said[2]); err != nil {
		return err
	}
	r.signatures = append(r.signatures, signature)
	if !v.prove(r, []piece{{bytes: d.Body, from: &v.sign.template[0]}}) {
		return recibo.BadSignature
	}
	return nil
}

// ebaySaid reads the header. The algorithm is pinned: what it says must be that.
func ebaySaid(text string) (said [4]string, err error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return said, errEncoding
	}
	values := make([]value, len(ebayPaths))
	if _, err := walk(raw, ebayPaths, values); err != nil {
		return said, err
	}
	for i := range values {
		if said[i], _, err = values[i].read(raw); err != nil {
			return said, err
		}
	}
	if !strings.EqualFold(said[0], "ecdsa") || said[1] != "SHA1" {
		return said, fmt.Errorf("%s with %s is not ECDSA with SHA1", said[0], said[1])
	}
	return said, nil
}

func (e *ebay) seal(s *sealing) error {
	signature, err := s.sign([]piece{{bytes: s.body}})
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]string{"alg": "ecdsa", "kid": "sample", "signature": signature, "digest": "SHA1"})
	if err != nil {
		return err
	}
	s.header.Set(s.rules.sign.from[0].names[0], base64.StdEncoding.EncodeToString(text))
	return nil
}
