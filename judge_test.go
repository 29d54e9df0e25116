package recibo_test

import (
	"testing"

	"github.com/recibohq/recibo"
)

// kept is the receipt that the copies of TestJudge meet, as a fingerprint sender made it.
func kept(kind recibo.KeyKind) *recibo.Known {
	return &recibo.Known{
		Key: recibo.Key(kind) + ":a", ID: "id-1", Type: "paid", Account: "shop-a", Content: recibo.Fingerprint{1},
		Secret: recibo.SecretID{1}, Source: "s", Tenant: "t",
	}
}

// copyOf is an equal copy of what made k, and how it came.
func copyOf(k *recibo.Known) (*recibo.Event, *recibo.Recording) {
	e := &recibo.Event{Key: k.Key, ID: k.ID, Type: k.Type, Account: k.Account, Content: k.Content}
	return e, &recibo.Recording{Secret: k.Secret, Source: k.Source, Tenant: k.Tenant}
}

func TestJudgeDecidesByWhatVerified(t *testing.T) {
	const (
		id, fp, cmp, tok, cred = recibo.KeyID, recibo.KeyFingerprint, recibo.KeyComposite, recibo.KeyToken, recibo.KeyCredential
	)
	stable := func(r *recibo.Recording) { r.ContentStable = true }
	cases := []struct {
		name    string
		kind    recibo.KeyKind
		event   func(*recibo.Event)
		came    func(*recibo.Recording)
		verdict recibo.Verdict
		reason  recibo.Reason
	}{
		{"rule 4: a known id is a duplicate", id, nil, nil, recibo.Duplicate, ""},
		{"rule 4: with other content too, where its stability is unknown", id, otherContent, nil, recibo.Duplicate, ""},
		{"rule 4: with other content is a conflict where content is stable", id, otherContent, stable, recibo.Conflict, recibo.OtherContent},
		{"rule 4: but not when it came through another source", id, otherContent,
			func(r *recibo.Recording) { r.ContentStable, r.Source = true, "joined" }, recibo.Duplicate, ""},
		{"rule 4: an unsigned type beside a signed id decides nothing", id, otherType, nil, recibo.Duplicate, ""},
		{"rule 5: a known content under the same id is a duplicate", fp, nil, nil, recibo.Duplicate, ""},
		{"rule 5: without an id too", fp, func(e *recibo.Event) { e.ID = "" }, nil, recibo.Duplicate, ""},
		{"rule 5: under another id it is held", fp, otherID, nil, recibo.Held, recibo.OtherID},
		{"rule 5: under another id by another live secret it is a duplicate", fp, otherID,
			func(r *recibo.Recording) { r.Secret = recibo.SecretID{2} }, recibo.Duplicate, ""},
		{"rule 6: under another unsigned type it is held", fp, otherType, nil, recibo.Held, recibo.OtherType},
		{"rule 6: whatever its id and secret", fp, func(e *recibo.Event) { e.ID, e.Type = "id-2", "refunded" },
			func(r *recibo.Recording) { r.Secret = recibo.SecretID{2} }, recibo.Held, recibo.OtherType},
		{"rule 6: a type that was taken off is another type", fp, func(e *recibo.Event) { e.Type = "" }, nil, recibo.Held, recibo.OtherType},
		{"rule 8: under another unsigned account it is held", fp, func(e *recibo.Event) { e.Account = "shop-b" }, nil,
			recibo.Held, recibo.OtherAccount},
		{"rule 8: under another tenant it is held", fp, nil, func(r *recibo.Recording) { r.Tenant = "u" }, recibo.Held, recibo.OtherAccount},
		{"rule 2: a composite names the event", cmp, otherContent, nil, recibo.Duplicate, ""},
		{"rule 2: a token's event by its id", tok, nil, nil, recibo.Duplicate, ""},
		{"rule 2: a known id with another body is a conflict", tok, otherContent, nil, recibo.Conflict, recibo.OtherContent},
		{"rule 2: a spent token under another id is a conflict", tok,
			func(e *recibo.Event) { e.ID, e.Key = "id-2", "tok:b" }, nil, recibo.Conflict, recibo.TokenSpent},
		{"rule 2: a spent token whose id was taken off is a duplicate if the body is equal", tok,
			func(e *recibo.Event) { e.ID, e.Key = "", "tok:b" }, nil, recibo.Duplicate, ""},
		{"rule 2: a credential names nothing more", cred, otherContent, nil, recibo.Duplicate, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			k := kept(c.kind)
			e, r := copyOf(k)
			if c.event != nil {
				c.event(e)
			}
			if c.came != nil {
				c.came(r)
			}
			verdict, reason := recibo.Judge(e, r, k)
			if verdict != c.verdict || reason != c.reason {
				t.Errorf("Judge = %q, %q; want %q, %q", verdict, reason, c.verdict, c.reason)
			}
		})
	}
}

func otherContent(e *recibo.Event) { e.Content = recibo.Fingerprint{2} }
func otherID(e *recibo.Event)      { e.ID = "id-2" }
func otherType(e *recibo.Event)    { e.Type = "refunded" }
