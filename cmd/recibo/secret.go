package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/recibohq/recibo"
)

// readSecret reads a secret from where a flag says: env:NAME, file:PATH or - for standard input. It is never a flag's
// value: those are seen by everybody on the machine.
func readSecret(e *env, from string) (recibo.Secret, error) {
	text, err := readReference(e, from)
	if err != nil {
		return recibo.Secret{}, err
	}
	// A tool for trying things out takes the short secrets of senders' own documentation.
	return recibo.InsecureSecret(strings.TrimSuffix(text, "\n")), nil
}

func readReference(e *env, from string) (string, error) {
	if from == "-" {
		text, err := io.ReadAll(io.LimitReader(e.stdin, 1<<20))
		return string(text), err
	}
	if name, ok := strings.CutPrefix(from, "env:"); ok {
		text, ok := e.lookup(name)
		if !ok || text == "" {
			return "", fmt.Errorf("%s is not set: export it first", from)
		}
		return text, nil
	}
	if path, ok := strings.CutPrefix(from, "file:"); ok {
		text, err := os.ReadFile(path) //nolint:gosec // the user names it
		return string(text), err
	}
	return "", errors.New("want env:NAME, file:PATH or - for standard input")
}
