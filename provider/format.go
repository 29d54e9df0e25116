package provider

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds on what a stranger may make us look at.
const (
	maxSignatureText = 8 << 10
	maxSignatures    = 16
)

// The slots of a signature's format and of what is signed.
const (
	slotSignature = "{sig}"
	slotTime      = "{time}"
)

// A format is how signatures are written into their header: "sha256={sig}", or with a separator a list of entries such as
// "t={time},v1={sig}". In a list an entry that matches none is passed over, as an unknown version must be. With groups there
// are several such lists, one for each key.
type format struct {
	separator string
	groups    string
	entries   []entry
}

// An entry is a prefix and a slot: what follows the prefix is the signature, the time, or another text with a name.
type entry struct{ prefix, slot string }

// Written is what stands where the signature does.
type written struct {
	signatures []string
	time       string
	named      []named
}

type named struct{ name, text string }

func (w *written) text(name string) string {
	for _, n := range w.named {
		if n.name == name {
			return n.text
		}
	}
	return ""
}

func parseFormat(text, separator string) (format, error) {
	f := format{separator: separator}
	entries := []string{text}
	if separator != "" {
		entries = strings.Split(text, separator)
	}
	for _, one := range entries {
		i := strings.LastIndexByte(one, '{')
		prefix, slot, ok := one[:max(i, 0)], one[i+1:], i >= 0
		if !ok || strings.IndexByte(slot, '}') != len(slot)-1 || len(slot) < 2 {
			return f, fmt.Errorf("%q does not end in {sig}, {time} or another name", one)
		}
		f.entries = append(f.entries, entry{prefix, "{" + slot})
	}
	if !f.has(slotSignature) {
		return f, errors.New("no {sig}: say where the signature stands")
	}
	return f, nil
}

// with is f with the parameters in its prefixes.
func (f *format) with(params map[string]string) format {
	filled := *f
	filled.entries = slices.Clone(f.entries)
	for i := range filled.entries {
		filled.entries[i].prefix = fillParams(filled.entries[i].prefix, params)
	}
	return filled
}

func (f *format) has(slot string) bool {
	return slices.ContainsFunc(f.entries, func(e entry) bool { return e.slot == slot })
}

// entry returns the entry that the n-th piece is, and what follows its prefix. Entries without prefixes go by position,
// the last one for all that follow.
func (f *format) entry(n int, piece string) (slot, rest string) {
	if len(f.entries) > 1 && f.entries[0].prefix == "" {
		e := f.entries[min(n, len(f.entries)-1)]
		return e.slot, piece
	}
	for _, e := range f.entries {
		if rest, ok := strings.CutPrefix(piece, e.prefix); ok {
			return e.slot, rest
		}
	}
	return "", ""
}

// errNoSignature: there is a list, and no entry of the configured version in it.
var errNoSignature = errors.New("no signature of this version")

// read finds the signatures and what stands beside them.
func (f *format) read(text string, into *written) error {
	if f.separator == "" {
		slot, rest := f.entry(0, text)
		if slot == "" || rest == "" {
			return fmt.Errorf("want %s%s", f.entries[0].prefix, slotSignature)
		}
		into.signatures = append(into.signatures, rest)
		return nil
	}
	if f.groups == "" {
		return f.readList(text, into)
	}
	at := ""
	for group := range strings.SplitSeq(text, f.groups) {
		into.time = ""
		if err := f.readList(group, into); err != nil {
			return err
		}
		if at != "" && into.time != at {
			return errors.New("two times")
		}
		at = into.time
	}
	return nil
}

func (f *format) readList(text string, into *written) error {
	n := 0
	for piece := range strings.SplitSeq(text, f.separator) {
		slot, rest := f.entry(n, piece)
		n++
		switch {
		case slot == slotSignature:
			into.signatures = append(into.signatures, rest)
		case slot == slotTime && into.time != "":
			return errors.New("two times")
		case slot == slotTime:
			into.time = rest
		case slot != "" && into.text(slot[1:len(slot)-1]) != "" && f.groups == "":
			return fmt.Errorf("two of %s", slot)
		case slot != "":
			into.named = append(into.named, named{slot[1 : len(slot)-1], rest})
		}
		if len(into.signatures) > maxSignatures || len(into.named) > maxSignatures {
			return fmt.Errorf("more than %d signatures", maxSignatures)
		}
	}
	if len(into.signatures) == 0 {
		return errNoSignature
	}
	return nil
}

// write makes the text that a sender sends.
func (f *format) write(signature, at string, others func(name string) string) string {
	var b strings.Builder
	signed := false
	for i, e := range f.entries {
		if e.slot == slotSignature && signed {
			continue // another spelling of the same
		}
		if i > 0 {
			b.WriteString(f.separator)
		}
		signed = signed || e.slot == slotSignature
		b.WriteString(e.prefix)
		switch e.slot {
		case slotTime:
			b.WriteString(at)
		case slotSignature:
			b.WriteString(signature)
		default:
			b.WriteString(others(e.slot[1 : len(e.slot)-1]))
		}
	}
	return b.String()
}
