package provider

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep a document may nest.
const maxDepth = 512

// A value is one found field. Start and end are where it lies in the text that was read.
type value struct {
	kind       byte // '"' text, '0' number, 't', 'f', 'n', '{', '['; of a form 'p'; 0 when absent
	start, end int
	text       string // of a form: decoded
}

// A span is where an item lies.
type span struct{ start, end int }

// A walker goes once over a JSON text, checks all of it and keeps the values of some paths. It is stricter than RFC 8259
// where two readers could see two values: a member on a path that is read may not occur twice, in whatever case, and
// bytes must be UTF-8.
type walker struct {
	src    []byte
	pos    int
	depth  int
	paths  [][]string
	values []value // one a path
	items  []span  // of the path that ends in "[]"
}

var errJSON = errors.New("not JSON")

// walk reads src into values, one for each of paths, and returns the elements of the path that ends in "[]".
func walk(src []byte, paths [][]string, values []value) ([]span, error) {
	if !utf8.Valid(src) {
		return nil, errors.New("not UTF-8")
	}
	w := walker{src: src, paths: paths, values: values}
	if bytes.HasPrefix(src, byteOrderMark) {
		w.pos = len(byteOrderMark)
	}
	if err := w.value(uint64(1)<<len(paths)-1, 0); err != nil {
		return nil, err
	}
	w.space()
	if w.pos != len(src) {
		return nil, w.broken("something follows the document")
	}
	return w.items, nil
}

func (w *walker) broken(what string) error {
	return fmt.Errorf("%w at byte %d: %s", errJSON, w.pos, what)
}

func (w *walker) space() {
	for w.pos < len(w.src) {
		switch w.src[w.pos] {
		case ' ', '\t', '\n', '\r':
			w.pos++
		default:
			return
		}
	}
}

// peek is the next byte that is not space, 0 at the end.
func (w *walker) peek() byte {
	w.space()
	if w.pos == len(w.src) {
		return 0
	}
	return w.src[w.pos]
}

// value reads a value. open has a bit for each path that led here; level is how many names of it are used up.
func (w *walker) value(open uint64, level int) error {
	kind := w.peek()
	start := w.pos
	var err error
	switch {
	case kind == '{' || kind == '[':
		err = w.nested(open, level, kind)
	case kind == '"':
		err = w.text()
	case kind == 't':
		err = w.word("true")
	case kind == 'f':
		err = w.word("false")
	case kind == 'n':
		err = w.word("null")
	case kind == '-' || isDigit(kind):
		kind = '0'
		err = w.number()
	default:
		return w.broken("want a value")
	}
	if err != nil {
		return err
	}
	for ; open != 0; open &= open - 1 {
		if i := bits.TrailingZeros64(open); len(w.paths[i]) == level {
			w.values[i] = value{kind: kind, start: start, end: w.pos}
		}
	}
	return nil
}

func (w *walker) nested(open uint64, level int, kind byte) (err error) {
	if w.depth++; w.depth > maxDepth {
		return w.broken("nested too deep")
	}
	w.pos++
	if kind == '{' {
		err = w.object(open, level)
	} else {
		err = w.array(open, level)
	}
	w.depth--
	return err
}

func (w *walker) object(open uint64, level int) error {
	var exact, folded uint64 // the paths whose next name came, as it is and in another case
	for first := true; ; first = false {
		switch c := w.peek(); {
		case c == '}' && first:
			w.pos++
			return nil
		case c != '"':
			return w.broken("want a name")
		}
		start := w.pos
		if err := w.text(); err != nil {
			return err
		}
		var inside uint64
		if open != 0 {
			inside, folded = w.match(w.src[start+1:w.pos-1], open, level, folded)
			if inside&exact != 0 || (inside|exact)&folded != 0 {
				return fmt.Errorf("member %s occurs twice", w.src[start:w.pos])
			}
			exact |= inside
		}
		if w.peek() != ':' {
			return w.broken("want a colon")
		}
		w.pos++
		if err := w.value(inside, level+1); err != nil {
			return err
		}
		if done, err := w.next('}'); done || err != nil {
			return err
		}
	}
}

// match returns the open paths that go on with name, and adds to folded those that would if case did not count.
func (w *walker) match(name []byte, open uint64, level int, folded uint64) (inside, allFolded uint64) {
	if bytes.IndexByte(name, '\\') >= 0 {
		decoded, _ := unquote(name) // a lone surrogate cannot equal a name that is read
		name = []byte(decoded)
	}
	for ; open != 0; open &= open - 1 {
		i := bits.TrailingZeros64(open)
		if len(w.paths[i]) == level {
			continue
		}
		switch want := w.paths[i][level]; {
		case string(name) == want:
			inside |= 1 << i
		case strings.EqualFold(string(name), want):
			folded |= 1 << i
		}
	}
	return inside, folded
}

func (w *walker) array(open uint64, level int) error {
	list := w.list(open, level)
	for n := 0; ; n++ {
		if n == 0 && w.peek() == ']' {
			w.pos++
			return nil
		}
		w.space()
		start, before := w.pos, len(w.items)
		if err := w.value(w.element(open, level, n), level+1); err != nil {
			return err
		}
		if list && len(w.items) == before { // one that holds items of another list is none itself
			w.items = append(w.items, span{start, w.pos})
		}
		if done, err := w.next(']'); done || err != nil {
			return err
		}
	}
}

// list says that the array's elements are the items of a batch.
func (w *walker) list(open uint64, level int) bool {
	for ; open != 0; open &= open - 1 {
		if path := w.paths[bits.TrailingZeros64(open)]; len(path) == level+1 && path[level] == anyItem {
			return true
		}
	}
	return false
}

// element returns the open paths that go on with the n-th element, by its number.
func (w *walker) element(open uint64, level, n int) (inside uint64) {
	for ; open != 0; open &= open - 1 {
		i := bits.TrailingZeros64(open)
		path := w.paths[i]
		if len(path) <= level {
			continue
		}
		each := path[level] == anyItem && len(path) > level+1 // a list within each element
		if each || isDigit(path[level][0]) && path[level] == strconv.Itoa(n) {
			inside |= 1 << i
		}
	}
	return inside
}

// next reads a comma, or the end of an object or array.
func (w *walker) next(end byte) (done bool, err error) {
	switch w.peek() {
	case ',':
		w.pos++
		return false, nil
	case end:
		w.pos++
		return true, nil
	default:
		return false, w.broken("want a comma or an end")
	}
}

func (w *walker) word(word string) error {
	if !bytes.HasPrefix(w.src[w.pos:], []byte(word)) {
		return w.broken("want a value")
	}
	w.pos += len(word)
	return nil
}
