package recibo

// Known is what Judge has to know of the kept receipt that an event met.
type Known struct {
	Receipt ReceiptID
	Key     Key
	ID      string
	Type    string
	Account string
	Content Fingerprint
	Secret  SecretID
	Source  string
	Tenant  string
}

// Judge says what a copy is: e came with r and met the kept receipt k, by its key or by its token. Nothing but what
// verified decides: an unsigned id, type or account under which known content comes again makes it held, never run and
// never dropped.
func Judge(e *Event, r *Recording, k *Known) (Verdict, Reason) {
	switch e.Key.Kind() {
	case KeyID:
		return judgeID(e, r, k)
	case KeyFingerprint:
		return judgeFingerprint(e, r, k)
	case KeyToken:
		return judgeToken(e, k)
	default: // signed fields that name the event, or a credential that names nothing more
		return Duplicate, ""
	}
}

// judgeID: the id is signed, so it is the same event; other content is a conflict only where the sender is known to
// repeat its content and both copies came the same way.
func judgeID(e *Event, r *Recording, k *Known) (Verdict, Reason) {
	if r.ContentStable && r.Source == k.Source && e.Content != k.Content {
		return Conflict, OtherContent
	}
	return Duplicate, ""
}

func judgeFingerprint(e *Event, r *Recording, k *Known) (Verdict, Reason) {
	switch {
	case !r.TypeSigned && e.Type != k.Type:
		return Held, OtherType
	case !r.AccountSigned && e.Account != k.Account, r.Tenant != k.Tenant:
		return Held, OtherAccount
	case e.ID == "" || k.ID == "" || e.ID == k.ID:
		return Duplicate, ""
	case r.Secret == k.Secret:
		return Held, OtherID
	default: // another live secret: the sender signs the same event once per secret
		return Duplicate, ""
	}
}

// judgeToken: the signature covers the token alone, so a known id with other content and a spent token under another id
// are both for a person.
func judgeToken(e *Event, k *Known) (Verdict, Reason) {
	switch {
	case e.Key != k.Key && (e.ID != "" || e.Content != k.Content):
		return Conflict, TokenSpent
	case e.Content != k.Content:
		return Conflict, OtherContent
	default:
		return Duplicate, ""
	}
}

// rank orders verdicts of the events of one delivery: the highest is the delivery's.
var rank = map[Verdict]int{Duplicate: 1, Held: 2, Conflict: 3, Accepted: 4}
