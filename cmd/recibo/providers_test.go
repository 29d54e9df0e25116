package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recibohq/recibo/provider"
)

var update = flag.Bool("update", false, "write docs/providers anew")

const pagesDir = "../../docs/providers"

// pages are the reference as it must be.
func pages() map[string]string {
	want := map[string]string{}
	var all []*provider.Description
	for _, p := range provider.All() {
		d := p.Describe()
		all = append(all, d)
		want[d.Name+".md"] = providerPage(d)
	}
	want["README.md"] = providerIndex(all)
	return want
}

func TestProviderPagesAreCurrent(t *testing.T) {
	want := pages()
	if *update {
		writePages(t, want)
	}
	entries, err := os.ReadDir(pagesDir)
	if err != nil {
		t.Fatalf("%v: run make docs", err)
	}
	for _, entry := range entries {
		if _, ok := want[entry.Name()]; !ok {
			t.Errorf("docs/providers/%s is of no sender: run make docs", entry.Name())
		}
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(pagesDir, name))
		if err != nil || string(got) != text {
			t.Errorf("docs/providers/%s is not what the catalogue says (%v): run make docs", name, err)
		}
	}
}

func writePages(t *testing.T, want map[string]string) {
	t.Helper()
	if err := os.RemoveAll(pagesDir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(pagesDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		if err := os.WriteFile(filepath.Join(pagesDir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What a sender's signature is not worth must stand on its page, whatever the catalogue grows to.
func TestPagesSayWhatASignatureIsNotWorth(t *testing.T) {
	for _, p := range provider.All() {
		for _, v := range p.Describe().Variants {
			said := strings.Join(v.Protection, " ")
			if v.Key == "cred" && !strings.Contains(said, "changed id is accepted") {
				t.Errorf("%s/%s: does not say that a changed id is accepted: %s", p.Name(), v.Name, said)
			}
			if v.Key == "tok" && !strings.Contains(said, "unspent token") {
				t.Errorf("%s/%s: does not say what an unspent token is worth: %s", p.Name(), v.Name, said)
			}
		}
	}
}
