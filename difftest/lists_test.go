package difftest

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// An allowance is a reviewed difference: why some SDKs judge kinds of changes otherwise than recibo does.
type allowance struct {
	Reason string              `yaml:"reason"`
	Kinds  map[string][]string `yaml:"kinds"` // the SDKs that show it
	// Rare are likewise, but too seldom for every run to show them. They may be patterns, also of two kinds: "list/* and */*".
	Rare map[string][]string `yaml:"rare"`
}

// An allowed is what a list holds.
type allowed struct {
	seen map[[2]string]bool  // by SDK and kind, once a mutation has shown it
	rare map[string][]string // kinds and patterns by SDK
}

const (
	stricterList = "stricter.yaml"
	laxerList    = "laxer_harmless.yaml"
)

func readAllowed(t *testing.T, name string) *allowed {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var all []allowance
	if err := yaml.UnmarshalWithOptions(text, &all, yaml.Strict()); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	list := &allowed{map[[2]string]bool{}, map[string][]string{}}
	for _, a := range all {
		if strings.TrimSpace(a.Reason) == "" || len(a.Kinds)+len(a.Rare) == 0 {
			t.Errorf("%s: an entry without reason or kinds: %+v", name, a)
		}
		if twice := list.add(&a); twice != "" {
			t.Errorf("%s: %s is listed twice", name, twice)
		}
	}
	return list
}

// add returns what is there already.
func (a *allowed) add(from *allowance) (twice string) {
	for kind, sdks := range from.Kinds {
		for _, sdk := range sdks {
			if _, ok := a.seen[[2]string{sdk, kind}]; ok {
				twice = kind + " of " + sdk
			}
			a.seen[[2]string{sdk, kind}] = false
		}
	}
	for pattern, sdks := range from.Rare {
		for _, sdk := range sdks {
			a.rare[sdk] = append(a.rare[sdk], pattern)
		}
	}
	return twice
}

// allows says whether a mutation's kinds, or one of them, are listed. What a mutation of a single kind shows is noted.
func (a *allowed) allows(sdk string, kinds []string) bool {
	for _, k := range append([]string{strings.Join(kinds, " and ")}, kinds...) {
		at := [2]string{sdk, k}
		if _, ok := a.seen[at]; ok {
			a.seen[at] = a.seen[at] || len(kinds) == 1
			return true
		}
		for _, pattern := range a.rare[sdk] {
			if ok, err := path.Match(pattern, k); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// unseen are the kinds listed for an SDK that no mutation has shown.
func (a *allowed) unseen(sdk string) (kinds []string) {
	for at, seen := range a.seen {
		if at[0] == sdk && !seen {
			kinds = append(kinds, at[1])
		}
	}
	slices.Sort(kinds)
	return kinds
}

func TestListsNameSDKsOfTheTable(t *testing.T) {
	known := map[string]bool{}
	for _, s := range sdks {
		known[s.name] = true
	}
	for _, name := range []string{stricterList, laxerList} {
		list := readAllowed(t, name)
		named := slices.Collect(maps.Keys(list.rare))
		for at := range list.seen {
			named = append(named, at[0])
		}
		for _, sdk := range named {
			if !known[sdk] {
				t.Errorf("%s: %s is no SDK of the table", name, sdk)
			}
		}
	}
}
