package recibo_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/recibohq/recibo"
)

func TestKeyPutsLengthsBeforeItsParts(t *testing.T) {
	a, errA := recibo.NewKey(recibo.KeyComposite, "a", "b:c")
	b, errB := recibo.NewKey(recibo.KeyComposite, "a:b", "c")
	if errA != nil || errB != nil || a == b {
		t.Errorf("keys of (a, b:c) and (a:b, c) are %q (%v) and %q (%v); want two keys", a, errA, b, errB)
	}
	if want := recibo.Key("cmp:1:a,3:b:c"); a != want {
		t.Errorf("key = %q, want %q", a, want)
	}
	if a.Kind() != recibo.KeyComposite {
		t.Errorf("kind = %q, want cmp", a.Kind())
	}
}

func TestKeyRefusesWhatNamesNothing(t *testing.T) {
	for name, parts := range map[string][]string{
		"nothing":           {""},
		"a blank":           {"  "},
		"two nothings":      {"", " "},
		"a NUL":             {"evt\x00"},
		"a line feed":       {"evt\n"},
		"a delete":          {"evt\x7f"},
		"bytes not UTF-8":   {"evt\xff"},
		"more than a limit": {strings.Repeat("x", recibo.MaxKey+1)},
	} {
		if key, err := recibo.NewKey(recibo.KeyID, parts...); !errors.Is(err, recibo.NoKey) {
			t.Errorf("NewKey(%s) = %q, %v; want %v", name, key, err, recibo.NoKey)
		}
	}
}

func TestIdentityKeepsItsPartsApart(t *testing.T) {
	seen := map[recibo.Identity]string{}
	for _, c := range [][4]string{
		{"a", "b:c", "id:1", ""}, {"a:b", "c", "id:1", ""}, {"a", "b:c", "id:1", "x"}, {"a", "b:c", "fp:1", ""},
		{"", "ab:c", "id:1", ""}, {"a", "b:cid:1", "", ""},
	} {
		id := recibo.NewIdentity(c[0], c[1], recibo.Key(c[2]), c[3])
		if other, taken := seen[id]; taken {
			t.Errorf("%q and %s have one identity", c, other)
		}
		seen[id] = strings.Join(c[:], "|")
	}
}
