package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recibohq/recibo/internal/config"
)

// good is a file with nothing wrong; the cases change lines of it.
const good = `version: 1
server:
  public_url: https://hooks.example.test
sources:
  - name: stripe
    provider: stripe
    secrets: [env:STRIPE]
    tolerance: 5m
destinations:
  - name: shop
    url: http://127.0.0.1:3000/webhooks
    network: {allow: [127.0.0.0/8]}
    sign: {secret: env:SHOP}
    retry: {delays: [5s, 1d]}
`

func lookup(name string) (string, bool) {
	v, ok := map[string]string{
		"STRIPE": "whsec_a_secret_of_some_length", "SHOP": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "SHORT": "x",
	}[name]
	return v, ok
}

func load(text string) (*config.Config, error) {
	c, err := config.Parse("recibo.yaml", []byte(text), lookup)
	if err != nil {
		return nil, err
	}
	_, err = c.Directory(nil)
	return c, err
}

func TestConfigReadsAGoodFile(t *testing.T) {
	c, err := load(good)
	if err != nil {
		t.Fatal(err)
	}
	if c.Server.Listen != "127.0.0.1:8080" || c.Store.Driver != "sqlite" || c.Store.Durability != "full" {
		t.Errorf("defaults are %+v %+v", c.Server, c.Store)
	}
	waits := c.Destinations[0].Retry.Waits()
	if len(waits) != 2 || waits[1] != 24*time.Hour {
		t.Errorf("waits = %v, want 5s and a day", waits)
	}
	lines, err := c.Summaries()
	if err != nil || len(lines) != 1 || lines[0].Path != "/in/stripe" || !strings.Contains(lines[0].Protection, "strong") {
		t.Errorf("summaries = %+v, %v", lines, err)
	}
}

func TestConfigMistakesSayWhereAndWhatToDo(t *testing.T) {
	for _, c := range []struct{ name, from, to, place, says string }{
		{"an unknown key", "tolerance: 5m", "tolerence: 5m", "recibo.yaml:8:5:", "unknown field"},
		{"a repeated key", "tolerance: 5m", "name: twice", "recibo.yaml:8:5:", "already defined"},
		{"a bad duration", "tolerance: 5m", "tolerance: soon", "recibo.yaml:8:16:", "write 500ms"},
		{"a negative duration", "tolerance: 5m", "tolerance: -5m", "recibo.yaml:8:16:", "no duration"},
		{"a bad size", "tolerance: 5m", "max_body: 2MB", "recibo.yaml:8:15:", "2MiB"},
		{"a bad network", "127.0.0.0/8", "127.0.0.1", "recibo.yaml:12:23:", "10.20.0.0/16"},
		{"an unknown provider", "provider: stripe", "provider: strpe", "recibo.yaml:6:15:", "stripe"},
		{"no provider", "    provider: stripe\n", "", "recibo.yaml:5:5:", "providers list"},
		{"a secret in the file", "env:STRIPE", "whsec_canary", "recibo.yaml:7:15:", "env:NAME"},
		{"a variable that is not set", "env:STRIPE", "env:NOPE", "recibo.yaml:7:15:", "not set"},
		{"a file that is not there", "env:STRIPE", "file:/nowhere/x", "recibo.yaml:7:15:", "no such file"},
		{"a short secret", "env:STRIPE", "env:SHORT", "recibo.yaml:5:11:", "fewer than 16"},
		{"no secret", "    secrets: [env:STRIPE]\n", "", "recibo.yaml:5:11:", "no secret"},
		{"an unknown driver", "version: 1", "version: 1\nstore: {driver: mysql}", "recibo.yaml:2:17:", "sqlite"},
		{"an unknown durability", "version: 1", "version: 1\nstore: {durability: max}", "recibo.yaml:2:21:", "full"},
		{"postgres without an address", "version: 1", "version: 1\nstore: {driver: postgres}", "recibo.yaml:2:17:", "store.url"},
		{"another version", "version: 1", "version: 2", "recibo.yaml:1:10:", "version: 1"},
		{"no destination", "destinations:\n  - name: shop", "destinations: []\nlog:\n  - name: shop", "recibo.yaml:", ""},
		{"a destination without a secret", "    sign: {secret: env:SHOP}\n", "", "recibo.yaml:10:5:", "sign.secret"},
		{"no YAML", "version: 1", "version: [", "recibo.yaml:", ""},
		{"a profile of a built-in sender", "tolerance: 5m", "profile: file:x.yaml", "recibo.yaml:8:14:", "custom"},
		{"custom without a profile", "provider: stripe", "provider: custom", "recibo.yaml:5:5:", "profile"},
		{"a mistake in a profile", "provider: stripe", "provider: custom\n    profile: {provider: acme, signature: {scheme: rot13}}",
			"recibo.yaml:7:", "rot13"},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		if text == good {
			t.Fatalf("%s: %q is not in the file", c.name, c.from)
		}
		_, err := load(text)
		if err == nil || !strings.Contains(err.Error(), c.place) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v\nwant %s … %s", c.name, err, c.place, c.says)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error repeats the secret: %v", c.name, err)
		}
	}
}

func TestConfigReportsAllMistakesOfSourcesAtOnce(t *testing.T) {
	_, err := load(strings.Replace(good, "destinations:", "  - name: github\n    provider: github\n    secrets: [env:NOPE]\n"+
		"  - name: slack\n    provider: slak\ndestinations:", 1))
	for _, want := range []string{"NOPE", "slak"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("errors do not name %s: %v", want, err)
		}
	}
}

func TestConfigTakesAFileSecretWithoutItsFinalNewline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("a secret of some length\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := load(strings.Replace(good, "env:SHOP", "file:"+path, 1))
	if err != nil {
		t.Fatal(err)
	}
	secret, err := c.SignSecret(0)
	if err != nil || secret.Reveal() != "a secret of some length" {
		t.Errorf("secret = %q, %v; want it without the newline", secret.Reveal(), err)
	}
}

func TestConfigTakesReferencesWithinBraces(t *testing.T) {
	_, err := load(strings.Replace(good, "  - name: stripe\n    provider: stripe\n    secrets: [env:STRIPE]\n    tolerance: 5m\n",
		"  - {name: stripe, provider: stripe, secrets: [env:STRIPE]}\n", 1))
	if err != nil {
		t.Error(err)
	}
}

func TestConfigGivesTwilioItsPublicURL(t *testing.T) {
	text := strings.Replace(good, "provider: stripe", "provider: twilio", 1)
	if _, err := load(text); err != nil {
		t.Errorf("with server.public_url: %v", err)
	}
	if _, err := load(strings.Replace(text, "  public_url: https://hooks.example.test\n", "  max_body: 1MiB\n", 1)); err == nil ||
		!strings.Contains(err.Error(), "public_url") {
		t.Errorf("without a public URL: %v, want an error that asks for it", err)
	}
}
