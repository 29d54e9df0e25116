package provider

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recibohq/recibo"
)

// maxItems is how many events one delivery may hold.
const maxItems = 10_000

// A view is a verified delivery, or an item of it, as it is read.
type view struct {
	v     *verifier
	d     *recibo.Delivery
	r     *reading
	item  *document // nil outside a batch
	fault error     // the first thing that could not be read
}

func (v *verifier) view(d *recibo.Delivery, r *reading) *view { return &view{v: v, d: d, r: r} }

// Events reads what verified.
func (v *verifier) Events(d *recibo.Delivery, verified *recibo.Verified) []recibo.Event {
	r, ok := verified.Scheme.(*reading)
	if !ok {
		return nil // not of this package: nothing of it verified here
	}
	if len(v.items) > 0 {
		return v.batch(d, r)
	}
	x := v.view(d, r)
	return []recibo.Event{x.event(r.verified.Content, span{0, len(d.Body)})}
}

// batch reads one event for each item. One that is broken does not fail its neighbours.
func (v *verifier) batch(d *recibo.Delivery, r *reading) []recibo.Event {
	doc, err := v.read(d, r)
	if err == nil && (len(doc.items) == 0 || len(doc.items) > maxItems) {
		err = fmt.Errorf("%d items in %s", len(doc.items), v.items)
	}
	if err != nil {
		x := v.view(d, r)
		x.fault = err
		return []recibo.Event{x.event(r.verified.Content, span{0, len(d.Body)})}
	}
	events := make([]recibo.Event, 0, len(doc.items))
	for i, s := range doc.items {
		if a, ok := r.own.(itemJudge); ok && !a.proved(i) {
			continue
		}
		x := v.view(d, r)
		if x.item, err = readDocument(doc.src[s.start:s.end], &v.item, packing{xml: v.packing.xml, item: true}); err != nil {
			x.item, x.fault = nil, err
		}
		events = append(events, x.event(v.itemContent(r, doc, i), r.within(doc, d.Body, s)))
	}
	return events
}

// An itemJudge knows which items of a batch have a valid signature of their own, and what it is over.
type itemJudge interface {
	proved(item int) bool
	content(item int) recibo.Fingerprint
}

func (v *verifier) itemContent(r *reading, doc *document, i int) recibo.Fingerprint {
	if a, ok := r.own.(itemJudge); ok {
		return a.content(i)
	}
	s := doc.items[i]
	return fingerprint(tagItem, []piece{{bytes: doc.src[s.start:s.end]}})
}

// event puts together what is known. Whatever cannot be read is a fault: the event is kept under a key of its own and
// waits for a person.
func (x *view) event(content recibo.Fingerprint, at span) recibo.Event {
	e := recibo.Event{Content: content, Start: at.start, End: at.end}
	x.note(x.r.fault)
	e.Type = x.words(x.v.typ)
	e.Account = x.text(x.v.account)
	e.Version = x.text(x.v.version)
	e.Object = x.object()
	if len(x.v.occurred) > 0 {
		quiet := *x // it decides nothing, so what cannot be read is no fault
		e.OccurredAt = occurred(quiet.text(x.v.occurred), x.v.occurUnit)
	}
	var id []string
	if !x.v.idRenewed {
		id = x.whole(x.v.id)
		e.ID = strings.Join(id, " ")
	}
	x.name(&e, id)
	x.required()
	if len(x.v.review) > 0 && slices.Contains(x.v.reviewed, x.text(x.v.review)) {
		x.note(recibo.ForPerson)
	}
	e.Fault = reasonOf(x.fault)
	if e.Key == "" || e.Fault != "" && e.Fault != recibo.MissingField && e.Fault != recibo.ForPerson {
		e.Key = recibo.FingerprintKey(recibo.KeyFingerprint, content)
	}
	return e
}

// whole are the texts at all of the places, or none if one is missing.
func (x *view) whole(choices []choice) []string {
	texts := x.texts(choices)
	if slices.Contains(texts, "") {
		return nil
	}
	return texts
}

// name gives the event its key; id is the unsigned one.
func (x *view) name(e *recibo.Event, id []string) {
	var err error
	switch rule := &x.v.key; rule.kind {
	case recibo.KeyFingerprint:
		if x.v.profile.TypesShare { // types may have equal bytes: each content counts once a type
			e.Key, err = recibo.NewKey(recibo.KeyFingerprint, e.Content.String(), e.Type)
		}
	case recibo.KeyID:
		e.ID = x.text(rule.from[0])
		if e.ID == "" && rule.orElse {
			return
		}
		e.Key, err = recibo.NewKey(recibo.KeyID, e.ID)
	case recibo.KeyComposite:
		parts := x.texts(rule.from)
		if parts[0] == "" && rule.orElse {
			return
		}
		e.Key, err = recibo.NewKey(recibo.KeyComposite, parts...)
	case recibo.KeyToken:
		err = x.spend(e, id)
	case recibo.KeyCredential:
		e.Key = recibo.FingerprintKey(recibo.KeyCredential, e.Content)
		if len(id) > 0 {
			e.Key, err = recibo.NewKey(recibo.KeyCredential, append([]string{"id"}, id...)...)
		}
	}
	x.note(err)
}

// spend names an event of a sender that signs a token only: by the token, and by the unsigned id where there is one. The
// first part says which, so that the two never meet.
func (x *view) spend(e *recibo.Event, id []string) (err error) {
	token := []string{"token"}
	whole := true
	for _, c := range x.v.key.from {
		text := x.text(c)
		token = append(token, text)
		whole = whole && text != ""
	}
	if !whole { // what is left may be shared by several events but for the time
		token = append(token, strconv.FormatInt(x.r.verified.At.UnixMicro(), 10))
	}
	if e.Token, err = recibo.NewKey(recibo.KeyToken, token...); err != nil {
		return err
	}
	e.Key = e.Token
	if len(id) > 0 {
		e.Key, err = recibo.NewKey(recibo.KeyToken, append([]string{"id"}, id...)...)
	}
	return err
}

// required checks the places that the source asks for.
func (x *view) required() {
	for i := range x.v.require {
		if p := &x.v.require[i]; !x.present(p) {
			x.note(fmt.Errorf("%w: %s", recibo.MissingField, p))
		}
	}
}

// present says that something stands at p, be it a list or an object.
func (x *view) present(p *place) bool {
	if !p.inBody() {
		text, err := x.field(p)
		return err == nil && text != ""
	}
	doc := x.document(p)
	if doc == nil {
		return false
	}
	if p.inner != nil {
		text, err := x.field(p)
		return err == nil && text != ""
	}
	kind := doc.value(p).kind
	return kind != 0 && kind != 'n'
}

// note keeps the first fault.
func (x *view) note(err error) {
	if x.fault == nil {
		x.fault = err
	}
}

// reasonOf is the reason for review: what is not known better is unreadable.
func reasonOf(err error) recibo.Reason {
	if err == nil {
		return ""
	}
	if why := recibo.Reason(""); errors.As(err, &why) {
		return why
	}
	return recibo.Unreadable
}

// words joins several places with dots, leaving out those that are absent.
func (x *view) words(choices []choice) string {
	all := ""
	for _, c := range choices {
		switch text := x.text(c); {
		case text == "":
		case all == "":
			all = text
		default:
			all += "." + text
		}
	}
	return all
}

func (x *view) object() string {
	rule := &x.v.object
	id := x.text(rule.id)
	if id == "" {
		return ""
	}
	return cmp.Or(rule.word, x.text(rule.kind), "object") + "/" + id
}

func (x *view) texts(choices []choice) []string {
	all := make([]string, len(choices))
	for i, c := range choices {
		all[i] = x.text(c)
	}
	return all
}

// text is the first alternative that is present. One that cannot be read is a fault.
func (x *view) text(c choice) string {
	for i := range c {
		text, err := x.field(&c[i])
		if err == nil {
			err = clean(text)
		}
		if err != nil {
			x.note(err)
			return ""
		}
		if text != "" {
			return text
		}
	}
	return ""
}

// clean holds what is stored and shown to the rules for keys: short and without control characters.
func clean(text string) error {
	if len(text) > recibo.MaxKey {
		return fmt.Errorf("%d bytes, more than %d", len(text), recibo.MaxKey)
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] == 0x7f {
			return fmt.Errorf("control character at byte %d", i)
		}
	}
	return nil
}

// field is the text at p: from what was signed, where p is a part of that.
func (x *view) field(p *place) (string, error) {
	if text, ok := x.r.signed(p); ok && !p.item {
		return text, nil
	}
	switch p.kind {
	case inHeader:
		if x.r.vague && x.v.sign.listed.find(p) != nil {
			return "", nil
		}
		return hint(x.d.Header, p.names[min(x.r.set, len(p.names)-1)]), nil
	case inQuery:
		text, _, _ := queryValue(x.d.RawQuery, p.name) // not signed, or it were a part: what cannot be read is no hint
		return text, nil
	case inClaim:
		if x.r.claims == nil {
			return "", nil
		}
		text, _, err := x.r.claims.field(p)
		return text, err
	case inJSON, inXML, inForm:
		doc := x.document(p)
		if doc == nil {
			return "", x.r.docErr
		}
		text, _, err := doc.field(p)
		return text, err
	default:
		return "", nil
	}
}

// document is what p is read from, nil if that cannot be read.
func (x *view) document(p *place) *document {
	if p.item {
		return x.item
	}
	doc, err := x.v.read(x.d, x.r)
	if err != nil {
		return nil
	}
	return doc
}
