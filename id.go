package recibo

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"strings"
	"time"
)

// A ReceiptID names a receipt. It starts with the time it was made, so ids sort by age; its text is "rcp_" and 26
// characters of Crockford's base 32.
type ReceiptID [16]byte

// A DeliveryID names a delivery, built like a [ReceiptID] with the prefix "dlv_".
type DeliveryID [16]byte

const (
	receiptPrefix  = "rcp_"
	deliveryPrefix = "dlv_"
)

var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// errBadID is what the parse functions answer to text that is no id.
var errBadID = errors.New("not an id: want its prefix and 26 characters")

// NewReceiptID makes an id that no other call has made, on this machine or another.
func NewReceiptID(now time.Time) ReceiptID { return newID(now) }

// NewDeliveryID makes an id that no other call has made, on this machine or another.
func NewDeliveryID(now time.Time) DeliveryID { return newID(now) }

// String returns the id as people and logs see it; the zero id is empty text.
func (id ReceiptID) String() string { return idText(receiptPrefix, id) }

// String returns the id as people and logs see it; the zero id is empty text.
func (id DeliveryID) String() string { return idText(deliveryPrefix, id) }

// IsZero says that id names nothing.
func (id ReceiptID) IsZero() bool { return id == ReceiptID{} }

// ParseReceiptID reads what [ReceiptID.String] wrote.
func ParseReceiptID(text string) (ReceiptID, error) {
	id, err := parseID(receiptPrefix, text)
	return ReceiptID(id), err
}

// newID puts 48 bits of milliseconds before 80 random bits.
func newID(now time.Time) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:8], uint64(now.UnixMilli())<<16)
	_, _ = rand.Read(id[6:]) // crypto/rand ends the process rather than fail
	return id
}

func idText(prefix string, id [16]byte) string {
	if id == ([16]byte{}) {
		return ""
	}
	var text [4 + 26]byte
	copy(text[:], prefix)
	crockford.Encode(text[4:], id[:])
	return string(text[:])
}

func parseID(prefix, text string) (id [16]byte, err error) {
	digits, ok := strings.CutPrefix(text, prefix)
	if !ok || len(digits) != 26 {
		return id, errBadID
	}
	raw, err := crockford.DecodeString(digits)
	if err != nil || copy(id[:], raw) != len(id) {
		return id, errBadID
	}
	return id, nil
}
