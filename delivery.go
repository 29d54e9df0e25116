package recibo

import (
	"net/http"
	"time"
)

// A Delivery is one HTTP request as it arrived. Until it is verified, everything in it is whatever an attacker sent.
type Delivery struct {
	ID         DeliveryID
	RequestID  string // the X-Request-Id that a proxy gave; empty if none or not plain text
	Method     string
	Path       string // as received, still escaped
	RawQuery   string // as received
	Header     http.Header
	Body       []byte // as received: never decoded, trimmed or written again
	ReceivedAt time.Time
}
