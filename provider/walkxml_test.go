package provider

import (
	"strings"
	"testing"
)

func readXML(t *testing.T, src string, item bool, paths ...string) (texts []string, items []string, err error) {
	split := make([][]string, len(paths))
	for i, path := range paths {
		split[i] = splitPath(path)
	}
	values := make([]value, len(paths))
	spans, err := walkXML([]byte(src), split, values, item)
	for _, v := range values {
		texts = append(texts, v.text)
	}
	for _, s := range spans {
		items = append(items, src[s.start:s.end])
	}
	return texts, items, err
}

func TestXMLIsReadByTheNamesOfItsElements(t *testing.T) {
	const src = `<?xml version="1.0"?><s:Envelope xmlns:s="urn:x"><!-- c --><s:Body><n><Org>o1</Org><N><Id>1</Id></N><N a="b"> <Id>2 &amp; <![CDATA[<3>]]></Id></N></n></s:Body></s:Envelope>`
	texts, items, err := readXML(t, src, false, "Envelope.Body.n.Org", "Envelope.Body.n.N[]", "Envelope.Body.n.Other")
	if err != nil || texts[0] != "o1" || texts[2] != "" {
		t.Errorf("%q, %v", texts, err)
	}
	if got := strings.Join(items, " | "); got != `<N><Id>1</Id></N> | <N a="b"> <Id>2 &amp; <![CDATA[<3>]]></Id></N>` {
		t.Errorf("items %s", got)
	}
	texts, _, err = readXML(t, items[1], true, "Id")
	if err != nil || texts[0] != "2 & <3>" {
		t.Errorf("an item: %q, %v", texts, err)
	}
}

func TestXMLThatTwoReadersCouldReadDifferentlyIsRefused(t *testing.T) {
	for name, src := range map[string]string{
		"an element twice": `<a><b>1</b><b>2</b></a>`, "two documents": `<a><b>1</b></a><a/>`, "no end": `<a><b>1</b>`, "nothing": ``,
		"a document type": `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a><b>&x;</b></a>`, "an unknown entity": `<a><b>&x;</b></a>`,
		"no XML": `{"a":1}`, "crossed": `<a><b>1</a></b>`, "too deep": strings.Repeat("<a>", 600) + strings.Repeat("</a>", 600),
	} {
		if texts, _, err := readXML(t, src, false, "a.b"); err == nil {
			t.Errorf("%s: read as %q", name, texts)
		}
	}
}

func FuzzWalkXML(f *testing.F) {
	f.Add(`<a><b>1</b><c><d/></c></a>`, false)
	f.Add(`<a xmlns="x">&lt;</a>`, true)
	f.Fuzz(func(t *testing.T, src string, item bool) {
		values := make([]value, 2)
		items, err := walkXML([]byte(src), [][]string{{"a", "b"}, {"a", "c", anyItem}}, values, item)
		if err != nil {
			return
		}
		for _, s := range items {
			if s.start < 0 || s.start > s.end || s.end > len(src) || src[s.start] != '<' {
				t.Fatalf("%q: an item from %d to %d", src, s.start, s.end)
			}
		}
	})
}
