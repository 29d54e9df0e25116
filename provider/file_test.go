package provider

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestTheFormatIsWrittenDown(t *testing.T) {
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range fieldNames(reflect.TypeFor[file](), nil) {
		if name != "" && !strings.Contains(string(text), name+":") {
			t.Errorf("FORMAT.md does not say what %s is", name)
		}
	}
}
