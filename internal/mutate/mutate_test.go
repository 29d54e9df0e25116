package mutate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/mutate"
)

func TestWhatIsNotSignedNeitherAdmitsNorRenames(t *testing.T) {
	cases, err := mutate.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name(), func(t *testing.T) {
			verifier, err := c.Provider.Bind(&c.Source)
			if err != nil {
				t.Fatal(err)
			}
			if c.Credential() {
				credentialSaysSo(t, &c, verifier)
				return
			}
			counts := map[string]int{}
			for _, m := range c.Mutations() {
				result, err := c.Judge(verifier, &m)
				if err != nil {
					t.Errorf("%s: %v", m.Name, err)
				}
				if result == mutate.Another {
					t.Errorf("%s: it is accepted as another event", m.Name)
				}
				counts[result]++
			}
			if counts[mutate.Refused] == 0 || counts[mutate.Same] == 0 {
				t.Errorf("results %v: the mutations try too little", counts)
			}
		})
	}
}

// credentialSaysSo: with a credential a changed id is another event, and the description says it.
func credentialSaysSo(t *testing.T, c *mutate.Case, verifier recibo.Verifier) {
	another := 0
	for _, m := range c.Mutations() {
		result, err := c.Judge(verifier, &m)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if result == mutate.Another {
			another++
		}
	}
	if another == 0 {
		t.Error("no mutation is another event, though nothing is signed")
	}
	said := slices.ContainsFunc(c.Variant.Protection, func(s string) bool { return strings.Contains(s, "changed id is accepted") })
	if !said {
		t.Errorf("the description does not say that a changed id is accepted: %q", c.Variant.Protection)
	}
}
