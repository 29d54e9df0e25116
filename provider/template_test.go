package provider

import (
	"strings"
	"testing"
	"time"
)

// FuzzTemplate: two different sets of values never make the same signed text, for whatever template loads.
func FuzzTemplate(f *testing.F) {
	f.Add("{header:A}.{header:B}.{body}", "a", "b", "{}", uint8(1))
	f.Add("v0:{header:A}:{body}", "1", "", "x:y", uint8(3))
	f.Add("{body}.{header:A}.{header:B}", "n", "t", "a.b", uint8(2))
	f.Add("[{header:A};{body}]", "a", "", "b;c", uint8(2))
	f.Add("{header:A}{time}{body}", "a1", "", "2{}", uint8(2))
	f.Add("{header:A}{time}{body}", "a1", "", "a1767225600{}", uint8(4))
	f.Add("{body}{time}", "a1", "", "12", uint8(2))
	f.Add("{{{header:A}{secret}{body}}}", "a1", "", "12", uint8(2))
	f.Fuzz(func(t *testing.T, text, a, b, body string, shift uint8) {
		u := units[int(shift)%3]
		tpl, err := parseTemplate(text, nil)
		if err != nil || len(tpl) > 16 {
			return
		}
		if tpl.settle(u) != nil || count(tpl) != len(tpl.names()) {
			return
		}
		at := u.format(time.Unix(1767225600, 0))
		values := map[string]string{"header:A": a, "header:B": b, "body": body, timeName: at}
		signed, ok := render(tpl, values, u)
		if !ok {
			return
		}
		for _, other := range append(shifted(a, b, body, int(shift)), shiftedTimes(a, b, body, at)...) {
			if other[timeName] == "" {
				other[timeName] = at
			}
			if same, ok := render(tpl, other, u); ok && same == signed && used(tpl, other) != used(tpl, values) {
				t.Fatalf("template %q: %v and %v are both signed as %q", text, values, other, signed)
			}
		}
	})
}

// count is how many parts have values in the test, each at most once: a repeated part has one value in a delivery.
func count(tpl template) (n int) {
	for _, name := range []string{"header:A", "header:B", "body", timeName} {
		if strings.Count(strings.Join(tpl.names(), "\n")+"\n", name+"\n") == 1 {
			n++
		}
	}
	return n
}

const timeName = "time in the signature header"

// render is what is signed of values, unless a value cannot stand there.
func render(tpl template, values map[string]string, u unit) (string, bool) {
	var b strings.Builder
	for i := range tpl {
		part := &tpl[i]
		value := values[part.name()]
		var err error
		switch {
		case part.kind == literalPart:
			value = string(part.literal)
		case part.kind == secretPart:
			value = "\x00a secret\x00"
		case part.kind == bodyPart:
			err = part.border.begins(value)
		case part.time:
			_, err = parseTime(value, u)
		default:
			err = part.border.check(value, nil)
		}
		if err != nil {
			return "", false
		}
		b.WriteString(value)
	}
	return b.String(), true
}

// shiftedTimes are the values with the time at other places of what is signed.
func shiftedTimes(a, b, body, at string) []map[string]string {
	var all []map[string]string
	for _, joined := range []string{a + at + body, a + at + b + body, body + at} {
		for i := 0; i+len(at) <= len(joined); i++ {
			before, moved, rest := joined[:i], joined[i:i+len(at)], joined[i+len(at):]
			all = append(all,
				map[string]string{"header:A": before, timeName: moved, "header:B": b, "body": rest},
				map[string]string{"header:A": before, timeName: moved, "header:B": strings.TrimSuffix(rest, body), "body": body},
				map[string]string{"header:A": a, timeName: moved, "header:B": b, "body": before})
		}
	}
	return all
}

func used(tpl template, values map[string]string) string {
	var all []string
	for _, name := range tpl.names() {
		all = append(all, values[name])
	}
	return strings.Join(all, "\x00")
}

// shifted are the values with n bytes moved from one to another.
func shifted(a, b, body string, n int) []map[string]string {
	joined := a + "." + b + "." + body
	var all []map[string]string
	for i := 0; i <= len(joined); i++ {
		j := min(i+n, len(joined))
		all = append(all, map[string]string{"header:A": joined[:i], "header:B": joined[i:j], "body": joined[j:]})
	}
	for i := 0; i <= len(body); i++ {
		all = append(all,
			map[string]string{"header:A": a + "." + body[:i], "header:B": b, "body": body[i:]},
			map[string]string{"header:A": a, "header:B": body[:i], "body": body[i:] + b},
			map[string]string{"header:A": a + body[:i], "header:B": b, "body": body[i:]})
	}
	return all
}
