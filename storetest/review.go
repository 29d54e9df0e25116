package storetest

import "github.com/recibohq/recibo"

var reviewPromises = []promise{
	{"known content under another id, type, account or tenant is held", func(b *bed) {
		b.wantRecord(fingerprintDelivery(), accepted)
		b.wantRecord(changed(func(r *recibo.Recording) { r.Events[0].ID = "evt_2" }), held(recibo.OtherID))
		b.wantRecord(changed(func(r *recibo.Recording) { r.Events[0].Type = "order.sent" }), held(recibo.OtherType))
		b.wantRecord(changed(func(r *recibo.Recording) { r.Events[0].Account = "acct_2" }), held(recibo.OtherAccount))
		b.wantRecord(changed(func(r *recibo.Recording) { r.Tenant = "other" }), held(recibo.OtherAccount))
		b.wantReceipts(1)
	}},
	{"known content under another live secret is a duplicate", func(b *bed) {
		b.wantRecord(fingerprintDelivery(), accepted)
		b.wantRecord(changed(func(r *recibo.Recording) {
			r.Events[0].ID = "evt_2"
			r.Secret = recibo.SecretID{2}
		}), duplicate)
		b.wantReviews(0, 0)
	}},
	{"other content under a signed id is a conflict where content is stable", func(b *bed) {
		r := delivery("a")
		b.wantRecord(r, accepted)
		c := copyOf(r)
		c.Events[0].Content = recibo.Fingerprint{2}
		b.wantRecord(c, duplicate)
		c = copyOf(c)
		c.ContentStable = true
		b.wantRecord(c, conflict(recibo.OtherContent))
		c = copyOf(c)
		c.Source = "joined"
		b.wantRecord(c, duplicate)
		b.wantReceipts(1)
		b.wantReviews(1, 1)
	}},
	{"an event with a fault goes to review and makes no receipt", func(b *bed) {
		r := delivery("a")
		r.Events = append(r.Events, event("b", 1))
		r.Events[0].Fault = recibo.Unreadable
		got := b.wantRecord(r, held(recibo.Unreadable), accepted)
		if !got[0].Receipt.IsZero() {
			b.Errorf("receipt of the fault = %s, want none", got[0].Receipt)
		}
		b.wantReceipts(1)
		b.wantReviews(1, 1)
	}},
	{"a fault without a key is kept too", func(b *bed) {
		r := delivery("a")
		r.Events[0].Key, r.Events[0].Fault = "", recibo.NoKey
		b.wantRecord(r, held(recibo.NoKey))
		b.wantReviews(1, 1)
	}},
	{"copies of what is in review only count", func(b *bed) {
		b.wantRecord(fingerprintDelivery(), accepted)
		for range 5 {
			b.wantRecord(changed(func(r *recibo.Recording) { r.Events[0].ID = "evt_2" }), held(recibo.OtherID))
		}
		b.wantReviews(1, 5)
		b.wantReceipts(1)
	}},
	{"a key that was only reviewed is not spent", func(b *bed) {
		r := delivery("a")
		r.Events[0].Fault = recibo.PastHorizon
		b.wantRecord(r, held(recibo.PastHorizon))
		b.wantRecord(delivery("a"), accepted)
	}},
	{"a held event runs nowhere, not even at a destination that has not seen it", func(b *bed) {
		b.wantRecord(fingerprintDelivery(), accepted)
		b.wantRecord(changed(func(r *recibo.Recording) {
			r.Events[0].ID = "evt_2"
			r.Destinations = []string{"", "crm"}
		}), held(recibo.OtherID))
		b.wantReceipts(1)
		b.wantReviews(1, 1)
	}},
}

// fingerprintDelivery is one event that is named by its content; its id is not signed.
func fingerprintDelivery() *recibo.Recording {
	r := delivery("evt_1")
	r.Events[0].Key = recibo.FingerprintKey(recibo.KeyFingerprint, r.Events[0].Content)
	return r
}

func changed(change func(*recibo.Recording)) *recibo.Recording {
	r := fingerprintDelivery()
	change(r)
	return r
}
