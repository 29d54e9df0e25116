package difftest

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/recibohq/recibo/provider"
)

// A layout is where a sender writes what, read from the sender's own file.
type layout struct {
	header    spot // the whole text in which the signature stands
	signature spot
	time      spot // unset: no time stands outside the body
	id        spot // a signed header beside the time
	separator string
	entries   []string // "t={time}", "v1={sig}"
	encoding  string
	signed    []part
}

// A spot is a text in a request that can be read and written.
type spot struct {
	name string
	get  func(r *request) string
	set  func(r *request, text string)
	head string // the header's name, if it is all of one
}

// A part of the template of what is signed: a literal, or a slot such as "time".
type part struct {
	literal, slot string
}

type signatureFile struct {
	Scheme    string   `yaml:"scheme"`
	From      string   `yaml:"from"`
	Format    string   `yaml:"format"`
	Separator string   `yaml:"separator"`
	Encoding  string   `yaml:"encoding"`
	Signed    string   `yaml:"signed"`
	Prefixes  []string `yaml:"prefixes"`
}

type senderFile struct {
	Signature signatureFile `yaml:"signature"`
	Time      struct {
		From string `yaml:"from"`
	} `yaml:"time"`
	Variants map[string]senderFile `yaml:"variants"`
}

func readLayout(t *testing.T, p *provider.Provider, variant string) *layout {
	t.Helper()
	var f senderFile
	if err := yaml.Unmarshal(p.YAML(), &f); err != nil {
		t.Fatal(err)
	}
	prefixes := f.Signature.Prefixes
	if v, ok := f.Variants[variant]; ok {
		v.Time.From = firstOf(v.Time.From, f.Time.From)
		f = v
	}
	prefix := ""
	if len(prefixes) > 0 {
		prefix = prefixes[0]
	}
	name := func(place string) string {
		place, _, _ = strings.Cut(place, "|") // recibo signs in the first of them
		return http.CanonicalHeaderKey(strings.Replace(strings.TrimPrefix(place, "header:"), "*", prefix, 1))
	}
	l := &layout{separator: f.Signature.Separator, encoding: f.Signature.Encoding, entries: []string{firstOf(f.Signature.Format, "{sig}")}}
	if l.separator != "" {
		l.entries = strings.Split(f.Signature.Format, l.separator)
	}
	l.header = headerSpot("header", name(f.Signature.From))
	if strings.HasPrefix(f.Signature.From, "json:") {
		l.header = memberSpot("header", "hmacSignature")
	}
	l.signature = l.within("signature", "{sig}")
	if strings.HasPrefix(f.Time.From, "header:") {
		l.time = headerSpot("time", name(f.Time.From))
	} else if f.Time.From == "signature" {
		l.time = l.within("time", "{time}")
	}
	l.readSigned(f.Signature.Signed, name)
	if f.Signature.Scheme == "mercado-pago" {
		l.id = headerSpot("id", "X-Request-Id")
	}
	return l
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

var slots = regexp.MustCompile(`\{[^}]*\}`)

// readSigned takes a template apart. Its headers beside the time are ids.
func (l *layout) readSigned(template string, name func(string) string) {
	rest := template
	for _, at := range slots.FindAllString(template, -1) {
		before, after, _ := strings.Cut(rest, at)
		if before != "" {
			l.signed = append(l.signed, part{literal: before})
		}
		slot := strings.Trim(at, "{}")
		if strings.HasPrefix(slot, "header:") {
			slot = "header:" + name(slot)
			if head := name(slot); head != l.time.head {
				l.id = headerSpot("id", head)
			}
		}
		l.signed = append(l.signed, part{slot: slot})
		rest = after
	}
}

// at is the spot of a slot; ok is false for what no change of the request can move.
func (l *layout) at(slot string) (s spot, ok bool) {
	switch {
	case slot == "body":
		return spot{get: func(r *request) string { return string(r.body) }, set: func(r *request, s string) { r.body = []byte(s) }}, true
	case slot == "time":
		return l.time, true
	case strings.HasPrefix(slot, "header:"):
		return headerSpot("", strings.TrimPrefix(slot, "header:")), true
	default:
		return s, false
	}
}

func headerSpot(name, head string) spot {
	return spot{
		name: name, head: head,
		get: func(r *request) string { return r.header.Get(head) },
		set: func(r *request, text string) { r.header[head] = []string{text} },
	}
}

// memberSpot is a string in a JSON body, by the name of its member.
func memberSpot(name, member string) spot {
	at := regexp.MustCompile(`("` + member + `"\s*:\s*")((?:[^"\\]|\\.)*)"`)
	return spot{
		name: name,
		get: func(r *request) string {
			if m := at.FindSubmatch(r.body); m != nil {
				return string(m[2])
			}
			return ""
		},
		set: func(r *request, text string) {
			if m := at.FindSubmatchIndex(r.body); m != nil {
				quoted := strings.NewReplacer("\n", `\n`, "\t", `\t`, "\x00", `\u0000`, `"`, `\"`).Replace(text)
				r.body = []byte(string(r.body[:m[4]]) + quoted + string(r.body[m[5]:]))
			}
		},
	}
}

// within is what an entry of the header holds: the signature or the time.
func (l *layout) within(name, slot string) spot {
	return spot{
		name: name,
		get: func(r *request) string {
			_, rest := l.find(l.header.get(r), slot)
			return rest
		},
		set: func(r *request, text string) {
			whole := l.header.get(r)
			if before, rest := l.find(whole, slot); rest != "" {
				l.header.set(r, before+text+whole[len(before)+len(rest):])
			}
		},
	}
}

// find returns what stands before the text of slot, and that text.
func (l *layout) find(whole, slot string) (before, text string) {
	pieces := []string{whole}
	if l.separator != "" {
		pieces = strings.Split(whole, l.separator)
	}
	start := 0
	for _, piece := range pieces {
		for _, entry := range l.entries {
			prefix, found := strings.CutSuffix(entry, slot)
			if found && prefix+slot != "{sig}" && strings.HasPrefix(piece, prefix) || entry == "{sig}" && slot == entry {
				return whole[:start+len(prefix)], piece[len(prefix):]
			}
		}
		start += len(piece) + len(l.separator)
	}
	return "", ""
}
