package provider

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"slices"
	"strings"
	"unicode/utf8"
)

// A pair is one field of a form or query, still encoded, and where its value lies.
type pair struct {
	name, value []byte
	start, end  int
}

// eachPair goes over the fields of a form as it was sent, until f returns false.
func eachPair(src []byte, f func(pair) bool) {
	for start := 0; start < len(src); {
		end := start + len(src[start:])
		if n := bytes.IndexByte(src[start:], '&'); n >= 0 {
			end = start + n
		}
		name, val, _ := bytes.Cut(src[start:end], []byte{'='})
		if end > start && !f(pair{name, val, end - len(val), end}) {
			return
		}
		start = end + 1
	}
}

// unescape decodes "+" and "%41". What is not well formed, or not UTF-8 once decoded, is an error.
func unescape(b []byte) (string, error) {
	var text strings.Builder
	text.Grow(len(b))
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '+':
			text.WriteByte(' ')
		case b[i] != '%':
			text.WriteByte(b[i])
		case len(b) < i+3 || !allHex(b[i+1:i+3]):
			return "", fmt.Errorf("want two hex digits after %%: %q", b[i:])
		default:
			text.WriteByte(unhex(b[i+1])<<4 | unhex(b[i+2]))
			i += 2
		}
	}
	if !utf8.ValidString(text.String()) {
		return "", errors.New("not UTF-8")
	}
	return text.String(), nil
}

// encodedLen is how many bytes of b the first n that unescape makes of it take.
func encodedLen(b []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(b); n-- {
		if b[i] == '%' {
			i += 2
		}
		i++
	}
	return min(i, len(b))
}

// sortedForm joins a form's fields as some senders sign them: name and value, sorted by name, nothing between. The borders
// can be moved within the text that this makes, so it is the text that names an event.
func sortedForm(body []byte) ([]byte, error) {
	fields, err := formFields(body)
	if err != nil {
		return nil, err
	}
	var joined []byte
	for _, f := range fields {
		joined = append(append(joined, f.name...), f.value...)
	}
	return joined, nil
}

// A formField is decoded.
type formField struct{ name, value string }

// formFields are the fields of a form, sorted by name. None may occur twice.
func formFields(body []byte) (fields []formField, err error) {
	if looksLikeJSON(body) {
		return nil, errors.New("not a form")
	}
	eachPair(body, func(p pair) bool {
		var f formField
		if f.name, err = unescape(p.name); err == nil {
			f.value, err = unescape(p.value)
		}
		if len(fields) == maxFields {
			err = fmt.Errorf("more than %d fields", maxFields)
		}
		fields = append(fields, f)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(fields, func(a, b formField) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(fields); i++ {
		if fields[i-1].name == fields[i].name {
			return nil, fmt.Errorf("field %q occurs twice", fields[i].name)
		}
	}
	return fields, nil
}

// partNamed returns the one part of a multipart body that is called name, as it is. The boundary is what the body begins
// with: the header that says it is not signed.
func partNamed(body []byte, name string) ([]byte, error) {
	line, _, _ := bytes.Cut(body, []byte("\r\n"))
	if len(line) < 3 || len(line) > 72 {
		return nil, errors.New("no multipart boundary")
	}
	reader := multipart.NewReader(bytes.NewReader(body), string(line[2:]))
	var found []byte
	for n := 0; ; n++ {
		part, err := reader.NextRawPart()
		switch {
		case errors.Is(err, io.EOF) && found != nil:
			return found, nil
		case err != nil:
			return nil, fmt.Errorf("no part %q: %w", name, err)
		case n > maxParts:
			return nil, fmt.Errorf("more than %d parts", maxParts)
		case part.FormName() != name:
			continue
		case found != nil:
			return nil, fmt.Errorf("part %q occurs twice", name)
		}
		if found, err = io.ReadAll(part); err != nil {
			return nil, err
		}
	}
}

const maxParts = 100

func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	default:
		return c - '0'
	}
}

// withoutFields is a form without some of its fields. The whole field goes, with its name and a separator, for the first try
// may be without it.
func (doc *document) withoutFields(cuts []place) []byte {
	var left []byte
	at := 0
	eachPair(doc.src, func(p pair) bool {
		if !slices.ContainsFunc(cuts, func(c place) bool { v := doc.value(&c); return v.kind != 0 && v.start == p.start }) {
			return true
		}
		start := max(bytes.LastIndexByte(doc.src[:p.start], '&'), 0)
		left = append(left, doc.src[at:start]...)
		if at = p.end; start == 0 {
			at = min(p.end+1, len(doc.src))
		}
		return true
	})
	return append(left, doc.src[at:]...)
}

// readForm reads the fields called names into values. One that is read may occur only once.
func readForm(src []byte, names []string, values []value) (err error) {
	eachPair(src, func(p pair) bool {
		var i int
		if i, err = fieldIndex(p.name, names); err != nil || i < 0 {
			return err == nil
		}
		if values[i].kind != 0 {
			err = fmt.Errorf("field %q occurs twice", names[i])
			return false
		}
		var text string
		text, err = unescape(p.value)
		values[i] = value{kind: 'p', start: p.start, end: p.end, text: text}
		return err == nil
	})
	return err
}

// fieldIndex finds an encoded name among names, -1 if it is none of them.
func fieldIndex(encoded []byte, names []string) (int, error) {
	if !bytes.ContainsAny(encoded, "%+") { // most are plain: nothing to decode
		return slices.IndexFunc(names, func(name string) bool { return name == string(encoded) }), nil
	}
	name, err := unescape(encoded)
	return slices.Index(names, name), err
}

// queryValue returns the one parameter called name. ok is false when it is absent.
func queryValue(rawQuery, name string) (text string, ok bool, err error) {
	if rawQuery == "" {
		return "", false, nil
	}
	found := [1]value{}
	if err = readForm([]byte(rawQuery), []string{name}, found[:]); err != nil {
		return "", false, err
	}
	return found[0].text, found[0].kind != 0, nil
}
