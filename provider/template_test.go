package provider

import (
	"strings"
	"testing"
)

// FuzzTemplate: two different sets of values never make the same signed text, for whatever template loads.
func FuzzTemplate(f *testing.F) {
	f.Add("{header:A}.{header:B}.{body}", "a", "b", "{}", uint8(1))
	f.Add("v0:{header:A}:{body}", "1", "", "x:y", uint8(3))
	f.Add("{body}.{header:A}.{header:B}", "n", "t", "a.b", uint8(2))
	f.Add("[{header:A};{body}]", "a", "", "b;c", uint8(2))
	f.Fuzz(func(t *testing.T, text, a, b, body string, shift uint8) {
		tpl, err := parseTemplate(text, nil)
		if err != nil || len(tpl) > 16 {
			return
		}
		if tpl.settle() != nil || count(tpl) != len(tpl.names()) {
			return
		}
		values := map[string]string{"header:A": a, "header:B": b, "body": body}
		signed, ok := render(tpl, values)
		if !ok {
			return
		}
		for _, other := range shifted(a, b, body, int(shift)) {
			if same, ok := render(tpl, other); ok && same == signed && used(tpl, other) != used(tpl, values) {
				t.Fatalf("template %q: %v and %v are both signed as %q", text, values, other, signed)
			}
		}
	})
}

// count is how many parts have values in the test, each at most once: a repeated part has one value in a delivery.
func count(tpl template) (n int) {
	for _, name := range []string{"header:A", "header:B", "body"} {
		if strings.Count(strings.Join(tpl.names(), "\n")+"\n", name+"\n") == 1 {
			n++
		}
	}
	return n
}

// render is what is signed of values, unless a value holds a separator.
func render(tpl template, values map[string]string) (string, bool) {
	var b strings.Builder
	for i := range tpl {
		part := &tpl[i]
		if part.kind == literalPart {
			b.Write(part.literal)
			continue
		}
		value := values[part.name()]
		for _, separator := range part.forbid {
			if part.kind != bodyPart && strings.Contains(value, separator) {
				return "", false
			}
		}
		b.WriteString(value)
	}
	return b.String(), true
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
