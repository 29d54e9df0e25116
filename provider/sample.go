package provider

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Sample makes a small event body as the sender would write it. An empty kind is the sample's own type, an empty id a new
// one. The body is not signed yet, and a sender that tells the id in a header does so then: see [Provider.Sign].
func (p *Provider) Sample(kind, id string, now time.Time) (body []byte, contentType string, err error) {
	return p.SampleOf("", kind, id, now)
}

// SampleOf is Sample for one of the sender's variants.
func (p *Provider) SampleOf(variant, kind, id string, now time.Time) (body []byte, contentType string, err error) {
	r, err := p.rules(variant)
	if err != nil {
		return nil, "", err
	}
	sample := &r.sample
	if sample.Body == "" {
		return nil, "", fmt.Errorf("provider %s has no sample: give a body, or add sample: to its file", p.Name())
	}
	contentType = orDefault(sample.ContentType, "application/json")
	escape := func(text string) string { q := quote(text); return string(q[1 : len(q)-1]) }
	if strings.Contains(contentType, "form") {
		escape = escapeQuery
	}
	fill := strings.NewReplacer(
		"{{id}}", escape(orDefault(id, newUUID())),
		"{{type}}", escape(orDefault(kind, sample.Type)),
		"{{time}}", strconv.FormatInt(now.Unix(), 10),
		"{{millis}}", strconv.FormatInt(now.UnixMilli(), 10),
		"{{rfc3339}}", now.UTC().Format(time.RFC3339),
	)
	return []byte(strings.TrimSuffix(fill.Replace(sample.Body), "\n")), contentType, nil
}
