package provider

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// readPaths walks src and returns the text at each path, "-" where there is none.
func readPaths(src string, paths ...string) ([]string, error) {
	var split [][]string
	for _, p := range paths {
		split = append(split, splitPath(p))
	}
	values := make([]value, len(paths))
	if _, err := walk([]byte(src), split, values); err != nil {
		return nil, err
	}
	var texts []string
	for _, v := range values {
		text, ok, err := v.read([]byte(src))
		if err != nil {
			return nil, err
		}
		if !ok {
			text = "-"
		}
		texts = append(texts, text)
	}
	return texts, nil
}

func TestWalkReadsPaths(t *testing.T) {
	const src = `{"id":"a\u0041\n\ud83d\ude00","n":9007199254740993,"f":-1.5e+7,"t":true,"z":null,"o":{"id":"inner","l":[10,{"x":"y"}]},"a.b":"dot"}`
	got, err := readPaths(src, "id", "n", "f", "t", "z", "o.id", "o.l.0", "o.l.1.x", `a\.b`, "missing", "o.missing", "id.x")
	want := []string{"aA\n😀", "9007199254740993", "-1.5e+7", "true", "-", "inner", "10", "y", "dot", "-", "-", "-"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("walk: %v\n%s", err, diff)
	}
}

func TestWalkRefusesWhatTwoReadersCouldReadDifferently(t *testing.T) {
	for name, src := range map[string]string{
		"a name twice":                `{"id":"a","id":"b"}`,
		"in another case":             `{"id":"a","ID":"b"}`,
		"another case first":          `{"Id":"a","id":"b"}`,
		"the Kelvin sign":             "{\"kind\":\"a\",\"\u212aind\":\"b\"}",
		"the long s":                  "{\"status\":\"a\",\"\u017ftatus\":\"b\"}",
		"an escaped name":             `{"id":"a","\u0069d":"b"}`,
		"twice on the way":            `{"o":{"x":1},"o":{"x":2}}`,
		"half a surrogate pair":       `{"id":"\ud800"}`,
		"the wrong half first":        `{"id":"\udc00\ud800"}`,
		"a high half and a letter":    `{"id":"\ud800\u0041"}`,
		"no UTF-8":                    "{\"id\":\"\xff\"}",
		"something behind":            `{"id":"a"}{}`,
		"two byte order marks":        "\xef\xbb\xbf\xef\xbb\xbf{}",
		"a comma too many":            `{"id":"a",}`,
		"a leading zero":              `{"n":01}`,
		"a plus":                      `{"n":+1}`,
		"not a number":                `{"n":NaN}`,
		"a bare point":                `{"n":1.}`,
		"a control character":         "{\"id\":\"a\nb\"}",
		"an unknown escape":           `{"id":"\x41"}`,
		"single quotes":               `{'id':'a'}`,
		"a comment":                   `{/**/"id":"a"}`,
		"an end too early":            `{"id":"a"`,
		"nothing":                     ``,
		"too deep":                    strings.Repeat("[", 600) + strings.Repeat("]", 600),
		"an object where text is due": `{"id":{}}`,
	} {
		if got, err := readPaths(src, "id", "kind", "status", "o.x", "n"); err == nil {
			t.Errorf("%s: %s: read %q, want an error", name, src, got)
		}
	}
}

func TestWalkLetsUnreadMembersRepeat(t *testing.T) {
	got, err := readPaths(`{"x":1,"x":2,"id":"a","o":{"id":3,"id":4},"ID2":5}`, "id")
	if diff := cmp.Diff([]string{"a"}, got); err != nil || diff != "" {
		t.Errorf("walk: %v\n%s", err, diff)
	}
}

func TestWalkFindsItems(t *testing.T) {
	const src = `{"events":[ {"id":1}, 2 ,"x"],"more":true}`
	items, err := walk([]byte(src), [][]string{{"events", anyItem}}, make([]value, 1))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range items {
		got = append(got, src[s.start:s.end])
	}
	if diff := cmp.Diff([]string{`{"id":1}`, "2", `"x"`}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWalkTakesTheInnermostItems(t *testing.T) {
	const src = `{"a":[{"b":[1,2]},{"b":[]},{"c":3}]}`
	items, err := walk([]byte(src), [][]string{{"a", anyItem}, {"a", anyItem, "b", anyItem}}, make([]value, 2))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range items {
		got = append(got, src[s.start:s.end])
	}
	if diff := cmp.Diff([]string{"1", "2", `{"b":[]}`, `{"c":3}`}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzWalk(f *testing.F) {
	for _, seed := range []string{
		`{"id":"a"}`, `[1,2.5e-3,{"id":null}]`, `{"id":"a","ID":"b"}`, `{"id":"\ud800"}`, "{\"\u212a\":1}", `{"o":{"id":[[]]}}`, ` {} `, `"x"`, `{"id":"\\"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 4<<10 {
			return
		}
		paths := [][]string{{"id"}, {"o", "id"}, {"list", anyItem}}
		values := make([]value, len(paths))
		_, err := walk(src, paths, values)
		if err == nil && !json.Valid(src) {
			t.Fatalf("walk took %q, which is not JSON", src)
		}
		if err != nil && json.Valid(src) && utf8.Valid(src) && !strings.Contains(err.Error(), "twice") && !strings.Contains(err.Error(), "deep") {
			t.Fatalf("walk(%q) returned %v, but it is JSON", src, err)
		}
		if err != nil {
			return
		}
		for _, v := range values {
			if v.end > len(src) || v.start > v.end {
				t.Fatalf("walk(%q) found %+v", src, v)
			}
			agrees(t, src, v)
		}
	})
}

// agrees: a string that was read is what encoding/json makes of the same bytes.
func agrees(t *testing.T, src []byte, v value) {
	if v.kind != '"' {
		return
	}
	text, _, err := v.read(src)
	var want string
	if json.Unmarshal(src[v.start:v.end], &want) != nil || err == nil && text != want {
		t.Fatalf("read %q of %q, encoding/json %q", text, src[v.start:v.end], want)
	}
}

func FuzzForm(f *testing.F) {
	for _, seed := range []string{"a=1&b=2", "id=%41+b", "id=1&id=2", "%69d=1&id=2", "id=%", "&&=&id", "id=%ff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		values := make([]value, 1)
		if err := readForm(src, []string{"id"}, values); err != nil || values[0].kind == 0 {
			return
		}
		v := values[0]
		again, err := setField(src, "id", v.text)
		if err != nil {
			t.Fatalf("setField(%q): %v", src, err)
		}
		repeated := make([]value, 1)
		if err := readForm(again, []string{"id"}, repeated); err != nil || repeated[0].text != v.text {
			t.Fatalf("readForm(%q) = %q, then of %q %q, %v", src, v.text, again, repeated[0].text, err)
		}
	})
}

func FuzzTime(f *testing.F) {
	for _, seed := range []string{
		"1700000000", "1700000000000", "+1700000000", "01700000000", "1700000000.5", " 1700000000", "1e9", "9223372036854775807", "-1",
		"2026-01-01T00:00:00Z", "2026-01-01T00:00:00,5Z", "2026-01-01T0:00:00Z", "2026-01-01t00:00:00z", "0000000000",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, u := range []unit{seconds, millis} {
			if at, err := parseTime(text, u); err == nil && u.format(at) != text {
				t.Errorf("parseTime(%q, %s) = %v, which is written %q", text, u, at, u.format(at))
			}
		}
		if at, err := parseTime(text, auto); err == nil && (at.Year() < 1970 || at.Year() > 9999) {
			t.Errorf("parseTime(%q) = %v", text, at)
		}
	})
}

func TestTimesAreWrittenInOneWay(t *testing.T) {
	for _, text := range []string{
		"", "0", "1", "+1700000000", "01700000000", "0170000000", "1700000000abc", "1700000000.5", " 1700000000", "170000000", "17000000000",
		"1_00000000", "-170000000", "１７００００００００", "9223372036854775807", "2026-01-01T00:00", "2026-01-01_00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00,5",
	} {
		for _, u := range units {
			if at, err := parseTime(text, u); err == nil {
				t.Errorf("parseTime(%q, %s) = %v, want an error", text, u, at)
			}
		}
	}
}
