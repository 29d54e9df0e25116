package provider

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/recibohq/recibo"
)

// A Grade says in one word what stops a replay of the sender's requests.
type Grade string

// The grades, best first.
const (
	Strong Grade = "strong" // send time and identity are signed: a copy is dead after the tolerance, a duplicate within it
	Window Grade = "window" // equal contents are honest: a copy can run again within the tolerance
	Memory Grade = "memory" // no send time is signed: only the kept receipt stops a copy
	Weak   Grade = "weak"   // the signature does not bind the body
	None   Grade = "none"   // the request holds the secret itself, or nothing is checked
)

// A Description is what people are told of a sender. What is signed is derived from the scheme.
type Description struct {
	Name, Title, Category string
	Confidence            string // how well the facts are known: "high", "medium", "low"
	Docs                  []string
	Setup                 string // how to set it up at the sender
	Notes                 []string
	Params                []Param
	Variants              []Variant // the main one first
}

// A Param is what a source of the sender configures beside the secret.
type Param struct {
	Name, About string
	Required    bool
}

// A Variant is one way in which the sender signs.
type Variant struct {
	Name, About string
	Main        bool
	Scheme      string   // "hmac-sha256"
	KeyForm     string   // what the source needs: the form of the secret or of the public key
	Published   string   // where public keys are fetched from that the source does not have
	Symmetric   bool     // verifies with a secret, not a public key
	Unchecked   bool     // verifies with neither: anybody who knows the address can send
	Decrypts    bool     // needs a private key of the source's own beside the public key: events come encrypted
	Signature   string   // where the signature stands
	Signed      []string // what it covers
	Unsigned    []string // which facts it does not cover
	Key         recibo.KeyKind
	KeyFrom     []string
	TypeFrom    []string // empty: the sender does not say what happened
	Time        recibo.TimeKind
	TimeFrom    string
	Tolerance   time.Duration
	Horizon     time.Duration
	Grade       Grade
	Protection  []string // in sentences
	Retries     string
	Batch       bool // one delivery can hold many events
	Handshake   bool
	Acknowledge recibo.Answer
}

// Title is the sender's name as people write it.
func (p *Provider) Title() string { return orDefault(p.file.Title, p.Name()) }

// Describe says all that people are told of p.
func (p *Provider) Describe() *Description {
	f := p.file
	d := &Description{
		Name: p.Name(), Title: p.Title(), Category: f.Category, Confidence: f.Confidence,
		Docs: slices.Clone(f.Docs), Setup: f.Setup, Notes: slices.Clone(f.Notes),
	}
	params := p.params()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		d.Params = append(d.Params, Param{name, params[name].About, params[name].Required})
	}
	d.Variants = append(d.Variants, p.describe(p.main))
	for _, name := range slices.Sorted(maps.Keys(p.variants)) {
		if name != p.main {
			d.Variants = append(d.Variants, p.describe(name))
		}
	}
	return d
}

func (p *Provider) describe(name string) Variant {
	r := p.variants[name]
	v := Variant{
		Name: name, About: r.about, Main: name == p.main, Scheme: r.sign.schemeText(), Symmetric: r.sign.symmetric(),
		Unchecked: r.sign.algorithm == algNone, Decrypts: r.token.decrypt, KeyForm: string(r.sign.secret), Signature: r.sign.from.String(), Signed: r.scheme.parts(), Unsigned: r.unsigned(),
		Key: r.key.kind, Time: r.time.kind, Tolerance: r.profile.Tolerance, Horizon: r.profile.Horizon,
		Grade: r.grade(), Protection: r.protection(), Retries: r.retryAbout,
		Batch: len(r.items) > 0, Handshake: len(r.handshakes) > 0, Acknowledge: r.profile.Acknowledge,
	}
	if k := r.sign.published; k != nil {
		v.Published = k.String()
	}
	switch {
	case v.Unchecked:
		v.KeyForm, v.Signature = "", ""
	case !v.Symmetric:
		v.KeyForm = string(r.sign.publicKey)
	}
	for _, c := range r.key.from {
		v.KeyFrom = append(v.KeyFrom, c.String())
	}
	for _, c := range r.typ {
		v.TypeFrom = append(v.TypeFrom, c.String())
	}
	if r.time.kind != recibo.NoTime {
		v.TimeFrom = r.time.from.String()
	}
	return v
}

func (s *signing) schemeText() string {
	switch {
	case s.jose != "":
		return "jws-" + string(s.jose)
	case s.algorithm == algHMAC, s.algorithm == algKeyed, s.algorithm == algRSA && s.hash != "sha256", s.algorithm == algECDSA && s.hash != "sha256":
		return s.algorithm + "-" + s.hash
	default:
		return s.algorithm
	}
}

// unsigned lists the facts that a stranger with one captured request can change.
func (r *rules) unsigned() []string {
	var names []string
	if !r.scheme.wholeBody() {
		names = append(names, "body")
	}
	for _, ch := range slices.Concat(r.id, []choice{r.account, r.object.id, r.occurred}, r.typ) {
		for i := range ch {
			if !r.scheme.covers(&ch[i]) && !slices.Contains(names, ch[i].String()) {
				names = append(names, ch[i].String())
			}
		}
	}
	return append(names, r.unprotected...)
}

func (r *rules) grade() Grade {
	switch {
	case r.sign.shown() || r.sign.algorithm == algNone:
		return None
	case r.key.kind == recibo.KeyToken || r.key.kind == recibo.KeyCredential:
		return Weak
	case r.time.kind != recibo.SendTime:
		return Memory
	case r.repeats:
		return Window
	default:
		return Strong
	}
}

// protection says in sentences what the grade means for this sender.
func (r *rules) protection() []string {
	said := append(r.worth(), keyText[r.key.kind]...)
	if r.key.kind == recibo.KeyFingerprint && !r.profile.TypeSigned {
		said = append(said, "The type is not signed: known content under another type is held for review.")
	}
	if r.key.kind == recibo.KeyFingerprint && len(r.id) > 0 {
		said = append(said, "The id "+textOf(r.id)+" is not signed: it is shown, and neither admits nor suppresses an event.")
	}
	return said
}

// worth says what the signature proves, and who else could make it.
func (r *rules) worth() []string {
	said := []string{gradeText[r.grade()]}
	if r.sign.algorithm == algNone {
		said = slices.Clone(uncheckedText)
	}
	if r.sign.layout == layoutJWS && !r.scheme.wholeBody() {
		said = []string{"The token says who calls, until it expires, and nothing of what: its holder can send any body with it."}
	}
	if r.token.whole {
		said = append(said, "The body is the token: it is stored and forwarded as it came.")
	}
	if r.anyones {
		said = append(said, "One key signs for all customers and nothing signed says for whom: any of them who knows the address can send "+
			"their events there, so it must be one that cannot be guessed.")
	}
	if r.profile.SharedKey {
		said = append(said, "One key signs for all customers: the source names its own accounts, and others are refused.")
	}
	return said
}

// keyText says what it means that an event is named so.
var keyText = map[recibo.KeyKind][]string{
	recibo.KeyFingerprint: {"Nothing signed names the event, so its signed bytes do: the same bytes again are the same event."},
	recibo.KeyToken: {"The token is spent once. Whoever holds an unspent token can invent a body: fetch what it speaks of " +
		"from the sender before acting."},
	recibo.KeyCredential: {"A changed id is accepted as a new event: this stops honest repeats and no attacker who has the credential " +
		"or one request."},
	recibo.KeyComposite: {"Signed fields name the event together."},
}

// textOf names places that say something together.
func textOf(choices []choice) string {
	texts := make([]string, len(choices))
	for i := range choices {
		texts[i] = choices[i].String()
	}
	return strings.Join(texts, " with ")
}

var uncheckedText = []string{
	"Nothing is checked: whoever knows the address can send any event.",
	"What helps: an address that cannot be guessed, a proxy that lets in the sender's addresses or client certificate only, and " +
		"to fetch what an event speaks of from the sender before acting.",
}

var gradeText = map[Grade]string{
	Strong: "Send time and identity are signed: a copy is refused after the tolerance and a duplicate within it.",
	Window: "The send time is signed, equal contents are honest: a copy can run again within the tolerance.",
	Memory: "No send time is signed: only the kept receipt stops a copy, for as long as the secret lives.",
	Weak:   "The signature does not bind the body.",
	None:   "Nothing is signed; the request holds the secret itself, so whoever sees one request can make others.",
}
