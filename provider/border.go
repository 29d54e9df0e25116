package provider

import (
	"errors"
	"fmt"
	"strings"
)

// A border is what keeps a part of a template where it is: nobody may move text across to the part beside it.
type border struct {
	forbid []string // the literals beside the part, which its value may not hold
	params []string // the parameters beside it, likewise
	token  bool     // beside a time without a separator: only characters that no time in between could be mistaken in
	start  bool     // behind such a time in digits: the word that it begins with has no digit
}

// settle notes what each part may not hold, and checks that its borders cannot be moved: two parts of free length need
// something between them that neither can hold.
//
// A time is such a thing. One in RFC 3339 holds colons at its places, and no word before it does. One in digits could be
// shifted: to the left, and then what follows begins with a digit; or to the right, into a word of digits that follows.
func (t template) settle(u unit) error {
	free, at := -1, -1 // the part of free length since the last separator, and the time since then
	for i := range t {
		part := &t[i]
		t.beside(i)
		switch {
		case part.kind == literalPart, part.kind == secretPart, part.constant(): // nobody knows the secret, or writes it elsewhere
			free, at = -1, -1
			continue
		case part.time:
			at = i
			continue
		case part.kind == hashPart: // of fixed length
			continue
		case free >= 0 && at < 0:
			return fmt.Errorf("%s and %s have no separator between them: their border could be moved", t[free].name(), part.name())
		case free >= 0:
			t[free].border.token, part.border.start = true, u != rfc3339
			if t[free].kind != placePart {
				return fmt.Errorf("only a header or a field can stand before a time without a separator, not %s", t[free].name())
			}
		}
		free, at = i, -1
	}
	return nil
}

// beside notes the neighbours of a part.
func (t template) beside(i int) {
	b := &t[i].border
	for _, n := range []int{i - 1, i + 1} {
		switch {
		case n < 0 || n == len(t):
		case t[n].kind == literalPart:
			b.forbid = append(b.forbid, string(t[n].literal))
		case t[n].kind == placePart && t[n].place.kind == inParam:
			b.params = append(b.params, t[n].place.name)
		}
	}
}

const wordChars = tokenChars + "+/=.~"

// check says whether text can stand in a part with these borders.
func (b *border) check(text string, params map[string]string) error {
	for _, separator := range b.forbid {
		if strings.Contains(text, separator) {
			return fmt.Errorf("it holds the separator %q", separator)
		}
	}
	for _, name := range b.params {
		if value := params[name]; value != "" && strings.Contains(text, value) {
			return fmt.Errorf("it holds the parameter %s", name)
		}
	}
	if b.token && strings.Trim(text, wordChars) != "" {
		return errors.New("it is no word, and a time follows it without a separator")
	}
	return b.begins(text)
}

func (b *border) begins(text string) error {
	if !b.start {
		return nil
	}
	word := text[:len(text)-len(strings.TrimLeft(text, wordChars))]
	if strings.ContainsAny(word, "0123456789") {
		return errors.New("it begins with a digit, and a time stands before it without a separator")
	}
	return nil
}
