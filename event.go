package recibo

import "time"

// An Event is a verified fact that a delivery brought. A delivery can hold many.
type Event struct {
	Key Key
	// Token is the one-time part that a token sender signed; spent once, whatever Key is. Empty for all other senders.
	Token Key
	// ID is what the sender calls the event. Unless Key is of kind [KeyID] it is not signed, and then it is information:
	// it can neither admit nor suppress. Empty when there is none or when the sender renews it per try.
	ID string
	// Type is the sender's word for what happened: "invoice.paid".
	Type string
	// Account is whose event it is at the sender.
	Account string
	// Object is what the event is about, its kind in front: "invoice/in_1". Version orders the object's events.
	Object, Version string
	// OccurredAt is when it happened as the sender says; zero if it does not.
	OccurredAt time.Time
	// Content is the digest of what verified, less what changes between tries.
	Content Fingerprint
	// Start and End are where the event's own bytes lie in the delivery's body.
	Start, End int
	// Fault says why the event cannot act though it verified: [Unreadable], [NoKey], [MissingField], [ForPerson]. It goes to review.
	Fault Reason
}
