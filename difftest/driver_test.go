package difftest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A driver is the Node process in which the SDKs run.
type driver struct {
	in  io.WriteCloser
	out *bufio.Reader
}

const setUp = "run make setup"

func startDriver(t *testing.T) *driver {
	t.Helper()
	if _, err := os.Stat("node_modules"); err != nil {
		t.Fatalf("the SDKs are not installed, %s: %v", setUp, err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("Node is not installed, %s: %v", setUp, err)
	}
	cmd := exec.Command(node, "--no-warnings", filepath.Join("sdk", "driver.mjs"))
	var said bytes.Buffer // not our own stderr: Node would set it to not block, and lines of the test would be lost
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the driver ended badly: %v\n%s", err, said.Bytes())
		}
	})
	return &driver{in: in, out: bufio.NewReader(out)}
}

// ask returns the answers to the questions, in order.
func (d *driver) ask(t *testing.T, questions []question) []answer {
	t.Helper()
	sent := make(chan error, 1)
	go func() { sent <- d.send(questions) }()
	answers := make([]answer, len(questions))
	err := d.receive(answers)
	if failed := errors.Join(err, <-sent); failed != nil {
		t.Fatalf("the driver: %v", failed)
	}
	return answers
}

func (d *driver) send(questions []question) error {
	w := bufio.NewWriterSize(d.in, 1<<16)
	enc := json.NewEncoder(w)
	for i := range questions {
		questions[i].ID = i
		if err := enc.Encode(&questions[i]); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (d *driver) receive(answers []answer) error {
	for i := range answers {
		line, err := d.out.ReadBytes('\n')
		if err != nil {
			return err
		}
		a := &answers[i]
		if err := json.Unmarshal(line, a); err != nil {
			return err
		}
		if a.ID != i || a.Broken != "" {
			return fmt.Errorf("question %d: answer %d: %s", i, a.ID, a.Broken)
		}
	}
	return nil
}

// version is that of an installed package; it must be the pinned one.
func version(t *testing.T, npm string) string {
	t.Helper()
	pinned, installed := struct{ Dependencies map[string]string }{}, struct{ Version string }{}
	readJSON(t, "package.json", &pinned)
	readJSON(t, filepath.Join("node_modules", npm, "package.json"), &installed)
	if want := pinned.Dependencies[npm]; want != installed.Version {
		t.Fatalf("%s %s is installed and %q is pinned: %s", npm, installed.Version, want, setUp)
	}
	return installed.Version
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, setUp)
	}
}

func TestEveryAdapterIsComparedAndEveryPackageUsed(t *testing.T) {
	pinned := struct{ Dependencies map[string]string }{}
	readJSON(t, "package.json", &pinned)
	used := map[string]bool{"driver": true, "verified": true}
	for _, s := range sdks {
		used[s.name] = true
		if pinned.Dependencies[s.npm] == "" {
			t.Errorf("%s: %s is not pinned in package.json", s.name, s.npm)
		}
		used[s.npm] = true
	}
	for npm := range pinned.Dependencies {
		if !used[npm] {
			t.Errorf("%s is pinned and not compared with", npm)
		}
	}
	adapters, err := filepath.Glob("sdk/*.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range adapters {
		if slug := strings.TrimSuffix(filepath.Base(name), ".mjs"); !used[slug] {
			t.Errorf("%s is in no line of the table", name)
		}
	}
}
