package provider

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A file is a sender's YAML, as written. Built-in senders and users' own have the same format.
type file struct {
	Provider   string               `yaml:"provider"`
	Title      string               `yaml:"title"`
	Category   string               `yaml:"category"`
	Confidence string               `yaml:"confidence"`
	Docs       []string             `yaml:"docs"`
	Setup      string               `yaml:"setup"`
	Notes      []string             `yaml:"notes"`
	Params     map[string]paramFile `yaml:"params"`
	Main       string               `yaml:"main"` // the name of the variant that the top level describes
	Send       map[string]string    `yaml:"send"` // headers that a signed sample also has
	Rules      rulesFile            `yaml:",inline"`
	Variants   map[string]rulesFile `yaml:"variants"` // what they leave out is as in the main one
}

// rulesFile is one way in which a sender signs and names its events.
type rulesFile struct {
	About       string          `yaml:"about"`
	Signature   *signatureFile  `yaml:"signature"`
	Time        *timeFile       `yaml:"time"`
	Key         *keyFile        `yaml:"key"`
	Cut         []string        `yaml:"cut"`
	Items       string          `yaml:"items"`
	JSONIn      string          `yaml:"json_in"`
	XMLIn       string          `yaml:"xml_in"`
	Review      *reviewFile     `yaml:"review"`
	ID          stringList      `yaml:"id"`
	IDRenewed   *bool           `yaml:"id_renewed"`
	Type        stringList      `yaml:"type"`
	Account     string          `yaml:"account"`
	Object      *objectFile     `yaml:"object"`
	Version     string          `yaml:"version"`
	Occurred    *occurredFile   `yaml:"occurred"`
	Stable      *bool           `yaml:"content_stable"`
	TypesShare  *bool           `yaml:"types_share_bodies"`
	Repeats     *bool           `yaml:"equal_bodies_repeat"`
	SharedKey   *bool           `yaml:"shared_key"`
	Family      string          `yaml:"family"`
	Retry       *retryFile      `yaml:"retry"`
	Answer      *answerFile     `yaml:"answer"`
	Keep        []string        `yaml:"keep"`
	Handshakes  []handshakeFile `yaml:"handshakes"`
	Sample      *sampleFile     `yaml:"sample"`
	Unprotected []string        `yaml:"unprotected"` // what to say of the parts that the signature leaves out
}

type signatureFile struct {
	Scheme    string            `yaml:"scheme"`
	Hash      string            `yaml:"hash"`
	From      string            `yaml:"from"`
	Prefixes  []string          `yaml:"prefixes"`
	Format    string            `yaml:"format"`
	Separator string            `yaml:"separator"`
	Groups    string            `yaml:"groups"` // between several such lists
	Encoding  string            `yaml:"encoding"`
	Secret    string            `yaml:"secret"`
	Derive    string            `yaml:"derive"` // the hash whose sum of the secret is the key
	PublicKey string            `yaml:"public_key"`
	Signed    string            `yaml:"signed"`
	Headers   *listedFile       `yaml:"headers"` // what {values} in signed stands for
	Pin       map[string]string `yaml:"pin"`     // headers that must have exactly this value

	Algorithm string            `yaml:"algorithm"` // of a token; a token with another is refused
	Claims    map[string]string `yaml:"claims"`    // what they must be: a text, "param:NAME", "*" for anything
	Keys      *keysFile         `yaml:"keys"`      // where the sender publishes its public keys
	BodyHash  *hashFile         `yaml:"body_hash"` // the claim that binds the body
	URLHash   *hashFile         `yaml:"url_hash"`  // the claim that binds the address
	Decrypt   bool              `yaml:"decrypt"`   // the token is encrypted to a key of the source's own
}

type keysFile struct {
	URL         string   `yaml:"url"`
	At          string   `yaml:"at"` // the path of the key in the answer
	ID          string   `yaml:"id"` // the place of its name
	Certificate string   `yaml:"certificate"`
	Host        string   `yaml:"host"`
	Path        string   `yaml:"path"`
	Names       []string `yaml:"names"`
}

type hashFile struct {
	Claim    string `yaml:"claim"`
	Hash     string `yaml:"hash"`
	Encoding string `yaml:"encoding"`
}

// listedFile is where a request says which of its headers are signed.
type listedFile struct {
	From      string   `yaml:"from"`
	Separator string   `yaml:"separator"`
	As        string   `yaml:"as"`
	Join      string   `yaml:"join"`
	Require   []string `yaml:"require"`
}

type timeFile struct {
	From      string `yaml:"from"`
	Unit      string `yaml:"unit"`
	Kind      string `yaml:"kind"`
	Tolerance string `yaml:"tolerance"`
	Horizon   string `yaml:"horizon"`
}

type keyFile struct {
	Kind string   `yaml:"kind"`
	From []string `yaml:"from"`
	Else string   `yaml:"else"`
}

type objectFile struct {
	Kind string `yaml:"kind"`
	ID   string `yaml:"id"`
}

type occurredFile struct {
	From string `yaml:"from"`
	Unit string `yaml:"unit"`
}

// reviewFile says which messages are for a person: one that asks to confirm a subscription.
type reviewFile struct {
	From string   `yaml:"from"`
	Is   []string `yaml:"is"`
}

type retryFile struct {
	About  string `yaml:"about"`
	For    string `yaml:"for"`
	Resend string `yaml:"resend"`
}

type answerFile struct {
	Ack    ackFile `yaml:"ack"`
	Refuse int     `yaml:"refuse_signature"`
	Bare   bool    `yaml:"bare_refusals"`
}

type ackFile struct {
	Status int    `yaml:"status"`
	Type   string `yaml:"type"`
	Body   string `yaml:"body"`
}

type handshakeFile struct {
	Method   string            `yaml:"method"`   // default POST
	Unsigned bool              `yaml:"unsigned"` // a POST that the sender does not sign
	When     whenFile          `yaml:"when"`
	Unless   string            `yaml:"unless"`
	Token    *tokenFile        `yaml:"token"`
	Echo     string            `yaml:"echo"`  // the place of a text that goes back as it is
	Prove    string            `yaml:"prove"` // the place of a text that goes back with a proof
	Proof    *proofFile        `yaml:"proof"`
	Status   int               `yaml:"status"`
	Type     string            `yaml:"type"`
	Body     string            `yaml:"body"`
	Headers  map[string]string `yaml:"headers"`
}

type whenFile struct {
	From    string `yaml:"from"`
	Is      string `yaml:"is"`
	NoItems bool   `yaml:"no_items"`
}

// tokenFile is a text of the request that must be that of a parameter.
type tokenFile struct {
	From  string `yaml:"from"`
	Param string `yaml:"param"`
}

type proofFile struct {
	Hash     string `yaml:"hash"`
	Of       string `yaml:"of"`
	Encoding string `yaml:"encoding"`
}

type paramFile struct {
	About    string `yaml:"about"`
	Required bool   `yaml:"required"`
}

type sampleFile struct {
	Type        string `yaml:"type"`
	ContentType string `yaml:"content_type"`
	Body        string `yaml:"body"`
}

// A stringList may be written as a single string.
type stringList []string

// UnmarshalYAML reads one string or a list of them.
func (l *stringList) UnmarshalYAML(unmarshal func(any) error) error {
	var one string
	if unmarshal(&one) == nil {
		*l = stringList{one}
		return nil
	}
	return unmarshal((*[]string)(l))
}

// A FileError says what is wrong with a sender's file, where, and what to do.
type FileError struct {
	File         string
	Line, Column int
	Field        string // "signature.signed"
	Problem      string
}

// Error is in the form that editors jump to: "acme.yaml:7:11: signature.signed: …".
func (e *FileError) Error() string {
	field := e.Field
	if field != "" {
		field += ": "
	}
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s%s", e.File, field, e.Problem)
	}
	return fmt.Sprintf("%s:%d:%d: %s%s", e.File, e.Line, e.Column, field, e.Problem)
}

// An origin is the text that a file came from, for errors that show the place.
type origin struct {
	name string
	root ast.Node
}

func newOrigin(filename string, text []byte) (*origin, error) {
	s := &origin{name: filename}
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, s.place(err)
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		return nil, &FileError{File: filename, Problem: "want one YAML document"}
	}
	s.root = parsed.Docs[0].Body
	return s, nil
}

func (s *origin) decode() (*file, error) {
	var f file
	if err := yaml.NodeToValue(s.root, &f, yaml.Strict()); err != nil {
		return nil, s.place(err)
	}
	return &f, nil
}

// place makes the YAML library's error ours.
func (s *origin) place(err error) error {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil {
		return &FileError{File: s.name, Problem: err.Error()}
	}
	t := y.GetToken()
	problem := y.GetMessage()
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) {
		problem += suggestion(t.Value, fieldNames(reflect.TypeFor[file](), nil))
	}
	return &FileError{File: s.name, Line: t.Position.Line, Column: t.Position.Column, Problem: problem}
}

// fieldNames are all the names that a file can have.
func fieldNames(t reflect.Type, names []string) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return fieldNames(t.Elem(), names)
	case reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			names = fieldNames(f.Type, append(names, name))
		}
	}
	return names
}

// at says what is wrong with a field; field is its path, "variants.v1a.signature.signed". A field that is missing is
// placed at what should hold it.
func (s *origin) at(field, problem string) error {
	e := &FileError{File: s.name, Field: field, Problem: problem}
	for path := field; ; path = path[:max(strings.LastIndexAny(path, ".["), 0)] {
		t := s.find(path)
		if t != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
		if t != nil || path == "" {
			return e
		}
	}
}

func (s *origin) find(path string) *token.Token {
	if path == "" {
		return firstToken(s.root)
	}
	p, err := yaml.PathString("$." + path)
	if err != nil {
		return nil
	}
	node, err := p.FilterNode(s.root)
	if err != nil || node == nil {
		return nil
	}
	return firstToken(node)
}

// firstToken is where a node begins: of a mapping its first key, not its first colon.
func firstToken(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}
