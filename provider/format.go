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
// "t={time},v1={sig}". In a list an entry that matches none is passed over, as an unknown version must be.
type format struct {
	separator string
	entries   []entry
}

// An entry is a prefix and a slot: what follows the prefix is the signature or the time.
type entry struct{ prefix, slot string }

func parseFormat(text, separator string) (format, error) {
	f := format{separator: separator}
	entries := []string{text}
	if separator != "" {
		entries = strings.Split(text, separator)
	}
	for _, one := range entries {
		e := entry{slot: slotSignature}
		prefix, ok := strings.CutSuffix(one, e.slot)
		if !ok {
			e.slot = slotTime
			prefix, ok = strings.CutSuffix(one, e.slot)
		}
		if !ok || strings.ContainsAny(prefix, "{}") {
			return f, fmt.Errorf("%q does not end in {sig} or {time}", one)
		}
		e.prefix = prefix
		f.entries = append(f.entries, e)
	}
	if !f.has(slotSignature) {
		return f, errors.New("no {sig}: say where the signature stands")
	}
	return f, nil
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

// read finds the signatures and the time in text.
func (f *format) read(text string, into []string) (signatures []string, at string, err error) {
	signatures = into
	if f.separator == "" {
		slot, rest := f.entry(0, text)
		if slot == "" || rest == "" {
			return nil, "", fmt.Errorf("want %s%s", f.entries[0].prefix, slotSignature)
		}
		return append(signatures, rest), "", nil
	}
	n := 0
	for piece := range strings.SplitSeq(text, f.separator) {
		slot, rest := f.entry(n, piece)
		n++
		switch {
		case slot == slotSignature:
			signatures = append(signatures, rest)
		case slot == slotTime && at != "":
			return nil, "", errors.New("two times")
		case slot == slotTime:
			at = rest
		}
		if len(signatures) > maxSignatures {
			return nil, "", fmt.Errorf("more than %d signatures", maxSignatures)
		}
	}
	if len(signatures) == 0 {
		return nil, "", errNoSignature
	}
	return signatures, at, nil
}

// write makes the text that a sender sends.
func (f *format) write(signature, at string) string {
	var b strings.Builder
	for i, e := range f.entries {
		if i > 0 {
			b.WriteString(f.separator)
		}
		b.WriteString(e.prefix)
		if e.slot == slotTime {
			b.WriteString(at)
		} else {
			b.WriteString(signature)
		}
	}
	return b.String()
}
