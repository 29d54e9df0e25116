package provider

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/recibohq/recibo"
)

// Sample makes a small event body as the sender would write it. An empty kind is the sample's own type, an empty id a new
// one. The body is not signed yet: see [Provider.Sign].
func (p *Provider) Sample(kind, id string, now time.Time) (body []byte, contentType string, err error) {
	sample := &p.file.Sample
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

// NewSecret makes a secret, or for an asymmetric sender a pair of keys, as the sender would show it: for trials and tests.
func (p *Provider) NewSecret(variant string) (recibo.Secret, error) {
	r, err := p.rules(variant)
	if err != nil {
		return recibo.Secret{}, err
	}
	if !r.sign.symmetric() {
		return recibo.Secret{}, errors.New("the sender has no secret, it signs with a private key")
	}
	key := strings.ReplaceAll(newUUID()+newUUID(), "-", "")[:32]
	return recibo.NewSecret(string(r.sign.secret.prefix()) + r.sign.secret.encode([]byte(key))), nil
}
