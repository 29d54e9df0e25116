package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync"
	"testing"
	"time"
)

// serveSubject serves a handler and returns a load for it.
func serveSubject(t *testing.T, serve http.Handler, b *batch) *load {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	to, err := netip.ParseAddrPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return &load{to: to, requests: b, want: 200, lasting: 10 * time.Second}
}

func signed(t *testing.T, n int) *batch {
	t.Helper()
	b, err := signBatch(n, bodySize, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEachRequestIsSentOnceAndSigned(t *testing.T) {
	const n = 1000
	var seen sync.Map
	l := serveSubject(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := readSigned(r)
		if !ok || len(body) != bodySize {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		at := bytes.Index(body, []byte("evt_"))
		seen.Store(string(body[at:][:len(blankID)]), true)
	}), signed(t, n))
	tally, err := l.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	seen.Range(func(any, any) bool { events++; return true })
	if tally.counted != n || tally.sent != n || tally.strays != 0 || events != n {
		t.Errorf("of %d requests %d were sent, %d counted, %d answered otherwise; %d events came",
			n, tally.sent, tally.counted, tally.strays, events)
	}
}

func TestForgedRequestsAreRefused(t *testing.T) {
	const n = 500
	l := serveSubject(t, newMAC().serve, signed(t, n).forged())
	l.want = http.StatusUnauthorized
	tally, err := l.run(t.Context())
	if err != nil || tally.counted != n {
		t.Errorf("%d of %d forged requests were refused, %v", tally.counted, n, err)
	}
}

func TestALoadEndsWithItsTime(t *testing.T) {
	l := serveSubject(t, newMAC().serve, signed(t, 1))
	l.repeat, l.lasting = true, 50*time.Millisecond
	tally, err := l.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if tally.elapsed != l.lasting || tally.counted == 0 || tally.sent < tally.counted {
		t.Errorf("elapsed %s, sent %d, counted %d; want %s and some", tally.elapsed, tally.sent, tally.counted, l.lasting)
	}
}

// A server that stands still makes late all that was to be sent meanwhile, not only what it was asked before.
func TestLatencyCountsFromWhenARequestWasDue(t *testing.T) {
	const stop, perSecond = 400 * time.Millisecond, 1000
	until := sync.OnceValue(func() time.Time { return time.Now().Add(stop) })
	l := serveSubject(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		time.Sleep(time.Until(until()))
	}), signed(t, perSecond))
	l.lasting, l.perSecond = time.Second, perSecond
	tally, err := l.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	late := 0
	for _, latency := range tally.latencies {
		if latency > stop/2 {
			late++
		}
	}
	if len(tally.latencies) != perSecond || late < 150 {
		t.Errorf("%d latencies, %d above half of the stop; want %d, and all that were due in its first half: some 200",
			len(tally.latencies), late, perSecond)
	}
}

func TestAServerThatHangsUpIsAnError(t *testing.T) {
	l := serveSubject(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), signed(t, 200))
	if _, err := l.run(t.Context()); err == nil {
		t.Error("a load that got no answers ended well")
	}
}

func TestBodiesHaveTheirSize(t *testing.T) {
	for _, size := range []int{700, bodySize, memoryBodySize, 100_000} {
		if n := len(eventBody(size)); n != size {
			t.Errorf("eventBody(%s) has %d bytes", strconv.Itoa(size), n)
		}
	}
}
