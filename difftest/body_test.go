package difftest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// bodyKinds change the body: its bytes, its encoding, and the JSON in it.
var bodyKinds = slices.Concat(byteKinds, jsonKinds)

func body(change func(rng *rand.Rand, b []byte) []byte) func(*mutator, *request) bool {
	return func(m *mutator, r *request) bool {
		other := change(m.rng, bytes.Clone(r.body))
		if bytes.Equal(other, r.body) {
			return false
		}
		r.body = other
		return true
	}
}

// text changes a body as a string.
func text(change func(s string) string) func(*mutator, *request) bool {
	return body(func(_ *rand.Rand, b []byte) []byte { return []byte(change(string(b))) })
}

var changeByte = body(func(rng *rand.Rand, b []byte) []byte {
	if len(b) > 0 {
		b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
	}
	return b
})

const byteOrderMark = "\ufeff"

var byteKinds = []kind{
	{"body/changed", changeByte},
	{"body/bit-flipped", body(func(rng *rand.Rand, b []byte) []byte {
		if len(b) > 0 {
			b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		}
		return b
	})},
	{"body/byte-inserted", body(func(rng *rand.Rand, b []byte) []byte {
		return slices.Insert(b, rng.IntN(len(b)+1), byte(rng.IntN(256)))
	})},
	{"body/byte-removed", body(func(rng *rand.Rand, b []byte) []byte {
		if len(b) == 0 {
			return b
		}
		at := rng.IntN(len(b))
		return slices.Delete(b, at, at+1)
	})},
	{"body/bytes-swapped", body(func(rng *rand.Rand, b []byte) []byte {
		if len(b) > 1 {
			at := rng.IntN(len(b) - 1)
			b[at], b[at+1] = b[at+1], b[at]
		}
		return b
	})},
	{"body/cut-last", body(func(_ *rand.Rand, b []byte) []byte { return b[:max(len(b)-1, 0)] })},
	{"body/cut-half", body(func(_ *rand.Rand, b []byte) []byte { return b[:len(b)/2] })},
	{"body/empty", body(func(*rand.Rand, []byte) []byte { return nil })},
	{"body/twice", body(func(_ *rand.Rand, b []byte) []byte { return append(b, b...) })},
	{"body/blank-before", text(func(s string) string { return " " + s })},
	{"body/blank-behind", text(func(s string) string { return s + " " })},
	{"body/line-break-behind", text(func(s string) string { return s + "\n" })},
	{"body/crlf-behind", text(func(s string) string { return s + "\r\n" })},
	{"body/trimmed", text(strings.TrimSpace)},
	{"body/zero-byte-behind", text(func(s string) string { return s + "\x00" })},
	{"body/byte-order-mark", text(func(s string) string { return byteOrderMark + s })},
	{"body/lf", text(func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") })},
	{"body/crlf", text(func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") })},
	{"body/utf-16", body(func(_ *rand.Rand, b []byte) (wide []byte) {
		for _, unit := range utf16.Encode([]rune(string(b))) {
			wide = append(wide, byte(unit), byte(unit>>8))
		}
		return wide
	})},
	{"body/latin-1", text(func(s string) string { return strings.ReplaceAll(s, "\u00e9", "\xe9") })},
	{"body/no-utf-8-for-replacement", text(func(s string) string { return strings.Replace(s, "\ufffd", "\xff", 1) })},
	{"body/replacement-for-no-utf-8", text(func(s string) string { return strings.ToValidUTF8(s+"\xff", "\ufffd") })},
	{"body/decomposed", text(func(s string) string { return strings.ReplaceAll(s, "\u00e9", "e\u0301") })},
	{"body/surrogates", text(func(s string) string { return strings.ReplaceAll(s, "\U0001f389", "\xed\xa0\xbc\xed\xbe\x89") })},
}

var jsonKinds = []kind{
	{"json/blank-within", body(func(rng *rand.Rand, b []byte) []byte { return insertOutside(rng, b, " ") })},
	{"json/line-break-within", body(func(rng *rand.Rand, b []byte) []byte { return insertOutside(rng, b, "\n") })},
	{"json/compact", body(func(_ *rand.Rand, b []byte) []byte { return rewritten(b, json.Compact) })},
	{"json/pretty", body(func(_ *rand.Rand, b []byte) []byte {
		return rewritten(b, func(to *bytes.Buffer, from []byte) error { return json.Indent(to, from, "", "    ") })
	})},
	{"json/letter-escaped", body(func(rng *rand.Rand, b []byte) []byte { return escapeOne(rng, b, false) })},
	{"json/name-escaped", body(func(rng *rand.Rand, b []byte) []byte { return escapeOne(rng, b, true) })},
	{"json/slash-escaped", text(func(s string) string { return strings.Replace(s, "/", `\/`, 1) })},
	{"json/accent-escaped", text(func(s string) string { return strings.ReplaceAll(s, "\u00e9", `\u00e9`) })},
	{"json/emoji-escaped", text(func(s string) string { return strings.ReplaceAll(s, "\U0001f389", `\ud83c\udf89`) })},
	{"json/member-in-front", text(func(s string) string { return strings.Replace(s, "{", `{"id":"evt_other",`, 1) })},
	{"json/member-behind", text(func(s string) string { return withMemberIfAny(s, `"id":"evt_other"`) })},
	{"json/member-repeated", text(repeatMember)},
	{"json/prototype", text(func(s string) string { return withMemberIfAny(s, `"__proto__":{"id":"evt_other"}`) })},
	{"json/to-json", text(func(s string) string { return withMemberIfAny(s, `"toJSON":1`) })},
	{"json/reordered", body(func(rng *rand.Rand, b []byte) []byte { return reorder(rng, b) })},
	{"json/number-rewritten", body(rewriteNumber)},
	{"json/number-changed", body(func(rng *rand.Rand, b []byte) []byte {
		return replaceOne(rng, b, numbers, func(s string) string { return nextDigit(s) })
	})},
	{"json/number-as-text", body(func(rng *rand.Rand, b []byte) []byte {
		return replaceOne(rng, b, numbers, func(s string) string { return `"` + s + `"` })
	})},
	{"json/big-number", text(func(s string) string { return strings.Replace(s, "9007199254740993", "9007199254740992", 1) })},
	{"json/one-decimal-less", text(func(s string) string { return strings.Replace(s, "12.0", "12", 1) })},
	{"json/text-changed", body(func(rng *rand.Rand, b []byte) []byte {
		return replaceOne(rng, b, values, func(s string) string { return replaced(rng, s) })
	})},
	{"json/text-in-capitals", body(func(rng *rand.Rand, b []byte) []byte { return replaceOne(rng, b, values, strings.ToUpper) })},
	{"json/text-to-null", body(func(rng *rand.Rand, b []byte) []byte {
		return replaceOne(rng, b, values, func(string) string { return "null" })
	})},
	{"json/text-to-list", body(func(rng *rand.Rand, b []byte) []byte {
		return replaceOne(rng, b, values, func(s string) string { return "[" + s + "]" })
	})},
	{"json/in-a-list", text(func(s string) string { return "[" + s + "]" })},
	{"json/comment", text(func(s string) string { return s + "// x" })},
}

var (
	numbers = regexp.MustCompile(`[:\[,]\s*(-?[0-9][0-9.eE+-]*)`)
	values  = regexp.MustCompile(`:\s*("(?:[^"\\]|\\.)*")`)
	names   = regexp.MustCompile(`"([A-Za-z_]+)"\s*:`)
	words   = regexp.MustCompile(`:\s*"([A-Za-z_]+)`)
)

// replaceOne changes the group of one match.
func replaceOne(rng *rand.Rand, b []byte, of *regexp.Regexp, change func(string) string) []byte {
	all := of.FindAllSubmatchIndex(b, -1)
	if len(all) == 0 {
		return b
	}
	at := pick(rng, all)
	return slices.Concat(b[:at[2]], []byte(change(string(b[at[2]:at[3]]))), b[at[3]:])
}

// insertOutside puts blanks where JSON lets them stand.
func insertOutside(rng *rand.Rand, b []byte, blank string) []byte {
	var at []int
	quoted := false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && strings.IndexByte("{}[]:,", c) >= 0:
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return b
	}
	i := pick(rng, at)
	return slices.Insert(b, i+rng.IntN(2), []byte(blank)...)
}

func rewritten(b []byte, write func(to *bytes.Buffer, from []byte) error) []byte {
	var to bytes.Buffer
	if err := write(&to, b); err != nil {
		return b
	}
	return to.Bytes()
}

func escapeOne(rng *rand.Rand, b []byte, name bool) []byte {
	in := words
	if name {
		in = names
	}
	return replaceOne(rng, b, in, func(s string) string {
		i := rng.IntN(len(s))
		return fmt.Sprintf(`%s\u%04x%s`, s[:i], s[i], s[i+1:])
	})
}

func withMemberIfAny(text, member string) string {
	if !strings.Contains(text, "}") {
		return text
	}
	return withMember(text, member)
}

// repeatMember writes the first member twice, first with another value.
func repeatMember(text string) string {
	at := names.FindStringIndex(text)
	if at == nil {
		return text
	}
	return text[:at[0]] + text[at[0]:at[1]] + `"evt_other",` + text[at[0]:]
}

// reorder swaps two members of an object.
func reorder(rng *rand.Rand, b []byte) []byte {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(b, &object); err != nil || len(object) < 2 {
		return b
	}
	var members []string
	for name, value := range object {
		quoted, err := json.Marshal(name)
		if err != nil {
			return b
		}
		members = append(members, string(quoted)+":"+string(value))
	}
	slices.Sort(members)
	rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return []byte("{" + strings.Join(members, ",") + "}")
}

// rewriteNumber writes a number in another way.
func rewriteNumber(rng *rand.Rand, b []byte) []byte {
	return replaceOne(rng, b, numbers, func(s string) string {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return s
		}
		others := []string{strconv.FormatFloat(n, 'e', -1, 64), strconv.FormatFloat(n, 'f', 2, 64), "0" + s, s + "e0", "+" + s}
		return pick(rng, others)
	})
}
