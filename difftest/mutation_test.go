package difftest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A mutation is a request that somebody changed, and how.
type mutation struct {
	*request
	kinds    []string
	original *request
}

func (m *mutation) String() string {
	return fmt.Sprintf("%s\n\twas %s\n\tis  %s", strings.Join(m.kinds, " and "), m.original, m.request)
}

func (r *request) String() string {
	body := r.body
	if len(body) > 600 {
		body = slices.Concat(body[:600], []byte("…"))
	}
	return fmt.Sprintf("%q %q query %q, %s after signing", r.header, body, r.query, r.now.Sub(r.signedAt))
}

// A kind is a way to change a request. change says whether it could.
type kind struct {
	name   string
	change func(m *mutator, r *request) bool
}

// A mutator makes mutations of the originals.
type mutator struct {
	sdk       *sdk
	layout    *layout
	tolerance time.Duration
	originals []*request
	rng       *rand.Rand
	kinds     []kind
	seen      map[[sha256.Size]byte]bool
	alone     bool // change requests in one way only
}

func newMutator(s *sdk, l *layout, originals []*request, seed uint64) *mutator {
	m := &mutator{
		sdk: s, layout: l, tolerance: s.tolerance, originals: originals, rng: rand.New(rand.NewPCG(seed, 1)),
		seen: map[[sha256.Size]byte]bool{},
	}
	m.kinds = m.allKinds()
	return m
}

// allKinds are the kinds that fit the sender.
func (m *mutator) allKinds() []kind {
	l := m.layout
	kinds := slices.Concat(bodyKinds, clockKinds, secretKinds)
	for _, s := range []spot{l.header, l.signature, l.time, l.id} {
		if s.get != nil && (s.name != "signature" || len(l.entries) > 1 || l.entries[0] != "{sig}") {
			kinds = append(kinds, textKinds(s)...)
		}
		if s.head != "" {
			kinds = append(kinds, headerKinds(s)...)
		}
	}
	kinds = append(kinds, signatureKinds(l.signature)...)
	if l.separator != "" {
		kinds = append(kinds, listKinds...)
	}
	if l.time.get != nil {
		kinds = append(kinds, timeKinds(l.time)...)
	}
	if slices.ContainsFunc(l.signed, func(p part) bool { return p.slot == "body" }) {
		kinds = append(kinds, kind{"border", moveBorder})
	}
	if m.sdk.queried {
		kinds = append(kinds, queryKinds...)
	}
	switch m.sdk.bodies {
	case notifications:
		kinds = append(kinds, adyenKinds...)
	case forms, formsOrJSON:
		kinds = append(kinds, formKinds...)
	}
	return kinds
}

// make returns n different mutations. Every kind has its turn until it is used up; bytes of bodies never are. Every third
// mutation of a kind is changed in a second way too.
func (m *mutator) make(n int) (all []*mutation) {
	kinds, made := slices.Clone(m.kinds), map[string]int{}
	for turn := 0; len(all) < n; turn++ {
		at := turn % len(kinds)
		c := m.changed(kinds[at])
		if c == nil {
			kinds[at] = kind{"body/changed", changeByte}
			continue
		}
		if made[kinds[at].name]++; made[kinds[at].name]%3 == 0 && !m.alone {
			c.again(m, pick(m.rng, m.kinds))
		}
		if m.isNew(c) {
			all = append(all, c)
		}
	}
	return all
}

// changed makes a mutation of one kind, of whatever original lets it; nil if none does.
func (m *mutator) changed(k kind) *mutation {
	for _, i := range m.rng.Perm(len(m.originals)) {
		original := m.originals[i]
		c := &mutation{original.clone(), []string{k.name}, original}
		if k.change(m, c.request) && c.digest() != original.digest() && !m.seen[c.digest()] {
			return c
		}
	}
	return nil
}

// again changes c in a second way, if that can be done.
func (c *mutation) again(m *mutator, second kind) {
	before := c.digest()
	changed := c.clone()
	if second.change(m, changed) && changed.digest() != before {
		c.request = changed
		c.kinds = append(c.kinds, second.name)
	}
}

// isNew says whether c differs from its original and from all before it.
func (m *mutator) isNew(c *mutation) bool {
	digest, original := c.digest(), c.original.digest()
	if digest == original || m.seen[digest] {
		return false
	}
	m.seen[digest] = true
	return true
}

func (r *request) digest() [sha256.Size]byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		fmt.Fprintf(&b, "%q %q\n", name, r.header[name])
	}
	fmt.Fprintf(&b, "%q %q %q %d %q", r.query, r.secret, r.publicKey, r.now.UnixMilli(), r.body)
	return sha256.Sum256(b.Bytes())
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// another is an original that is not r's own.
func (m *mutator) another(r *request) *request {
	for {
		if o := pick(m.rng, m.originals); !bytes.Equal(o.body, r.body) || !o.signedAt.Equal(r.signedAt) {
			return o
		}
	}
}

// headerKinds change how often and under what name a header comes.
func headerKinds(s spot) []kind {
	values := func(change func(r *request, value string) []string) func(*mutator, *request) bool {
		return func(_ *mutator, r *request) bool {
			value := s.get(r)
			r.header[s.head] = change(r, value)
			return value != ""
		}
	}
	return []kind{
		{s.name + "/dropped", func(_ *mutator, r *request) bool { r.header.Del(s.head); return true }},
		{s.name + "/twice", values(func(_ *request, v string) []string { return []string{v, v} })},
		{s.name + "/another-first", values(func(_ *request, v string) []string { return []string{nextDigit(v), v} })},
		{s.name + "/another-behind", values(func(_ *request, v string) []string { return []string{v, nextDigit(v)} })},
		{s.name + "/nothing-first", values(func(_ *request, v string) []string { return []string{"", v} })},
		{s.name + "/underscores", func(_ *mutator, r *request) bool {
			v := r.header[s.head]
			r.header.Del(s.head)
			r.header[http.CanonicalHeaderKey(strings.ReplaceAll(s.head, "-", "_"))] = v
			return strings.Contains(s.head, "-")
		}},
		{s.name + "/other-prefix", func(_ *mutator, r *request) bool {
			v := r.header[s.head]
			r.header.Del(s.head)
			return renamed(r.header, s.head, v)
		}},
		{s.name + "/all-other-prefix", func(_ *mutator, r *request) bool {
			changed := false
			for name, v := range r.header.Clone() {
				other := http.Header{}
				if renamed(other, name, v) {
					r.header.Del(name)
					maps.Copy(r.header, other)
					changed = true
				}
			}
			return changed
		}},
	}
}

// renamed puts the values under the header's other name, of those that Svix's senders use.
func renamed(h http.Header, head string, values []string) bool {
	svix, isSvix := strings.CutPrefix(head, "Svix-")
	webhook, isWebhook := strings.CutPrefix(head, "Webhook-")
	switch {
	case isSvix:
		h["Webhook-"+svix] = values
	case isWebhook:
		h["Svix-"+webhook] = values
	}
	return isSvix || isWebhook
}

// nextDigit is text with its last digit changed: a time or signature close by.
func nextDigit(text string) string {
	i := strings.LastIndexAny(text, "0123456789")
	if i < 0 {
		return text + "1"
	}
	return text[:i] + string('0'+(text[i]-'0'+1)%10) + text[i+1:]
}

// clockKinds move the receiver's clock.
var clockKinds = func() (kinds []kind) {
	add := func(name string, after func(tolerance time.Duration) time.Duration) {
		kinds = append(kinds, kind{"clock/" + name, func(m *mutator, r *request) bool {
			r.now = r.signedAt.Add(after(m.tolerance))
			return true
		}})
	}
	late := func(d time.Duration) time.Duration { return d }
	early := func(d time.Duration) time.Duration { return -d }
	for _, at := range []struct {
		name string
		way  func(time.Duration) time.Duration
	}{{"late", late}, {"early", early}} {
		name, way := at.name, at.way
		add(name+"-inside", func(t time.Duration) time.Duration { return way(t - time.Second) })
		add(name+"-at-the-edge", way)
		add(name+"-by-half-a-second", func(t time.Duration) time.Duration { return way(t + time.Second/2) })
		add(name+"-outside", func(t time.Duration) time.Duration { return way(t + time.Second) })
		add(name+"-by-a-day", func(time.Duration) time.Duration { return way(24 * time.Hour) })
		add(name+"-by-a-year", func(time.Duration) time.Duration { return way(365 * 24 * time.Hour) })
	}
	return kinds
}()

// secretKinds give both receivers another secret, or the same one written otherwise.
var secretKinds = []kind{
	{"secret/another", func(m *mutator, r *request) bool {
		if r.publicKey != "" {
			r.publicKey = replaced(m.rng, r.publicKey)
			return true
		}
		head, body := secretPrefix(r.secret)
		r.secret = head + replaced(m.rng, body)
		return true
	}},
	{"secret/cut", func(_ *mutator, r *request) bool { r.secret = r.secret[:len(r.secret)/2]; return true }},
	{"secret/grown", func(_ *mutator, r *request) bool { r.secret += "AAAA"; return r.publicKey == "" }},
	{"secret/upper-case", func(_ *mutator, r *request) bool { r.secret = strings.ToUpper(r.secret); return true }},
	{"secret/without-prefix", func(_ *mutator, r *request) bool { _, r.secret = secretPrefix(r.secret); return true }},
	{"secret/zero-behind", func(_ *mutator, r *request) bool { r.secret += "\x00"; return r.publicKey == "" }},
}

func secretPrefix(text string) (prefix, rest string) {
	if rest, ok := strings.CutPrefix(text, "whsec_"); ok {
		return "whsec_", rest
	}
	return "", text
}

// moveBorder moves text across the border of two parts that are signed beside each other: what is signed stays equal.
func moveBorder(m *mutator, r *request) bool {
	signed := m.layout.signed
	start := m.rng.IntN(len(signed))
	for i := range signed {
		i = (i + start) % len(signed)
		a, ok := m.layout.at(signed[i].slot)
		if !ok || i+1 >= len(signed) {
			continue
		}
		next, literal := i+1, ""
		if signed[next].literal != "" {
			next, literal = next+1, signed[next].literal
		}
		if next >= len(signed) {
			continue
		}
		if b, ok := m.layout.at(signed[next].slot); ok && moved(m.rng, r, [2]spot{a, b}, literal) {
			return true
		}
	}
	return false
}

func moved(rng *rand.Rand, r *request, parts [2]spot, literal string) bool {
	left := parts[0].get(r)
	whole := left + literal + parts[1].get(r)
	var at []int
	for i := range len(whole) - len(literal) + 1 {
		if near := literal != "" || max(i-len(left), len(left)-i) < 4; near && i != len(left) && strings.HasPrefix(whole[i:], literal) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return false
	}
	i := pick(rng, at)
	parts[0].set(r, whole[:i])
	parts[1].set(r, whole[i+len(literal):])
	return true
}
