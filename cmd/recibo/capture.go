package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/recibohq/recibo"
)

// parseCapture reads a captured request in any of the forms that tools give: raw HTTP, an HTTP archive (HAR), or a curl
// command.
func parseCapture(raw []byte) (*recibo.Delivery, error) {
	trimmed := bytes.TrimSpace(raw)
	switch {
	case len(trimmed) == 0:
		return nil, errors.New("it is empty")
	case trimmed[0] == '{':
		return parseHAR(raw)
	case bytes.HasPrefix(trimmed, []byte("curl ")):
		return parseCurl(string(trimmed))
	default:
		return parseRequest(raw)
	}
}

// parseRequest reads raw HTTP. The body is everything after the headers, whatever Content-Length says: a capture that
// lost a byte shall be refused for that byte.
func parseRequest(raw []byte) (*recibo.Delivery, error) {
	head, body, found := bytes.Cut(raw, []byte("\r\n\r\n"))
	if !found {
		head, body, found = bytes.Cut(raw, []byte("\n\n"))
	}
	if !found {
		return nil, errors.New("no empty line after the headers; want raw HTTP (POST /path HTTP/1.1, headers, an empty line, " +
			"the body), a HAR file or a curl command")
	}
	req, err := http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(head), strings.NewReader("\r\n\r\n"))))
	if err != nil {
		return nil, fmt.Errorf("want raw HTTP, a HAR file or a curl command: %w", err)
	}
	return &recibo.Delivery{
		Method: req.Method, Path: req.URL.EscapedPath(), RawQuery: req.URL.RawQuery, Header: req.Header, Body: body,
	}, nil
}

// A harFile is what recibo reads of an HTTP archive: http://www.softwareishard.com/blog/har-12-spec/
type harFile struct {
	Log struct {
		Entries []struct {
			Request struct {
				Method  string `json:"method"`
				URL     string `json:"url"`
				Headers []struct {
					Name  string `json:"name"`
					Value string `json:"value"`
				} `json:"headers"`
				PostData struct {
					Text     string `json:"text"`
					Encoding string `json:"encoding"`
				} `json:"postData"`
			} `json:"request"`
		} `json:"entries"`
	} `json:"log"`
}

// parseHAR reads the archive's one request, or its first POST.
func parseHAR(raw []byte) (*recibo.Delivery, error) {
	var har harFile
	if err := json.Unmarshal(raw, &har); err != nil {
		return nil, fmt.Errorf("it begins like a HAR file and is none: %w", err)
	}
	for i := range har.Log.Entries {
		r := &har.Log.Entries[i].Request
		if r.Method != http.MethodPost && len(har.Log.Entries) > 1 {
			continue
		}
		d, err := newDelivery(r.Method, r.URL)
		if err != nil {
			return nil, err
		}
		for _, h := range r.Headers {
			if !strings.HasPrefix(h.Name, ":") { // HTTP/2 writes the request line so
				d.Header.Add(h.Name, h.Value)
			}
		}
		d.Body = []byte(r.PostData.Text)
		if r.PostData.Encoding == "base64" {
			if d.Body, err = base64.StdEncoding.DecodeString(r.PostData.Text); err != nil {
				return nil, fmt.Errorf("the HAR file's body is not the base64 that it says: %w", err)
			}
		}
		return d, nil
	}
	return nil, errors.New("the HAR file has no POST request")
}

func newDelivery(method, address string) (*recibo.Delivery, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", address, err)
	}
	return &recibo.Delivery{Method: method, Path: u.EscapedPath(), RawQuery: u.RawQuery, Header: http.Header{}}, nil
}

// parseCurl reads the options of curl that browsers and senders' pages write into the commands they offer.
func parseCurl(command string) (*recibo.Delivery, error) {
	words, err := splitShell(command)
	if err != nil {
		return nil, err
	}
	method, address := http.MethodPost, ""
	header, body := http.Header{}, []string(nil)
	for i := 1; i < len(words); i++ {
		option, value, joined := strings.Cut(words[i], "=")
		if !strings.HasPrefix(words[i], "--") {
			option, joined = words[i], false
		}
		if !strings.HasPrefix(option, "-") {
			address = words[i]
			continue
		}
		if !curlTakesValue[option] {
			continue
		}
		if !joined {
			if i++; i == len(words) {
				return nil, fmt.Errorf("curl's %s has no value", option)
			}
			value = words[i]
		}
		switch option {
		case "-X", "--request":
			method = value
		case "-H", "--header":
			name, text, _ := strings.Cut(value, ":")
			header.Add(strings.TrimSpace(name), strings.TrimSpace(text))
		case "--url":
			address = value
		default:
			body = append(body, value)
		}
	}
	d, err := newDelivery(method, address)
	if err != nil {
		return nil, err
	}
	d.Header, d.Body = header, []byte(strings.Join(body, "&"))
	return d, nil
}

var curlTakesValue = map[string]bool{
	"-X": true, "--request": true, "-H": true, "--header": true, "--url": true, "-d": true, "--data": true, "--data-raw": true,
	"--data-binary": true, "--data-ascii": true,
}

// splitShell splits a command as a POSIX shell does, with the $'…' of bash, which browsers write.
func splitShell(command string) (words []string, err error) {
	s := strings.NewReplacer("\\\r\n", " ", "\\\n", " ").Replace(command)
	for s = strings.TrimLeft(s, " \t\r\n"); s != ""; s = strings.TrimLeft(s, " \t\r\n") {
		var word strings.Builder
		for s != "" && !strings.ContainsRune(" \t\r\n", rune(s[0])) {
			if s, err = shellPiece(&word, s); err != nil {
				return nil, err
			}
		}
		words = append(words, word.String())
	}
	return words, nil
}

// shellPiece moves one quoted or plain piece from s to word and returns what is left.
func shellPiece(word *strings.Builder, s string) (rest string, err error) {
	unended := errors.New("a quote in the curl command does not end")
	switch {
	case s[0] == '\'':
		text, rest, ok := strings.Cut(s[1:], "'")
		if !ok {
			return "", unended
		}
		word.WriteString(text)
		return rest, nil
	case s[0] == '"', strings.HasPrefix(s, "$'"):
		quote, i := byte('"'), 1
		if s[0] == '$' {
			quote, i = '\'', 2
		}
		for ; i < len(s) && s[i] != quote; i++ {
			if s[i] != '\\' || i+1 == len(s) {
				word.WriteByte(s[i])
				continue
			}
			i++
			word.WriteByte(unescaped(s[i], quote))
		}
		if i >= len(s) {
			return "", unended
		}
		return s[i+1:], nil
	case s[0] == '\\' && len(s) > 1:
		word.WriteByte(s[1])
		return s[2:], nil
	default:
		word.WriteByte(s[0])
		return s[1:], nil
	}
}

// unescaped is what a backslash and c stand for within the quote.
func unescaped(c, quote byte) byte {
	if quote == '\'' {
		switch c {
		case 'n':
			return '\n'
		case 'r':
			return '\r'
		case 't':
			return '\t'
		}
	}
	return c
}
