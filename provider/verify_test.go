package provider_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/mutate"
	"github.com/recibohq/recibo/provider"
)

// allCases are made once: keys for RSA take their time.
var allCases = sync.OnceValues(mutate.Cases)

func cases(t testing.TB) []mutate.Case {
	all, err := allCases()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func bind(t testing.TB, p *provider.Provider, s *recibo.Source) recibo.Verifier {
	v, err := p.Bind(s)
	if err != nil {
		t.Fatalf("%s: Bind: %v", p.Name(), err)
	}
	return v
}

// refusal verifies d and returns the reason it is refused for, empty if it is not.
func refusal(t testing.TB, v recibo.Verifier, d *recibo.Delivery) (why recibo.Reason) {
	if _, err := v.Verify(t.Context(), d); err != nil && !errors.As(err, &why) {
		t.Errorf("Verify returned %v, which is no Reason", err)
	}
	return why
}

func events(t testing.TB, v recibo.Verifier, d *recibo.Delivery) []recibo.Event {
	verified, err := v.Verify(t.Context(), d)
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	return v.Events(d, verified)
}

func TestEverySenderSignsWhatItVerifies(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.Name(), func(t *testing.T) {
			v := bind(t, c.Provider, &c.Source)
			for _, e := range events(t, v, c.Delivery) {
				if e.Fault != "" || e.Key == "" || e.Key.Kind() != c.Variant.Key && e.Key.Kind() != recibo.KeyFingerprint {
					t.Errorf("event %+v, want a key of kind %s and no fault", e, c.Variant.Key)
				}
				if e.Type == "" && len(c.Variant.TypeFrom) > 0 {
					t.Errorf("event %+v has no type", e)
				}
				if (e.Token != "") != (c.Variant.Key == recibo.KeyToken) {
					t.Errorf("token %q of a sender whose keys are %s", e.Token, c.Variant.Key)
				}
			}
		})
	}
}

func TestEverySenderRefusesAnotherKeyAndNoSignature(t *testing.T) {
	for _, c := range cases(t) {
		if c.Variant.Unchecked {
			continue
		}
		t.Run(c.Name(), func(t *testing.T) {
			keys, err := c.Provider.NewKeys(c.Variant.Name)
			if err != nil {
				t.Fatal(err)
			}
			other := c.Source
			if c.Variant.Symmetric {
				other.Secrets = []recibo.Secret{keys.Secret}
			} else {
				other.PublicKeys = []string{keys.PublicKey}
			}
			if got := refusal(t, bind(t, c.Provider, &other), c.Delivery); got != recibo.BadSignature {
				t.Errorf("another key: refused as %q, want %q", got, recibo.BadSignature)
			}
			bare := *c.Delivery
			bare.Header, bare.RawQuery, bare.Body = nil, "", []byte("{}")
			got := refusal(t, bind(t, c.Provider, &c.Source), &bare)
			if got != recibo.MissingSignature && !(c.Name() == "mailgun/form" && got == recibo.MalformedSignature) {
				t.Errorf("no signature: refused as %q, want %q", got, recibo.MissingSignature)
			}
		})
	}
}

func TestAnOldSecretStillVerifiesAndIsTold(t *testing.T) {
	for _, c := range cases(t) {
		if !c.Variant.Symmetric {
			continue
		}
		t.Run(c.Name(), func(t *testing.T) {
			keys, err := c.Provider.NewKeys(c.Variant.Name)
			if err != nil {
				t.Fatal(err)
			}
			both := c.Source
			both.Secrets = []recibo.Secret{keys.Secret, c.Source.Secrets[0]}
			v := bind(t, c.Provider, &both)
			verified, err := v.Verify(t.Context(), c.Delivery)
			if err != nil {
				t.Fatal(err)
			}
			if ids := v.Secrets(); len(ids) != 2 || verified.Secret != ids[1] || ids[0] == ids[1] {
				t.Errorf("verified with %x of %x, want the second", verified.Secret, ids)
			}
		})
	}
}

func TestASecretAndItsZeroPaddedFormAreOne(t *testing.T) {
	p := provider.MustLookup("stripe")
	id := func(secret string) recibo.SecretID {
		return bind(t, p, &recibo.Source{Secrets: []recibo.Secret{recibo.NewSecret(secret)}}).Secrets()[0]
	}
	const secret = "a secret of enough bytes"
	if id(secret) != id(secret+"\x00\x00") {
		t.Error("the same HMAC key has two ids")
	}
	if id(secret) == id(secret+"x") {
		t.Error("two secrets have one id")
	}
}

func TestUnusableSecretsAndKeysAreRefusedAtTheStart(t *testing.T) {
	long := strings.Repeat("k", 32)
	for _, c := range []struct{ slug, variant, secret, publicKey, want string }{
		{"stripe", "", "", "", "no secret"},
		{"stripe", "", "short", "", "fewer than 16"},
		{"stripe", "", long + "\n", "", "line break"},
		{"stripe", "v9", long, "", "no variant"},
		{"stripe", "", long, "key", "leave them out"},
		{"svix", "", "whsec_", "", "empty"},
		{"svix", "", "whsec_!!!!", "", "not"},
		{"svix", "", "whsec_plJ3nmyCDGBKInavdOK15jsl", "", "public documents"},
		{"adyen", "", "not hex at all, though long enough", "", "not hex"},
		{"github", "", "It's a Secret to Everybody", "", "public documents"},
		{"discord", "", "", "", "no public key"},
		{"discord", "", "", "abcd", "an Ed25519 key has 32"},
		{"discord", "", "", "zz", "not hex"},
		{"sendgrid", "", "", "MCowBQYDK2VwAyEAzEubp9BUWzL36t3ObjtKC9YyA32xvG8gaXgjGQ39kr4=", "no key for ECDSA"},
		{"twilio", "", long, "", "public_url"},
	} {
		s := &recibo.Source{Variant: c.variant}
		if c.secret != "" {
			s.Secrets = []recibo.Secret{recibo.NewSecret(c.secret)}
		}
		if c.publicKey != "" {
			s.PublicKeys = []string{c.publicKey}
		}
		_, err := provider.MustLookup(c.slug).Bind(s)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with secret %q, key %q: Bind returned %v, want %q in it", c.slug, c.secret, c.publicKey, err, c.want)
		}
		if err != nil && len(c.secret) > 6 && strings.Contains(err.Error(), strings.TrimSpace(c.secret)) {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
}

func TestSecurityHeadersAreHeldToOneForm(t *testing.T) {
	v := readVectors(t)["stripe"][0]
	good := v.Headers["Stripe-Signature"]
	at, mac, _ := strings.Cut(good, ",")
	for name, c := range map[string]struct {
		values []string
		want   recibo.Reason
	}{
		"as it is":             {[]string{good}, ""},
		"upper-case hex":       {[]string{at + ",v1=" + strings.ToUpper(mac[3:])}, ""},
		"unknown entries":      {[]string{good + ",v0=aa,x,=,y="}, ""},
		"none":                 {nil, recibo.MissingSignature},
		"empty":                {[]string{""}, recibo.MissingSignature},
		"twice":                {[]string{good, good}, recibo.MalformedSignature},
		"no time":              {[]string{mac}, recibo.MissingSignature},
		"two times":            {[]string{at + "," + good}, recibo.MalformedSignature},
		"no version we know":   {[]string{at + ",v0=" + mac[3:]}, recibo.MissingSignature},
		"eight digits":         {[]string{at + "," + mac[:11]}, recibo.MalformedSignature},
		"an empty one":         {[]string{at + ",v1="}, recibo.MalformedSignature},
		"not hex":              {[]string{at + ",v1=" + strings.Repeat("zz", 32)}, recibo.MalformedSignature},
		"a plus in the time":   {[]string{"t=+" + at[3:] + "," + mac}, recibo.MalformedSignature},
		"a zero in front":      {[]string{"t=0" + at[2:] + "," + mac}, recibo.MalformedSignature},
		"a blank in the time":  {[]string{"t= " + at[2:] + "," + mac}, recibo.MalformedSignature},
		"seventeen signatures": {[]string{at + strings.Repeat(","+mac, 17)}, recibo.MalformedSignature},
		"sixteen signatures":   {[]string{at + strings.Repeat(",v1="+strings.Repeat("0", 64), 15) + "," + mac}, ""},
		"too long":             {[]string{good + "," + strings.Repeat("x", 9000)}, recibo.MalformedSignature},
		"not ASCII":            {[]string{good + ",é"}, recibo.MalformedSignature},
		"a line break":         {[]string{good + "\r\n"}, recibo.MalformedSignature},
	} {
		d := v.delivery(t)
		d.Header["Stripe-Signature"] = c.values
		if got := refusal(t, v.bind(t, "stripe"), d); got != c.want {
			t.Errorf("%s: refused as %q, want %q", name, got, c.want)
		}
	}
}

func TestBase64IsReadStrictly(t *testing.T) {
	v := readVectors(t)["shopify"][0]
	good := v.Headers["X-Shopify-Hmac-SHA256"] // ends in "g=": four bits are spare
	for _, bad := range []string{
		strings.TrimSuffix(good, "g=") + "h=", strings.TrimSuffix(good, "="), good + "=", good[:10] + "\n" + good[10:],
		strings.ReplaceAll(good, "/", "_"), " " + good,
	} {
		d := v.delivery(t)
		d.Header["X-Shopify-Hmac-Sha256"] = []string{bad}
		if got := refusal(t, v.bind(t, "shopify"), d); got != recibo.MalformedSignature {
			t.Errorf("%q: refused as %q, want %q", bad, got, recibo.MalformedSignature)
		}
	}
}

func TestASignedPartMayNotHoldItsSeparator(t *testing.T) {
	p := provider.MustLookup("standard-webhooks")
	keys, err := p.NewKeys("")
	if err != nil {
		t.Fatal(err)
	}
	signed, err := p.Sign(&provider.SignRequest{Secret: keys.Secret, Body: []byte("{}"), ID: "msg.1", Now: mutate.Now})
	if err != nil {
		t.Fatal(err)
	}
	v := bind(t, p, &recibo.Source{Secrets: []recibo.Secret{keys.Secret}})
	d := &recibo.Delivery{Header: signed.Header, Body: signed.Body}
	if got := refusal(t, v, d); got != recibo.MalformedSignature {
		t.Errorf("an id with a full stop is refused as %q, want %q", got, recibo.MalformedSignature)
	}
}

func TestSvixHeaderSetsAreNeverMixed(t *testing.T) {
	v := readVectors(t)["svix"][1]
	d := v.delivery(t)
	d.Header.Set("webhook-id", d.Header.Get("svix-id"))
	d.Header.Del("svix-id")
	if got := refusal(t, v.bind(t, "svix"), d); got != recibo.MissingSignature {
		t.Errorf("svix-signature with webhook-id is refused as %q, want %q", got, recibo.MissingSignature)
	}
}

func TestAStaleCopyIsSeenByItsSignedTime(t *testing.T) {
	for _, c := range cases(t) {
		verified, err := bind(t, c.Provider, &c.Source).Verify(t.Context(), c.Delivery)
		if err != nil {
			t.Fatal(err)
		}
		want := mutate.Now
		if c.Variant.Time == recibo.NoTime {
			want = time.Time{}
		}
		if !verified.At.Equal(want) {
			t.Errorf("%s: signed at %v, want %v", c.Name(), verified.At, want)
		}
	}
}

// FuzzVerify: a request that was changed verifies only if the signed bytes are the same, so it is the same event.
func FuzzVerify(f *testing.F) {
	all := cases(f)
	verifiers := make([]recibo.Verifier, len(all))
	for i, c := range all {
		verifiers[i] = bind(f, c.Provider, &c.Source)
		f.Add(uint16(i), []byte(c.Delivery.Header.Get("X-None")), "Content-Type", "text/plain", c.Delivery.RawQuery)
		f.Add(uint16(i), c.Delivery.Body, "X-Event-Id", "other", c.Delivery.RawQuery+"&x=1")
	}
	f.Fuzz(func(t *testing.T, which uint16, body []byte, name, value, query string) {
		c := &all[int(which)%len(all)]
		d := *c.Delivery
		d.Header = d.Header.Clone()
		d.Header.Set(name, value)
		d.RawQuery = query
		if len(body) > 0 {
			d.Body = body
		}
		m := mutate.Mutation{Delivery: &d}
		result, err := c.Judge(verifiers[int(which)%len(all)], &m)
		if err != nil {
			t.Fatal(err)
		}
		changed := !bytes.Equal(d.Body, c.Delivery.Body)
		if result == mutate.Another && !c.Credential() {
			t.Fatalf("%s: accepted as another event: body changed %v, %s: %q, query %q", c.Name(), changed, name, value, query)
		}
	})
}

func TestErrorsNeverShowWhatWasExpected(t *testing.T) {
	for _, c := range cases(t) {
		v := bind(t, c.Provider, &c.Source)
		d := *c.Delivery
		d.Header, d.Body = d.Header.Clone(), append(bytes.Clone(d.Body), '!')
		expected := c.Delivery.Header.Get(strings.TrimPrefix(c.Variant.Signature, "header:"))
		d.Header.Set(strings.TrimPrefix(c.Variant.Signature, "header:"), "nonsense")
		if _, err := v.Verify(t.Context(), &d); err != nil && len(expected) > 10 && strings.Contains(err.Error(), expected[10:]) {
			t.Errorf("%s: the error shows a signature: %v", c.Name(), err)
		}
	}
}

func ExampleProvider_Sign() {
	stripe := provider.MustLookup("stripe")
	now := time.Unix(1767225600, 0)
	body, _, err := stripe.Sample("invoice.paid", "evt_1", now)
	if err != nil {
		fmt.Println(err)
		return
	}
	secret := recibo.NewSecret("whsec_example_example_example")
	signed, err := stripe.Sign(&provider.SignRequest{Secret: secret, URL: "http://localhost:8080/in/stripe", Body: body, Now: now})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(signed.Method, signed.URL)
	fmt.Println(signed.Header.Get("Stripe-Signature")[:20])
	// Output:
	// POST http://localhost:8080/in/stripe
	// t=1767225600,v1=6b64
}
