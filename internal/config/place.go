package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A misplacedError is an error about a node of the file.
type misplacedError struct {
	error
	at     *token.Position
	secret bool // the line may hold one, so it is not shown
}

func (e misplacedError) Unwrap() error { return e.error }

func misplaced(node ast.Node, err error) error {
	return misplacedError{error: err, at: node.GetToken().Position}
}

// A document is the file's text, for errors that show the line.
type document struct {
	name  string
	lines []string
	root  ast.Node
}

func newDocument(name string, text []byte) (*document, error) {
	d := &document{name: name, lines: strings.Split(string(text), "\n")}
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, d.place(err)
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		return nil, fmt.Errorf("%s: want one YAML document", name)
	}
	d.root = parsed.Docs[0].Body
	return d, nil
}

// at places err at the node of path, such as "$.sources[0].provider", or at the nearest one around it that exists.
func (d *document) at(path string, err error) error {
	var known misplacedError
	if errors.As(err, &known) {
		return d.place(err)
	}
	for ; len(path) > 1; path = path[:strings.LastIndexAny(path, ".[")] {
		p, pathErr := yaml.PathString(path)
		if pathErr != nil {
			continue
		}
		if node, findErr := p.FilterNode(d.root); findErr == nil && node != nil {
			return d.show(firstToken(node).Position, err.Error())
		}
	}
	return fmt.Errorf("%s: %w", d.name, err)
}

// place adds file, line, column and the line itself to an error that knows its place.
func (d *document) place(err error) error {
	var known misplacedError
	if errors.As(err, &known) {
		if known.secret {
			return fmt.Errorf("%s:%d:%d: %w", d.name, known.at.Line, known.at.Column, known.error)
		}
		return d.show(known.at, known.Error())
	}
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil {
		return d.show(y.GetToken().Position, y.GetMessage())
	}
	return fmt.Errorf("%s: %w", d.name, err)
}

func (d *document) show(at *token.Position, what string) error {
	line := ""
	if at.Line >= 1 && at.Line <= len(d.lines) {
		line = d.lines[at.Line-1]
	}
	return fmt.Errorf("%s:%d:%d: %s\n%4d | %s\n       %s^", d.name, at.Line, at.Column, what, at.Line, line,
		strings.Repeat(" ", max(at.Column-1, 0)))
}

// firstToken is where a node begins: of a mapping its first key, not the colon behind it.
func firstToken(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}

// withoutPath keeps what is wrong with a file; its name is said already.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
