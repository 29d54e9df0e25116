package provider

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/recibohq/recibo"
)

// profile says how the sender behaves. What the signature covers is asked of the scheme, never of the file.
func (c *compiler) profile() {
	f, r := c.file, c.rules
	p := recibo.Profile{
		KeyKind:       r.key.kind,
		TimeKind:      r.time.kind,
		ContentStable: isTrue(f.Stable),
		TypesShare:    isTrue(f.TypesShare),
		SharedKey:     isTrue(f.SharedKey) && len(r.account) > 0,
		Family:        f.Family,
		KeepHeaders:   c.keptHeaders(),
		TypeSigned:    true,
		AccountSigned: len(r.account) == 0 || r.account.all(r.scheme.covers),
	}
	for _, t := range r.typ {
		p.TypeSigned = p.TypeSigned && t.all(r.scheme.covers)
	}
	r.anyones = isTrue(f.SharedKey) && len(r.account) == 0
	if p.SharedKey && !p.AccountSigned {
		c.fail("account", "the signature does not cover it, so it does not tell the customers of a shared key apart")
	}
	if f.Time != nil {
		p.Tolerance = c.duration("time.tolerance", f.Time.Tolerance)
		p.Horizon = c.horizon(f.Time)
	}
	c.answers(&p)
	if f.Retry != nil {
		r.retryAbout = f.Retry.About
	}
	if f.Sample != nil {
		r.sample = *f.Sample
	}
	r.profile = p
}

// answers says what goes back to the sender.
func (c *compiler) answers(p *recibo.Profile) {
	f := c.file.Answer
	if f == nil {
		return
	}
	p.Acknowledge = recibo.Answer{Status: f.Ack.Status, ContentType: f.Ack.Type, Body: []byte(f.Ack.Body)}
	p.RefuseStatus, p.BareRefusals = f.Refuse, f.Bare
	if s := p.Acknowledge.Status; s != 0 && s/100 != 2 {
		c.fail("answer.ack.status", "%d is no success: what was kept is answered 2xx", s)
	}
	if s := p.RefuseStatus; s != 0 && s/100 != 4 {
		c.fail("answer.refuse_signature", "%d is no refusal: write a 4xx", s)
	}
}

// horizon is how old an event's own time may be: the longest retry or manual resend, and a day. Where the sender's
// documents do not say, it is generous, for what is past it waits for a person.
func (c *compiler) horizon(t *timeFile) time.Duration {
	if c.rules.time.kind != recibo.EventTime {
		return 0
	}
	if t.Horizon != "" {
		return c.duration("time.horizon", t.Horizon)
	}
	var retry, resend time.Duration
	if c.file.Retry != nil {
		retry = c.duration("retry.for", c.file.Retry.For)
		resend = c.duration("retry.resend", c.file.Retry.Resend)
	}
	longest := max(retry, resend) + 24*time.Hour
	if retry == 0 || resend == 0 {
		return max(longest, generous)
	}
	return longest
}

// keptHeaders are the headers that facts stand in, never the one with the signature or a credential.
func (c *compiler) keptHeaders() []string {
	r := c.rules
	names := make([]string, 0, len(c.file.Keep))
	for _, name := range c.file.Keep {
		names = append(names, http.CanonicalHeaderKey(name))
	}
	for _, ch := range slices.Concat(r.id, r.typ, []choice{r.account, r.version, r.occurred, r.object.id, {r.time.from}}) {
		for i := range ch {
			names = append(names, ch[i].names...)
		}
	}
	for i := range r.sign.template {
		names = append(names, r.sign.template[i].place.names...)
	}
	for _, ch := range r.key.from {
		for i := range ch {
			names = append(names, ch[i].names...)
		}
	}
	names = append(names, r.sign.listed.names()...)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), r.sign.from.names)
}

// covered holds the file to what the signature proves.
func (c *compiler) covered() {
	r := c.rules
	whole := r.scheme.wholeBody()
	switch k := r.key.kind; {
	case (r.sign.shown() || r.sign.algorithm == algNone) && k != recibo.KeyCredential:
		c.fail("key.kind", "this sender signs nothing: the kind is credential")
	case (k == recibo.KeyID || k == recibo.KeyFingerprint || r.key.orElse) && !whole:
		c.fail("key.kind", "the signature does not cover the body, so whoever holds one request can change it: "+
			"the kind is token, composite or credential")
	case k == recibo.KeyID || k == recibo.KeyComposite || k == recibo.KeyToken:
		for _, ch := range r.key.from {
			c.mustCover("key.from", ch, "it cannot be part of a key; an unsigned id goes into the field id")
		}
	}
	if r.time.kind != recibo.NoTime && !r.scheme.covers(&r.time.from) {
		c.fail("time.from", "the signature does not cover %s, so it proves no age: use occurred", &r.time.from)
	}
	if len(r.version) > 0 {
		c.mustCover("version", r.version, "it cannot order events")
	}
	c.handshakesCovered()
	if r.time.kind == recibo.SendTime && len(r.items) == 0 && !r.cutsTime() && c.file.Cut == nil {
		c.fail("cut", "the send time is renewed per try: cut it, or write cut: [] if it can be all that tells two events apart")
	}
}

// handshakesCovered has a signed handshake be decided by what is signed.
func (c *compiler) handshakesCovered() {
	r := c.rules
	for i := range r.handshakes {
		h := &r.handshakes[i]
		r.proves = r.proves || h.keyed()
		h.signed = h.method == http.MethodPost &&
			(r.key.kind == recibo.KeyCredential || h.list != nil || h.when.all(r.scheme.covers))
		if h.method == http.MethodPost && !h.unsigned && !h.signed {
			c.mustCover(fmt.Sprintf("handshakes[%d].when.from", i), h.when, "it cannot decide what is a handshake")
		}
	}
}

func (c *compiler) mustCover(field string, ch choice, why string) {
	for i := range ch {
		if !c.rules.scheme.covers(&ch[i]) {
			c.fail(field, "the signature does not cover %s (it covers %s): %s", &ch[i], c.rules.signedText(), why)
		}
	}
}

func (r *rules) signedText() string {
	if parts := r.scheme.parts(); len(parts) > 0 {
		return strings.Join(parts, ", ")
	}
	return "nothing"
}

// cutsTime says that the signed time is left out of the fingerprint.
func (r *rules) cutsTime() bool {
	if part := r.sign.find(&r.time.from); part != nil {
		return part.cut
	}
	return r.time.from.kind == inClaim || slices.ContainsFunc(r.cuts, func(p place) bool { return p.same(&r.time.from) })
}
