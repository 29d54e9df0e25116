// Package recibo receives webhooks so that each real event acts once.
//
// A [Receiver] is an [http.Handler]. It verifies a delivery over the bytes as received, holds its signed time to a
// tolerance, reads the event in it, claims the event's key through a UNIQUE constraint and answers. A [Worker] then
// runs a [Handler] for each receipt under a lease, with retries and kept steps.
//
// The words: a [Provider] is a kind of sender, a [Source] one configured address of it, a [Delivery] one HTTP request as
// it arrived, an [Event] the verified fact in it, a [Key] what names the event, a [Receipt] the durable record, made once
// per key. A [Decision] says what became of a delivery and why.
//
// The package needs the standard library only. Package provider has the senders, packages sqlite and postgres the stores.
package recibo
