// Package mutate changes what a sender does not sign, for tests: a changed delivery is refused, or it is the same event.
package mutate

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// Now is when the cases are signed.
var Now = time.Unix(1767225600, 0).UTC()

// A Case is a delivery that a sender signed, and the source that takes it.
type Case struct {
	Provider *provider.Provider
	Variant  provider.Variant
	Source   recibo.Source
	Delivery *recibo.Delivery
}

// Name is "stripe/v1".
func (c *Case) Name() string { return c.Provider.Name() + "/" + c.Variant.Name }

// Credential says that nothing in the delivery is signed, so that a changed id is another event.
func (c *Case) Credential() bool { return c.Variant.Key == recibo.KeyCredential }

// params are values for all that the built-in senders declare.
var params = map[string]string{
	"public_url": "https://hooks.example.test/in/sample",
	"webhook_id": "1JE4291016473214C",
	"x_login":    "sample-login",
	"access_key": "rak_0123456789ABCDEF",
}

// custom are senders that users may write, of kinds that the catalogue has not yet.
var custom = []string{`
provider: custom-credential
signature: {scheme: token, from: "header:Authorization", format: "Bearer {sig}"}
key: {kind: credential}
id: header:X-Event-Id
type: json:type
sample: {type: stock.low, body: '{"type":"{{type}}","id":"{{id}}"}'}
`, `
provider: custom-hmac
signature:
  {scheme: hmac, hash: sha512, from: "header:X-Signature", format: "ts={time};h1={sig}", separator: ";", encoding: base64url, signed: "{time}.{body}"}
time: {from: signature, unit: ms, kind: send}
key: {kind: id, from: ["json:id"]}
cut: [time]
type: header:X-Type
sample: {type: stock.low, body: '{"id":"{{id}}","item":"flour"}'}
`, `
provider: custom-basic
signature: {scheme: basic}
key: {kind: credential}
id: json:id
type: json:type
sample: {type: stock.low, body: '{"type":"{{type}}","id":"{{id}}"}'}
`, `
provider: custom-none
signature: {scheme: none}
key: {kind: credential}
id: json:id
type: json:type
sample: {type: stock.low, body: '{"type":"{{type}}","id":"{{id}}"}'}
`, `
provider: custom-keyed
signature: {scheme: keyed-hash, hash: sha256, from: "header:X-Signature", signed: "{secret}-{body}"}
key: {kind: fingerprint}
type: json:type
sample: {type: stock.low, body: '{"type":"{{type}}","id":"{{id}}"}'}
`}

// secretPath is an address for senders that give nothing to check.
const secretPath = "/in/3f9c2a7be41d5068a7c9"

// Cases returns one case for each variant of each built-in sender, and for some custom ones.
func Cases() ([]Case, error) {
	all := provider.All()
	for _, text := range custom {
		p, err := provider.Parse("custom.yaml", []byte(text))
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	var cases []Case
	for _, p := range all {
		for _, variant := range p.Describe().Variants {
			c, err := NewCase(p, variant)
			if err != nil {
				return nil, fmt.Errorf("%s/%s: %w", p.Name(), variant.Name, err)
			}
			cases = append(cases, *c)
		}
	}
	return cases, nil
}

// NewCase signs a sample as the sender would.
func NewCase(p *provider.Provider, variant provider.Variant) (*Case, error) {
	keys, err := p.NewKeys(variant.Name)
	if err != nil {
		return nil, err
	}
	source := recibo.Source{
		Name: p.Name() + "-" + variant.Name, Provider: p, Variant: variant.Name, Path: secretPath, Params: map[string]string{},
	}
	switch {
	case variant.Unchecked:
	case variant.Symmetric:
		source.Secrets = []recibo.Secret{keys.Secret}
	default:
		source.PublicKeys = []string{keys.PublicKey}
	}
	if variant.Decrypts {
		source.Secrets = []recibo.Secret{keys.Secret}
	}
	for _, declared := range p.Describe().Params {
		source.Params[declared.Name] = cmp.Or(params[declared.Name], "sample-"+declared.Name)
	}
	delete(source.Params, "insecure_open")
	d, err := deliver(p, variant.Name, keys, source.Params)
	if err != nil {
		return nil, err
	}
	c := &Case{p, variant, source, d}
	return c, c.nameAccount()
}

// nameAccount has the source of a sender with one key for all its customers name the account of the delivery.
func (c *Case) nameAccount() error {
	v, err := c.Provider.Bind(&c.Source)
	if err != nil || !v.Profile().SharedKey {
		return err
	}
	got, err := events(v, c.Delivery)
	if err != nil {
		return err
	}
	c.Source.Accounts = []string{got[0].Account}
	return nil
}

func deliver(p *provider.Provider, variant string, keys *provider.Keys, params map[string]string) (*recibo.Delivery, error) {
	body, contentType, err := p.SampleOf(variant, "", "evt_sample_1", Now)
	if err != nil {
		return nil, err
	}
	signed, err := p.Sign(&provider.SignRequest{
		Variant: variant, Secret: keys.Secret, PrivateKey: keys.PrivateKey, Params: params,
		URL: "https://hooks.example.test/in/sample", Body: body, ContentType: contentType, ID: "evt_sample_1", Now: Now,
	})
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(signed.URL)
	if err != nil {
		return nil, err
	}
	return &recibo.Delivery{
		Method: signed.Method, Path: secretPath, RawQuery: u.RawQuery, Header: signed.Header, Body: signed.Body, ReceivedAt: Now,
	}, nil
}

// clone is a delivery that can be changed by itself.
func clone(d *recibo.Delivery) *recibo.Delivery {
	c := *d
	c.Header, c.Body = d.Header.Clone(), slices.Clone(d.Body)
	return &c
}

// header is the name of the header in a place such as "header:X-Id"; empty for other places.
func header(at string) string {
	name, ok := strings.CutPrefix(at, "header:")
	if !ok {
		return ""
	}
	name, _, _ = strings.Cut(name, "|") // the first of those that the sender may use
	return http.CanonicalHeaderKey(name)
}
