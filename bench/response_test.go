package main

import (
	"errors"
	"strings"
	"testing"
)

func TestResponsesAreReadToTheirEnd(t *testing.T) {
	for text, status := range map[string]int{
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n":                                      200,
		"HTTP/1.1 401 Unauthorized\r\nX: y\r\ncontent-length:  5 \r\nA: b\r\n\r\nhello":     401,
		"HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\n\r\n":                        204,
		"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\n\r\n\r\n":             503,
		"HTTP/1.1 200 \r\nDate: Tue, 01 Dec 2026 17:00:00 GMT\r\nContent-Length: 0\r\n\r\n": 200,
	} {
		got, size, err := parseResponse([]byte(text))
		if got != status || size != len(text) || err != nil {
			t.Errorf("parseResponse(%q) = %d, %d, %v; want %d, %d", text, got, size, err, status, len(text))
		}
		next := text + "HTTP/1.1 200 OK"
		if got, size, err := parseResponse([]byte(next)); got != status || size != len(text) || err != nil {
			t.Errorf("parseResponse(%q) = %d, %d, %v; want %d, %d", next, got, size, err, status, len(text))
		}
		for n := range len(text) {
			if got, size, err := parseResponse([]byte(text[:n])); size != 0 || err != nil {
				t.Errorf("parseResponse(%q) = %d, %d, %v; want that it waits for more", text[:n], got, size, err)
			}
		}
	}
}

func TestWhatIsNoResponseIsAnError(t *testing.T) {
	for _, text := range []string{
		"\r\n\r\n",
		"HTTP/1.1 2\r\n\r\n",
		"HTTP/1.1 abc\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
	} {
		if status, size, err := parseResponse([]byte(text)); !errors.Is(err, errResponse) {
			t.Errorf("parseResponse(%q) = %d, %d, %v; want %v", text, status, size, err, errResponse)
		}
	}
}

func FuzzParseResponse(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	f.Fuzz(func(t *testing.T, text string) {
		status, size, err := parseResponse([]byte(text))
		if size > len(text) || size < 0 || err != nil && size != 0 || size > 0 && (status < 200 || status > 999) {
			t.Errorf("parseResponse(%q) = %d, %d, %v", text, status, size, err)
		}
		if size > 0 && !strings.Contains(text[:size], "\r\n\r\n") {
			t.Errorf("parseResponse(%q) = %d, %d: ends before the head does", text, status, size)
		}
	})
}
