package provider_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"strings"
	"testing"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/mutate"
	"github.com/recibohq/recibo/provider"
)

func TestWompiValuesHaveTheirBorders(t *testing.T) {
	const secret = "prod_events_of_enough_bytes"
	v := bind(t, provider.MustLookup("wompi"), &recibo.Source{Secrets: []recibo.Secret{recibo.NewSecret(secret)}})
	body := func(id, status, amount, at, properties string) string {
		sum := sha256.Sum256([]byte(id + status + amount + at + secret))
		return `{"event":"transaction.updated","data":{"transaction":{"id":"` + id + `","amount_in_cents":` + amount + `,"status":"` + status +
			`"}},"timestamp":` + at + `,"signature":{"properties":[` + properties + `],"checksum":"` + strings.ToUpper(hex.EncodeToString(sum[:])) + `"}}`
	}
	const three = `"transaction.id","transaction.status","transaction.amount_in_cents"`
	good := body("1-2", "APPROVED", "100", "1767225600", three)
	want := events(t, v, deliver(good))[0]
	if want.Type != "transaction.updated" || want.Object != "transaction/1-2" {
		t.Errorf("event %+v", want)
	}
	unsigned := strings.Replace(good, "transaction.updated", "other", 1)
	if got := events(t, v, deliver(unsigned))[0]; got.Key != want.Key {
		t.Errorf("another type: key %q, want that of the same signed text", got.Key)
	}
	for name, other := range map[string]string{
		"two properties":       body("1-2", "APPROVED", "100", "1767225600", `"transaction.id","transaction.status"`),
		"four properties":      body("1-2", "APPROVED", "100", "1767225600", three+`,"transaction.x"`),
		"in another order":     body("1-2", "APPROVED", "100", "1767225600", `"transaction.status","transaction.id","transaction.amount_in_cents"`),
		"an id with a status":  body("1-2APPR", "OVED", "100", "1767225600", three),
		"a status with digits": body("1-", "2APPROVED", "100", "1767225600", three),
		"an amount moved":      body("1-2", "APPROVED", "1001", "767225600", three),
		"an amount as text":    body("1-2", "APPROVED", `"1e2"`, "1767225600", three),
		"another amount":       strings.Replace(good, `:100,`, `:900,`, 1),
	} {
		if got := refusal(t, v, deliver(other)); got != recibo.BadSignature {
			t.Errorf("%s: refused as %q", name, got)
		}
	}
}

func TestASubscriptionIsConfirmedByAPerson(t *testing.T) {
	s := newSender(t, provider.MustLookup("amazon-sns"))
	s.source.Accounts = []string{"arn:aws:sns:us-east-1:123456789012:orders"}
	v := bind(t, s.provider, &s.source)
	message := `{"Type":"SubscriptionConfirmation","MessageId":"m1","Token":"t","TopicArn":"arn:aws:sns:us-east-1:123456789012:orders",` +
		`"Message":"confirm","SubscribeURL":"http://169.254.169.254/","Timestamp":"2026-01-01T00:00:00.000Z"}`
	e := events(t, v, s.send(message))[0]
	if e.Fault != recibo.ForPerson || e.Key != "cmp:m1" || e.Account != s.source.Accounts[0] {
		t.Errorf("event %+v, want it for a person under its own key", e)
	}
}

func TestAnSNSFieldMayNotMoveIntoItsNeighbour(t *testing.T) {
	s := newSender(t, provider.MustLookup("amazon-sns"))
	v := bind(t, s.provider, &s.source)
	d := s.send(`{"Type":"Notification","MessageId":"m1","TopicArn":"arn","Message":"a\nMessageId\nm0","Timestamp":"2026-01-01T00:00:00.000Z"}`)
	if e := events(t, v, d)[0]; e.Key != "cmp:m1" {
		t.Errorf("event %+v", e)
	}
	for name, moved := range map[string]*strings.Replacer{
		"the id within the message": strings.NewReplacer(`"Message":"a\nMessageId\nm0"`, `"Message":"a"`, `"MessageId":"m1"`, `"MessageId":"m0\nMessageId\nm1"`),
		"the other version":         strings.NewReplacer(`"SignatureVersion":"2"`, `"SignatureVersion":"1"`),
	} {
		other := *d
		other.Body = []byte(moved.Replace(string(d.Body)))
		if string(other.Body) == string(d.Body) {
			t.Fatalf("%s: nothing replaced in %s", name, d.Body)
		}
		if got := refusal(t, v, &other); got == "" {
			t.Errorf("%s: verifies", name)
		}
	}
}

func TestPaddleClassicFieldsHaveTheirLengths(t *testing.T) {
	p := provider.MustLookup("paddle-classic")
	s := newSender(t, p)
	v := bind(t, p, &s.source)
	d := s.send("alert_id=1&alert_name=payment_succeeded&name=S%C3%A3o&empty=")
	want := events(t, v, d)[0]
	sorted := *d
	fields := strings.Split(string(d.Body), "&")
	sorted.Body = []byte(strings.Join(append(fields[1:], fields[0]), "&"))
	if got := events(t, v, &sorted)[0]; got.Key != want.Key || got.Content != want.Content {
		t.Errorf("in another order: %+v, want %+v", got, want)
	}
	for name, body := range map[string]string{
		"a field more":  string(d.Body) + "&x=1",
		"a field twice": string(d.Body) + "&alert_id=1",
		"a field less":  strings.Replace(string(d.Body), "&empty=", "", 1),
		"a moved value": strings.Replace(string(d.Body), "alert_id=1&", "alert_id1=&", 1),
		"JSON":          `{"p_signature":"AAAA"}`,
	} {
		if got := refusal(t, v, deliver(body)); got == "" {
			t.Errorf("%s: verifies", name)
		}
	}
}

func TestEBayPinsItsAlgorithm(t *testing.T) {
	p := provider.MustLookup("ebay")
	s := newSender(t, p)
	s.source.Path = "/in/3f9c2a7be41d5068a7c9"
	v := bind(t, p, &s.source)
	d := s.send(`{"metadata":{"topic":"X"},"notification":{"notificationId":"n1","publishDate":"2026-01-01T00:00:00.000Z"}}`)
	if e := events(t, v, d)[0]; e.Key != "id:n1" {
		t.Errorf("event %+v", e)
	}
	raw, err := base64.StdEncoding.DecodeString(d.Header.Get("X-EBAY-SIGNATURE"))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]string){
		"another digest":    func(h map[string]string) { h["digest"] = "SHA256" },
		"another algorithm": func(h map[string]string) { h["alg"] = "none" },
		"no algorithm":      func(h map[string]string) { delete(h, "alg") },
	} {
		var h map[string]string
		if err := json.Unmarshal(raw, &h); err != nil {
			t.Fatal(err)
		}
		change(h)
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		other := *d
		other.Header = d.Header.Clone()
		other.Header.Set("X-EBAY-SIGNATURE", base64.StdEncoding.EncodeToString(text))
		if got := refusal(t, v, &other); got != recibo.MalformedSignature {
			t.Errorf("%s: refused as %q", name, got)
		}
	}
}

func TestASharedKeyWithoutAnAccountNeedsASecretPath(t *testing.T) {
	p := parse(t, `
provider: acme
signature: {scheme: rsa-pkcs1v15, from: "header:X-Sig", encoding: base64, signed: "{body}"}
key: {kind: fingerprint}
shared_key: true`)
	keys, err := p.NewKeys("")
	if err != nil {
		t.Fatal(err)
	}
	for path, ok := range map[string]bool{"/in/acme": false, "/in/3f9c2a7be41d5068a7c9": true} {
		if _, err := p.Bind(&recibo.Source{Name: "acme", Path: path, PublicKeys: []string{keys.PublicKey}}); (err == nil) != ok {
			t.Errorf("%s: Bind returned %v", path, err)
		}
	}
	if _, err := provider.Parse("acme.yaml", []byte(`
provider: acme
signature: {scheme: rsa-pkcs1v15, from: "header:X-Sig", signed: "{body}"}
key: {kind: fingerprint}
account: header:X-Account
shared_key: true`)); err == nil || !strings.Contains(err.Error(), "tell the customers") {
		t.Errorf("an unsigned account of a shared key: %v", err)
	}
}

// A form that is signed over what one field holds may have others, that nobody signs.
func TestTheFormOfASignedDocumentIsNotSigned(t *testing.T) {
	p := provider.MustLookup("travis-ci")
	s := newSender(t, p)
	key := privateKeyOf(t, s.keys.PrivateKey)
	const doc = `{"id":1,"state":"passed","repository":{"id":9}}`
	sum := sha1Sum(doc)
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA1, sum)
	if err != nil {
		t.Fatal(err)
	}
	v := bind(t, p, &s.source)
	d := deliver("payload="+url.QueryEscape(doc), "Signature", base64.StdEncoding.EncodeToString(signature))
	d.ReceivedAt = mutate.Now
	want := events(t, v, d)[0]
	if want.Account != "9" || want.Type != "passed" {
		t.Errorf("event %+v", want)
	}
	d.Body = append(d.Body, "&other=1"...)
	if got := events(t, v, d)[0]; got.Key != want.Key {
		t.Errorf("another field: key %q, want %q", got.Key, want.Key)
	}
}

func sha1Sum(text string) []byte {
	sum := sha1.Sum([]byte(text))
	return sum[:]
}

func privateKeyOf(t *testing.T, text string) *rsa.PrivateKey {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatal("no PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return key.(*rsa.PrivateKey)
}
