package fieldcases

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/recibohq/recibo/internal/config"
)

const ownCases = "testdata/cases.json"

var file = flag.String("cases", "", "play the cases of this file instead of those in testdata")

// TestCases plays every case, one subtest each, named by its number.
func TestCases(t *testing.T) {
	name := *file
	if name == "" {
		name = ownCases
	}
	cases, err := load(name)
	if err != nil {
		t.Fatal(err)
	}
	waiting := map[int]wait{}
	if *file == "" {
		waiting = readWaiting(t)
	}
	for _, l := range cases {
		t.Run(fmt.Sprint(l.n), func(t *testing.T) {
			w, waits := waiting[l.n]
			if waits && len(w.Steps) == 0 {
				t.Logf("WAITS for a later issue, not played: %s", w.Why)
				return
			}
			if l.err != nil {
				t.Fatal(l.err)
			}
			t.Log(l.c.Title)
			if waits {
				t.Logf("steps %v WAIT for a later issue, not played: %s", w.Steps, w.Why)
				l.c.leaveOut(w.Steps)
			}
			play(t, l.c)
		})
	}
	if *file == "" {
		t.Logf("%d cases, of which %d wait: %v", len(cases), len(waiting), slices.Sorted(maps.Keys(waiting)))
	}
}

// A wait is a case, or some of its steps, that needs what a later issue builds. It is not played and not counted as
// passing.
type wait struct {
	Steps []int  `yaml:"steps"` // none: the whole case
	Why   string `yaml:"why"`
}

// leaveOut takes steps out of the case.
func (c *fieldCase) leaveOut(steps []int) {
	var kept []step
	for i := range c.Steps {
		if !slices.Contains(steps, i) {
			kept = append(kept, c.Steps[i])
		}
	}
	c.Steps = kept
}

func readWaiting(t *testing.T) map[int]wait {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "waiting.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var waiting map[int]wait
	if err := yaml.UnmarshalWithOptions(text, &waiting, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return waiting
}

func play(t *testing.T, c *fieldCase) {
	for _, s := range c.Starts {
		playStart(t, c, s)
	}
	w, err := newWorld(t, c)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(c.Steps); {
		n := 1
		for c.Steps[i].Concurrency != "" && i+n < len(c.Steps) && c.Steps[i+n].Concurrency == c.Steps[i].Concurrency {
			n++
		}
		w.playSteps(i, c.Steps[i:i+n])
		i += n
	}
}

// playStart has a receiver with these secrets start, or refuse to.
func playStart(t *testing.T, c *fieldCase, s start) {
	t.Helper()
	text, err := configuration(t, c, s.Secrets)
	if err == nil {
		var parsed *config.Config
		if parsed, err = config.Parse("case.yaml", []byte(text), func(string) (string, bool) { return "", false }); err == nil {
			_, err = parsed.Directory(nil)
		}
	}
	var unsupported unsupportedError
	if errors.As(err, &unsupported) {
		t.Fatal(err)
	}
	if (err == nil) != (s.Start == "ok") {
		t.Errorf("with secrets %q: start = %v, want %s", s.Secrets, err, s.Start)
	}
}

// playSteps plays one step, or neighbours that go at once.
func (w *world) playSteps(index int, steps []step) {
	w.t.Helper()
	w.advance(w.at(steps[0].AtOffsetS))
	for i := range steps {
		for _, action := range steps[i].Before {
			w.act(action)
		}
	}
	w.resident = resident()
	replies := w.sendAll(steps)
	for i := range steps {
		if w.t.Failed() {
			w.t.Logf("at step %d", index+i)
			return
		}
		w.answers = append(w.answers, replies[i][0])
		for r := range replies[i] {
			w.check(&steps[i], &replies[i][r])
		}
		for _, action := range steps[i].AfterActions {
			w.act(action)
		}
		w.settle()
		if steps[i].Expect.After != nil {
			w.checkAfter(steps[i].Expect.After, &steps[i], replies[i])
		}
		if w.t.Failed() {
			w.t.Logf("at step %d", index+i)
			return
		}
	}
}

// atMost is how many connections of a burst are open at the same moment.
const atMost = 256

// sendAll sends the steps' requests, those of a burst at once.
func (w *world) sendAll(steps []step) [][]reply {
	replies := make([][]reply, len(steps))
	var all sync.WaitGroup
	places := make(chan struct{}, atMost)
	var mu sync.Mutex
	for i := range steps {
		replies[i] = make([]reply, max(steps[i].Repeat, 1))
		for r := range replies[i] {
			one := func() {
				got, err := w.sendOne(&steps[i], r+1)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					w.t.Error(err)
				}
				replies[i][r] = got
			}
			if steps[i].Concurrency == "" {
				one()
				continue
			}
			places <- struct{}{}
			all.Go(func() { one(); <-places })
		}
	}
	all.Wait()
	return replies
}

// sendOne sends a request, and again while it is told to come back, if the step says so.
func (w *world) sendOne(s *step, i int) (reply, error) {
	for try := 0; ; try++ {
		got, err := w.send(s, i)
		if err != nil || !s.RetryUnavailable || got.status != 503 || try == 50 {
			return got, err
		}
		time.Sleep(20 * time.Millisecond) // Retry-After is seconds of the sender's time; the case's clock stands still
	}
}

// act does what the case does beside sending.
func (w *world) act(action string) {
	w.t.Helper()
	each := func(change func(*port)) {
		for _, n := range w.nodes {
			n.port.set(change)
		}
	}
	switch action {
	case "store_down":
		each(func(p *port) { p.down = true })
	case "store_up":
		each(func(p *port) { p.down = false })
	case "pause_worker":
		each(func(p *port) { p.paused = true })
	case "resume_worker":
		each(func(p *port) { p.paused = false })
	case "await_kill":
		w.awaitKill()
	case "kill":
		for _, n := range slices.Clone(w.nodes) {
			w.kill(n)
		}
	case "restart":
		for _, n := range w.nodes {
			if err := n.stop(); err != nil {
				w.t.Errorf("stop: %v", err)
			}
		}
		w.nodes = nil
		for range max(w.c.Config.Gateway.Instances, 1) {
			if err := w.startNode(); err != nil {
				w.t.Fatal(err)
			}
		}
	default:
		w.t.Fatal(unsupportedError("the action " + action))
	}
}

func (w *world) awaitKill() {
	w.t.Helper()
	for range 1000 {
		w.handler.mu.Lock()
		struck := w.handler.struck
		w.handler.mu.Unlock()
		if struck > 0 {
			w.bury()
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.t.Fatal("no kill has struck")
}
