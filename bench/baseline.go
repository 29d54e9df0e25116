package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
)

// newMAC is the baseline: a handler that reads the body, checks the signature over it, and answers. It keeps nothing.
func newMAC() *subject {
	return &subject{serve: http.HandlerFunc(answerSigned), close: func() error { return nil }}
}

func answerSigned(w http.ResponseWriter, r *http.Request) {
	if _, ok := readSigned(r); !ok {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// readSigned reads the body once, into a buffer of its declared length, and checks Stripe's signature over it with the
// least code that does so.
func readSigned(r *http.Request) (body []byte, ok bool) {
	if r.ContentLength < 0 || r.ContentLength > 1<<20 {
		return nil, false
	}
	body = make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, body); err != nil {
		return nil, false
	}
	at, v1, _ := strings.Cut(r.Header.Get("Stripe-Signature"), ",")
	at, timed := strings.CutPrefix(at, "t=")
	v1, signed := strings.CutPrefix(v1, signatureAt)
	signature, err := hex.DecodeString(v1)
	if !timed || !signed || err != nil {
		return nil, false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(mac, at)
	_, _ = mac.Write([]byte{'.'})
	_, _ = mac.Write(body)
	return body, hmac.Equal(mac.Sum(nil), signature)
}
