package provider

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/recibohq/recibo"
)

// A compiler makes rules of what a file says, noting all that is wrong with it.
type compiler struct {
	origin *origin
	prefix string // of the fields' paths: "" or "variants.v1a."
	file   *rulesFile
	rules  *rules
	errs   []error
}

func (c *compiler) fail(field, text string, args ...any) {
	c.errs = append(c.errs, c.origin.at(c.prefix+field, fmt.Sprintf(text, args...)))
}

// compile reads f. What can only be said of the whole, such as what the signature covers, comes last.
func (c *compiler) compile() (*rules, error) {
	c.rules.about = c.file.About
	if c.file.Signature == nil {
		c.fail("signature", "it is missing: say how the sender signs")
		return nil, errors.Join(c.errs...)
	}
	c.packing()
	c.signature(c.file.Signature)
	c.timing()
	if len(c.errs) > 0 {
		return nil, errors.Join(c.errs...)
	}
	c.facts()
	c.key()
	c.cuts()
	c.handshakes()
	c.profile()
	if len(c.errs) > 0 {
		return nil, errors.Join(c.errs...)
	}
	c.covered()
	return c.rules, errors.Join(c.errs...)
}

// timing reads where the time is, and lets the template know which of its parts is one.
func (c *compiler) timing() {
	f, r := c.file.Time, c.rules
	if f != nil {
		r.time.unit = oneOf(c, "time.unit", f.Unit, seconds, units)
		r.time.kind = oneOf(c, "time.kind", f.Kind, recibo.EventTime, []recibo.TimeKind{recibo.SendTime, recibo.EventTime})
		var err error
		if r.time.from, err = parsePlace(f.From, r.sign.prefixes); err != nil {
			c.fail("time.from", "%v", err)
		}
		if slices.Contains(r.time.from.path, anyItem) {
			c.fail("time.from", "%s is the time of an item, not of the delivery: use occurred", &r.time.from)
		}
		c.read("time.from", &r.time.from, &r.after)
	}
	for i := range r.sign.template {
		part := &r.sign.template[i]
		isTime := f != nil && part.kind == placePart && part.place.same(&r.time.from)
		if part.time && !isTime {
			c.fail("signature.signed", "{time} needs a time: {from: signature, unit: …}")
		}
		part.time = isTime && r.time.unit != auto && r.time.unit != iso
	}
	if err := r.sign.template.settle(r.time.unit); err != nil {
		c.fail("signature.signed", "%v", err)
	}
}

// facts reads the places of what informs.
func (c *compiler) facts() {
	f, r := c.file, c.rules
	if f.Items != "" {
		c.items(f.Items)
	}
	for _, text := range f.ID {
		r.id = append(r.id, c.choice("id", text))
	}
	r.idRenewed = isTrue(f.IDRenewed)
	for _, text := range f.Type {
		r.typ = append(r.typ, c.choice("type", text))
	}
	r.account = c.choice("account", f.Account)
	r.version = c.choice("version", f.Version)
	c.object()
	if f.Occurred != nil {
		r.occurred = c.choice("occurred.from", f.Occurred.From)
		r.occurUnit = oneOf(c, "occurred.unit", f.Occurred.Unit, auto, units)
	}
	if f.Review != nil {
		if r.review, r.reviewed = c.choice("review.from", f.Review.From), f.Review.Is; len(r.review) == 0 || len(r.reviewed) == 0 {
			c.fail("review", "say from, and is: a list")
		}
	}
	r.unprotected = f.Unprotected
	r.repeats = isTrue(f.Repeats)
}

func (c *compiler) object() {
	f, r := c.file.Object, c.rules
	if f == nil {
		return
	}
	r.object.id = c.choice("object.id", f.ID)
	if f.Kind == "" || f.ID == "" {
		c.fail("object", "say kind, a word or a place, and id: two kinds may use one id")
	}
	if strings.Contains(f.Kind, ":") {
		r.object.kind = c.choice("object.kind", f.Kind)
	} else {
		r.object.word = f.Kind
	}
}

// packing reads what the document is wrapped in.
func (c *compiler) packing() {
	f, p := c.file, &c.rules.packing
	text, field := f.JSONIn, "json_in"
	if f.XMLIn != "" {
		text, field, p.xml = f.XMLIn, "xml_in", true
	}
	var ok bool
	p.field, ok = strings.CutPrefix(text, "form:")
	if text == "body" && p.xml {
		p.field = ""
	} else if text != "" && (!ok || p.field == "") || f.XMLIn != "" && f.JSONIn != "" {
		c.fail(field, `write "form:NAME" (or of xml_in "body"), and one of json_in and xml_in`)
	}
}

func (c *compiler) items(text string) {
	lists, err := parseChoice(text, nil)
	for i := range lists {
		p := &lists[i]
		if !p.pathed() || p.path[len(p.path)-1] != anyItem {
			err = fmt.Errorf(`write the path of a list: "json:events[]"`)
			break
		}
		c.read("items", p, &c.rules.after)
	}
	if err != nil {
		c.fail("items", "%v", err)
		return
	}
	c.rules.items = lists
}

// within has p, if it is in an item, be relative to that.
func (r *rules) within(p *place) bool {
	for i := range r.items {
		if list := r.items[i].path; p.kind == r.items[i].kind && len(p.path) > len(list) && slices.Equal(p.path[:len(list)], list) {
			p.item, p.path = true, p.path[len(list):]
			return true
		}
	}
	return false
}

// choice reads a place or several, and has them read of the body or of each item.
func (c *compiler) choice(field, text string) choice {
	if text == "" {
		return nil
	}
	ch, err := parseChoice(text, c.rules.sign.prefixes)
	if err != nil {
		c.fail(field, "%v", err)
		return nil
	}
	for i := range ch {
		c.place(field, &ch[i])
	}
	return ch
}

func (c *compiler) place(field string, p *place) {
	if c.rules.within(p) {
		c.read(field, p, &c.rules.item)
		return
	}
	if slices.Contains(p.path, anyItem) {
		c.fail(field, "%s is within a list: say items: json:…[] for the list whose elements are the events", p)
		return
	}
	c.read(field, p, &c.rules.after)
}

func (c *compiler) read(field string, p *place, set *fieldSet) {
	switch {
	case p.kind == inClaim && c.rules.sign.layout != layoutJWS:
		c.fail(field, "%s: only a token has claims", p)
		return
	case p.kind == inClaim:
		set = &c.rules.token.set
	case p.kind == inXML && !c.rules.packing.xml, p.kind == inJSON && c.rules.packing.xml:
		c.fail(field, "%s: the document is JSON, or with xml_in XML", p)
	}
	if err := set.add(p); err != nil {
		c.fail(field, "%v", err)
	}
}

// kinds are the names of the kinds of key in a file.
var kinds = map[string]recibo.KeyKind{
	"id": recibo.KeyID, "fingerprint": recibo.KeyFingerprint, "composite": recibo.KeyComposite,
	"token": recibo.KeyToken, "credential": recibo.KeyCredential,
}

func (c *compiler) key() {
	f := c.file.Key
	if f == nil {
		c.fail("key", "it is missing: say kind: id, fingerprint, composite, token or credential")
		return
	}
	k := &c.rules.key
	var ok bool
	if k.kind, ok = kinds[f.Kind]; !ok {
		c.fail("key.kind", "unknown kind %q%s", f.Kind, suggestion(f.Kind, slices.Sorted(maps.Keys(kinds))))
		return
	}
	for _, text := range f.From {
		k.from = append(k.from, c.choice("key.from", text))
	}
	k.orElse = f.Else == "fingerprint"
	switch {
	case f.Else != "" && (!k.orElse || k.kind != recibo.KeyID && k.kind != recibo.KeyComposite):
		c.fail("key.else", "only an id or the first part of a composite can be missing, and only a fingerprint can stand for it")
	case k.kind == recibo.KeyID && len(f.From) != 1:
		c.fail("key.from", "an id has one place; if several fields name the event together, the kind is composite")
	case (k.kind == recibo.KeyComposite || k.kind == recibo.KeyToken) && len(f.From) == 0:
		c.fail("key.from", "it is missing: name the places")
	case (k.kind == recibo.KeyFingerprint || k.kind == recibo.KeyCredential) && len(f.From) > 0:
		c.fail("key.from", "a %s is not made of places: name an unsigned id in the field id", f.Kind)
	}
}

// cuts marks what is renewed per try.
func (c *compiler) cuts() {
	r := c.rules
	for _, text := range c.file.Cut {
		p, err := r.time.from, error(nil)
		if text != "time" {
			p, err = parsePlace(text, r.sign.prefixes)
		} else if p.kind == "" {
			err = errors.New("there is no time")
		}
		if err != nil {
			c.fail("cut", "%v", err)
			continue
		}
		if part := r.sign.find(&p); part != nil {
			part.cut = true
			continue
		}
		if text == "time" && !r.scheme.covers(&p) || p.kind == inClaim {
			continue // said of the time itself, or never part of the content
		}
		if !p.inBody() || r.packing != (packing{}) || len(r.items) > 0 {
			c.fail("cut", "%s is no signed part and no member of the body", &p)
			continue
		}
		c.read("cut", &p, &r.after)
		r.cuts = append(r.cuts, p)
	}
}

func (c *compiler) duration(field, text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := parseDuration(text)
	if err != nil {
		c.fail(field, "%q is no duration: write 30s, 5m, 12h or 3d", text)
	}
	return d
}

func parseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		d, err := time.ParseDuration(days + "h")
		return 24 * d, err
	}
	return time.ParseDuration(text)
}

func oneOf[T ~string](c *compiler, field, text string, def T, all []T) T {
	one := orDefault(T(text), def)
	if !slices.Contains(all, one) {
		c.fail(field, "unknown %q: write one of %v", text, all)
	}
	return one
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

func isTrue(b *bool) bool { return b != nil && *b }
