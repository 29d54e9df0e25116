package recibo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/recibohq/recibo"

// anything lets a package import all of the module: the proof, which no other package imports.
const anything = "*"

// gatewayParts is what the gateway is put together from.
var gatewayParts = []string{
	".", "provider", "sqlite", "postgres", "probe", "dashboard", "internal/sqlstore", "internal/config", "internal/catalog",
	"internal/audit", "internal/forward",
}

// layout says for each package which packages of this module its code may import; tests are free. "." is the root. It is
// the table of the design's section 5: arrows go towards the root only.
var layout = map[string][]string{
	".":                 {},
	"provider":          {"."},
	"sqlite":            {".", "internal/sqlstore"},
	"postgres":          {".", "internal/sqlstore"},
	"storetest":         {"."},
	"recibotest":        {".", "provider", "sqlite"},
	"probe":             {".", "provider"},
	"dashboard":         {".", "internal/catalog", "internal/audit"},
	"internal/sqlstore": {"."},
	"internal/config":   {".", "provider"},
	"internal/catalog":  {".", "internal/sqlstore"},
	"internal/audit":    {},
	"internal/forward":  {"."},
	"internal/gateway":  gatewayParts,
	"internal/mutate":   {".", "provider"}, // hostile changes to signed requests
	"cmd/recibo":        append([]string{"internal/gateway"}, gatewayParts...),
	"internal/sim":      {anything},
	"internal/crash":    {anything},
	"internal/powercut": {anything},
	"internal/pgtest":   {anything},
	"fieldcases":        {anything},
	"difftest":          {anything},
	"bench":             {anything},
	"examples/shop":     {".", "provider", "sqlite"}, // a library user's whole program
}

// vague are names that say nothing about what a package holds.
var vague = []string{"util", "utils", "common", "models", "types", "helpers", "services", "pkg"}

const (
	maxFileLines = 600
	maxFuncLines = 70
)

// A listing is what go list says of a package.
type listing struct {
	ImportPath, Doc string
	Imports         []string
}

func (l *listing) path() string {
	if l.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(l.ImportPath, module+"/")
}

func TestPackagesImportOnlyWhatTheDesignAllows(t *testing.T) {
	for _, pkg := range goList(t) {
		from := pkg.path()
		allowed, known := layout[from]
		if !known {
			t.Errorf("package %s is not in the layout: add it to the table in layout_test.go and in docs/design.md, with its reason", from)
			continue
		}
		for _, imported := range pkg.Imports {
			to := (&listing{ImportPath: imported}).path()
			ours := imported == module || strings.HasPrefix(imported, module+"/")
			if ours && !slices.Contains(allowed, to) && !slices.Contains(allowed, anything) {
				t.Errorf("%s imports %s, the layout allows it %q: move the code, "+
					"or change the table in layout_test.go and in docs/design.md, with the reason", from, to, allowed)
			}
		}
	}
}

func TestRootNeedsTheStandardLibraryOnly(t *testing.T) {
	out := run(t, "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	for dep := range strings.FieldsSeq(string(out)) {
		if dep != module {
			t.Errorf("the root depends on %s: move what needs it to a package of its own, users of the root get no dependency", dep)
		}
	}
}

func TestPackagesSayWhatTheyHold(t *testing.T) {
	for _, pkg := range goList(t) {
		if pkg.Doc == "" {
			t.Errorf("package %s has no comment: say above its package clause, in a file that is no test, what it holds", pkg.path())
		}
		if name := path.Base(pkg.ImportPath); slices.Contains(vague, name) {
			t.Errorf("package %s: %q could hold anything: name it for its vocabulary", pkg.path(), name)
		}
	}
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	for _, name := range goFiles(t) {
		fset, file := parse(t, name)
		if n := fset.File(file.FileStart).LineCount() - 1; n > maxFileLines {
			t.Errorf("%s has %d lines, more than %d: give its second concept a file", name, n, maxFileLines)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || strings.HasSuffix(name, "_test.go") {
				continue
			}
			if n := fset.Position(f.End()).Line - fset.Position(f.Pos()).Line + 1; n > maxFuncLines {
				t.Errorf("%s: %s has %d lines, more than %d: name its parts", fset.Position(f.Pos()), f.Name.Name, n, maxFuncLines)
			}
		}
	}
}

func TestNoTestIsSkipped(t *testing.T) {
	for _, name := range goFiles(t) {
		fset, file := parse(t, name)
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && skips(call) {
				t.Errorf("%s skips a test: let it fail and say what it needs, or move it to a suite with its own make target",
					fset.Position(call.Pos()))
			}
			return true
		})
	}
}

// skips says whether call is t.Skip or one of its kind, by the names that a testing.TB goes by.
func skips(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	on, ok := method.X.(*ast.Ident)
	return ok && slices.Contains([]string{"t", "b", "f", "tb"}, on.Name) &&
		slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, method.Sel.Name)
}

// A checkout stands alone: what a build or a test needs is in it.
func TestNothingReachesOutsideTheCheckout(t *testing.T) {
	const outside = "../" + "shared"
	for _, name := range files(t) {
		if !builds(name) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if bytes.Contains(line, []byte(outside)) {
				t.Errorf("%s:%d refers to %s, which a clone does not have: copy what is needed into the checkout", name, i+1, outside)
			}
		}
	}
}

// builds says whether a build, a test or a script may read the file.
func builds(name string) bool {
	return slices.Contains([]string{".go", ".yaml", ".yml", ".sh"}, filepath.Ext(name)) || name == "Makefile" ||
		strings.HasPrefix(name, "scripts/") || strings.HasPrefix(name, ".ci/")
}

// goList is what go list says of all packages of the module, also of those that do not compile.
func goList(t *testing.T) []listing {
	t.Helper()
	files(t) // go test sees that this test depends on them, and not that go list does: an old pass is not reused
	var pkgs []listing
	dec := json.NewDecoder(bytes.NewReader(run(t, "list", "-e", "-json=ImportPath,Doc,Imports", "./...")))
	for {
		var pkg listing
		err := dec.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			return pkgs
		}
		if err != nil {
			t.Fatalf("go list ./...: %v", err)
		}
		pkgs = append(pkgs, pkg)
	}
}

func run(t *testing.T, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

// files lists the files of the checkout, less what git and tools put there.
func files(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", ".cache", "bin", "node_modules"}, d.Name()):
			return fs.SkipDir
		case d.Type().IsRegular():
			names = append(names, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func goFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(files(t), func(name string) bool { return filepath.Ext(name) != ".go" })
}

func parse(t *testing.T, name string) (*token.FileSet, *ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return fset, file
}
