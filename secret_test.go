package recibo_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/recibohq/recibo"
)

func TestSecretNeverPrints(t *testing.T) {
	const text = "whsec_canary_0123456789"
	s := recibo.NewSecret(text)
	holder := struct{ Secret recibo.Secret }{s}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "holder", holder)
	asJSON, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for verb, printed := range map[string]string{
		"%v": fmt.Sprintf("%v", holder), "%+v": fmt.Sprintf("%+v", holder), "%#v": fmt.Sprintf("%#v", holder),
		"%s": fmt.Sprintf("%s", s), "%q": fmt.Sprintf("%q", s), "%x": fmt.Sprintf("%x", s), "%d": fmt.Sprintf("%d", s),
		"json": string(asJSON), "slog": log.String(),
	} {
		if strings.Contains(printed, "canary") || strings.Contains(printed, fmt.Sprintf("%x", "canary")) {
			t.Errorf("%s shows the secret: %s", verb, printed)
		}
	}
	if s.Reveal() != text {
		t.Errorf("Reveal() = %q, want %q", s.Reveal(), text)
	}
}

func TestSecretIsRefusedWhenEmptyOrShort(t *testing.T) {
	long, short := bytes.Repeat([]byte("k"), recibo.MinSecret), []byte("k")
	cases := []struct {
		name   string
		secret recibo.Secret
		key    []byte
		ok     bool
	}{
		{"long enough", recibo.NewSecret("x"), long, true},
		{"short", recibo.NewSecret("x"), short, false},
		{"short but declared insecure", recibo.InsecureSecret("x"), short, true},
		{"empty", recibo.NewSecret(""), nil, false},
		{"empty but declared insecure", recibo.InsecureSecret(""), nil, false},
	}
	for _, c := range cases {
		if err := c.secret.CheckKey(c.key); (err == nil) != c.ok {
			t.Errorf("%s: CheckKey = %v, want ok %v", c.name, err, c.ok)
		}
	}
}
