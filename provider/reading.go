package provider

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/recibohq/recibo"
)

// A reading is what is known of one delivery on its way from Verify to Events. It belongs to that delivery alone.
type reading struct {
	verified   recibo.Verified
	pieces     []piece // what verified, in order
	signatures [][]byte
	written    written // where the signature stands
	set        int     // which of the sender's header prefixes is in use
	keys       *publicKeys
	vague      bool  // the listed headers could be split otherwise: none of them is a fact
	fault      error // verified, but unreadable
	own        any   // the scheme's

	token  []byte    // what the token holds, where that is read in place of the body
	claims *document // the token's claims, where those are read beside the body
	doc    *document // the body, once it was read
	docErr error

	room struct { // so that a small delivery needs no further memory
		pieces     [8]piece
		signatures [2][]byte
		texts      [2]string
		bytes      [320]byte
	}
	bytes []byte
}

func newReading() *reading {
	r := &reading{}
	r.pieces = r.room.pieces[:0]
	r.signatures = r.room.signatures[:0]
	r.written.signatures = r.room.texts[:0]
	r.bytes = r.room.bytes[:0]
	return r
}

// keep is text as bytes that live as long as r.
func (r *reading) keep(text string) []byte {
	start := len(r.bytes)
	r.bytes = append(r.bytes, text...)
	return r.bytes[start:len(r.bytes):len(r.bytes)]
}

// signed is the text of the signed part that is p.
func (r *reading) signed(p *place) (string, bool) {
	for i := range r.pieces {
		if from := r.pieces[i].from; from != nil && from.kind == placePart && from.place.same(p) {
			return string(r.pieces[i].bytes), true
		}
	}
	return "", false
}

// A document is a body, or an item of one, and what was found in it.
type document struct {
	src    []byte
	inBody bool  // src is the body itself, not what was decoded from it
	field0 value // the field that holds it
	opaque bool  // it was encoded, so that nothing in it has a place in the body
	paths  []value
	names  []value
	items  []span
}

// A packing is what a document is wrapped in.
type packing struct {
	field string // of a form or a multipart body that may hold it
	xml   bool   // it is XML, in a field perhaps in base64
	item  bool   // it is an item of one: its root has no name in the paths
}

// readDocument reads the fields of set from body: a form if it does not begin as JSON does and the set can be found in a
// form, else JSON, or XML where that is due. The Content-Type is not signed, so the bytes decide.
func readDocument(body []byte, set *fieldSet, in packing) (*document, error) {
	values := make([]value, len(set.paths)+len(set.names))
	doc := &document{src: body, inBody: true, paths: values[:len(set.paths)], names: values[len(set.paths):]}
	switch {
	case in.field == "" && in.xml:
		return doc, doc.read(set, in)
	case looksLikeJSON(body):
		return doc, doc.walk(set)
	case in.field != "":
		if done, err := doc.unwrap(set, in); done || err != nil {
			return doc, err
		}
	}
	if len(set.names) == 0 {
		return doc, errors.New("not JSON")
	}
	return doc, readForm(body, set.names, doc.names)
}

// read reads the document's own fields. Where there are none it may be anything.
func (doc *document) read(set *fieldSet, in packing) (err error) {
	if len(set.paths) == 0 {
		return nil
	}
	if in.xml {
		doc.items, err = walkXML(doc.src, set.paths, doc.paths, in.item)
		return err
	}
	return doc.walk(set)
}

func (doc *document) walk(set *fieldSet) (err error) {
	doc.items, err = walk(doc.src, set.paths, doc.paths)
	return err
}

// unwrap reads a form one field of which holds the document, if it is there.
func (doc *document) unwrap(set *fieldSet, in packing) (done bool, err error) {
	body := doc.src
	if bytes.HasPrefix(body, []byte("--")) {
		if doc.src, err = partNamed(body, in.field); err != nil {
			return false, err
		}
		doc.inBody, doc.field0.start = false, bytes.Index(body, doc.src)
		return true, doc.read(set, in)
	}
	if !bytes.Contains(body, []byte(in.field)) {
		return false, nil
	}
	names := append([]string{in.field}, set.names...)
	fields := make([]value, len(names))
	if err := readForm(body, names, fields); err != nil {
		return false, err
	}
	if fields[0].kind == 0 {
		return false, nil
	}
	if i := slices.Index(set.names, in.field); i >= 0 {
		fields[i+1] = fields[0]
	}
	doc.src, doc.inBody, doc.names, doc.field0 = []byte(fields[0].text), false, fields[1:], fields[0]
	if in.xml && !bytes.HasPrefix(doc.src, []byte("<")) && len(set.paths) > 0 {
		if doc.src, err = base64.StdEncoding.DecodeString(fields[0].text); err != nil { // lines are usual in it
			return false, err
		}
		doc.opaque = true
	}
	return true, doc.read(set, in)
}

// within is where a stretch of the document lies in the body; of what a token holds, the whole body.
func (r *reading) within(doc *document, body []byte, s span) span {
	switch {
	case r.token != nil, doc.opaque:
		return span{0, len(body)}
	case doc.inBody:
		return s
	}
	f := doc.field0
	if f.kind == 0 { // a part of its own, as it is
		return span{f.start + s.start, f.start + s.end}
	}
	encoded := body[f.start:f.end]
	return span{f.start + encodedLen(encoded, s.start), f.start + encodedLen(encoded, s.end)}
}

// byteOrderMark may stand once before a document. It is passed over in reading, never in verifying.
var byteOrderMark = []byte("\xef\xbb\xbf")

func looksLikeJSON(body []byte) bool {
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(body, byteOrderMark), " \t\r\n")
	return len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[')
}

// field returns the text at p.
func (doc *document) field(p *place) (string, bool, error) {
	text, ok, err := doc.value(p).read(doc.src)
	if err == nil && ok && p.inner != nil {
		return fieldOf([]byte(text), p.inner)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", p, err)
	}
	return text, ok, err
}

// fieldOf is the text at p of a JSON text.
func fieldOf(src []byte, p *place) (string, bool, error) {
	var set fieldSet
	at := *p
	if err := set.add(&at); err != nil {
		return "", false, err
	}
	doc, err := readDocument(src, &set, packing{})
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", p, err)
	}
	return doc.field(&at)
}

// span is where the value at p lies.
func (doc *document) span(p *place) (span, bool) {
	v := doc.value(p)
	return span{v.start, v.end}, v.kind != 0
}

func (doc *document) value(p *place) value {
	switch {
	case (p.pathed() || p.kind == inClaim) && p.index < len(doc.paths):
		return doc.paths[p.index]
	case p.kind == inForm && p.index < len(doc.names):
		return doc.names[p.index]
	default:
		return value{}
	}
}

// header returns the one value of a header. A second value is an error: two readers could choose differently.
func header(h http.Header, name string) (string, error) {
	values := h[name]
	switch {
	case len(values) > 1:
		return "", fmt.Errorf("%w: %d values of %s", recibo.MalformedSignature, len(values), name)
	case len(values) == 0 || values[0] == "":
		return "", fmt.Errorf("%w: no %s", recibo.MissingSignature, name)
	case len(values[0]) > maxSignatureText:
		return "", fmt.Errorf("%w: %s has %d bytes", recibo.MalformedSignature, name, len(values[0]))
	case !printable(values[0]):
		return "", fmt.Errorf("%w: %s is not plain ASCII", recibo.MalformedSignature, name)
	}
	return values[0], nil
}

// hint returns a header that no signature covers, or nothing unless it is one short plain value.
func hint(h http.Header, name string) string {
	if values := h[name]; len(values) == 1 && len(values[0]) <= 255 && printable(values[0]) {
		return values[0]
	}
	return ""
}

func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
