package fieldcases

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// A reply is what came back for one request.
type reply struct {
	status   int // 0: the connection was closed without an answer
	header   http.Header
	body     []byte
	decision string
	took     time.Duration
	closed   time.Duration // until the connection's end, where the step asks for it
	wrote    int
}

// answerLimit is how long a request may take in real time.
const answerLimit = 40 * time.Second

// body is what the step sends, the i-th time.
func (s *step) body(i int) []byte {
	switch {
	case s.BodyBase64 != nil:
		return s.BodyBase64
	case s.BodyGenerator != nil:
		g := s.BodyGenerator
		return []byte(g.Prefix + strings.Repeat(g.Repeat, g.Count) + g.Suffix)
	}
	if s.RepeatModulo > 0 {
		i %= s.RepeatModulo
	}
	return []byte(strings.ReplaceAll(s.Body, "{i}", strconv.Itoa(i)))
}

// send makes the request over a connection of its own and reads the answer.
func (w *world) send(s *step, i int) (reply, error) {
	n := w.node()
	if s.Transport != nil && s.Transport.HTTP == "2" {
		return w.sendHTTP2(n, s, s.body(i))
	}
	body := s.body(i)
	if s.Sign {
		var err error
		if s, body, err = w.signed(s, body); err != nil {
			return reply{}, err
		}
	}
	conn, err := w.dial(n.addr, s.Peer)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = conn.Close() }()
	began := time.Now()
	_ = conn.SetDeadline(began.Add(answerLimit))
	out := &output{conn: conn, continued: make(chan struct{}, 1)}
	answers := bufio.NewReader(conn)
	done := make(chan struct{})
	go func() {
		defer close(done)
		out.request(s, body)
	}()
	resp, err := readFinal(answers, s.Method, out.continued)
	if err != nil {
		_ = conn.Close()
		<-done
		return reply{decision: closedDecision(s), took: time.Since(began), closed: time.Since(began), wrote: out.wrote}, nil
	}
	text, _ := io.ReadAll(resp.Body)
	r := reply{status: resp.StatusCode, header: resp.Header, body: text, took: time.Since(began)}
	if s.Expect.ClosedWithinS > 0 {
		_, _ = io.Copy(io.Discard, answers)
		r.closed = time.Since(began)
	}
	_ = conn.Close()
	<-done
	r.wrote = out.wrote
	r.decision = w.decisionOf(&r)
	return r, nil
}

// readFinal reads the answer, past interim ones, and tells of those.
func readFinal(answers *bufio.Reader, method string, continued chan<- struct{}) (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(answers, &http.Request{Method: method})
		if err != nil || resp.StatusCode >= 200 {
			return resp, err
		}
		continued <- struct{}{}
	}
}

// sendHTTP2 makes the request as a proxy that speaks HTTP/2 does, without TLS.
func (w *world) sendHTTP2(n *node, s *step, body []byte) (reply, error) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequest(s.Method, "http://"+n.addr+s.Path, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	for _, h := range s.Headers {
		req.Header.Add(h[0], h[1])
	}
	began := time.Now()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	r := reply{status: resp.StatusCode, header: resp.Header, body: text, took: time.Since(began), wrote: len(body)}
	r.decision = w.decisionOf(&r)
	return r, err
}

// signed adds time and signature as the sender does, with the source's first secret and the case's clock.
func (w *world) signed(s *step, body []byte) (*step, []byte, error) {
	path, _, _ := strings.Cut(s.Path, "?")
	for i := range w.c.Config.Sources {
		src := &w.c.Config.Sources[i]
		if src.Path != path || len(src.Secrets) == 0 {
			continue
		}
		p, err := senderOf(src)
		if err != nil {
			return nil, nil, err
		}
		out, err := p.Sign(&provider.SignRequest{
			Variant: src.Variant, Secret: recibo.InsecureSecret(strings.TrimSpace(src.Secrets[0])), Params: paramsOf(src),
			URL: "https://hooks.example.test" + s.Path, Body: body, Now: w.clock.now(),
		})
		if err != nil {
			return nil, nil, err
		}
		signed := *s
		signed.Headers = slices.Clone(s.Headers)
		for name := range out.Header {
			if !slices.ContainsFunc(s.Headers, func(h [2]string) bool { return strings.EqualFold(h[0], name) }) {
				signed.Headers = append(signed.Headers, [2]string{name, out.Header.Get(name)})
			}
		}
		return &signed, out.Body, nil
	}
	return nil, nil, fmt.Errorf("not understood: sign at %s, where no source with a secret is", s.Path)
}

// senderOf is the source's sender: of the catalogue, or home-made.
func senderOf(s *source) (*provider.Provider, error) {
	if s.Scheme == nil {
		return provider.Lookup(s.Provider)
	}
	profile, err := profileOf(s)
	if err != nil {
		return nil, err
	}
	text, err := yaml.Marshal(profile)
	if err != nil {
		return nil, err
	}
	return provider.Parse("case", text)
}

// closedDecision names the end of a connection that was given up before there was a request to decide on.
func closedDecision(s *step) string {
	if s.Transport != nil && s.Transport.Slow != "" {
		return "rejected_timeout"
	}
	return "rejected_http"
}

func (w *world) node() *node {
	w.next++
	return w.nodes[w.next%len(w.nodes)]
}

// dial connects as the peer: the gateway sees its address.
func (w *world) dial(addr, peer string) (net.Conn, error) {
	if peer == "" {
		peer = "192.0.2.1"
	}
	w.peerLock.Lock()
	defer w.peerLock.Unlock() // so that the listener does not look before the address is known
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	w.peers[conn.LocalAddr().String()] = peer
	return conn, nil
}

// An output writes a request and counts the bytes of its body.
type output struct {
	conn      net.Conn
	continued chan struct{} // an interim answer came
	wrote     int
}

func (o *output) request(s *step, body []byte) {
	t := s.Transport
	if t == nil {
		t = &transport{}
	}
	head := o.head(s, t, len(body))
	if t.Slow == "headers" {
		o.drip(head[:len(head)-2], t.BytesPerS) // never finished
		return
	}
	if _, err := o.conn.Write(head); err != nil {
		return
	}
	if t.WaitContinueS > 0 { // then it is sent anyway, as the case says
		select {
		case <-o.continued:
		case <-time.After(time.Duration(t.WaitContinueS * float64(time.Second))):
		}
	}
	switch {
	case t.Slow == "body":
		o.drip(body, t.BytesPerS)
	case t.Framing == "chunked":
		o.chunks(body, t.ChunkSizes)
	default:
		o.write(body)
	}
}

// head is the request line and the headers, as they stand in the case, with what frames the body.
func (o *output) head(s *step, t *transport, length int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", s.Method, s.Path)
	listed := map[string]bool{}
	for _, h := range s.Headers {
		listed[strings.ToLower(h[0])] = true
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	add := func(name, value string) {
		if !listed[strings.ToLower(name)] {
			fmt.Fprintf(&b, "%s: %s\r\n", name, value)
		}
	}
	add("Host", "hooks.example.test")
	switch {
	case t.Framing == "chunked":
		if t.ContentLength != nil {
			add("Content-Length", t.ContentLength.String())
		}
		add("Transfer-Encoding", "chunked")
	case length > 0 || s.Method == http.MethodPost:
		add("Content-Length", strconv.Itoa(length))
	}
	add("Connection", "close")
	b.WriteString("\r\n")
	return b.Bytes()
}

func (o *output) write(p []byte) bool {
	n, err := o.conn.Write(p)
	o.wrote += n
	return err == nil
}

func (o *output) chunks(body []byte, sizes []int) {
	if len(sizes) == 0 {
		sizes = []int{max(len(body), 1)}
	}
	for i := 0; len(body) > 0; i++ {
		n := min(sizes[i%len(sizes)], len(body))
		if _, err := fmt.Fprintf(o.conn, "%x\r\n", n); err != nil || !o.write(body[:n]) {
			return
		}
		_, _ = io.WriteString(o.conn, "\r\n")
		body = body[n:]
	}
	_, _ = io.WriteString(o.conn, "0\r\n\r\n")
}

func (o *output) drip(p []byte, perSecond float64) {
	for i := range p {
		if !o.write(p[i : i+1]) {
			return
		}
		time.Sleep(time.Duration(float64(time.Second) / max(perSecond, 0.1)))
	}
}

// reasons are the format's words for what the gateway's log says.
var reasons = map[string]string{
	"held unreadable": "review_unreadable", "held no_key": "review_unreadable", "held missing_field": "review_unreadable",
	"held past_horizon": "review_old", "held late": "review_late", "conflict": "conflict",
	"rejected missing_signature": "rejected_signature", "rejected malformed_signature": "rejected_signature",
	"rejected bad_signature": "rejected_signature", "rejected too_old": "rejected_late", "rejected too_new": "rejected_late",
	"rejected wrong_account": "rejected_account", "rejected bad_challenge": "rejected_challenge",
	"rejected wrong_method": "rejected_method", "rejected unknown_path": "rejected_not_found", "rejected too_large": "rejected_too_large",
	"rejected slow_body": "rejected_timeout", "rejected broken_body": "rejected_http",
}

// decisionOf finds the delivery in the gateway's log. An answer without a delivery is the HTTP server's own.
func (w *world) decisionOf(r *reply) string {
	d, ok := w.journal.decided(r.header.Get("Recibo-Delivery"))
	switch {
	case !ok && r.status == http.StatusRequestTimeout:
		return "rejected_timeout"
	case !ok:
		return "rejected_http"
	}
	for _, key := range []string{d.verdict + " " + d.reason, d.verdict} {
		if word, known := reasons[key]; known {
			return word
		}
	}
	return d.verdict
}
