package provider

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
)

// An encoding is how bytes are written: signatures and secrets.
type encoding string

const (
	encHex       encoding = "hex"       // either case: the letters' case proves nothing
	encBase64    encoding = "base64"    // standard alphabet, padded
	encBase64URL encoding = "base64url" // with or without padding
	encUTF8      encoding = "utf8"      // the text itself
	encHexBase64 encoding = "hexbase64" // base64 of hex
	encPrefixed  encoding = "whsec"     // base64, with or without the prefix "whsec_"
)

var (
	signatureEncodings = []encoding{encHex, encBase64, encBase64URL, encHexBase64, encUTF8}
	secretEncodings    = []encoding{encUTF8, encHex, encBase64, encBase64URL, encPrefixed}
)

var errEncoding = errors.New("wrongly encoded")

// decode is strict: no line breaks inside, no spare bits at the end.
func (e encoding) decode(text string) ([]byte, error) {
	if e == encUTF8 {
		return []byte(text), nil
	}
	if strings.ContainsAny(text, "\r\n") { // package base64 skips them
		return nil, errEncoding
	}
	var raw []byte
	var err error
	switch e {
	case encHex:
		raw, err = hex.DecodeString(text)
	case encHexBase64:
		if raw, err = base64.StdEncoding.Strict().DecodeString(text); err == nil {
			raw, err = hex.DecodeString(string(raw))
		}
	case encBase64URL:
		raw, err = base64.RawURLEncoding.Strict().DecodeString(trimPadding(text))
	case encPrefixed: // some show it without padding, some people copy the version in front of it
		text = strings.TrimPrefix(strings.TrimPrefix(text, "v1,"), e.prefix())
		raw, err = base64.RawStdEncoding.Strict().DecodeString(trimPadding(text))
	default:
		raw, err = base64.StdEncoding.Strict().DecodeString(text)
	}
	if err != nil {
		return nil, errEncoding
	}
	return raw, nil
}

func (e encoding) prefix() string {
	if e == encPrefixed {
		return "whsec_"
	}
	return ""
}

// trimPadding removes the padding of a text whose length shows that it is all of it.
func trimPadding(text string) string {
	if len(text)%4 != 0 {
		return text
	}
	return strings.TrimSuffix(strings.TrimSuffix(text, "="), "=")
}

func (e encoding) encode(b []byte) string {
	switch e {
	case encHex:
		return hex.EncodeToString(b)
	case encBase64URL:
		return base64.RawURLEncoding.EncodeToString(b)
	case encHexBase64:
		return base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(b)))
	case encUTF8:
		return string(b)
	default:
		return base64.StdEncoding.EncodeToString(b)
	}
}
