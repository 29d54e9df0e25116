package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// setText returns the JSON document src with text at path; objects that are missing are made. Every other byte stays.
func setText(src []byte, path []string, text string) ([]byte, error) {
	prefixes := make([][]string, len(path)+1)
	for i := range prefixes {
		prefixes[i] = path[:i]
	}
	values := make([]value, len(prefixes))
	if _, err := walk(src, prefixes, values); err != nil {
		return nil, err
	}
	deepest := len(path)
	for values[deepest].kind == 0 {
		deepest--
	}
	v := values[deepest]
	if deepest == len(path) {
		return splice(src, span{v.start, v.end}, quote(text)), nil
	}
	if v.kind != '{' {
		return nil, fmt.Errorf("%v is no object: %s cannot be put into it", path[:deepest], path[deepest])
	}
	member := quote(text)
	for i := len(path) - 1; i >= deepest; i-- {
		member = bytes.Join([][]byte{quote(path[i]), []byte(":"), member}, nil)
		if i > deepest {
			member = bytes.Join([][]byte{[]byte("{"), member, []byte("}")}, nil)
		}
	}
	if inside := bytes.TrimSpace(src[v.start+1 : v.end-1]); len(inside) > 0 {
		member = append(member, ',')
	}
	return splice(src, span{v.start + 1, v.start + 1}, member), nil
}

// quote writes text as JSON, without the escapes that package json adds for HTML.
func quote(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// jsonString is text as JSON.stringify writes it: nothing but quotes, backslashes and control characters escaped.
func jsonString(text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("not UTF-8")
	}
	quoted := append(make([]byte, 0, len(text)+len(text)/8+2), '"')
	for _, c := range text {
		switch short := strings.IndexByte("\b\f\n\r\t", c); {
		case c == '"' || c == '\\':
			quoted = append(quoted, '\\', c)
		case short >= 0:
			quoted = append(quoted, '\\', "bfnrt"[short])
		case c < ' ':
			quoted = fmt.Appendf(quoted, "\\u%04x", c)
		default:
			quoted = append(quoted, c)
		}
	}
	return append(quoted, '"'), nil
}

// setField returns the form src with one field set.
func setField(src []byte, name, text string) ([]byte, error) {
	found := make([]value, 1)
	if err := readForm(src, []string{name}, found); err != nil {
		return nil, err
	}
	if v := found[0]; v.kind != 0 {
		return splice(src, span{v.start, v.end}, []byte(escapeQuery(text))), nil
	}
	pair := escapeQuery(name) + "=" + escapeQuery(text)
	if len(src) > 0 {
		pair = "&" + pair
	}
	return append(bytes.Clone(src), pair...), nil
}

func escapeQuery(text string) string { return url.QueryEscape(text) }
