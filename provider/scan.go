package provider

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text passes over a JSON string.
func (w *walker) text() error {
	w.pos++
	for w.pos < len(w.src) {
		switch c := w.src[w.pos]; {
		case c == '"':
			w.pos++
			return nil
		case c < 0x20:
			return w.broken("control character in a string")
		case c == '\\':
			if err := w.escape(); err != nil {
				return err
			}
		default:
			w.pos++
		}
	}
	return w.broken("a string does not end")
}

func (w *walker) escape() error {
	rest := w.src[w.pos+1:]
	if len(rest) == 0 {
		return w.broken("a string does not end")
	}
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		w.pos += 2
		return nil
	case 'u':
		if len(rest) < 5 || !allHex(rest[1:5]) {
			return w.broken(`want four hex digits after \u`)
		}
		w.pos += 6
		return nil
	default:
		return w.broken("unknown escape")
	}
}

func allHex(b []byte) bool {
	for _, c := range b {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

// number passes over a JSON number; its value stays the bytes that were sent.
func (w *walker) number() error {
	if w.at() == '-' {
		w.pos++
	}
	switch c := w.at(); {
	case c == '0':
		w.pos++
	case c >= '1' && c <= '9':
		w.digits()
	default:
		return w.broken("want a digit")
	}
	if w.at() == '.' {
		w.pos++
		if w.digits() == 0 {
			return w.broken("want a digit")
		}
	}
	if c := w.at(); c == 'e' || c == 'E' {
		w.pos++
		if c := w.at(); c == '+' || c == '-' {
			w.pos++
		}
		if w.digits() == 0 {
			return w.broken("want a digit")
		}
	}
	return nil
}

// at is the byte here, 0 at the end.
func (w *walker) at() byte {
	if w.pos == len(w.src) {
		return 0
	}
	return w.src[w.pos]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (w *walker) digits() (n int) {
	for ; isDigit(w.at()); n++ {
		w.pos++
	}
	return n
}

// read is the value as text: a string decoded, a number or a truth value as sent. ok is false when it is absent or null.
func (v value) read(src []byte) (text string, ok bool, err error) {
	switch v.kind {
	case 0, 'n':
		return "", false, nil
	case 'p':
		return v.text, true, nil
	case '"':
		text, err = unquote(src[v.start+1 : v.end-1])
		return text, true, err
	case '{', '[':
		return "", false, errors.New("an object or a list where a plain value is due")
	default:
		return string(src[v.start:v.end]), true, nil
	}
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unquote decodes the inside of a JSON string that a walker has passed over. Half of a surrogate pair is an error: other
// readers make U+FFFD of every one, so that two names become one.
func unquote(b []byte) (string, error) {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b), nil
	}
	var text strings.Builder
	var lone error
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] != '\\':
			text.WriteByte(b[i])
			continue
		case b[i+1] != 'u':
			text.WriteByte(escapes[b[i+1]])
			i++
			continue
		}
		r := hexRune(b[i+2:])
		i += 5
		if utf16.IsSurrogate(r) {
			pair := utf8.RuneError
			if len(b) > i+6 && b[i+1] == '\\' && b[i+2] == 'u' {
				pair = utf16.DecodeRune(r, hexRune(b[i+3:]))
			}
			if pair == utf8.RuneError {
				lone = fmt.Errorf("half of a surrogate pair: \\u%04x", r)
			} else {
				i += 6
			}
			r = pair
		}
		text.WriteRune(r)
	}
	return text.String(), lone
}

// hexRune reads the four hex digits that b begins with.
func hexRune(b []byte) rune {
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
