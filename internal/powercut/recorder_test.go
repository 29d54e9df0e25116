package powercut

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/sqlite"
)

// recorders is how many deliveries are recorded at once, so that they share commits.
const recorders = 16

// Acks are the receipts that a store acknowledged, by the key of their event.
type acks map[recibo.Key]string

// An ack is one of them, with the time at which the store's answer was there.
type ack struct {
	key     recibo.Key
	receipt string
	at      int64 // Unix nanoseconds
}

// A recorder is a process that records receipts as fast as it can and prints each one that was acknowledged.
type recorder struct {
	cmd    *exec.Cmd
	begun  chan struct{} // closed at the first acknowledged receipt, or when there will be none
	acks   chan []ack    // gets all of them, once the process is dead
	stderr bytes.Buffer
}

// startRecorder runs this test binary as a recorder. Its keys start with cycle.
func startRecorder(t *testing.T, path string, class sqlite.Durability, cycle int) *recorder {
	t.Helper()
	r := &recorder{
		cmd:   exec.Command("/proc/self/exe", path, strconv.Itoa(int(class)), strconv.Itoa(cycle)),
		begun: make(chan struct{}),
		acks:  make(chan []ack, 1),
	}
	r.cmd.Env = append(os.Environ(), roleVariable+"="+roleRecorder)
	r.cmd.Stderr = &r.stderr
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go r.read(out)
	select {
	case <-r.begun:
	case <-time.After(10 * time.Second):
	}
	return r
}

func (r *recorder) read(out io.Reader) {
	var all []ack
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var a ack // never cut off: the kernel writes a short line whole
		if _, err := fmt.Sscan(lines.Text(), &a.key, &a.receipt, &a.at); err != nil {
			continue
		}
		if all = append(all, a); len(all) == 1 {
			close(r.begun)
		}
	}
	if len(all) == 0 {
		close(r.begun)
	}
	r.acks <- all
}

// kill ends the process at once and returns what it acknowledged before the power went out. With the power the process
// would have ended too: what this one still says afterwards, nobody would have heard.
func (r *recorder) kill(t *testing.T, out time.Time) acks {
	t.Helper()
	_ = r.cmd.Process.Kill() // its error says that the process has ended already
	all := <-r.acks
	_ = r.cmd.Wait() // it was killed, as its error says
	heard := make(acks)
	for _, a := range all {
		if a.at < out.UnixNano() {
			heard[a.key] = a.receipt
		}
	}
	if len(heard) == 0 {
		t.Fatalf("the recorder acknowledged nothing:\n%s", &r.stderr)
	}
	return heard
}

// record is the recorder's main function: it returns only if it could not start.
func record(path, class, cycle string) error {
	durability, err := strconv.Atoi(class)
	if err != nil {
		return err
	}
	store, err := sqlite.Open(path, &sqlite.Options{Durability: sqlite.Durability(durability)})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for worker := range recorders {
		wg.Go(func() {
			for n := 0; ; n++ {
				key := recibo.Key(fmt.Sprintf("id:%s.%d.%d", cycle, worker, n))
				results, err := store.Record(context.Background(), recording(key))
				if err != nil {
					fmt.Fprintln(os.Stderr, err) // once the power is out
					return
				}
				fmt.Println(key, results[0].Receipt, time.Now().UnixNano())
			}
		})
	}
	wg.Wait()
	select {} // the kill ends it: nothing is flushed on the way out
}

// recording is what a delivery with these events brings.
func recording(keys ...recibo.Key) *recibo.Recording {
	now := time.Now()
	r := &recibo.Recording{
		Delivery: recibo.NewDeliveryID(now), Source: "stripe", Tenant: "t", Scope: "t", Namespace: "source/stripe",
		ReceivedAt: now, Header: []byte(`{}`), Body: []byte(`{"type":"invoice.paid"}`), Destinations: []string{""},
	}
	for _, key := range keys {
		r.Events = append(r.Events, recibo.Event{Key: key, Type: "invoice.paid", End: len(r.Body)})
	}
	return r
}
