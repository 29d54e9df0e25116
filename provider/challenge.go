package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/recibohq/recibo"
)

// Bounds on what a handshake gives back.
const (
	maxEcho  = 512
	maxProof = 128
)

// A challenger is a verifier whose sender makes handshakes.
type challenger struct{ *verifier }

// Methods are those of the sender's unsigned checks.
func (c *challenger) Methods() []string {
	var methods []string
	for i := range c.handshakes {
		if m := c.handshakes[i].method; m != http.MethodPost && !slices.Contains(methods, m) {
			methods = append(methods, m)
		}
	}
	return methods
}

// Greet answers a check that the sender does not sign. Nothing in it is proved, so nothing but what is in it goes back, or a
// proof that is of no use for anything else.
func (c *challenger) Greet(d *recibo.Delivery) (*recibo.Answer, error) {
	r := newReading()
	for i := range c.handshakes {
		h := &c.handshakes[i]
		if h.method != d.Method || d.Method == http.MethodPost && !h.unsigned {
			continue
		}
		if x := c.view(d, r); x.isHandshake(h) {
			return c.respond(h, x)
		}
	}
	return nil, nil //nolint:nilnil // the interface's word for what is no check
}

// Challenge answers a handshake. Whether d is one is decided from signed bytes; one that is not well formed is answered
// with nothing, so that nobody can have a text of theirs echoed or signed.
func (c *challenger) Challenge(d *recibo.Delivery, verified *recibo.Verified) (*recibo.Answer, error) {
	r, ok := verified.Scheme.(*reading)
	if !ok {
		return nil, nil //nolint:nilnil // the interface's word for an ordinary delivery
	}
	for i := range c.handshakes {
		h := &c.handshakes[i]
		if !h.signed {
			continue
		}
		if x := c.view(d, r); x.isHandshake(h) {
			return c.respond(h, x)
		}
	}
	return nil, nil //nolint:nilnil // the interface's word for an ordinary delivery
}

func (x *view) isHandshake(h *handshake) bool {
	switch {
	case h.list != nil:
		doc, err := x.v.read(x.d, x.r)
		return err == nil && doc.value(h.list).kind == '[' && len(doc.items) == 0
	case len(h.when) > 0 && !x.anyPresent(h.when), h.is != "" && x.text(h.when) != h.is, x.anyPresent(h.unless):
		return false
	}
	return !h.when.inBody() || !x.v.unreadable(x.d, x.r)
}

func (v *verifier) unreadable(d *recibo.Delivery, r *reading) bool {
	_, err := v.read(d, r)
	return err != nil
}

func (x *view) anyPresent(c choice) bool {
	for i := range c {
		if x.present(&c[i]) {
			return true
		}
	}
	return false
}

// inBody says that any of the places is in the body.
func (c choice) inBody() bool {
	return slices.ContainsFunc(c, func(p place) bool { return p.inBody() })
}

func (c *challenger) respond(h *handshake, x *view) (*recibo.Answer, error) {
	if len(h.token) > 0 && !equalTexts(x.text(h.token), c.params[h.param]) {
		return nil, fmt.Errorf("%s is not the parameter %s", h.token, h.param)
	}
	text := ""
	if len(h.text) > 0 {
		if text = x.text(h.text); text == "" || len(text) > maxEcho || !printable(text) {
			return nil, recibo.Unreadable
		}
	}
	proved := ""
	if h.proof != nil {
		if !plainToken(text) {
			return nil, recibo.Unreadable
		}
		proved = h.proof.encoding.encode(c.prove(h.proof, x, text))
	}
	return c.answer(h, text, proved)
}

// equalTexts compares in a time that does not tell how much is equal. An empty text is equal to none.
func equalTexts(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return hmac.Equal(x[:], y[:]) && a != ""
}

// prove is the HMAC of text under the secret that verified, or where nothing is signed under the newest; or a plain hash.
func (c *challenger) prove(p *proof, x *view, text string) []byte {
	if p.of == "" {
		m := c.prover.(*macs) // compile allows it for HMAC senders only
		id := x.r.verified.Secret
		if id == (recibo.SecretID{}) {
			id = c.secrets[0]
		}
		return m.sum(id, text)
	}
	h := hashes[p.hash]()
	h.Write([]byte(c.slots(text, "").Replace(p.of)))
	return h.Sum(nil)
}

// slots fills in what an answer is made of.
func (c *challenger) slots(text, proved string) *strings.Replacer {
	pairs := []string{slotChallenge, text, slotProof, proved, slotURL, c.params[paramURL]}
	for name, value := range c.params {
		pairs = append(pairs, "{param:"+name+"}", value)
	}
	return strings.NewReplacer(pairs...)
}

// answer writes the text into the handshake's answer, escaped where that is JSON.
func (c *challenger) answer(h *handshake, text, proved string) (*recibo.Answer, error) {
	answer := h.answer
	escaped := text
	if strings.Contains(answer.ContentType, "json") {
		quoted := quote(text)
		escaped = string(quoted[1 : len(quoted)-1])
	}
	answer.Body = []byte(c.slots(escaped, proved).Replace(string(h.answer.Body)))
	var ok bool
	if answer.Header, ok = headersOf(h.headers, c.slots(text, proved)); !ok {
		return nil, recibo.Unreadable
	}
	return &answer, nil
}

// headersOf fills in the headers of an answer; ok is false if one would hold more than an origin or a token does.
func headersOf(templates map[string]string, slots *strings.Replacer) (headers http.Header, ok bool) {
	if len(templates) == 0 {
		return nil, true
	}
	headers = http.Header{}
	for name, template := range templates {
		value := slots.Replace(template)
		if strings.Trim(value, headerChars) != "" || strings.Trim(name, tokenChars) != "" {
			return nil, false
		}
		headers.Set(name, value)
	}
	return headers, true
}

const (
	tokenChars  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	headerChars = tokenChars + ".:/*"
)

// plainToken says that text is [A-Za-z0-9_-]{1,128}: what is proved of a handshake is never the signature of a delivery,
// for one of which all that is signed is such a text is refused.
func plainToken(text string) bool {
	return text != "" && len(text) <= maxProof && strings.Trim(text, tokenChars) == ""
}

var errProof = errors.New("what is signed could be a handshake's")

// usable says that pieces are signed as a delivery only, not as a handshake's text.
func usable(pieces []piece) bool {
	n := 0
	for i := range pieces {
		for _, c := range pieces[i].bytes {
			if n++; n > maxProof || strings.IndexByte(tokenChars, c) < 0 {
				return true
			}
		}
	}
	return n == 0
}
