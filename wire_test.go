package recibo_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/recibohq/recibo"
)

// serve puts the rig's receiver behind a real server and returns its address.
func (r *rig) serve(source recibo.Source) string {
	r.t.Helper()
	dir, err := recibo.NewDirectory(source)
	if err != nil {
		r.t.Fatal(err)
	}
	receiver, err := recibo.NewReceiver(r.store, dir, &recibo.ReceiverOptions{ReadWithin: 300 * time.Millisecond})
	if err != nil {
		r.t.Fatal(err)
	}
	server := httptest.NewServer(receiver)
	r.t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// exchange writes raw bytes to address and reads the answer's status, 0 for a connection closed without one.
func exchange(t *testing.T, address string, write func(c net.Conn)) int {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	write(c)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode
}

func TestReceiverGivesUpOnSlowAndBrokenBodies(t *testing.T) {
	source := acme(t, signsBody, keyID)
	r := newRig(t, source)
	address := r.serve(source)
	s := acmeBody(`{"id":"e1"}`)
	head := "POST /in/acme HTTP/1.1\r\nHost: x\r\nX-Sig: " + s.header.Get("X-Sig") + "\r\n"
	for _, c := range []struct {
		name  string
		write func(net.Conn)
		want  []int
	}{
		{"a body that never ends", func(c net.Conn) { say(c, head+"Content-Length: 11\r\n\r\n{\"id\"") }, []int{408}},
		{"a body that is cut", func(c net.Conn) {
			say(c, head+"Content-Length: 11\r\n\r\n{\"id\"")
			_ = c.(*net.TCPConn).CloseWrite()
		}, []int{0, 400}},
		{"chunks of no length", func(c net.Conn) { say(c, head+"Transfer-Encoding: chunked\r\n\r\nzz\r\n") }, []int{0, 400}},
		{"a negative length", func(c net.Conn) { say(c, head+"Content-Length: -1\r\n\r\n") }, []int{400}},
		{"two lengths", func(c net.Conn) { say(c, head+"Content-Length: 11\r\nContent-Length: 12\r\n\r\n"+s.body) }, []int{400}},
		{"a whole body in chunks", func(c net.Conn) {
			say(c, head+"Transfer-Encoding: chunked\r\n\r\n4\r\n{\"id\r\n7\r\n\":\"e1\"}\r\n0\r\n\r\n")
		}, []int{200}},
	} {
		got := exchange(t, address, c.write)
		ok := false
		for _, want := range c.want {
			ok = ok || got == want
		}
		if !ok {
			t.Errorf("%s: answered %d, want one of %v", c.name, got, c.want)
		}
	}
	r.wantKept(1, 0)
}

func say(c net.Conn, text string) { _, _ = io.WriteString(c, text) }

func TestReceiverKeepsAConnectionForTheNextDelivery(t *testing.T) {
	source := acme(t, signsBody, keyID)
	r := newRig(t, source)
	address := r.serve(source)
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	answers := bufio.NewReader(c)
	for i := range 3 {
		body := fmt.Sprintf(`{"id":"e%d"}`, i)
		say(c, fmt.Sprintf("POST /in/acme HTTP/1.1\r\nHost: x\r\nX-Sig: %s\r\nContent-Length: %d\r\n\r\n%s",
			acmeBody(body).header.Get("X-Sig"), len(body), body))
		resp, err := http.ReadResponse(answers, nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("delivery %d: %v, %v; want 200 on the same connection", i, resp, err)
		}
		_ = resp.Body.Close()
		time.Sleep(400 * time.Millisecond) // longer than a body may take
	}
}

func TestReceiverAcceptsOneOf100CopiesAtOnce(t *testing.T) {
	source := acme(t, signsBody, keyID)
	r := newRig(t, source)
	address := r.serve(source)
	s := acmeBody(`{"id":"e1"}`)
	request := fmt.Sprintf("POST /in/acme HTTP/1.1\r\nHost: x\r\nX-Sig: %s\r\nContent-Length: %d\r\n\r\n%s", s.header.Get("X-Sig"), len(s.body), s.body)
	var mu sync.Mutex
	verdicts := map[string]int{}
	var all sync.WaitGroup
	start := make(chan struct{})
	for range 100 {
		all.Go(func() {
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			<-start
			say(c, request)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = resp.Body.Close() }()
			mu.Lock()
			defer mu.Unlock()
			verdicts[fmt.Sprintf("%d %s", resp.StatusCode, resp.Header.Get("Recibo-Verdict"))]++
		})
	}
	close(start)
	all.Wait()
	if verdicts["200 accepted"] != 1 || verdicts["200 duplicate"] != 99 {
		t.Errorf("answers = %v, want one accepted and 99 duplicates", verdicts)
	}
	r.wantKept(1, 0)
}
