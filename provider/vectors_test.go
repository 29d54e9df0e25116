package provider_test

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// A vector is a request and what must become of it.
type vector struct {
	Name       string            `yaml:"name"`
	Origin     string            `yaml:"origin"` // official: from the sender's own documents or SDK
	Source     string            `yaml:"source"`
	Variant    string            `yaml:"variant"`
	Secret     string            `yaml:"secret"`
	PublicKey  string            `yaml:"public_key"`
	PrivateKey string            `yaml:"private_key"`
	Params     map[string]string `yaml:"params"`
	Method     string            `yaml:"method"` // default POST
	URL        string            `yaml:"url"`
	Headers    map[string]string `yaml:"headers"`
	Body       string            `yaml:"body"`
	Now        int64             `yaml:"now"`
	Want       want              `yaml:"want"`
}

type want struct {
	Reason           recibo.Reason `yaml:"reason"`
	At               string        `yaml:"at"`
	Answer           *wantAnswer   `yaml:"answer"`
	Events           []wantEvent   `yaml:"events"`
	ContentOf        string        `yaml:"content_of"`         // the vector whose content is equal
	OtherContentThan string        `yaml:"other_content_than"` // the vector whose content differs
}

type wantAnswer struct {
	Status  int               `yaml:"status"`
	Type    string            `yaml:"type"`
	Body    string            `yaml:"body"`
	Headers map[string]string `yaml:"headers"`
}

func answerOf(a *recibo.Answer) *wantAnswer {
	w := &wantAnswer{Status: a.Status, Type: a.ContentType, Body: string(a.Body)}
	for name := range a.Header {
		if w.Headers == nil {
			w.Headers = map[string]string{}
		}
		w.Headers[name] = a.Header.Get(name)
	}
	return w
}

// greet does what the receiver does with a request that is no signed delivery.
func greet(verifier recibo.Verifier, d *recibo.Delivery) (got want, done bool) {
	g, ok := verifier.(recibo.Greeter)
	switch {
	case !ok && d.Method != http.MethodPost, ok && d.Method != http.MethodPost && !slices.Contains(g.Methods(), d.Method):
		return want{Reason: recibo.WrongMethod}, true
	case !ok:
		return got, false
	}
	answer, err := g.Greet(d)
	switch {
	case err != nil, answer == nil && d.Method != http.MethodPost:
		return want{Reason: recibo.BadChallenge}, true
	case answer != nil:
		return want{Answer: answerOf(answer)}, true
	}
	return got, false
}

type wantEvent struct {
	Key     string        `yaml:"key"`
	Token   string        `yaml:"token"`
	ID      string        `yaml:"id"`
	Type    string        `yaml:"type"`
	Account string        `yaml:"account"`
	Object  string        `yaml:"object"`
	Version string        `yaml:"version"`
	Fault   recibo.Reason `yaml:"fault"`
}

type vectorFile struct {
	Shared struct {
		Secret     string            `yaml:"secret"`
		PublicKey  string            `yaml:"public_key"`
		PrivateKey string            `yaml:"private_key"`
		Params     map[string]string `yaml:"params"`
	} `yaml:"shared"`
	Vectors []vector `yaml:"vectors"`
}

// readVectors returns the vectors of every sender of the catalogue.
func readVectors(t testing.TB) map[string][]vector {
	all := map[string][]vector{}
	for _, p := range provider.All() {
		text, err := os.ReadFile(filepath.Join("testdata", "vectors", p.Name()+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var f vectorFile
		if err := yaml.UnmarshalWithOptions(text, &f, yaml.Strict()); err != nil {
			t.Fatalf("%s: %v", p.Name(), err)
		}
		for i := range f.Vectors {
			v := &f.Vectors[i]
			v.Secret += f.Shared.Secret
			v.PublicKey += f.Shared.PublicKey
			v.PrivateKey += f.Shared.PrivateKey
			if v.Params == nil {
				v.Params = f.Shared.Params
			}
		}
		all[p.Name()] = f.Vectors
	}
	return all
}

func (v *vector) bind(t testing.TB, name string) recibo.Verifier {
	source := &recibo.Source{Name: name, Path: "/in/3f9c2a7be41d5068a7c9", Variant: v.Variant, Params: v.Params}
	if v.Secret != "" {
		source.Secrets = []recibo.Secret{recibo.InsecureSecret(v.Secret)}
	}
	if v.PublicKey != "" {
		source.PublicKeys = []string{v.PublicKey}
	}
	verifier, err := provider.MustLookup(name).Bind(source)
	if err != nil {
		t.Fatalf("%s: Bind: %v", v.Name, err)
	}
	return verifier
}

func (v *vector) delivery(t testing.TB) *recibo.Delivery {
	u, err := url.Parse(v.URL)
	if err != nil {
		t.Fatal(err)
	}
	d := &recibo.Delivery{
		Method: cmp.Or(v.Method, http.MethodPost), Path: u.EscapedPath(), RawQuery: u.RawQuery, Header: http.Header{}, Body: []byte(v.Body),
		ReceivedAt: time.Unix(v.Now, 0),
	}
	for name, value := range v.Headers {
		d.Header.Set(name, value)
	}
	return d
}

// receive does what the receiver does up to the store.
func receive(t testing.TB, verifier recibo.Verifier, d *recibo.Delivery) (got want, contents []recibo.Fingerprint) {
	if d.Method != http.MethodPost {
		got, _ = greet(verifier, d)
		return got, nil
	}
	verified, err := verifier.Verify(t.Context(), d)
	if errors.Is(err, recibo.MissingSignature) {
		if greeted, done := greet(verifier, d); done {
			return greeted, nil
		}
	}
	if err != nil {
		if !errors.As(err, &got.Reason) {
			t.Errorf("Verify returned %v, which is no Reason", err)
		}
		return got, nil
	}
	if !verified.At.IsZero() {
		got.At = verified.At.Format(time.RFC3339Nano)
	}
	if c, ok := verifier.(recibo.Challenger); ok {
		answer, err := c.Challenge(d, verified)
		if err != nil {
			return want{Reason: recibo.BadChallenge, At: got.At}, nil
		}
		if answer != nil {
			got.Answer = answerOf(answer)
			return got, nil
		}
	}
	got.Reason = tooOld(verifier.Profile(), verified, d.ReceivedAt)
	for _, e := range verifier.Events(d, verified) {
		got.Events = append(got.Events, wantEvent{
			string(e.Key), string(e.Token), e.ID, e.Type, e.Account, e.Object, e.Version, e.Fault,
		})
		contents = append(contents, e.Content)
	}
	return got, contents
}

// tooOld is the receiver's check of a send time and of a token's end.
func tooOld(p *recibo.Profile, v *recibo.Verified, now time.Time) recibo.Reason {
	if now.Unix() == 0 { // the vector does not say
		return ""
	}
	if err := p.Fresh(now.Sub(v.At), 0, 0); errors.Is(err, recibo.TooOld) || !v.Expires.IsZero() && now.After(v.Expires) {
		return recibo.TooOld
	}
	return ""
}

func TestVectors(t *testing.T) {
	for name, vectors := range readVectors(t) {
		contents := map[string][]recibo.Fingerprint{}
		for _, v := range vectors {
			t.Run(name+"/"+strings.ReplaceAll(v.Name, " ", "_"), func(t *testing.T) {
				got, content := receive(t, v.bind(t, name), v.delivery(t))
				contents[v.Name] = content
				got.ContentOf, got.OtherContentThan = v.Want.ContentOf, v.Want.OtherContentThan
				if diff := gocmp.Diff(v.Want, got); diff != "" {
					t.Errorf("want - got +\n%s", diff)
				}
				if o := v.Want.ContentOf; o != "" && !gocmp.Equal(content, contents[o]) {
					t.Errorf("content differs from that of %q", o)
				}
				if o := v.Want.OtherContentThan; o != "" && gocmp.Equal(content, contents[o]) {
					t.Errorf("content is that of %q", o)
				}
			})
		}
	}
}
