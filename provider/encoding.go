package provider

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
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

// appendDecoded decodes src onto dst: no line breaks inside, no spare bits at the end.
func (e encoding) appendDecoded(dst, src []byte) ([]byte, error) {
	if e == encUTF8 {
		return append(dst, src...), nil
	}
	if bytes.ContainsAny(src, "\r\n") { // package base64 skips them
		return dst, errEncoding
	}
	var err error
	switch e {
	case encHex:
		dst, err = hex.AppendDecode(dst, src)
	case encHexBase64:
		var text []byte
		if text, err = base64.StdEncoding.Strict().AppendDecode(nil, src); err == nil {
			dst, err = hex.AppendDecode(dst, text)
		}
	case encBase64URL:
		dst, err = base64.RawURLEncoding.Strict().AppendDecode(dst, trimPadding(src))
	case encPrefixed: // some show it without padding, some people copy the version in front of it
		src = bytes.TrimPrefix(bytes.TrimPrefix(src, []byte("v1,")), e.prefix())
		dst, err = base64.RawStdEncoding.Strict().AppendDecode(dst, trimPadding(src))
	default:
		dst, err = base64.StdEncoding.Strict().AppendDecode(dst, src)
	}
	if err != nil {
		return dst, errEncoding
	}
	return dst, nil
}

func (e encoding) prefix() []byte {
	if e == encPrefixed {
		return []byte("whsec_")
	}
	return nil
}

// trimPadding removes the padding of a text whose length shows that it is all of it.
func trimPadding(src []byte) []byte {
	if len(src)%4 != 0 {
		return src
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(src, []byte("=")), []byte("="))
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
