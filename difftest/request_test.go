package difftest

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/recibohq/recibo"
)

// A request is a delivery, and all that both sides need to judge it.
type request struct {
	header    http.Header
	body      []byte
	query     string // as received
	url       string // as configured at the sender
	secret    string
	publicKey string // of an asymmetric sender
	signedAt  time.Time
	now       time.Time
}

func (r *request) clone() *request {
	c := *r
	c.header, c.body = r.header.Clone(), bytes.Clone(r.body)
	return &c
}

func (r *request) delivery() *recibo.Delivery {
	return &recibo.Delivery{
		Method: http.MethodPost, Path: "/in/sample", RawQuery: r.query, Header: r.header, Body: r.body, ReceivedAt: r.now,
	}
}

// requested is the address that an application would give its SDK: with the query of the request, unless one is configured.
func (r *request) requested() string {
	base, _, configured := strings.Cut(r.url, "?")
	if r.query == "" || configured && !strings.Contains(r.query, "bodySHA256=") {
		return r.url
	}
	return base + "?" + r.query
}

// A question is a request as the driver reads it.
type question struct {
	ID         int         `json:"id"`
	SDK        string      `json:"sdk"`
	Op         string      `json:"op"`
	Secret     string      `json:"secret"`
	PublicKey  string      `json:"publicKey"`
	Headers    [][2]string `json:"headers"`
	Body       string      `json:"body"`
	URL        string      `json:"url"`        // as requested
	Configured string      `json:"configured"` // as configured
	Query      string      `json:"query"`
	MessageID  string      `json:"messageID"` // for SDKs that sign one
	Tolerance  float64     `json:"tolerance"` // seconds
	Now        int64       `json:"now"`       // milliseconds
}

// An answer is what the SDK said, or what it signed.
type answer struct {
	ID      int               `json:"id"`
	OK      bool              `json:"ok"`
	Error   string            `json:"error"`
	Broken  string            `json:"broken"` // the adapter is at fault
	Headers map[string]string `json:"headers"`
	Body    *string           `json:"body"`
	URL     string            `json:"url"`
}

func (s *sdk) ask(op string, r *request) question {
	q := question{
		SDK: s.name, Op: op, Secret: r.secret, PublicKey: r.publicKey, Body: base64.StdEncoding.EncodeToString(r.body),
		URL: r.requested(), Configured: r.url, Query: r.query, Tolerance: s.tolerance.Seconds(), Now: r.now.UnixMilli(),
	}
	for name, values := range r.header {
		for _, value := range values {
			q.Headers = append(q.Headers, [2]string{name, latin1(value)})
		}
	}
	return q
}

// latin1 makes of each byte a character, as Node does with a header's bytes.
func latin1(text string) string {
	runes := make([]rune, len(text))
	for i := range len(text) {
		runes[i] = rune(text[i])
	}
	return string(runes)
}
