package provider

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/recibohq/recibo"
)

// twilio signs the address and, of a form, every parameter after it: name and value, sorted, without separators. Of a JSON
// body the address holds the digest: https://www.twilio.com/docs/usage/webhooks/webhooks-security
//
// Both shapes are one variant. The text that is signed for a form could only be taken for an address with a digest, or
// the other way round, if a parameter could begin where the query begins: so a form parameter's name may not begin with
// "?", and beside bodySHA256 the query must be that of the configured address. What remains is Twilio's own: A=1&B=2 and
// A=1B2 are one signed text, hence one fingerprint and one event.
type twilio struct{}

func newTwilio(*rules) scheme { return twilio{} }

const (
	bodyDigest = "bodySHA256="
	maxFields  = 2000
)

var (
	twilioURL    = &templatePart{kind: urlPart}
	twilioFields = &templatePart{kind: bodyPart}
)

func (twilio) covers(p *place) bool {
	return p.kind == inForm || p.kind == inJSON || p.kind == inParam
}

func (twilio) wholeBody() bool { return true }

func (twilio) parts() []string {
	return []string{"URL", "all form parameters, or the SHA-256 of a JSON body"}
}

func (twilio) verify(_ context.Context, v *verifier, d *recibo.Delivery, r *reading) error {
	if err := v.findSignatures(d, r); err != nil {
		return err
	}
	address, fields, err := twilioSigned(v.params[paramURL], d)
	if err != nil {
		return fmt.Errorf("%w: %w", recibo.BadSignature, err)
	}
	for _, spelled := range spellings(address) {
		pieces := []piece{{bytes: []byte(spelled), from: twilioURL}, {bytes: fields, from: twilioFields}}
		if v.prove(r, pieces) {
			return nil
		}
	}
	return recibo.BadSignature
}

// twilioSigned returns the address and the parameters as they are signed.
func twilioSigned(configured string, d *recibo.Delivery) (address string, fields []byte, err error) {
	base, query, _ := strings.Cut(configured, "?")
	if before, digest, found := cutLast(d.RawQuery, bodyDigest); found {
		sum := sha256.Sum256(d.Body)
		switch {
		case strings.TrimSuffix(before, "&") != query:
			return "", nil, fmt.Errorf("beside %s the query must be that of %s", bodyDigest, paramURL)
		case digest != hex.EncodeToString(sum[:]):
			return "", nil, fmt.Errorf("%s is not the body's", bodyDigest)
		}
		return base + "?" + d.RawQuery, nil, nil
	}
	fields, err = twilioForm(d.Body)
	return publicURL(configured, d.RawQuery), fields, err
}

// publicURL is the address that the sender called. The query is the request's own unless the configured address has one.
func publicURL(configured, rawQuery string) string {
	if rawQuery == "" || strings.Contains(configured, "?") {
		return configured
	}
	return configured + "?" + rawQuery
}

// cutLast cuts a query around a name that begins a parameter.
func cutLast(query, name string) (before, after string, found bool) {
	i := strings.LastIndex(query, name)
	if i < 0 || i > 0 && query[i-1] != '&' {
		return "", "", false
	}
	return query[:i], query[i+len(name):], true
}

// twilioForm joins a form's parameters: names sorted, the values of one name sorted and each taken once.
func twilioForm(body []byte) (joined []byte, err error) {
	type field struct{ name, value string }
	var fields []field
	eachPair(body, func(p pair) bool {
		var f field
		if f.name, err = unescape(p.name); err == nil {
			f.value, err = unescape(p.value)
		}
		switch {
		case err != nil:
		case strings.HasPrefix(f.name, "?"):
			err = fmt.Errorf("a parameter begins like a query")
		case len(fields) == maxFields:
			err = fmt.Errorf("more than %d parameters", maxFields)
		}
		fields = append(fields, f)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(fields, func(a, b field) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.value, b.value))
	})
	for _, f := range slices.Compact(fields) {
		joined = append(append(joined, f.name...), f.value...)
	}
	return joined, nil
}

// spellings are the addresses that Twilio may have signed: with and without the port, and with an apostrophe that a proxy
// or a URL parser on the way has encoded. What was signed is the same event however it was spelled on the way.
func spellings(address string) []string {
	all := withAndWithoutPort(address)
	if !strings.Contains(address, "%27") {
		return all
	}
	return append(all, withAndWithoutPort(strings.ReplaceAll(address, "%27", "'"))...)
}

// withAndWithoutPort is the address as it is and in its other spelling: Twilio is not consistent about ports.
func withAndWithoutPort(address string) []string {
	scheme, rest, ok := strings.Cut(address, "://")
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	port := map[string]string{"https": ":443", "http": ":80"}[scheme]
	switch u, err := url.Parse(scheme + "://" + host); {
	case !ok || err != nil:
		return []string{address}
	case u.Port() != "":
		return []string{address, scheme + "://" + strings.TrimSuffix(host, ":"+u.Port()) + path}
	default:
		return []string{address, scheme + "://" + host + port + path}
	}
}

func (twilio) seal(s *sealing) error {
	d := &recibo.Delivery{Body: s.body}
	if strings.Contains(s.contentType, "json") {
		sum := sha256.Sum256(s.body)
		s.addQuery(bodyDigest + hex.EncodeToString(sum[:]))
	}
	_, d.RawQuery, _ = strings.Cut(s.url, "?")
	address, fields, err := twilioSigned(cmp.Or(s.params[paramURL], s.configured), d)
	if err != nil {
		return err
	}
	signature, err := s.sign([]piece{{bytes: []byte(address)}, {bytes: fields}})
	if err != nil {
		return err
	}
	return s.put(signature)
}
