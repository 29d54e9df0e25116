package provider

import (
	"cmp"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/recibohq/recibo"
)

// seal signs by template: first what goes into the body, then what stands over it.
func (t *templateScheme) seal(s *sealing) error {
	for i := range s.rules.sign.template {
		if part := &s.rules.sign.template[i]; part.kind == placePart {
			if err := s.fill(&part.place); err != nil {
				return err
			}
		}
	}
	for i := range s.rules.sign.listed.parts {
		if err := s.fill(&s.rules.sign.listed.parts[i].place); err != nil {
			return err
		}
	}
	s.list()
	var pieces []piece
	for i := range s.rules.sign.template {
		text, err := s.part(&s.rules.sign.template[i])
		if err != nil {
			return err
		}
		pieces = append(pieces, piece{bytes: text, from: &s.rules.sign.template[i]})
	}
	signature, err := s.sign(pieces)
	if err != nil {
		return err
	}
	return s.put(signature)
}

// fill gives a signed part its value, unless it has one.
func (s *sealing) fill(p *place) error {
	rule := &s.rules.key
	text := ""
	switch {
	case p.same(&s.rules.time.from):
		text = s.at()
	case rule.kind == recibo.KeyID && rule.from[0][0].same(p):
		text = s.id
	case p.kind == inHeader && s.header.Get(p.names[0]) != "":
		return nil
	case p.inBody() && rule.kind != recibo.KeyToken: // a token is new each time, whatever the sample has
		if said, err := s.read(p); err == nil && said != "" {
			return nil
		}
	}
	if text == "" {
		text = newUUID()
	}
	switch p.kind {
	case inHeader:
		s.header.Set(p.names[0], text)
		return nil
	case inJSON, inForm:
		return s.write(p, text)
	default:
		return nil
	}
}

// write puts text into the body.
func (s *sealing) write(p *place, text string) (err error) {
	if field := s.rules.packing.field; p.kind == inJSON && field != "" && !s.rules.packing.xml && !looksLikeJSON(s.body) {
		found := make([]value, 1)
		if err = readForm(s.body, []string{field}, found); err != nil {
			return err
		}
		document, err := setText([]byte(found[0].text), p.path, text)
		if err == nil {
			s.body, err = setField(s.body, field, string(document))
		}
		return err
	}
	if p.kind == inJSON {
		s.body, err = setText(s.body, p.path, text)
		return err
	}
	s.body, err = setField(s.body, p.name, text)
	return err
}

func (s *sealing) at() string { return s.rules.time.unit.format(s.now) }

func (s *sealing) part(part *templatePart) ([]byte, error) {
	switch part.kind {
	case literalPart:
		return part.literal, nil
	case placePart:
		text, err := s.placed(&part.place)
		return []byte(text), err
	case crcPart:
		return []byte(strconv.FormatUint(uint64(crc32.ChecksumIEEE(s.body)), 10)), nil
	case hashPart:
		return []byte(part.sum(s.body)), nil
	case stringPart:
		return jsonString(s.body)
	case sortedPart:
		return sortedForm(s.body)
	case documentPart:
		doc, err := readDocument(s.body, &fieldSet{}, s.rules.packing)
		return doc.src, err
	case urlPart:
		return []byte(s.address()), nil
	case pathPart:
		return []byte(pathOf(s.address())), nil
	case methodPart:
		return []byte(http.MethodPost), nil
	case secretPart:
		return nil, nil
	case valuesPart:
		return []byte(s.values()), nil
	default:
		return s.body, nil
	}
}

// address is the receiver's as the sender knows it.
func (s *sealing) address() string { return cmp.Or(s.params[paramURL], s.configured) }

func (s *sealing) placed(p *place) (string, error) {
	switch p.kind {
	case inSignature:
		if p.name != "" {
			return s.beside(p.name), nil
		}
		return s.at(), nil
	case inHeader:
		return s.header.Get(p.names[0]), nil
	case inParam:
		return s.params[p.name], nil
	case inQuery:
		_, query, _ := strings.Cut(s.url, "?")
		text, _, err := queryValue(query, p.name)
		return text, err
	default:
		return s.read(p)
	}
}

// beside is what a sample has beside its signature: the list of signed headers, or any word.
func (s *sealing) beside(name string) string {
	if l := &s.rules.sign.listed; l.from.kind == inSignature && l.from.name == name {
		return s.listText()
	}
	return "sample"
}

func (s *sealing) listText() string {
	l := &s.rules.sign.listed
	names := l.names()
	for i := range names {
		names[i] = strings.ToLower(names[i])
	}
	slices.Sort(names)
	return strings.Join(names, l.separator)
}

// list says in its header which headers are signed.
func (s *sealing) list() {
	if l := &s.rules.sign.listed; l.from.kind == inHeader {
		s.header.Set(l.from.names[0], s.listText())
	}
}

func (s *sealing) values() string {
	l := &s.rules.sign.listed
	var values []string
	for name := range strings.SplitSeq(s.listText(), l.separator) {
		value := s.header.Get(name)
		if l.named {
			value = name + ":" + value
		}
		values = append(values, value)
	}
	return strings.Join(values, l.join)
}

// field is the text at a JSON path of the body.
func (s *sealing) field(path string) (string, error) {
	return s.read(&place{kind: inJSON, name: path, path: splitPath(path)})
}

func (s *sealing) read(p *place) (string, error) {
	var set fieldSet
	at := *p
	if err := set.add(&at); err != nil {
		return "", err
	}
	doc, err := readDocument(s.body, &set, packing{})
	if err != nil {
		return "", err
	}
	text, _, err := doc.field(&at)
	return text, err
}

// put writes the signature where it belongs.
func (s *sealing) put(signature string) error {
	from := &s.rules.sign.from[0]
	text := s.format.write(signature, s.at(), s.beside)
	switch from.kind {
	case inHeader:
		s.header.Set(from.names[0], text)
		return nil
	case inQuery:
		s.addQuery(from.name + "=" + escapeQuery(text))
		return nil
	default:
		return s.write(from, text)
	}
}

func (s *sealing) addQuery(pair string) {
	separator := "?"
	if strings.Contains(s.url, "?") {
		separator = "&"
	}
	s.url += separator + pair
}
