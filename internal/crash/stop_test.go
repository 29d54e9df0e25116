package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/recibohq/recibo"
)

const (
	stops = 3
	// shortDrain is less than the shop holds back an answer, so that attempts are cut short.
	shortDrain = 400 * time.Millisecond
)

func TestAGatewayStoppedUnderLoadCutsNoAnswerAndGivesItsLeasesBack(t *testing.T) {
	for _, name := range stores(t) {
		t.Run(name, func(t *testing.T) {
			db := databases[name](t)
			h := stopOften(t, db)
			t.Logf("%d stops, %s", stops, h)
			for _, what := range first(h.broken()) {
				t.Error(what)
			}
		})
	}
}

// stopOften stops a gateway under load again and again, looks each time at what it left, and lets the last one finish.
func stopOften(t *testing.T, db *database) *history {
	t.Helper()
	h := new(history)
	var holding atomic.Bool
	var held atomic.Int64
	shop := newShop(t, func() manner {
		if holding.Load() {
			held.Add(1)
			return holdsBack
		}
		return obliges
	})
	site := newSite(t, db, shop, shortDrain)
	for range stops {
		gateway := site.start(t, h)
		load := &load{urls: []string{site.url}, onlyOnce: true}
		load.start(t)
		time.Sleep(300 * time.Millisecond)
		holding.Store(true)
		awaitMore(t, &held)
		gateway.stop(t, 5*time.Second)
		holding.Store(false)
		load.stop(t, h)
		checkStop(t, db, h.answers)
	}
	gateway := site.start(t, h)
	settle(t, db, len(h.answers))
	gateway.stop(t, 5*time.Second)
	shop.addTo(h)
	db.addTo(t, h)
	return h
}

// awaitMore waits until n has grown.
func awaitMore(t *testing.T, n *atomic.Int64) {
	t.Helper()
	before := n.Load()
	for began := time.Now(); n.Load() == before; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("no attempt was under way within 10 s")
		}
	}
}

func checkStop(t *testing.T, db *database, answers []answer) {
	t.Helper()
	receipts, err := db.receipts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range first(brokenByStop(answers, receipts)) {
		t.Error(what)
	}
	back, unanswered := 0, 0
	for _, r := range receipts {
		if r.status == recibo.Received && r.lease > 0 {
			back++
		}
	}
	for _, a := range answers {
		if a.status == 0 {
			unanswered++
		}
	}
	if back == 0 {
		t.Error("no receipt was given back, though the shop held a call")
	}
	t.Logf("after a stop: %d receipts, %d given back; %d requests unanswered so far", len(receipts), back, unanswered)
}

// brokenByStop lists what an orderly stop must not leave, where every event was sent once and no attempt had failed.
//
// A request has a whole answer or none. One without is one whose connection the server closed while it was idle: the
// server had not begun with it, so that it left no receipt. An attempt ran to its end, and its receipt is processed and
// was tried once, or it was cut short, and its receipt waits as if it had never been tried. None is under a lease.
func brokenByStop(answers []answer, receipts []receipt) (broken []string) {
	for _, a := range answers {
		kept := func(r receipt) bool { return r.key == a.key }
		switch {
		case a.cut:
			broken = append(broken, fmt.Sprintf("%s: the answer was cut", a.key))
		case a.status == 0 && slices.ContainsFunc(receipts, kept):
			broken = append(broken, fmt.Sprintf("%s: kept, though the request was never answered", a.key))
		}
	}
	for _, r := range receipts {
		switch {
		case r.status == recibo.Received && r.attempts == 0, r.status == recibo.Processed && r.attempts == 1:
		default:
			broken = append(broken, fmt.Sprintf("%s: %s is %s after %d attempts, want received after 0 or processed after 1",
				r.key, r.id, r.status, r.attempts))
		}
	}
	return broken
}

func TestTheCheckOfAStopReportsWhatItMustNotLeave(t *testing.T) {
	answers := []answer{{key: "id:a", status: 200}, {key: "id:b"}, {key: "id:c", status: 503}}
	processed := receipt{id: "rcp_a", key: "id:a", status: recibo.Processed, lease: 1, attempts: 1}
	back := receipt{id: "rcp_a", key: "id:a", status: recibo.Received, lease: 1}
	cut := slices.Concat(answers, []answer{{key: "id:d", cut: true}})
	counted, leased := back, back
	counted.attempts, leased.status = 1, recibo.Processing
	for _, c := range []struct {
		name     string
		answers  []answer
		receipts []receipt
		want     string // empty: nothing
	}{
		{"a processed one", answers, []receipt{processed}, ""},
		{"one given back", answers, []receipt{back}, ""},
		{"a cut answer", cut, []receipt{processed}, "id:d: the answer was cut"},
		{"a receipt of an unanswered request", answers, []receipt{{id: "rcp_b", key: "id:b", status: recibo.Received}}, "id:b: kept"},
		{"a counted attempt", answers, []receipt{counted}, "received after 1 attempts"},
		{"a lease that is held", answers, []receipt{leased}, "is processing"},
	} {
		got := strings.Join(brokenByStop(c.answers, c.receipts), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("brokenByStop of %s = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAStoppedGatewayFinishesADeliveryThatItHasBegun(t *testing.T) {
	for _, name := range stores(t) {
		t.Run(name, func(t *testing.T) {
			db := databases[name](t)
			site := newSite(t, db, newShop(t, polite), drain)
			h := new(history)
			gateway := site.start(t, h)
			got := sendAcrossStop(t, site, gateway)
			gateway.stopped(t, drain)
			if got.status != http.StatusOK || got.verdict != recibo.Accepted {
				t.Fatalf("a delivery begun before the stop was answered %d, %q, want 200, accepted", got.status, got.verdict)
			}
			h.answers = append(h.answers, got)
			db.addTo(t, h)
			for key, l := range h.lives() {
				for _, what := range l.lost() {
					t.Errorf("%s: %s", key, what)
				}
			}
		})
	}
}

// sendAcrossStop sends the head of a request, asks the gateway to stop once it has begun with it, and sends the body when
// nobody else is let in any more.
func sendAcrossStop(t *testing.T, s *site, g *gateway) answer {
	t.Helper()
	client := newClient(t)
	begun, release := make(chan struct{}), make(chan struct{})
	trace := &httptrace.ClientTrace{Got100Continue: func() { close(begun) }}
	ctx := httptrace.WithClientTrace(t.Context(), trace)
	answers := make(chan answer, 1)
	go func() {
		a, err := sendSlowly(ctx, client, s.url, release)
		if err != nil {
			t.Error(err)
		}
		answers <- a
	}()
	select {
	case <-begun:
	case <-time.After(5 * time.Second):
		t.Error("the gateway did not ask for the body within 5 s")
	}
	g.signal(t)
	awaitRefusal(t, s.address)
	close(release)
	return <-answers
}

// A gate is a body that does not come before it is opened.
type gate struct {
	io.Reader
	open <-chan struct{}
}

func (g gate) Read(p []byte) (int, error) {
	<-g.open
	return g.Reader.Read(p)
}

func sendSlowly(ctx context.Context, client *http.Client, url string, release <-chan struct{}) (answer, error) {
	key := newKey()
	req, err := newRequest(ctx, url, key)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Expect", "100-continue") // the answer to this says that the gateway has begun
	req.Body = io.NopCloser(gate{req.Body, release})
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	return answer{
		key: key, status: resp.StatusCode, verdict: recibo.Verdict(resp.Header.Get("Recibo-Verdict")),
		receipt: resp.Header.Get("Recibo-Receipt"),
	}, nil
}

// awaitRefusal waits until the gateway listens no more.
func awaitRefusal(t *testing.T, address string) {
	t.Helper()
	for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(5 * time.Millisecond) {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			_ = conn.Close()
		}
	}
	t.Errorf("%s still takes connections 3 s after SIGTERM", address)
}
