package difftest

import (
	"crypto/elliptic"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// A rewriting is another way to write a text. What it cannot change it returns as it is.
type rewriting struct {
	name string
	text func(rng *rand.Rand, text string) string
}

// rewrite makes kinds of rewritings of a spot.
func rewrite(s spot, all []rewriting) (kinds []kind) {
	for _, w := range all {
		kinds = append(kinds, kind{s.name + "/" + w.name, func(m *mutator, r *request) bool {
			text := s.get(r)
			if text == "" {
				return false
			}
			other := w.text(m.rng, text)
			if other == text {
				return false
			}
			s.set(r, other)
			return true
		}})
	}
	return kinds
}

// textKinds fit any text in a header.
func textKinds(s spot) []kind {
	kinds := rewrite(s, []rewriting{
		{"blank-before", around(" ", "")}, {"blank-behind", around("", " ")}, {"tab-before", around("\t", "")},
		{"tab-behind", around("", "\t")}, {"line-break-behind", around("", "\n")}, {"nbsp-before", around("\xa0", "")},
		{"nbsp-behind", around("", "\xa0")}, {"zero-byte-behind", around("", "\x00")}, {"quoted", around(`"`, `"`)},
		{"comma-behind", around("", ",")}, {"semicolon-behind", around("", ";")}, {"equals-behind", around("", "=")},
		{"empty", func(*rand.Rand, string) string { return "" }},
		{"doubled", func(_ *rand.Rand, s string) string { return s + s }},
		{"upper-case", func(_ *rand.Rand, s string) string { return strings.ToUpper(s) }},
		{"lower-case", func(_ *rand.Rand, s string) string { return strings.ToLower(s) }},
		{"cut-first", func(_ *rand.Rand, s string) string { return s[min(1, len(s)):] }},
		{"cut-last", func(_ *rand.Rand, s string) string { return s[:max(len(s)-1, 0)] }},
		{"cut-half", func(_ *rand.Rand, s string) string { return s[:len(s)/2] }},
		{"grown", func(_ *rand.Rand, s string) string { return s + s[max(len(s)-1, 0):] }},
		{"blank-within", insert(" ")}, {"zero-within", insert("0")},
		{"one-changed", replaced},
		{"one-percent", percentOne},
		{"wide-digits", wideDigits},
	})
	return append(kinds, kind{s.name + "/of-another", func(m *mutator, r *request) bool {
		s.set(r, s.get(m.another(r)))
		return true
	}})
}

func around(before, behind string) func(*rand.Rand, string) string {
	return func(_ *rand.Rand, s string) string { return before + s + behind }
}

func insert(text string) func(*rand.Rand, string) string {
	return func(rng *rand.Rand, s string) string {
		at := 1 + rng.IntN(max(len(s)-1, 1))
		return s[:min(at, len(s))] + text + s[min(at, len(s)):]
	}
}

const alphanumeric = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// replaced is text with one letter or digit changed into another of its kind.
func replaced(rng *rand.Rand, text string) string {
	for range 100 {
		i := rng.IntN(max(len(text), 1))
		if i >= len(text) {
			break
		}
		class := alphanumeric[:10]
		switch c := text[i]; {
		case c >= 'a' && c <= 'z':
			class = alphanumeric[10:36]
		case c >= 'A' && c <= 'Z':
			class = alphanumeric[36:]
		case c < '0' || c > '9':
			continue
		}
		if strings.Trim(text, "0123456789abcdef") == "" {
			class = alphanumeric[:16]
		}
		if other := class[rng.IntN(len(class))]; other != text[i] {
			return text[:i] + string(other) + text[i+1:]
		}
	}
	return text
}

func percentOne(rng *rand.Rand, text string) string {
	if text == "" {
		return text
	}
	i := rng.IntN(len(text))
	return text[:i] + "%" + strings.ToUpper(hex.EncodeToString([]byte{text[i]})) + text[i+1:]
}

func wideDigits(_ *rand.Rand, text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r - '0' + '\uff10'
		}
		return r
	}, text)
}

// signatureKinds write the signature's bytes in other ways, and other bytes.
func signatureKinds(s spot) []kind {
	return rewrite(s, []rewriting{
		{"as-hex", reencoded(func(b []byte) string { return hex.EncodeToString(b) })},
		{"as-base64", reencoded(base64.StdEncoding.EncodeToString)},
		{"as-base64url", reencoded(base64.URLEncoding.EncodeToString)},
		{"as-base64url-alphabet", func(_ *rand.Rand, s string) string { return strings.NewReplacer("+", "-", "/", "_").Replace(s) }},
		{"as-base64-alphabet", func(_ *rand.Rand, s string) string { return strings.NewReplacer("-", "+", "_", "/").Replace(s) }},
		{"unpadded", func(_ *rand.Rand, s string) string { return strings.TrimRight(s, "=") }},
		{"over-padded", around("", "==")},
		{"spare-bits", spareBits},
		{"hex-prefix", around("0x", "")},
		{"algorithm-prefix", around("sha256=", "")},
		{"version-prefix", around("v1,", "")},
		{"one-case", oneCase},
		{"zeros", reencodedAs(func(b []byte) []byte { return make([]byte, len(b)) })},
		{"cut-to-half-the-bytes", reencodedAs(func(b []byte) []byte { return b[:len(b)/2] })},
		{"grown-by-a-byte", reencodedAs(func(b []byte) []byte { return append(b, 0) })},
		{"mirrored", reencodedAs(mirrored)},
		{"long-der", reencodedAs(longDER)},
		{"sum-of-order", reencodedAs(plusOrder)},
	})
}

// decoded is the signature's bytes, and how they were written.
func decoded(text string) ([]byte, func([]byte) string) {
	if b, err := hex.DecodeString(text); err == nil {
		return b, hex.EncodeToString
	}
	if b, err := base64.StdEncoding.DecodeString(text); err == nil {
		return b, base64.StdEncoding.EncodeToString
	}
	if b, err := base64.RawURLEncoding.DecodeString(text); err == nil {
		return b, base64.RawURLEncoding.EncodeToString
	}
	return nil, nil
}

func reencoded(encode func([]byte) string) func(*rand.Rand, string) string {
	return func(_ *rand.Rand, s string) string {
		if b, _ := decoded(s); len(b) > 0 {
			return encode(b)
		}
		return s
	}
}

func reencodedAs(change func([]byte) []byte) func(*rand.Rand, string) string {
	return func(_ *rand.Rand, s string) string {
		b, encode := decoded(s)
		if len(b) == 0 {
			return s
		}
		return encode(change(b))
	}
}

// spareBits sets a bit of base64's last character that no byte needs.
func spareBits(_ *rand.Rand, s string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	text := strings.TrimRight(s, "=")
	at := strings.IndexByte(alphabet, s[max(len(text)-1, 0)])
	if len(text) == len(s) || at < 0 {
		return s
	}
	return text[:len(text)-1] + alphabet[at^1:at^1+1] + s[len(text):]
}

func oneCase(rng *rand.Rand, s string) string {
	for range 100 {
		i := rng.IntN(len(s))
		upper, lower := strings.ToUpper(s[i:i+1]), strings.ToLower(s[i:i+1])
		if upper != lower {
			return s[:i] + strings.Replace(upper+lower, s[i:i+1], "", 1) + s[i+1:]
		}
	}
	return s
}

type ecdsaSignature struct{ R, S *big.Int }

// mirrored is the other ECDSA signature that fits wherever the first does: r and n-s.
func mirrored(der []byte) []byte {
	var s ecdsaSignature
	if rest, err := asn1.Unmarshal(der, &s); err != nil || len(rest) > 0 {
		return der
	}
	s.S.Sub(elliptic.P256().Params().N, s.S)
	other, err := asn1.Marshal(s)
	if err != nil {
		return der
	}
	return other
}

// longDER writes the length of the sequence in two bytes where one is enough.
func longDER(der []byte) []byte {
	var s ecdsaSignature
	if rest, err := asn1.Unmarshal(der, &s); err != nil || len(rest) > 0 {
		return der
	}
	return append([]byte{0x30, 0x81, byte(len(der) - 2)}, der[2:]...)
}

// ed25519Order is the order of Ed25519's group: S and S plus the order are one number to a careless verifier.
var ed25519Order, _ = new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)

func plusOrder(signature []byte) []byte {
	if len(signature) != 64 {
		return signature
	}
	s := make([]byte, 32)
	for i := range s {
		s[31-i] = signature[32+i]
	}
	sum := new(big.Int).Add(new(big.Int).SetBytes(s), ed25519Order)
	other := append([]byte{}, signature[:32]...)
	for i := range 32 {
		other = append(other, sum.FillBytes(make([]byte, 32))[31-i])
	}
	return other
}

// timeKinds write the time in other ways, and other times.
func timeKinds(s spot) []kind {
	kinds := rewrite(s, []rewriting{
		{"plus", around("+", "")}, {"minus", around("-", "")}, {"leading-zero", around("0", "")}, {"many-zeros", around("0000000", "")},
		{"decimal-zero", around("", ".0")}, {"decimal-half", around("", ".5")}, {"letters-behind", around("", "abc")},
		{"exponent", func(_ *rand.Rand, s string) string { return s[:1] + "." + s[1:] + "e" + strconv.Itoa(len(s)-1) }},
		{"as-hex", number(func(n int64) string { return "0x" + strconv.FormatInt(n, 16) })},
		{"underscore", func(_ *rand.Rand, s string) string { return s[:1] + "_" + s[1:] }},
		{"times-1000", around("", "000")},
		{"by-1000", func(_ *rand.Rand, s string) string { return strings.TrimSuffix(s, s[max(len(s)-3, 0):]) }},
		{"a-second-later", number(func(n int64) string { return strconv.FormatInt(n+1, 10) })},
		{"a-second-earlier", number(func(n int64) string { return strconv.FormatInt(n-1, 10) })},
		{"zero", constant("0")}, {"negative", constant("-1")}, {"huge", constant("9223372036854775807")}, {"not-a-number", constant("NaN")},
		{"infinity", constant("Infinity")}, {"a-word", constant("now")},
		{"as-date", number(func(n int64) string { return date(n).Format(time.RFC3339) })},
		{"offset", func(_ *rand.Rand, s string) string { return strings.Replace(s, "Z", "+00:00", 1) }},
		{"small-letters", func(_ *rand.Rand, s string) string { return strings.ToLower(s) }},
		{"fraction", func(_ *rand.Rand, s string) string { return strings.Replace(s, "Z", ".000Z", 1) }},
		{"no-zone", func(_ *rand.Rand, s string) string { return strings.TrimSuffix(s, "Z") }},
	})
	return kinds
}

func number(write func(n int64) string) func(*rand.Rand, string) string {
	return func(_ *rand.Rand, s string) string {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return s
		}
		return write(n)
	}
}

func constant(text string) func(*rand.Rand, string) string {
	return func(*rand.Rand, string) string { return text }
}

// date is a number of seconds or milliseconds.
func date(n int64) time.Time {
	if n > 1e12 {
		return time.UnixMilli(n).UTC()
	}
	return time.Unix(n, 0).UTC()
}

// listKinds change the entries of a signature's list.
var listKinds = []kind{
	{"list/unknown-before", list(func(_ *mutator, l *layout, v string) string { return "v0=aa" + l.separator + v })},
	{"list/unknown-behind", list(func(_ *mutator, l *layout, v string) string { return v + l.separator + "v9,AAAA" })},
	{"list/empty-entry", list(func(_ *mutator, l *layout, v string) string { return v + l.separator + l.separator + v })},
	{"list/whole-twice", list(func(_ *mutator, l *layout, v string) string { return v + l.separator + v })},
	{"list/wrong-before", list(func(m *mutator, l *layout, v string) string { return l.wrong(m, v) + l.separator + v })},
	{"list/wrong-behind", list(func(m *mutator, l *layout, v string) string { return v + l.separator + l.wrong(m, v) })},
	{"list/right-behind-wrong", list(func(m *mutator, l *layout, v string) string {
		before, sig := l.find(v, "{sig}")
		prefix := before[strings.LastIndex(before, l.separator)+1:]
		return before + replaced(m.rng, sig) + l.separator + strings.TrimLeft(prefix, l.separator) + sig
	})},
	{"list/reversed", list(func(_ *mutator, l *layout, v string) string {
		pieces := strings.Split(v, l.separator)
		for i, j := 0, len(pieces)-1; i < j; i, j = i+1, j-1 {
			pieces[i], pieces[j] = pieces[j], pieces[i]
		}
		return strings.Join(pieces, l.separator)
	})},
	{"list/blank-behind-separator", list(func(_ *mutator, l *layout, v string) string {
		return strings.ReplaceAll(v, l.separator, l.separator+" ")
	})},
	{"list/blank-before-separator", list(func(_ *mutator, l *layout, v string) string {
		return strings.ReplaceAll(v, l.separator, " "+l.separator)
	})},
	{"list/comma", list(func(_ *mutator, l *layout, v string) string { return strings.ReplaceAll(v, l.separator, ",") })},
	{"list/semicolon", list(func(_ *mutator, l *layout, v string) string { return strings.ReplaceAll(v, l.separator, ";") })},
	{"list/blank", list(func(_ *mutator, l *layout, v string) string { return strings.ReplaceAll(v, l.separator, " ") })},
	{"list/blank-at-equals", list(func(_ *mutator, _ *layout, v string) string { return strings.Replace(v, "=", " = ", 1) })},
	{"list/names-in-capitals", list(func(_ *mutator, l *layout, v string) string { return l.rename(v, strings.ToUpper) })},
	{"list/other-version", list(func(_ *mutator, l *layout, v string) string {
		return l.rename(v, func(name string) string {
			return strings.NewReplacer("v1", "v2", "v0", "v1", "h1", "h2", "sha", "md").Replace(name)
		})
	})},
	{"list/unnamed", list(func(_ *mutator, l *layout, v string) string { return l.rename(v, func(string) string { return "" }) })},
	{"list/time-again", list(func(_ *mutator, l *layout, v string) string { return l.timeAgain(v, false, false) })},
	{"list/time-again-before", list(func(_ *mutator, l *layout, v string) string { return l.timeAgain(v, true, false) })},
	{"list/other-time-behind", list(func(_ *mutator, l *layout, v string) string { return l.timeAgain(v, false, true) })},
	{"list/other-time-before", list(func(_ *mutator, l *layout, v string) string { return l.timeAgain(v, true, true) })},
	{"list/many", list(func(_ *mutator, l *layout, v string) string { return strings.Repeat("v0=aa"+l.separator, 300) + v })},
}

func list(change func(m *mutator, l *layout, value string) string) func(*mutator, *request) bool {
	return func(m *mutator, r *request) bool {
		value := m.layout.header.get(r)
		other := change(m, m.layout, value)
		if value == "" || other == value {
			return false
		}
		m.layout.header.set(r, other)
		return true
	}
}

// wrong is an entry like the signature's, with another signature.
func (l *layout) wrong(m *mutator, value string) string {
	before, sig := l.find(value, "{sig}")
	prefix := strings.TrimLeft(before[strings.LastIndex(before, l.separator)+1:], l.separator)
	return prefix + replaced(m.rng, sig)
}

// rename changes the names of the entries.
func (l *layout) rename(value string, change func(string) string) string {
	pieces := strings.Split(value, l.separator)
	for i, piece := range pieces {
		if at := strings.IndexAny(piece, "=,"); at > 0 && at < len(piece)-1 {
			name := change(piece[:at])
			pieces[i] = strings.TrimPrefix(name+piece[at:at+1], piece[at:at+1]) + piece[at+1:]
			if name != "" {
				pieces[i] = name + piece[at:]
			}
		}
	}
	return strings.Join(pieces, l.separator)
}

// timeAgain puts a second time into the list.
func (l *layout) timeAgain(value string, before, other bool) string {
	head, text := l.find(value, "{time}")
	if text == "" {
		return value
	}
	if other {
		text = nextDigit(text)
	}
	entry := strings.TrimLeft(head[strings.LastIndex(head, l.separator)+1:], l.separator) + text
	if before {
		return entry + l.separator + value
	}
	return value + l.separator + entry
}
