package difftest

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

var (
	mutations = flag.Int("mutations", fullRun, "how many changed requests both sides judge, for each SDK")
	seed      = flag.Uint64("seed", 1, "of keys and mutations")
)

// fullRun is how many mutations show every listed difference.
const fullRun = 2000

// A row is one SDK's line of the table.
type row struct {
	name, version             string
	theirs, ours              string // accepted of signed
	judged                    int
	equal, stricter, harmless int
	laxer                     int
}

// TestSDKsAndReciboJudgeAlike: what the SDK signs recibo accepts, what recibo signs the SDK accepts, and of changed requests
// recibo accepts none that the SDK refuses.
func TestSDKsAndReciboJudgeAlike(t *testing.T) {
	d := startDriver(t)
	stricter, harmless := readAllowed(t, stricterList), readAllowed(t, laxerList)
	var rows []row
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			c := newComparison(t, d, s)
			c.stricter, c.harmless = stricter, harmless
			c.mutate(t)
			rows = append(rows, c.row)
		})
	}
	t.Log("\n" + table(rows))
}

func table(rows []row) string {
	var b strings.Builder
	const line = "%-20s %-8s %13s %11s %9v %6v %8v %8v %5v\n"
	fmt.Fprintf(&b, line, "sdk", "version", "sdk→recibo", "recibo→sdk", "mutations", "equal", "stricter", "harmless", "laxer")
	for _, r := range rows {
		fmt.Fprintf(&b, line, r.name, r.version, r.theirs, r.ours, r.judged, r.equal, r.stricter, r.harmless, r.laxer)
	}
	return b.String()
}

// A comparison is one SDK beside recibo.
type comparison struct {
	sdk                sdk
	driver             *driver
	judge              *judge
	originals          []*request
	tokens             bool // the signature does not bind the body
	stricter, harmless *allowed
	faults             map[string][]string // by what is wrong: the kinds with an example each
	row                row
}

// newComparison compares both sides on requests that nobody changed.
func newComparison(t *testing.T, d *driver, s sdk) *comparison {
	cryptotest.SetGlobalRandom(t, *seed)
	s.provider = cmp.Or(s.provider, s.name)
	p := provider.MustLookup(s.provider)
	keys, err := p.NewKeys(s.variant)
	if err != nil {
		t.Fatal(err)
	}
	c := &comparison{sdk: s, driver: d, faults: map[string][]string{}, row: row{name: s.name, version: version(t, s.npm), theirs: "-"}}
	c.judge = &judge{&c.sdk, p, map[string]recibo.Verifier{}}
	unsigned := s.unsigned(t, p, keys)
	c.readProfile(t, unsigned[0])
	if s.signs {
		theirs := s.signTheirs(t, d, unsigned)
		c.row.theirs = c.reciboAccepts(t, theirs)
	}
	var ours []*request
	for n, r := range unsigned {
		ours = append(ours, s.signOurs(t, p, keys, r, n))
	}
	c.row.ours = c.sdkAccepts(t, ours)
	return c
}

// readProfile has both sides hold the time to the same tolerance.
func (c *comparison) readProfile(t *testing.T, r *request) {
	v, err := c.judge.bind(r)
	if err != nil {
		t.Fatalf("%s: Bind: %v", c.sdk.name, err)
	}
	c.tokens = v.Profile().KeyKind == recibo.KeyToken
	c.sdk.tolerance = cmp.Or(c.sdk.tolerance, v.Profile().Tolerance, recibo.DefaultTolerance)
}

func (c *comparison) reciboAccepts(t *testing.T, signed []*request) string {
	n := 0
	for _, r := range signed {
		if _, err := c.judge.events(r); err != nil {
			t.Errorf("the SDK signed and recibo refuses: %v\n\t%s", err, r)
			continue
		}
		n++
		c.originals = append(c.originals, r)
	}
	return fmt.Sprintf("%d/%d", n, len(signed))
}

func (c *comparison) sdkAccepts(t *testing.T, signed []*request) string {
	n := 0
	for i, a := range c.judgeTheirs(t, signed) {
		if _, err := c.judge.events(signed[i]); !a.OK || err != nil {
			t.Errorf("recibo signed and the SDK says %v %q, recibo %v\n\t%s", a.OK, a.Error, err, signed[i])
			continue
		}
		n++
		c.originals = append(c.originals, signed[i])
	}
	return fmt.Sprintf("%d/%d", n, len(signed))
}

func (c *comparison) judgeTheirs(t *testing.T, requests []*request) []answer {
	questions := make([]question, len(requests))
	for i, r := range requests {
		questions[i] = c.sdk.ask("verify", r)
	}
	return c.driver.ask(t, questions)
}

// mutate has both sides judge changed requests.
func (c *comparison) mutate(t *testing.T) {
	if len(c.originals) == 0 {
		t.Fatal("nothing is accepted, so there is nothing to change")
	}
	m := newMutator(&c.sdk, readLayout(t, c.judge.provider, c.sdk.variant), c.originals, *seed)
	m.alone = c.tokens // the body is not signed: beside a harmless change both could let it be another
	all := m.make(*mutations)
	requests := make([]*request, len(all))
	for i := range all {
		requests[i] = all[i].request
	}
	for i, a := range c.judgeTheirs(t, requests) {
		c.compare(t, all[i], &a)
	}
	c.row.judged = len(all)
	for _, fault := range slices.Sorted(maps.Keys(c.faults)) {
		kinds := slices.Sorted(slices.Values(c.faults[fault]))
		t.Errorf("%s: %s:\n%s", c.sdk.name, fault, strings.Join(kinds, "\n"))
	}
	if *mutations >= fullRun && *seed == 1 && !t.Failed() {
		for _, list := range []*allowed{c.stricter, c.harmless} {
			if unseen := list.unseen(c.sdk.name); len(unseen) > 0 {
				t.Errorf("listed, and no mutation shows it: %q", unseen)
			}
		}
	}
}

func (c *comparison) compare(t *testing.T, m *mutation, a *answer) {
	events, err := c.judge.events(m.request)
	var why recibo.Reason
	if err != nil && !errors.As(err, &why) && !errors.Is(err, errBind) {
		t.Errorf("Verify returned %v, which is no Reason", err)
	}
	switch {
	case a.OK == (err == nil):
		c.row.equal++
	case a.OK:
		c.row.stricter++
		if !c.stricter.allows(c.sdk.name, m.kinds) {
			c.fault("recibo is stricter, and the kind is not listed in testdata/"+stricterList, m, err)
		}
	default:
		c.laxer(t, m, a, events)
	}
}

// laxer is what the SDK refuses and recibo accepts: a fault of recibo, unless nothing that recibo decides by has changed.
func (c *comparison) laxer(t *testing.T, m *mutation, a *answer, events []recibo.Event) {
	original, err := c.judge.events(m.original)
	switch {
	case err != nil:
		t.Errorf("the original is refused: %v", err)
	case !sameDecisions(events, original):
		c.row.laxer++
		c.fault("RECIBO IS LAXER: it accepts as another event", m, errors.New(a.Error))
	case !c.harmless.allows(c.sdk.name, m.kinds):
		c.row.laxer++
		c.fault("recibo accepts as the same event, and the kind is not listed in testdata/"+laxerList, m, errors.New(a.Error))
	default:
		c.row.harmless++
	}
}

// fault keeps the first example of each kind.
func (c *comparison) fault(what string, m *mutation, err error) {
	name := strings.Join(m.kinds, " and ")
	for _, have := range c.faults[what] {
		if strings.HasPrefix(have, name+": ") {
			return
		}
	}
	c.faults[what] = append(c.faults[what], fmt.Sprintf("%s: %v\n\t%s", name, err, m))
}
