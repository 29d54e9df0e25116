package main

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

var headEnd = []byte("\r\n\r\n")

// errResponse: what the server sent is no response that the generator reads.
var errResponse = errors.New("unreadable response")

// parseResponse reads the response that begins in. Its size is 0 while bytes are missing. It reads what the servers under
// test send: a status line, headers with the body's length or a status without a body, and that body.
func parseResponse(in []byte) (status, size int, err error) {
	head := bytes.Index(in, headEnd)
	if head < 0 {
		return 0, 0, nil
	}
	line, headers, _ := bytes.Cut(in[:head], headEnd[:2])
	if len(line) < len("HTTP/1.1 200") || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, 0, fmt.Errorf("%w: status line %q", errResponse, line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil || status < 200 {
		return 0, 0, fmt.Errorf("%w: status line %q", errResponse, line)
	}
	length, err := bodyLength(status, headers)
	if err != nil {
		return 0, 0, err
	}
	size = head + len(headEnd) + length
	if size > len(in) {
		return 0, 0, nil
	}
	return status, size, nil
}

var lengthName = []byte("Content-Length:")

func bodyLength(status int, headers []byte) (int, error) {
	for len(headers) > 0 {
		var line []byte
		line, headers, _ = bytes.Cut(headers, headEnd[:2])
		if len(line) < len(lengthName) || !bytes.EqualFold(line[:len(lengthName)], lengthName) {
			continue
		}
		n, err := strconv.Atoi(string(bytes.TrimSpace(line[len(lengthName):])))
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%w: header %q", errResponse, line)
		}
		return n, nil
	}
	if status == 204 || status == 304 {
		return 0, nil
	}
	return 0, fmt.Errorf("%w: no length in %q", errResponse, headers)
}
