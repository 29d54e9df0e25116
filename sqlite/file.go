package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// prepareFile creates the file so that nobody but its owner reads what senders sent; SQLite gives its other files the
// same mode.
func prepareFile(path string) error {
	if path == "" || strings.Contains(path, ":memory:") {
		return errors.New("a store needs a file: memory keeps nothing")
	}
	if err := refuseNetwork(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the application names it
	if err != nil {
		return err
	}
	return f.Close()
}
