package recibo_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/recibohq/recibo"
)

func TestReceiverTakesNoTokenPastItsEnd(t *testing.T) {
	source := acme(t, `signature: {scheme: jws, algorithm: HS256, from: "header:X-Token"}`, `key: {kind: credential}`, `id: json:id`)
	r := newRig(t, source)
	claims := fmt.Sprintf(`{"exp":%d}`, r.now.Add(time.Minute).Unix())
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	mac := hmac.New(sha256.New, []byte(acmeSecret))
	mac.Write([]byte(text))
	token := text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	event := func(id string) sent {
		return sent{path: "/in/acme", body: `{"id":"` + id + `"}`, header: http.Header{"X-Token": {token}}}
	}
	r.want("while it lives", event("e1"), 200, recibo.Accepted)
	r.advance(time.Minute)
	r.want("at its end", event("e2"), 200, recibo.Accepted)
	r.advance(time.Second)
	r.want("a second later", event("e3"), 400, "")
	r.wantReason("a second later", recibo.TooOld)
}
