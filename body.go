package recibo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"
)

// firstRead is how much memory a declared length is trusted with before bytes have come.
const firstRead = 64 << 10

// readBody reads the whole body, once, refusing one over limit from its declared length alone. Its error is, or wraps,
// the reason.
func readBody(w http.ResponseWriter, r *http.Request, limit int64, within time.Duration) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, fmt.Errorf("%w: %d bytes declared, more than %d", TooLarge, r.ContentLength, limit)
	}
	if r.ContentLength == 0 || r.Body == nil {
		return nil, nil
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(within)) // not every ResponseWriter can; a server's own limits remain
	body, err := readBounded(r.Body, r.ContentLength, limit)
	if err != nil {
		return nil, err
	}
	_ = control.SetReadDeadline(time.Time{}) // a connection that is kept must not end at this delivery's deadline
	return body, nil
}

// readBounded reads a body of declared bytes, or of unknown length if that is negative.
func readBounded(r io.Reader, declared, limit int64) ([]byte, error) {
	var buf bytes.Buffer
	if declared > 0 {
		buf.Grow(int(min(declared, firstRead)) + bytes.MinRead) // MinRead: else the buffer grows once more to see the end
	}
	_, err := buf.ReadFrom(io.LimitReader(r, limit+1))
	switch n := int64(buf.Len()); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("%w: %d bytes came in time", SlowBody, n)
	case n == 0 && declared > 0 && (err == nil || errors.Is(err, http.ErrBodyReadAfterClose)):
		return nil, fmt.Errorf("%w: %d bytes were declared and none are left; "+
			"mount the receiver before the middleware that reads bodies", BodyAlreadyRead, declared)
	case err != nil:
		return nil, fmt.Errorf("%w: %d bytes came", BrokenBody, n)
	case n > limit:
		return nil, fmt.Errorf("%w: more than %d bytes", TooLarge, limit)
	case declared > 0 && n != declared:
		return nil, fmt.Errorf("%w: %d bytes declared, %d left; a middleware took some", BodyAlreadyRead, declared, n)
	}
	return buf.Bytes(), nil
}

// alwaysKept are the headers that are stored of every delivery. All others are dropped unless the profile names them, so
// that no credential is ever stored.
var alwaysKept = []string{"Content-Type", "User-Agent"}

// maxHeader is how many bytes of a kept header's value are stored.
const maxHeader = 1024

// keptHeaders returns the allowed headers as a JSON object.
func keptHeaders(h http.Header, named []string) []byte {
	kept := append(make([]byte, 0, 128), '{')
	for i, names := range [...][]string{alwaysKept, named} {
		for _, name := range names {
			value := h.Get(name)
			if value == "" || i > 0 && slices.Contains(alwaysKept, http.CanonicalHeaderKey(name)) {
				continue
			}
			if len(kept) > 1 {
				kept = append(kept, ',')
			}
			kept = appendJSON(kept, http.CanonicalHeaderKey(name))
			kept = append(kept, ':')
			kept = appendJSON(kept, value[:min(len(value), maxHeader)])
		}
	}
	return append(kept, '}')
}

// appendJSON appends s as a JSON string.
func appendJSON(to []byte, s string) []byte {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == '"' || s[i] == '\\' {
			text, err := json.Marshal(s) // what needs escaping is rare
			if err != nil {
				return append(to, `""`...) // strings always marshal
			}
			return append(to, text...)
		}
	}
	return append(append(append(to, '"'), s...), '"')
}

// plainText returns s if it is short printable ASCII without blanks, else nothing: it goes into logs and rows.
func plainText(s string) string {
	if len(s) > 128 {
		return ""
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return ""
		}
	}
	return s
}
