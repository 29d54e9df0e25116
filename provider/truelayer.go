package provider

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/recibohq/recibo"
)

// trueLayer signs method, path, the headers that its token lists, and the body, by a token without payload (RFC 7515,
// appendix F): https://github.com/TrueLayer/truelayer-signing/blob/main/request-signing-v2.md
type trueLayer struct{ rules *rules }

func newTrueLayer(r *rules) scheme {
	r.sign.jose, r.sign.algorithm, r.sign.hash = jose.ES512, algECDSA, "sha512"
	r.sign.listed = headerList{parts: []templatePart{*trueLayerTime}}
	return &trueLayer{r}
}

// trueLayerKeySets are the addresses that its tokens may name. They are compared and never called: the keys are the
// source's own.
var trueLayerKeySets = []string{
	"https://webhooks.truelayer.com/.well-known/jwks", "https://webhooks.truelayer-sandbox.com/.well-known/jwks",
}

// trueLayerTime must be among the listed headers: else nothing would stop a replay.
var trueLayerTime = &templatePart{kind: placePart, cut: true, place: place{
	kind: inHeader, name: "X-Tl-Webhook-Timestamp", names: []string{"X-Tl-Webhook-Timestamp"},
}}

var (
	trueLayerPath = &templatePart{kind: pathPart}
	trueLayerBody = &templatePart{kind: bodyPart}
)

func (s *trueLayer) covers(p *place) bool {
	return p.inBody() || p.kind == inParam || s.rules.sign.listed.find(p) != nil
}

func (*trueLayer) wholeBody() bool { return true }

func (*trueLayer) parts() []string {
	return []string{"method", "path", "header:X-Tl-Webhook-Timestamp", "other listed headers", "body"}
}

// trueLayerHeader is what the token's header says. Where: the places of trueLayerPaths.
var trueLayerPaths = [][]string{{"tl_version"}, {"tl_headers"}, {"jku"}, {"kid"}}

func (s *trueLayer) verify(ctx context.Context, v *verifier, d *recibo.Delivery, r *reading) error {
	text, err := header(d.Header, "Tl-Signature")
	if err != nil {
		return err
	}
	said, err := trueLayerSaid(text)
	if err != nil {
		return fmt.Errorf("%w: %w", recibo.MalformedSignature, err)
	}
	if said[2] != "" && !slices.Contains(trueLayerKeySets, said[2]) {
		return fmt.Errorf("%w: its keys are elsewhere", recibo.BadSignature)
	}
	pieces, err := s.pieces(d, r, said[1])
	if err != nil {
		return err
	}
	keys, err := v.keys(ctx, d, r, said[3])
	if err != nil {
		return err
	}
	for _, path := range []string{pathOnly(v.params[paramURL]), toggledSlash(pathOnly(v.params[paramURL]))} {
		pieces[1].bytes = []byte(path)
		signed := message{pieces}.bytes()
		token, err := jose.ParseDetached(text, signed, []jose.SignatureAlgorithm{jose.ES512})
		if err != nil {
			return fmt.Errorf("%w: %w", recibo.MalformedSignature, err)
		}
		for _, key := range keys.keys {
			if token.DetachedVerify(signed, key.key) == nil {
				r.verified.Secret, r.pieces = key.id, pieces
				return nil
			}
		}
	}
	return recibo.BadSignature
}

// trueLayerSaid reads the header of a token whose payload is not in it.
func trueLayerSaid(token string) (said [4]string, err error) {
	first, rest, _ := strings.Cut(token, ".")
	if !strings.HasPrefix(rest, ".") {
		return said, fmt.Errorf("a payload stands in the token")
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(first)
	if err != nil {
		return said, errEncoding
	}
	values := make([]value, len(trueLayerPaths))
	if _, err := walk(raw, trueLayerPaths, values); err != nil {
		return said, err
	}
	for i := range values {
		if said[i], _, err = values[i].read(raw); err != nil {
			return said, err
		}
	}
	if said[0] != "2" {
		return said, fmt.Errorf("tl_version %q is not 2", said[0])
	}
	return said, nil
}

// pieces are "METHOD path\n", "Name: value\n" for each listed header, and the body. The second is the path.
func (s *trueLayer) pieces(d *recibo.Delivery, r *reading, list string) ([]piece, error) {
	pieces := []piece{{bytes: []byte(d.Method + " ")}, {from: trueLayerPath}, {bytes: []byte("\n")}}
	timed := false
	for i, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		canonical := http.CanonicalHeaderKey(name)
		if i == maxListed || strings.Trim(name, tokenChars) != "" || name == "" {
			return nil, fmt.Errorf("%w: tl_headers", recibo.MalformedSignature)
		}
		text, err := header(d.Header, canonical)
		if err != nil {
			return nil, err
		}
		p := piece{bytes: []byte(text)}
		if canonical == trueLayerTime.place.names[0] {
			if p.from, p.cut = trueLayerTime, true; timed {
				return nil, fmt.Errorf("%w: tl_headers has the time twice", recibo.MalformedSignature)
			}
			timed = true
			if r.verified.At, err = parseTime(text, rfc3339); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", recibo.MalformedSignature, canonical, err)
			}
		}
		pieces = append(pieces, piece{bytes: []byte(name + ": ")}, p, piece{bytes: []byte("\n")})
	}
	if !timed {
		return nil, fmt.Errorf("%w: the time is not among the signed headers", recibo.MissingSignature)
	}
	return append(pieces, piece{bytes: d.Body, from: trueLayerBody}), nil
}

func pathOnly(address string) string {
	path, _, _ := strings.Cut(pathOf(address), "?")
	return path
}

func toggledSlash(path string) string {
	if trimmed, ok := strings.CutSuffix(path, "/"); ok {
		return trimmed
	}
	return path + "/"
}

func (s *trueLayer) seal(sealing *sealing) error {
	at := rfc3339.format(sealing.now)
	sealing.header.Set("X-Tl-Webhook-Timestamp", at)
	signed := bytes.Join([][]byte{
		[]byte(http.MethodPost + " " + pathOnly(sealing.address()) + "\nX-Tl-Webhook-Timestamp: " + at + "\n"), sealing.body,
	}, nil)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES512, Key: sealing.privateKey}, (&jose.SignerOptions{}).
		WithHeader("tl_version", "2").WithHeader("tl_headers", "X-Tl-Webhook-Timestamp").WithHeader("jku", trueLayerKeySets[0]))
	if err != nil {
		return err
	}
	token, err := signer.Sign(signed)
	if err != nil {
		return err
	}
	text, err := token.DetachedCompactSerialize()
	if err != nil {
		return err
	}
	sealing.header.Set("Tl-Signature", text)
	return nil
}
