package provider

import (
	"crypto/hmac"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/recibohq/recibo"
)

// tokenRules are what a sender's token must say.
type tokenRules struct {
	set     fieldSet // the claims that are read
	expires place
	claims  []claimRule
	body    *hashClaim
	url     *hashClaim
	decrypt bool
	whole   bool // the token is what is sent: nothing else is signed, and nothing else is read
}

// A claimRule is a claim with what it must be: one of some texts, a parameter, or just there.
type claimRule struct {
	place place
	texts []string
	param string
}

// anyClaim is a claim that must be there, whatever it is: so that another token under the same key is none of ours.
const anyClaim = "*"

// A hashClaim binds what is not in the token.
type hashClaim struct {
	place    place
	hash     string
	encoding encoding
}

// jwsAlgorithms are the algorithms that a token may be pinned to, with ours.
var jwsAlgorithms = map[string]struct {
	jose            jose.SignatureAlgorithm
	algorithm, hash string
}{
	"HS256": {jose.HS256, algHMAC, "sha256"}, "HS384": {jose.HS384, algHMAC, "sha384"}, "HS512": {jose.HS512, algHMAC, "sha512"},
	"RS256": {jose.RS256, algRSA, "sha256"}, "PS256": {jose.PS256, algRSA, "sha256"},
	"ES256": {jose.ES256, algECDSA, "sha256"}, "ES512": {jose.ES512, algECDSA, "sha512"},
}

func (c *compiler) algorithm(f *signatureFile) {
	s := &c.rules.sign
	if f.Scheme != layoutJWS {
		if f.Algorithm != "" || f.Claims != nil || f.BodyHash != nil || f.URLHash != nil || f.Decrypt {
			c.fail("signature", "algorithm, claims, body_hash, url_hash and decrypt are of the scheme %s", layoutJWS)
		}
		return
	}
	a, ok := jwsAlgorithms[f.Algorithm]
	if !ok {
		c.fail("signature.algorithm", "unknown algorithm %q: pin one of %v", f.Algorithm, slices.Sorted(maps.Keys(jwsAlgorithms)))
	}
	s.jose, s.algorithm, f.Hash = a.jose, a.algorithm, a.hash
}

// token reads what a token must say.
func (c *compiler) token(f *signatureFile) {
	t, s := &c.rules.token, &c.rules.sign
	if s.layout != layoutJWS {
		if s.from.has(inWhole) {
			c.fail("signature.from", "only a token can be the body")
		}
		return
	}
	if len(s.from) != 1 {
		c.fail("signature.from", "a token has one place")
		return
	}
	t.decrypt = f.Decrypt
	t.whole = s.from[0].kind == inWhole || s.from[0].inBody()
	t.expires = place{kind: inClaim, name: "exp", path: []string{"exp"}}
	c.read("signature.claims", &t.expires, nil)
	for _, name := range slices.Sorted(maps.Keys(f.Claims)) {
		rule := claimRule{place: c.claim("signature.claims", name)}
		if param, ok := strings.CutPrefix(f.Claims[name], "param:"); ok {
			rule.param = param
		} else if f.Claims[name] != anyClaim {
			rule.texts = strings.Split(f.Claims[name], "|")
		}
		t.claims = append(t.claims, rule)
	}
	t.body, t.url = c.hashClaim("signature.body_hash", f.BodyHash), c.hashClaim("signature.url_hash", f.URLHash)
	switch {
	case t.whole && (t.body != nil || t.url != nil):
		c.fail("signature.body_hash", "the token is all there is: leave it out")
	case t.decrypt && !t.whole:
		c.fail("signature.decrypt", "only a token in the body is encrypted")
	}
}

func (c *compiler) claim(field, name string) place {
	p, err := parsePlace("claim:"+name, nil)
	if err != nil || p.inner != nil {
		c.fail(field, "%q is no claim", name)
	}
	c.read(field, &p, nil)
	return p
}

func (c *compiler) hashClaim(field string, f *hashFile) *hashClaim {
	if f == nil {
		return nil
	}
	h := &hashClaim{place: c.claim(field, f.Claim), hash: orDefault(f.Hash, "sha256")}
	h.encoding = oneOf(c, field+".encoding", f.Encoding, encHex, []encoding{encHex, encBase64, encBase64URL})
	if hashKinds[h.hash] == 0 {
		c.fail(field+".hash", "unknown hash %q", f.Hash)
	}
	return h
}

// has says that any of the places is of kind.
func (c choice) has(kind placeKind) bool {
	return slices.ContainsFunc(c, func(p place) bool { return p.kind == kind })
}

// judgeClaims holds a token that verified to what it must say.
func (v *verifier) judgeClaims(d *recibo.Delivery, claims *document) error {
	for i := range v.token.claims {
		rule := &v.token.claims[i]
		text, err := claimText(claims, &rule.place)
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", recibo.BadSignature, err)
		case rule.param != "" && text != v.params[rule.param]:
			return fmt.Errorf("%w: %s is not the parameter %s", recibo.BadSignature, &rule.place, rule.param)
		case rule.texts != nil && !slices.Contains(rule.texts, text):
			return fmt.Errorf("%w: %s is none of %q", recibo.BadSignature, &rule.place, rule.texts)
		}
	}
	if err := v.token.body.judge(claims, d.Body); err != nil {
		return err
	}
	return v.token.url.judge(claims, []byte(v.params[paramURL]))
}

// claimText is a claim that must be there; of an object or a list it is that only.
func claimText(claims *document, p *place) (string, error) {
	switch claims.value(p).kind {
	case '{', '[':
		return "", nil
	}
	text, ok, err := claims.field(p)
	if err == nil && !ok {
		err = fmt.Errorf("no %s", p)
	}
	return text, err
}

// judge compares the claim with the hash of text. Of an empty text a sender may leave it out.
func (h *hashClaim) judge(claims *document, text []byte) error {
	if h == nil {
		return nil
	}
	said, ok, err := claims.field(&h.place)
	if err == nil && !ok && len(text) == 0 {
		return nil
	}
	var want []byte
	if err == nil {
		want, err = h.encoding.decode(said)
	}
	sum := hashes[h.hash]()
	sum.Write(text)
	if err != nil || !hmac.Equal(want, sum.Sum(nil)) {
		return fmt.Errorf("%w: %s is not the hash", recibo.BadSignature, &h.place)
	}
	return nil
}
