package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

const (
	sender = "stripe"
	path   = "/in/" + sender
	secret = "whsec_bench_0123456789abcdef0123456789abcdef"

	// blankID stands where each request's event id goes.
	blankID     = "evt_000000000000000000000000"
	idDigits    = len(blankID) - len("evt_")
	signatureAt = "v1="
)

// A stamp is what differs between two requests of a batch: the event's id and, with it, the signature.
type stamp struct {
	id        [idDigits]byte
	signature [2 * sha256.Size]byte
}

// A batch is requests that are signed and ready: one text, and a stamp for each.
type batch struct {
	text          []byte // head and body
	id, signature int    // where a stamp's parts go
	body          int    // where the body begins
	stamps        []stamp
}

// put makes text, a copy of the batch's, the request with stamp i.
func (b *batch) put(text []byte, i int) {
	s := &b.stamps[i]
	copy(text[b.id:], s.id[:])
	copy(text[b.signature:], s.signature[:])
}

// signBatch signs n requests of new events now, with bodies of size bytes.
func signBatch(n, size int, now time.Time) (*batch, error) {
	signed, err := provider.MustLookup(sender).Sign(&provider.SignRequest{
		Secret: recibo.NewSecret(secret), URL: path, Body: eventBody(size), Now: now,
	})
	if err != nil {
		return nil, err
	}
	b := &batch{text: requestText(signed), stamps: make([]stamp, n)}
	b.body = bytes.Index(b.text, headEnd) + len(headEnd)
	b.signature = bytes.Index(b.text, []byte(signatureAt)) + len(signatureAt)
	b.id = bytes.Index(b.text, []byte(blankID)) + len(blankID) - idDigits
	mac := newSigner(now)
	blank := mac.sign(b.text[b.body:])
	if !bytes.Equal(blank[:], b.text[b.signature:][:len(blank)]) {
		return nil, errors.New("the generator signs otherwise than provider " + sender)
	}
	body := slices.Clone(b.text[b.body:])
	for i := range b.stamps {
		s := &b.stamps[i]
		var id [idDigits / 2]byte
		_, _ = rand.Read(id[:])
		hex.Encode(s.id[:], id[:])
		copy(body[b.id-b.body:], s.id[:])
		s.signature = mac.sign(body)
	}
	return b, nil
}

// forged is the batch with signatures that are wrong and look right.
func (b *batch) forged() *batch {
	f := *b
	f.stamps = slices.Clone(b.stamps)
	for i := range f.stamps {
		first := &f.stamps[i].signature[0]
		if *first == '0' {
			*first = '1'
		} else {
			*first = '0'
		}
	}
	return &f
}

// A signer makes Stripe's signatures of one second.
type signer struct {
	prefix []byte
	mac    hash.Hash
}

func newSigner(now time.Time) *signer {
	return &signer{
		prefix: append(strconv.AppendInt(nil, now.Unix(), 10), '.'),
		mac:    hmac.New(sha256.New, []byte(secret)),
	}
}

func (s *signer) sign(body []byte) (signature [2 * sha256.Size]byte) {
	var sum [sha256.Size]byte
	s.mac.Reset()
	_, _ = s.mac.Write(s.prefix)
	_, _ = s.mac.Write(body)
	hex.Encode(signature[:], s.mac.Sum(sum[:0]))
	return signature
}

// requestText is the request as it stands on the wire.
func requestText(s *provider.Signed) []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n", s.Method, s.URL, len(s.Body))
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		fmt.Fprintf(&text, "%s: %s\r\n", name, s.Header.Get(name))
	}
	text.WriteString("\r\n")
	text.Write(s.Body)
	return text.Bytes()
}

// eventBody is an event such as Stripe sends, of size bytes: an invoice with as many lines as fit.
func eventBody(size int) []byte {
	const (
		head = `{"id":"` + blankID + `","object":"event","api_version":"2024-06-20","created":1764610000,` +
			`"type":"invoice.paid","livemode":true,"pending_webhooks":1,"request":{"id":"req_bench","idempotency_key":null},` +
			`"data":{"object":{"id":"in_1PxBench","object":"invoice","amount_paid":1990,"currency":"brl","status":"paid","lines":[`
		line = `{"id":"il_1PxBench","object":"line_item","amount":1990,"quantity":1,"currency":"brl","description":"plan"},`
		last = `{"id":"il_last"}],"footer":"`
		tail = `"}}}`
	)
	body := []byte(head)
	for len(body)+len(line)+len(last)+len(tail) <= size {
		body = append(body, line...)
	}
	body = append(body, last...)
	body = append(body, bytes.Repeat([]byte("x"), max(0, size-len(body)-len(tail)))...)
	return append(body, tail...)
}
