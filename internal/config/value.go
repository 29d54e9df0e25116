package config

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// A Duration is written "5s", "2m", "24h", or in whole days: "30d".
type Duration time.Duration

// UnmarshalYAML reads a duration; a wrong one is an error with its place.
func (d *Duration) UnmarshalYAML(node ast.Node) error {
	text := scalar(node)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			*d = Duration(time.Duration(n) * 24 * time.Hour)
			return nil
		}
	}
	v, err := time.ParseDuration(text)
	if err != nil || v <= 0 {
		return misplaced(node, fmt.Errorf("%q is no duration: write 500ms, 5s, 2m, 24h or 30d", text))
	}
	*d = Duration(v)
	return nil
}

// A Size is a number of bytes, written "512KiB", "2MiB" or as plain digits.
type Size int64

// UnmarshalYAML reads a size; a wrong one is an error with its place.
func (s *Size) UnmarshalYAML(node ast.Node) error {
	text := scalar(node)
	unit := int64(1)
	digits := text
	for suffix, n := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20} {
		if d, ok := strings.CutSuffix(text, suffix); ok {
			digits, unit = strings.TrimSpace(d), n
		}
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n <= 0 {
		return misplaced(node, fmt.Errorf("%q is no size: write 512KiB, 2MiB or bytes as digits", text))
	}
	*s = Size(n * unit)
	return nil
}

// A Percent is a part of a hundred: "20%".
type Percent float64

// UnmarshalYAML reads a percentage; a wrong one is an error with its place.
func (p *Percent) UnmarshalYAML(node ast.Node) error {
	digits, ok := strings.CutSuffix(scalar(node), "%")
	v, err := strconv.ParseUint(digits, 10, 8)
	if !ok || err != nil || v > 100 {
		return misplaced(node, fmt.Errorf("%q is no percentage: write 20%%", scalar(node)))
	}
	*p = Percent(v) / 100
	return nil
}

// A Prefix is a network: "10.20.0.0/16".
type Prefix netip.Prefix

// UnmarshalYAML reads a network; a wrong one is an error with its place.
func (p *Prefix) UnmarshalYAML(node ast.Node) error {
	v, err := netip.ParsePrefix(scalar(node))
	if err != nil {
		return misplaced(node, fmt.Errorf("%q is no network: write 10.20.0.0/16 or ::1/128", scalar(node)))
	}
	*p = Prefix(v)
	return nil
}

// A Ref says where a secret is: "env:NAME", "file:/path" or, for what may be seen, "insecure-literal:TEXT". The secret
// itself never stands in the file.
type Ref struct {
	text string
	node ast.Node
}

// UnmarshalYAML reads a reference; a literal secret is an error with its place that does not repeat it.
func (r *Ref) UnmarshalYAML(node ast.Node) error {
	r.text, r.node = reference(node), node
	for _, scheme := range [...]string{"env:", "file:", literal} {
		if rest, ok := strings.CutPrefix(r.text, scheme); ok && rest != "" {
			return nil
		}
	}
	return misplacedError{errors.New("a secret is given by reference: write env:NAME or file:/path"), node.GetToken().Position, true}
}

const literal = "insecure-literal:"

// reference is a node's text; the parser takes env:NAME within {…} for a mapping.
func reference(node ast.Node) string {
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) == 1 {
		node = m.Values[0]
	}
	if pair, ok := node.(*ast.MappingValueNode); ok {
		return pair.Key.String() + ":" + scalar(pair.Value)
	}
	return scalar(node)
}

// resolve returns what the reference names. A final newline of a file is removed: editors add it.
func (r *Ref) resolve(lookupEnv func(string) (string, bool)) (string, error) {
	if name, ok := strings.CutPrefix(r.text, "env:"); ok {
		value, ok := lookupEnv(name)
		if !ok || value == "" {
			return "", misplaced(r.node, fmt.Errorf("%s: the variable is not set: export it before the start", r.text))
		}
		return value, nil
	}
	if path, ok := strings.CutPrefix(r.text, "file:"); ok {
		value, err := os.ReadFile(path) //nolint:gosec // the operator names it
		if err != nil {
			return "", misplaced(r.node, fmt.Errorf("%s: %w", r.text, withoutPath(err)))
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(value), "\n"), "\r"), nil
	}
	return strings.TrimPrefix(r.text, literal), nil
}

// insecure says that the secret is in plain sight anyway, so that a short one is allowed.
func (r *Ref) insecure() bool { return strings.HasPrefix(r.text, literal) }

func scalar(node ast.Node) string {
	if s, ok := node.(ast.ScalarNode); ok {
		return fmt.Sprint(s.GetValue())
	}
	return node.String()
}
