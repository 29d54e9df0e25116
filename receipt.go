package recibo

import "time"

// A Status says where a receipt is in its life.
type Status string

// The statuses of a receipt.
const (
	Received   Status = "received"   // waiting, or waiting for its next try
	Processing Status = "processing" // under a lease, or a lease ran out
	Processed  Status = "processed"
	Failed     Status = "failed" // tries used up, or a permanent failure
)

// A Receipt is the durable record of an event, made once per key and destination.
type Receipt struct {
	ID          ReceiptID
	Tenant      string
	Source      string
	Namespace   string
	Destination string
	Delivery    DeliveryID // the one that made it
	Key         Key
	EventID     string
	Type        string
	Account     string
	Object      string
	Version     string
	OccurredAt  time.Time
	ReceivedAt  time.Time
	Header      []byte // the kept headers, a JSON object of strings
	Body        []byte // the event's own bytes as they arrived
	Run         int    // 1, and one more per replay
}
