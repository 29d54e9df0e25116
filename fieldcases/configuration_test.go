package fieldcases

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// An unsupportedError is a wish of a case that the gateway's configuration cannot express yet.
type unsupportedError string

func (e unsupportedError) Error() string { return "not possible yet: " + string(e) }

// configuration writes the case's gateway as an operator would: the ordinary file, secrets in files of their own. secrets
// are those of the first source.
func configuration(t *testing.T, c *fieldCase, secrets []string) (string, error) {
	file := map[string]any{
		"version": 1,
		"server":  serverOf(&c.Config.Gateway),
		"work":    workOf(&c.Config.Gateway),
		"destinations": []any{map[string]any{
			"name": "app", "url": "http://127.0.0.1:9/", "retry": retryOf(&c.Config.Gateway),
			"sign": map[string]any{"secret": "insecure-literal:whsec_bm90LXVzZWQtaW4tdGhlLWNhc2Vz"},
		}},
	}
	var sources []any
	for i := range c.Config.Sources {
		s := &c.Config.Sources[i]
		if i > 0 {
			secrets = s.Secrets
		}
		one, err := sourceOf(t, i, s, secrets)
		if err != nil {
			return "", err
		}
		sources = append(sources, one)
	}
	file["sources"] = sources
	text, err := yaml.Marshal(file)
	return string(text), err
}

func seconds(s float64) string { return fmt.Sprintf("%gms", s*1000) }

func serverOf(g *gatewayC) map[string]any {
	server := map[string]any{}
	if g.PublicURL != "" {
		server["public_url"] = g.PublicURL
	}
	if g.Limits != nil {
		server["read_headers"], server["read_body"] = seconds(g.Limits.ReadHeaderS), seconds(g.Limits.ReadBodyS)
	}
	return server
}

func workOf(g *gatewayC) map[string]any {
	work := map[string]any{}
	if g.LeaseS > 0 {
		work["lease"] = seconds(g.LeaseS)
	}
	if g.Workers > 0 {
		work["concurrency"] = g.Workers
	}
	return work
}

func retryOf(g *gatewayC) map[string]any {
	if len(g.RetryDelaysS) == 0 {
		return map[string]any{}
	}
	var delays []string
	for _, s := range g.RetryDelaysS {
		delays = append(delays, seconds(s))
	}
	return map[string]any{"delays": delays, "jitter": "0%"}
}

// sourceOf is a source in the ordinary format.
func sourceOf(t *testing.T, i int, s *source, secrets []string) (map[string]any, error) {
	if err := s.supported(); err != nil {
		return nil, err
	}
	// Cases use secrets of senders' own documents, which only a source for tests may have.
	one := map[string]any{"name": fmt.Sprintf("case%d", i), "provider": s.Provider, "path": s.Path, "mode": "test"}
	if s.Scheme != nil {
		profile, err := profileOf(s)
		if err != nil {
			return nil, err
		}
		one["profile"] = profile
	}
	var refs []string
	for n, secret := range secrets {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("secret-%d-%d", i, n))
		if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
			return nil, err
		}
		refs = append(refs, "file:"+path)
	}
	if len(refs) > 0 {
		one["secrets"] = refs
	}
	params := paramsOf(s)
	if s.ToleranceS != nil {
		one["tolerance"] = seconds(*s.ToleranceS)
	}
	variant := s.Variant
	if v, ok := s.Params[signatureVersion]; ok {
		variant = "v" + fmt.Sprint(v)
	}
	set(one, "variant", variant, "tenant", s.Tenant, "account", s.Account, "time_kind", s.TimeKind)
	if len(params) > 0 {
		one["params"] = params
	}
	if len(s.PublicKeys) > 0 {
		one["public_keys"] = s.PublicKeys
	}
	if len(s.AllowedAccounts) > 0 {
		one["accounts"] = s.AllowedAccounts
	}
	if s.MaxBody > 0 {
		one["max_body"] = s.MaxBody
	}
	if s.Order != nil {
		one["order"] = s.Order.Mode
	}
	return one, nil
}

// paramsOf are the declared parameters; a list is written with commas.
func paramsOf(s *source) map[string]string {
	params := map[string]string{}
	for name, value := range s.Params {
		if list, ok := value.([]any); ok {
			value = strings.Trim(strings.Join(strings.Fields(fmt.Sprint(list)), ","), "[]")
		}
		params[name] = fmt.Sprint(value)
	}
	delete(params, signatureVersion) // a variant here
	return params
}

// signatureVersion is the format's word for one of Amazon SNS's two ways to sign.
const signatureVersion = "signature_version"

// set puts those of the name and value pairs that have a value.
func set(into map[string]any, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			into[pairs[i]] = pairs[i+1]
		}
	}
}

// supported names the first thing that a source wants and the gateway does not have yet.
func (s *source) supported() error {
	for _, wish := range []struct {
		wanted bool
		what   string
	}{
		{s.Late != "" && s.Late != "refuse", "late: " + s.Late},
		{s.Order != nil && s.Order.Mode == "newest", "order: newest"},
		{s.Mode != nil, "a filter by mode"},
		{len(s.Types) > 0, "a filter by type"},
		{s.Respond != nil, "an answer of the source's own"},
		{s.Forward != nil, "watching a forward destination"},
		{s.Paused, "a paused source"},
		{s.RetentionS > 0 || s.BodyRetentionS > 0, "retention"},
		{s.SilenceS > 0, "an alarm for silence"},
		{len(s.IPAllow) > 0, "allowed addresses"},
		{s.PathSecret != "", "a secret path"},
	} {
		if wish.wanted {
			return unsupportedError(wish.what)
		}
	}
	return nil
}

var slots = strings.NewReplacer("{raw_body}", "{body}", "{timestamp}", "{time}")

// profileOf is a home-made sender in the catalogue's format.
func profileOf(s *source) (map[string]any, error) {
	c := s.Scheme
	if strings.Contains(c.SignedContent, "{decoded_body}") {
		return nil, unsupportedError("a signature over the decoded body")
	}
	alg, hash, _ := strings.Cut(c.Alg, "-")
	signature := map[string]any{"format": c.Format, "encoding": c.Encoding, "signed": slots.Replace(c.SignedContent), "from": "header:" + c.Header}
	switch {
	case alg == "hmac":
		signature["scheme"], signature["hash"], signature["secret"] = "hmac", hash, c.KeyEncoding
	case c.Alg == "token":
		signature = map[string]any{"scheme": "token", "format": c.Format, "from": "header:" + c.Header}
	default:
		signature["scheme"] = c.Alg
	}
	p := map[string]any{"provider": "case", "title": "Case", "signature": signature, "key": map[string]any{"kind": "fingerprint"}}
	if c.Key != nil {
		kind := "id"
		if len(c.Key.Where) > 1 {
			kind = "composite"
		}
		p["key"] = map[string]any{"kind": kind, "from": c.Key.Where}
	}
	if c.Alg == "token" {
		p["key"] = map[string]any{"kind": "credential"}
		p["id"] = c.Key.Where[0]
	}
	if err := timeOf(p, signature, c.Timestamp, s.TimeKind); err != nil {
		return nil, err
	}
	if c.Type != nil {
		p["type"] = c.Type.Where
	}
	if c.DeliveryID != nil {
		p["id"] = c.DeliveryID.Where
	}
	if s.AccountField != "" {
		p["account"] = s.AccountField
	}
	if s.Order != nil {
		p["object"] = map[string]any{"kind": "object", "id": s.Order.Object}
	}
	if c.Handshake == "probe" {
		p["handshakes"] = []any{map[string]any{"method": "GET", "status": 200}, map[string]any{"method": "HEAD", "status": 200}}
	}
	return p, nil
}

// timeOf describes the signed time. "{time}" in the template is the place that the case names.
func timeOf(p, signature map[string]any, t *timestamp, kind string) error {
	if t == nil || t.Where == "" || t.Where == "none" {
		return nil
	}
	if !slices.Contains([]string{"s", "ms", "rfc3339"}, t.Unit) {
		return fmt.Errorf("not understood: unit %q", t.Unit)
	}
	if kind == "" {
		kind = t.Kind
	}
	p["time"] = map[string]any{"from": t.Where, "unit": t.Unit, "kind": kind}
	if signed, ok := signature["signed"].(string); ok {
		signature["signed"] = strings.ReplaceAll(signed, "{time}", "{"+t.Where+"}")
	}
	if kind == "send" {
		p["cut"] = []string{}
		if p["key"].(map[string]any)["kind"] == "id" {
			p["cut"] = []string{"time"}
		} // else the time may be all that tells two events apart
	}
	return nil
}
