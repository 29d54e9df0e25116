package provider

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/recibohq/recibo"
)

// A handshake is a check of the address that a sender makes now and then, and its answer.
type handshake struct {
	method   string
	unsigned bool
	signed   bool // what decides that it is one is signed, or nothing of this sender is
	when     choice
	is       string // empty: it is present
	list     *place // the list of items: it is there and empty
	unless   choice // present: it is an ordinary event after all
	token    choice // must be the parameter's value
	param    string
	text     choice // what goes back, or is proved
	proof    *proof
	answer   recibo.Answer
	headers  map[string]string
}

// A proof is what shows that the one who answers knows a secret.
type proof struct {
	hash     string
	of       string // of a plain hash: what it is over; else it is the HMAC of the text under the delivery's secret
	encoding encoding
}

// checkMethods are the methods that a sender's unsigned check may come with.
var checkMethods = []string{http.MethodGet, http.MethodHead, http.MethodOptions}

func (c *compiler) handshakes() {
	for i := range c.file.Handshakes {
		f, field := &c.file.Handshakes[i], fmt.Sprintf("handshakes[%d].", i)
		h := handshake{
			method: orDefault(f.Method, http.MethodPost), unsigned: f.Unsigned,
			when: c.choice(field+"when.from", f.When.From), is: f.When.Is, unless: c.choice(field+"unless", f.Unless),
			text:    c.choice(field+"echo", f.Echo+f.Prove),
			answer:  recibo.Answer{Status: orDefault(f.Status, http.StatusOK), ContentType: f.Type, Body: []byte(f.Body)},
			headers: f.Headers,
		}
		c.occasion(field, f, &h)
		c.answering(field, f, &h)
		c.rules.handshakes = append(c.rules.handshakes, h)
	}
}

// occasion reads when a request is the handshake.
func (c *compiler) occasion(field string, f *handshakeFile, h *handshake) {
	post := h.method == http.MethodPost
	switch {
	case !post && !slices.Contains(checkMethods, h.method):
		c.fail(field+"method", "unknown method %q: write one of %v, or nothing for POST", h.method, checkMethods)
	case !post && f.Unsigned:
		c.fail(field+"unsigned", "only a POST is signed otherwise: leave it out")
	case f.When.NoItems && len(c.rules.items) == 0:
		c.fail(field+"when.no_items", "there is no list: say items")
	case f.When.NoItems:
		list := c.rules.items[0]
		list.path = list.path[:len(list.path)-1]
		c.read(field+"when.no_items", &list, &c.rules.after)
		h.list = &list
	case len(h.when) == 0 && post:
		c.fail(field+"when", "say from, or no_items: true")
	case len(h.when) == 0:
		h.when = h.text // a check that brings a text is known by it
	}
	if f.Token != nil {
		h.token, h.param = c.choice(field+"token.from", f.Token.From), f.Token.Param
		if len(h.token) == 0 || h.param == "" {
			c.fail(field+"token", "say from, and param: the parameter that must be equal")
		}
	}
}

// answering reads what goes back.
func (c *compiler) answering(field string, f *handshakeFile, h *handshake) {
	switch {
	case f.Echo != "" && f.Prove != "":
		c.fail(field+"prove", "it is echo or prove")
	case f.Proof != nil && f.Prove == "":
		c.fail(field+"proof", "say prove: the place of the text")
	case f.Prove != "":
		c.proof(field, f, h)
	}
	if h.answer.ContentType == "" {
		h.answer.ContentType = "application/json"
		if len(h.text) > 0 && !strings.HasPrefix(f.Body, `{"`) {
			h.answer.ContentType = "text/plain"
		}
	}
	if f.Echo != "" && f.Body == "" && len(f.Headers) == 0 {
		h.answer.Body = []byte(slotChallenge)
	}
	if _, ok := headersOf(f.Headers, strings.NewReplacer(slotChallenge, "x")); !ok {
		c.fail(field+"headers", "a name or value is no plain ASCII")
	}
}

func (c *compiler) proof(field string, f *handshakeFile, h *handshake) {
	p := orDefault(f.Proof, &proofFile{})
	h.proof = &proof{hash: orDefault(p.Hash, c.rules.sign.hash), of: p.Of}
	h.proof.encoding = oneOf(c, field+"proof.encoding", p.Encoding, encHex, []encoding{encHex, encBase64, encBase64URL})
	switch {
	case hashes[h.proof.hash] == nil:
		c.fail(field+"proof.hash", "unknown hash %q", p.Hash)
	case p.Of != "" && !strings.Contains(p.Of, slotChallenge):
		c.fail(field+"proof.of", "say where the text stands: %s", slotChallenge)
	case p.Of == "" && c.rules.sign.algorithm != algHMAC:
		c.fail(field+"prove", "only a sender that signs with an HMAC has the key for it")
	case p.Of == "" && h.proof.hash != c.rules.sign.hash:
		c.fail(field+"proof.hash", "the delivery's key is used with %s", c.rules.sign.hash)
	}
	if !strings.Contains(f.Body, slotProof) {
		c.fail(field+"body", "say where the proof stands: %s", slotProof)
	}
}

// The slots of a handshake's answer, beside {url} and {param:NAME}.
const (
	slotChallenge = "{challenge}"
	slotProof     = "{proof}"
	slotURL       = "{url}"
)

// params are the parameters that the handshake's answer is made of.
func (h *handshake) params() []string {
	text := string(h.answer.Body)
	if h.proof != nil {
		text += h.proof.of
	}
	names := paramsIn(text)
	if strings.Contains(text, slotURL) {
		names = append(names, paramURL)
	}
	if h.param != "" {
		names = append(names, h.param)
	}
	return names
}

// keyed says that the answer is made with the secret that deliveries are signed with.
func (h *handshake) keyed() bool { return h.proof != nil && h.proof.of == "" }
