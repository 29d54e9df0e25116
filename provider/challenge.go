package provider

import (
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/recibohq/recibo"
)

// Bounds on what a handshake gives back.
const (
	maxEcho  = 512
	maxProof = 128
)

// A handshake is a check of the address that a sender makes now and then, and its answer.
type handshake struct {
	when   choice
	is     string
	unless choice // present: it is an ordinary event after all
	echo   choice
	prove  choice
	answer recibo.Answer
}

// A challenger is a verifier whose sender makes handshakes.
type challenger struct{ *verifier }

// Challenge answers a handshake. Whether d is one is decided from signed bytes; one that is not well formed is answered
// with nothing, so that nobody can have a text of theirs echoed or signed.
func (c *challenger) Challenge(d *recibo.Delivery, verified *recibo.Verified) (*recibo.Answer, error) {
	r, ok := verified.Scheme.(*reading)
	if !ok {
		return nil, nil //nolint:nilnil // the interface's word for an ordinary delivery
	}
	for i := range c.handshakes {
		h := &c.handshakes[i]
		x := c.view(d, r)
		if x.text(h.when) != h.is || x.anyPresent(h.unless) || x.v.unreadable(d, r) {
			continue
		}
		return c.respond(h, x)
	}
	return nil, nil //nolint:nilnil // the interface's word for an ordinary delivery
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

func (c *challenger) respond(h *handshake, x *view) (*recibo.Answer, error) {
	answer := h.answer
	switch {
	case len(h.echo) > 0:
		text := x.text(h.echo)
		if text == "" || len(text) > maxEcho || !printable(text) {
			return nil, recibo.Unreadable
		}
		answer.Body = []byte(text)
	case len(h.prove) > 0:
		text := x.text(h.prove)
		if !plainToken(text) {
			return nil, recibo.Unreadable
		}
		proof := c.prover.(*macs).sum(x.r.verified.Secret, text) // compile allows prove for HMAC senders only
		answer.Body = []byte(`{"plainToken":"` + text + `","encryptedToken":"` + hex.EncodeToString(proof) + `"}`)
	}
	return &answer, nil
}

// plainToken says that text is [A-Za-z0-9_-]{1,128}: what is signed for a handshake can then never be what is signed for
// a delivery.
func plainToken(text string) bool {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return text != "" && len(text) <= maxProof && strings.Trim(text, allowed) == ""
}

// compileAnswer fills in what a handshake answers by default.
func (h *handshake) withDefaults() {
	if h.answer.Status == 0 {
		h.answer.Status = http.StatusOK
	}
	if h.answer.ContentType == "" && len(h.echo) > 0 {
		h.answer.ContentType = "text/plain"
	}
	if h.answer.ContentType == "" {
		h.answer.ContentType = "application/json"
	}
}
