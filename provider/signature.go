package provider

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// signature reads how the sender signs.
func (c *compiler) signature(f *signatureFile) {
	s := &c.rules.sign
	factory, ok := schemes[f.Scheme]
	if !ok {
		c.fail("signature.scheme", "unknown scheme %q%s", f.Scheme, suggestion(f.Scheme, slices.Sorted(maps.Keys(schemes))))
		return
	}
	s.layout, s.algorithm, s.prefixes = f.Scheme, factory.algorithm, f.Prefixes
	c.algorithm(f)
	c.hash(f)
	c.written(f)
	for _, name := range slices.Sorted(maps.Keys(f.Pin)) {
		s.pins = append(s.pins, pin{http.CanonicalHeaderKey(name), f.Pin[name]})
	}
	c.template(f)
	c.listed(f.Headers)
	c.token(f)
	c.keySource(f.Keys)
	for i := range s.from {
		if !slices.Contains(s.from[i].path, anyItem) {
			c.read("signature.from", &s.from[i], &c.rules.before)
		}
	}
	c.rules.scheme = factory.make(c.rules)
}

// keySource reads where the keys are published.
func (c *compiler) keySource(f *keysFile) {
	if f == nil {
		return
	}
	k := &keySource{url: f.URL, names: f.Names}
	if c.rules.sign.symmetric() || c.rules.sign.algorithm == algNone {
		c.fail("signature.keys", "a secret is never published: leave it out")
	}
	if f.At != "" {
		k.at = [][]string{splitPath(f.At)}
	}
	k.id = c.keyPlace("signature.keys.id", f.ID)
	if k.certificate = c.keyPlace("signature.keys.certificate", f.Certificate); k.certificate != nil {
		k.host, k.path = c.pattern("signature.keys.host", f.Host), c.pattern("signature.keys.path", f.Path)
		if len(f.Names) == 0 || f.URL != "" {
			c.fail("signature.keys.names", "of a certificate say host, path and names, and no url")
		}
	} else if !strings.HasPrefix(f.URL, "https://") || strings.HasPrefix(f.URL, "https://{param:") && strings.Count(f.URL, "/") < 3 {
		c.fail("signature.keys.url", "write an https address, or certificate")
	}
	c.rules.sign.published = k
}

func (c *compiler) keyPlace(field, text string) *place {
	if text == "" {
		return nil
	}
	p, err := parsePlace(text, c.rules.sign.prefixes)
	if err != nil || p.kind != inHeader && p.kind != inJSON {
		c.fail(field, "write header:NAME or json:PATH")
	}
	c.read(field, &p, &c.rules.before)
	return &p
}

// pattern is a regular expression that must match the whole.
func (c *compiler) pattern(field, text string) *regexp.Regexp {
	re, err := regexp.Compile(`\A(?:` + text + `)\z`)
	if err != nil || text == "" {
		c.fail(field, "it is no regular expression")
		return nil
	}
	return re
}

func (c *compiler) hash(f *signatureFile) {
	s := &c.rules.sign
	s.hash = orDefault(f.Hash, "sha256")
	switch {
	case hashes[s.hash] == nil:
		c.fail("signature.hash", "unknown hash %q: write one of %v", f.Hash, slices.Sorted(maps.Keys(hashes)))
	case !s.symmetric() && s.algorithm != algNone && hashKinds[s.hash] == 0:
		c.fail("signature.hash", "%s is not for the scheme %s", s.hash, f.Scheme)
	case s.hash == hashKeccak && s.algorithm != algKeyed:
		c.fail("signature.hash", "%s is for the scheme %s", hashKeccak, algKeyed)
	}
}

// written reads where the signature stands and how it is written there.
func (c *compiler) written(f *signatureFile) {
	s := &c.rules.sign
	s.encoding = oneOf(c, "signature.encoding", f.Encoding, s.usualEncoding(), signatureEncodings)
	s.secret = oneOf(c, "signature.secret", f.Secret, encUTF8, secretEncodings)
	s.publicKey = oneOf(c, "signature.public_key", f.PublicKey, formPEM, keyForms)
	if s.algorithm == algNone {
		if f.From != "" || f.Format != "" {
			c.fail("signature", "the scheme none checks nothing: leave out from and format")
		}
		return
	}
	from, text := f.From, orDefault(f.Format, slotSignature)
	if s.algorithm == algBasic {
		from, text = orDefault(f.From, "header:Authorization"), orDefault(f.Format, "Basic "+slotSignature)
	}
	var err error
	if from != "" || s.layout != "adyen" {
		if s.from, err = parseChoice(from, f.Prefixes); err != nil {
			c.fail("signature.from", "%v", err)
		}
	}
	if s.format, err = parseFormat(text, f.Separator); err != nil {
		c.fail("signature.format", "%v", err)
	}
	if s.format.groups = f.Groups; f.Groups != "" && f.Separator == "" {
		c.fail("signature.groups", "say separator: how the entries of each are told apart")
	}
	if s.derive = f.Derive; s.derive != "" && (hashes[s.derive] == nil || s.algorithm != algHMAC) {
		c.fail("signature.derive", "it is a hash that makes the key of an HMAC")
	}
	for i := range s.from {
		if s.layout != "adyen" && !c.eachItem(&s.from[i]) && slices.Contains(s.from[i].path, anyItem) {
			c.fail("signature.from", "%s is within a list: no template can sign each item", &s.from[i])
		}
	}
}

// eachItem says that p is where each item of a batch shows the secret.
func (c *compiler) eachItem(p *place) bool {
	return c.rules.sign.algorithm == algToken && p.kind == inJSON && strings.HasPrefix("json:"+p.name, c.file.Items+".") && c.file.Items != ""
}

// templated are the schemes that sign by template.
var templated = []string{algHMAC, algKeyed, algEd25519, algECDSA, algRSA}

func (c *compiler) template(f *signatureFile) {
	if !slices.Contains(templated, f.Scheme) {
		if f.Signed != "" {
			c.fail("signature.signed", "the scheme %s does not take a template: leave it out", f.Scheme)
		}
		return
	}
	t, err := parseTemplate(f.Signed, f.Prefixes)
	if err != nil {
		c.fail("signature.signed", "%v", err)
	}
	for i := range t {
		if slices.Contains(t[i].place.path, anyItem) {
			c.fail("signature.signed", "%s is within a list: no template can sign each item", &t[i].place)
		}
		if t[i].kind == placePart {
			c.read("signature.signed", &t[i].place, &c.rules.before)
		}
	}
	switch secret := t.has(secretPart); {
	case f.Scheme == algKeyed && !secret:
		c.fail("signature.signed", "say where the secret stands: {body}{secret}")
	case f.Scheme == algKeyed && t[0].kind == secretPart && (t.has(documentPart) || t.has(sortedPart)):
		c.fail("signature.signed", "after a leading secret only {body} is held to be one JSON document")
	case secret && f.Scheme != algKeyed && f.Scheme != algHMAC:
		c.fail("signature.signed", "the scheme %s has no secret", f.Scheme)
	}
	c.rules.sign.template = t
}
