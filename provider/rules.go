package provider

import (
	"context"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/recibohq/recibo"
)

// rules are one variant of a sender, checked and ready to bind.
type rules struct {
	variant string
	about   string
	scheme  scheme
	sign    signing
	time    timing
	key     keyRule
	cuts    []place // of the body: left out of the fingerprint
	items   choice  // the lists whose elements are the events
	packing packing // what the document is wrapped in
	token   tokenRules

	id        []choice // unsigned: information; several places name the event together
	idRenewed bool
	typ       []choice
	account   choice
	object    objectRule
	version   choice
	occurred  choice
	occurUnit unit

	review      choice // of messages that are for a person: one of reviewed
	reviewed    []string
	handshakes  []handshake
	anyones     bool // one key for all customers, and nothing signed says whose event it is
	proves      bool // a handshake is answered with an HMAC under the delivery's secret
	profile     recibo.Profile
	repeats     bool // equal bodies are honest
	retryAbout  string
	sample      sampleFile
	unprotected []string

	before fieldSet // read before anything is verified: what the signature itself needs
	after  fieldSet
	item   fieldSet
}

// A signing is where the signature stands and how it is made.
type signing struct {
	layout    string // the scheme's name in the file
	algorithm string
	hash      string
	from      choice // each that is there has signatures
	format    format
	encoding  encoding
	secret    encoding
	publicKey keyForm
	published *keySource // nil: the sender publishes none that can be fetched
	prefixes  []string
	jose      jose.SignatureAlgorithm
	derive    string // the hash whose sum of the secret is the key
	template  template
	listed    headerList
	pins      []pin
}

// A pin is a header that must have one value.
type pin struct{ header, value string }

// A timing is where the signed time stands.
type timing struct {
	from place
	unit unit
	kind recibo.TimeKind
}

// A keyRule says what names an event.
type keyRule struct {
	kind   recibo.KeyKind
	from   []choice
	orElse bool // without an id, or the first part, the content names it
}

// An objectRule says what an event is about: its kind, a place or a word, and its id.
type objectRule struct {
	kind choice
	word string
	id   choice
}

// symmetric says that a source needs a secret. Without one, and without a public key, is only [algNone].
func (s *signing) symmetric() bool {
	return s.algorithm == algHMAC || s.algorithm == algKeyed || s.shown()
}

// shown says that the sender signs nothing: it shows the secret itself.
func (s *signing) shown() bool { return s.algorithm == algToken || s.algorithm == algBasic }

// usualEncoding is how signatures are written unless the file says otherwise.
func (s *signing) usualEncoding() encoding {
	switch {
	case s.layout == layoutJWS:
		return encBase64URL
	case s.algorithm == algToken:
		return encUTF8
	case s.algorithm == algBasic:
		return encBase64
	default:
		return encHex
	}
}

// The algorithms, and the schemes that are data alone.
const (
	algHMAC    = "hmac"
	algEd25519 = "ed25519"
	algECDSA   = "ecdsa-p256"
	algRSA     = "rsa-pkcs1v15"
	algToken   = "token"
	algBasic   = "basic"
	algKeyed   = "keyed-hash" // a plain hash over the secret and what is signed
	algNone    = "none"       // nothing is checked
	layoutJWS  = "jws"        // a token; its algorithm is one of the above
)

// A scheme says what a sender signs and where the signature stands. What it covers follows from the code, so that no file
// can claim it.
type scheme interface {
	// covers says that a valid signature proves what stands at p.
	covers(p *place) bool
	// wholeBody says that it proves every byte of the body.
	wholeBody() bool
	// parts names what is signed.
	parts() []string
	// verify fills in r from d, or says why not: the error is, or wraps, a [recibo.Reason].
	verify(ctx context.Context, v *verifier, d *recibo.Delivery, r *reading) error
	// seal makes the sender's request.
	seal(s *sealing) error
}

// A schemeFactory makes a scheme for rules whose signing is read already.
type schemeFactory struct {
	make      func(r *rules) scheme
	algorithm string
}

// schemes is the registry: the names that "signature.scheme" can have.
var schemes = map[string]schemeFactory{
	algHMAC:          {newTemplateScheme, algHMAC},
	algEd25519:       {newTemplateScheme, algEd25519},
	algECDSA:         {newTemplateScheme, algECDSA},
	algRSA:           {newTemplateScheme, algRSA},
	algToken:         {newToken, algToken},
	algBasic:         {newTemplateScheme, algBasic},
	algKeyed:         {newKeyedScheme, algKeyed},
	algNone:          {newUnchecked, algNone},
	layoutJWS:        {newJWS, ""},
	"truelayer":      {newTrueLayer, algECDSA},
	"wompi":          {newWompi, algKeyed},
	"amazon-sns":     {newAmazonSNS, algRSA},
	"paddle-classic": {newPaddleClassic, algRSA},
	"ebay":           {newEBay, algECDSA},
	"adyen":          {newAdyen, algHMAC},
	"mercado-pago":   {newMercadoPago, algHMAC},
	"twilio":         {newTwilio, algHMAC},
}

// generous is how old an event's time may be where the sender's resends are not known.
const generous = 31 * 24 * time.Hour
