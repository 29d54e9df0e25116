package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// A cause is one likely reason for a refusal: what would have to be otherwise, and what that means.
type cause struct {
	tried   string // "the secret without its final newline"
	meaning string
	source  recibo.Source
	body    []byte
}

// explain tries the likely causes of a refusal and returns the first that would have verified, and what was tried.
func explain(ctx context.Context, p *provider.Provider, s *recibo.Source, d *recibo.Delivery) (found *cause, tried []string) {
	for _, c := range causes(p, s, d) {
		tried = append(tried, c.tried)
		verifier, err := p.Bind(&c.source)
		if err != nil {
			continue
		}
		other := *d
		other.Body = c.body
		if _, err := verifier.Verify(ctx, &other); err == nil {
			return &c, tried
		}
	}
	return nil, tried
}

// causes are the mistakes that people make, the commonest first.
func causes(p *provider.Provider, s *recibo.Source, d *recibo.Delivery) []cause {
	var all []cause
	for _, other := range otherSecrets(s) {
		c := cause{other.tried, other.meaning, *s, d.Body}
		c.source.Secrets = []recibo.Secret{recibo.InsecureSecret(other.text)}
		all = append(all, c)
	}
	for _, other := range otherBodies(d.Body) {
		all = append(all, cause{other.tried, other.meaning, *s, []byte(other.text)})
	}
	for _, v := range p.Describe().Variants {
		if v.Name != s.Variant && !(s.Variant == "" && v.Main) {
			c := cause{"the variant " + v.Name, "The sender signs in another of its ways: set variant: " + v.Name + ".", *s, d.Body}
			c.source.Variant = v.Name
			all = append(all, c)
		}
	}
	for _, address := range otherAddresses(s.Params["public_url"]) {
		c := cause{"the address " + address, "The sender calls another address than the one configured: set public_url to it.", *s, d.Body}
		c.source.Params = map[string]string{}
		for name, value := range s.Params {
			c.source.Params[name] = value
		}
		c.source.Params["public_url"] = address
		all = append(all, c)
	}
	return all
}

// An other is another text in place of one that was given.
type other struct{ tried, meaning, text string }

func otherSecrets(s *recibo.Source) []other {
	if len(s.Secrets) == 0 {
		return nil
	}
	text := s.Secrets[0].Reveal()
	trimmed := strings.TrimSpace(text)
	all := []other{
		{"the secret without blanks and line breaks around it", "The file or variable holds more than the secret.", trimmed},
		{"the secret with a final newline", "The sender was given the secret with its line break.", text + "\n"},
		{"the secret without quotes around it", "The quotes were copied with it.", strings.Trim(trimmed, `"'`)},
		{"the secret without its prefix", "This sender's secret has no prefix.", afterPrefix(trimmed)},
		{"the secret with the prefix whsec_", "The prefix is part of the secret.", "whsec_" + trimmed},
		{"the secret in lower case", "The secret's case was changed.", strings.ToLower(trimmed)},
	}
	return differing(all, text)
}

func afterPrefix(s string) string {
	if _, rest, ok := strings.Cut(s, "_"); ok {
		return rest
	}
	return s
}

const rewritten = "Something on the way rewrote the body: keep the bytes as they came."

func otherBodies(body []byte) []other {
	text := string(body)
	all := []other{
		{"the body without its final newline", "The capture, or something on the way, added a line break.", strings.TrimRight(text, "\r\n")},
		{"the body with a final newline", "The final line break was lost.", text + "\n"},
		{"the body with a final CR LF", "The final line break was lost.", strings.TrimRight(text, "\r\n") + "\r\n"},
		{"the body with LF for CR LF", rewritten, strings.ReplaceAll(text, "\r\n", "\n")},
		{"the body with CR LF for LF", rewritten, strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")},
		{"the body without its byte order mark", rewritten, strings.TrimPrefix(text, "\ufeff")},
		{"the body as compact JSON", rewritten + " It was pretty-printed.", reformatted(body, json.Compact)},
		{"the body as indented JSON", rewritten + " It was compacted.", reformatted(body, indent)},
		{"the body with & < and > escaped as JSON may", rewritten, escapedHTML(body)},
		{"no body", "The sender signs an empty body.", ""},
	}
	return differing(all, text)
}

func reformatted(body []byte, format func(*bytes.Buffer, []byte) error) string {
	var b bytes.Buffer
	if err := format(&b, body); err != nil {
		return string(body)
	}
	return b.String()
}

func indent(b *bytes.Buffer, src []byte) error { return json.Indent(b, src, "", "  ") }

func escapedHTML(body []byte) string {
	var b bytes.Buffer
	json.HTMLEscape(&b, body)
	return b.String()
}

func otherAddresses(address string) []string {
	if address == "" {
		return nil
	}
	var all []string
	if rest, ok := strings.CutPrefix(address, "https://"); ok {
		all = append(all, "http://"+rest)
	} else if rest, ok := strings.CutPrefix(address, "http://"); ok {
		all = append(all, "https://"+rest)
	}
	if rest, ok := strings.CutSuffix(address, "/"); ok {
		return append(all, rest)
	}
	return append(all, address+"/")
}

// differing keeps those that are another text than what was given, each once.
func differing(all []other, given string) []other {
	seen := map[string]bool{given: true}
	var kept []other
	for _, o := range all {
		if !seen[o.text] {
			seen[o.text] = true
			kept = append(kept, o)
		}
	}
	return kept
}
