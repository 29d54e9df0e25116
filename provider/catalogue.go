package provider

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed catalogue/*.yaml
var files embed.FS

// catalogue parses the built-in files, once. A mistake in one is ours: the tests parse all.
var catalogue = sync.OnceValue(func() map[string]*Provider {
	entries, err := files.ReadDir("catalogue")
	if err != nil {
		panic(err)
	}
	all := make(map[string]*Provider, len(entries))
	for _, entry := range entries {
		text, err := files.ReadFile(path.Join("catalogue", entry.Name()))
		if err != nil {
			panic(err)
		}
		p, err := Parse(entry.Name(), text)
		if err != nil {
			panic(err)
		}
		if p.Name() != strings.TrimSuffix(entry.Name(), ".yaml") {
			panic(fmt.Sprintf("catalogue: %s describes %s", entry.Name(), p.Name()))
		}
		all[p.Name()] = p
	}
	return all
})

// Lookup returns the built-in provider of that slug.
func Lookup(slug string) (*Provider, error) {
	all := catalogue()
	if p, ok := all[slug]; ok {
		return p, nil
	}
	if slug == customName {
		return nil, fmt.Errorf("provider %s is not built in: describe the sender in a file or inline", customName)
	}
	return nil, fmt.Errorf("unknown provider %q%s", slug, suggestion(slug, slices.Sorted(maps.Keys(all))))
}

// MustLookup is Lookup for slugs that a program writes down itself. It panics on an unknown one.
func MustLookup(slug string) *Provider {
	p, err := Lookup(slug)
	if err != nil {
		panic(err)
	}
	return p
}

// All returns the built-in providers by slug.
func All() []*Provider {
	all := catalogue()
	sorted := make([]*Provider, 0, len(all))
	for _, slug := range slices.Sorted(maps.Keys(all)) {
		sorted = append(sorted, all[slug])
	}
	return sorted
}
