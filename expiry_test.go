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

func TestReceiverRefusesWhatAnotherAccountHasForAPerson(t *testing.T) {
	source := acme(t, signsBody, keyID, "account: json:account", `review: {from: "json:type", is: [confirm]}`)
	source.Accounts = []string{"ours"}
	r := newRig(t, source)
	r.want("ours", acmeBody(`{"id":"e1","account":"ours","type":"confirm"}`), 200, recibo.Held)
	r.wantReason("ours", recibo.ForPerson)
	r.want("a stranger's", acmeBody(`{"id":"e2","account":"theirs","type":"confirm"}`), 403, "")
	r.wantReason("a stranger's", recibo.WrongAccount)
	r.want("unreadable, so perhaps ours", acmeBody(`{"id":"e3","account"`), 200, recibo.Held)
	r.wantKept(0, 2)
}
