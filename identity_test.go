package recibo_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// The rules of docs/identity.md, each through a receiver on a real store.

func TestRule1OnlyWhatVerifiedDecides(t *testing.T) {
	_, err := provider.Parse("acme.yaml", []byte("provider: acme\ntitle: Acme\n"+signsBody+"\n"+`key: {kind: id, from: ["header:X-Id"]}`+"\n"))
	if err == nil || !strings.Contains(err.Error(), "acme.yaml:4:") {
		t.Errorf("a key of an unsigned header: %v, want an error at its line", err)
	}
	r := newRig(t, acme(t, signsBody, keyFP, `id: "header:X-Id"`))
	r.want("an event", acmeBody(`{"n":1}`, "X-Id", "a"), 200, recibo.Accepted)
	r.want("another content under its unsigned id", acmeBody(`{"n":2}`, "X-Id", "a"), 200, recibo.Accepted)
	r.wantKept(2, 0)
}

func TestRule2KindsOfKeyNeverMeet(t *testing.T) {
	body := `{"id":"e1","n":1}`
	for _, c := range []struct{ key, prefix string }{
		{keyID, "id:e1"}, {keyFP, "fp:"}, {`key: {kind: composite, from: ["json:id", "json:n"]}`, "cmp:2:e1,1:1"},
	} {
		r := newRig(t, acme(t, signsBody, c.key))
		r.want(c.key, acmeBody(body), 200, recibo.Accepted)
		leased, err := r.store.Lease(t.Context(), recibo.LeaseQuery{Max: 1, For: time.Minute})
		if err != nil || len(leased.Leases) != 1 || !strings.HasPrefix(string(leased.Leases[0].Receipt.Key), c.prefix) {
			t.Errorf("%s: leased %+v, %v; want a key that begins with %s", c.key, leased, err, c.prefix)
		}
	}
}

func TestRule2SpellingsThatVerifyAreOneFingerprint(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyFP))
	r.want("an event", acmeBody(`{"n":1}`), 200, recibo.Accepted)
	shouted := acmeBody(`{"n":1}`)
	shouted.header.Set("X-Sig", strings.ToUpper(shouted.header.Get("X-Sig")))
	if got := r.send(shouted); got.verdict == string(recibo.Accepted) {
		t.Error("the same content under another spelling of its signature was accepted again")
	}
}

func TestRule4AKnownKeyIsADuplicateAndAConflictOnlyWhereContentIsStable(t *testing.T) {
	loose := newRig(t, acme(t, signsBody, keyID))
	loose.want("an event", acmeBody(`{"id":"e1"}`), 200, recibo.Accepted)
	loose.want("its id with other content", acmeBody(`{"id":"e1","try":2}`), 200, recibo.Duplicate)
	loose.wantKept(1, 0)

	stable := newRig(t, acme(t, signsBody, keyID, "content_stable: true"))
	stable.want("an event", acmeBody(`{"id":"e1"}`), 200, recibo.Accepted)
	for range 3 {
		stable.want("its id with other content", acmeBody(`{"id":"e1","amount":2}`), 200, recibo.Conflict)
	}
	stable.wantReason("other content", recibo.OtherContent)
	stable.wantKept(1, 1)
}

func TestRule5KnownContentUnderAnotherUnsignedIDIsHeld(t *testing.T) {
	source := acme(t, signsBody, keyFP, `id: "header:X-Id"`)
	source.Secrets = append(source.Secrets, recibo.NewSecret("another-live-secret-of-acme-1234"))
	r := newRig(t, source)
	r.want("an event", acmeBody(`{"n":1}`, "X-Id", "a"), 200, recibo.Accepted)
	for range 3 {
		r.want("its content under a fresh id", acmeBody(`{"n":1}`, "X-Id", "b"), 200, recibo.Held)
	}
	r.wantReason("a fresh id", recibo.OtherID)
	r.want("without an id", acmeBody(`{"n":1}`), 200, recibo.Duplicate)
	r.want("under a fresh id by another live secret",
		acmeSends("another-live-secret-of-acme-1234", `{"n":1}`, `{"n":1}`, "X-Id", "c"), 200, recibo.Duplicate)
	r.wantKept(1, 1)
	items, err := r.store.Reviews(t.Context(), recibo.DefaultTenant, 10)
	if err != nil || len(items) != 1 || items[0].Copies != 3 {
		t.Errorf("review items = %+v, %v; want one that counts 3 copies", items, err)
	}
}

func TestRule5AnIDThatIsRenewedPerTryCountsAsNone(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyFP, `id: "header:X-Id"`, "id_renewed: true"))
	r.want("an event", acmeBody(`{"n":1}`, "X-Id", "a"), 200, recibo.Accepted)
	r.want("its next try", acmeBody(`{"n":1}`, "X-Id", "b"), 200, recibo.Duplicate)
	r.wantKept(1, 0)
}

func TestRule6KnownContentUnderAnotherUnsignedTypeIsHeld(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyFP, `type: "header:X-Type"`))
	r.want("an event", acmeBody(`{"n":1}`, "X-Type", "paid"), 200, recibo.Accepted)
	r.want("its content as another type", acmeBody(`{"n":1}`, "X-Type", "refunded"), 200, recibo.Held)
	r.wantReason("another type", recibo.OtherType)
	r.wantKept(1, 1)

	shared := newRig(t, acme(t, signsBody, keyFP, `type: "header:X-Type"`, "types_share_bodies: true"))
	shared.want("an event", acmeBody(`{"n":1}`, "X-Type", "paid"), 200, recibo.Accepted)
	shared.want("another type with equal bytes", acmeBody(`{"n":1}`, "X-Type", "shipped"), 200, recibo.Accepted)
	shared.want("the same type again", acmeBody(`{"n":1}`, "X-Type", "shipped"), 200, recibo.Duplicate)
}

func TestRule7SourcesRememberApartUnlessJoined(t *testing.T) {
	two := func(change func(a, b *recibo.Source)) (recibo.Source, recibo.Source) {
		a, b := acme(t, signsBody, keyID), acme(t, signsBody, keyID)
		b.Name = "acme-eu"
		b.Secrets = []recibo.Secret{recibo.NewSecret(acmeSecret + "-eu")}
		change(&a, &b)
		return a, b
	}
	eu := acmeSends(acmeSecret+"-eu", `{"id":"e1"}`, `{"id":"e1"}`).to("/in/acme-eu")

	a, b := two(func(*recibo.Source, *recibo.Source) {})
	apart := newRig(t, a, b)
	apart.want("an event at one address", acmeBody(`{"id":"e1"}`), 200, recibo.Accepted)
	apart.want("at the other", eu, 200, recibo.Accepted)

	a, b = two(func(a, b *recibo.Source) { a.Account, b.Account = "acct_1", "acct_1" })
	joined := newRig(t, a, b)
	joined.want("an event at one address", acmeBody(`{"id":"e1"}`), 200, recibo.Accepted)
	joined.want("at the other", eu, 200, recibo.Duplicate)

	a, b = two(func(a, b *recibo.Source) { a.Account, b.Account, a.Mode, b.Mode = "acct_1", "acct_1", "live", "test" })
	modes := newRig(t, a, b)
	modes.want("an event in live mode", acmeBody(`{"id":"e1"}`), 200, recibo.Accepted)
	modes.want("in test mode", eu, 200, recibo.Accepted)
}

func TestRule7ASourceKeepsItsMemoryOverARename(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyID))
	r.want("an event", acmeBody(`{"id":"e1"}`), 200, recibo.Accepted)
	renamed := acme(t, signsBody, keyID)
	renamed.ID, renamed.Name, renamed.Path = "acme", "acme-payments", "/in/acme"
	r.receiver = r.newReceiver(r.store, renamed)
	r.want("after the rename", acmeBody(`{"id":"e1"}`), 200, recibo.Duplicate)
}

func TestRule7JoinedSourcesMustAgree(t *testing.T) {
	for name, change := range map[string]func(b *recibo.Source){
		"another tenant":       func(b *recibo.Source) { b.Tenant, b.Scope = "other", recibo.DefaultTenant },
		"another kind of key":  func(b *recibo.Source) { b.Provider = acme(t, signsBody, keyFP).Provider },
		"another destinations": func(b *recibo.Source) { b.Destinations = []string{"billing"} },
	} {
		a, b := acme(t, signsBody, keyID), acme(t, signsBody, keyID)
		b.Name, a.Account, b.Account = "acme-eu", "acct_1", "acct_1"
		change(&b)
		if _, err := recibo.NewDirectory(a, b); err == nil || !strings.Contains(err.Error(), "joined") {
			t.Errorf("%s: NewDirectory = %v, want an error about joined sources", name, err)
		}
	}
}

func TestRule8ASecretServesOneMemory(t *testing.T) {
	a, b := acme(t, signsBody, keyID), acme(t, signsBody, keyID)
	b.Name = "acme-eu"
	_, err := recibo.NewDirectory(a, b)
	var wrong *recibo.SourceError
	if !errors.As(err, &wrong) || wrong.Source != "acme-eu" || strings.Contains(err.Error(), acmeSecret) {
		t.Errorf("one secret, two memories: %v; want an error about acme-eu that does not show the secret", err)
	}
	b.Tenant = "other"
	if _, err := recibo.NewDirectory(a, b); err == nil {
		t.Error("one secret, two tenants: NewDirectory succeeded")
	}
}

func TestRule8KnownContentOfAnotherTenantIsHeld(t *testing.T) {
	tenants := func(key string) *rig {
		a, b := acme(t, signsBody, key), acme(t, signsBody, key)
		a.Tenant, a.Scope, a.Account = recibo.DefaultTenant, "app", "app"
		b.Name, b.Tenant, b.Scope, b.Account = "acme-b", "b", "app", "app"
		return newRig(t, a, b)
	}
	r := tenants(keyFP)
	r.want("an event of one tenant", acmeBody(`{"n":1}`), 200, recibo.Accepted)
	r.want("replayed at another", acmeBody(`{"n":1}`).to("/in/acme-b"), 200, recibo.Held)
	r.wantReason("another tenant", recibo.OtherAccount)

	r = newRig(t, acme(t, signsBody, keyFP, `account: "header:X-Shop"`))
	r.want("an event of a shop", acmeBody(`{"n":1}`, "X-Shop", "a"), 200, recibo.Accepted)
	r.want("as another shop's", acmeBody(`{"n":1}`, "X-Shop", "b"), 200, recibo.Held)
	r.wantKept(1, 1)
}

func TestRule9AKeyOfAllCustomersIsBoundToAccounts(t *testing.T) {
	source := acme(t, signsBody, keyID, `account: "json:account"`, "shared_key: true")
	if _, err := recibo.NewDirectory(source); err == nil || !strings.Contains(err.Error(), "accounts") {
		t.Errorf("without accounts: %v, want an error that asks for them", err)
	}
	source.Accounts = []string{"mine"}
	r := newRig(t, source)
	r.want("mine", acmeBody(`{"id":"e1","account":"mine"}`), 200, recibo.Accepted)
	r.want("a stranger's", acmeBody(`{"id":"e2","account":"theirs"}`), 403, "")
	r.wantReason("a stranger's", recibo.WrongAccount)
	r.want("nobody's", acmeBody(`{"id":"e3"}`), 403, "")
	r.wantKept(1, 0)
}

func TestRule10OnlyTheConfiguredVariantCounts(t *testing.T) {
	source := acme(t, signsBody, keyID, "variants:", "  old:",
		`    signature: {scheme: hmac, hash: sha1, from: "header:X-Old", format: "{sig}", encoding: hex, secret: utf8, signed: "{body}"}`)
	r := newRig(t, source)
	stripped := acmeBody(`{"id":"e1"}`, "X-Old", "de7c9b85b8b78aa6bc8a7a36f70a90701c9db4d9")
	stripped.header.Del("X-Sig")
	r.want("only the old signature", stripped, 401, "")
	r.want("a wrong old signature beside a good one", acmeBody(`{"id":"e1"}`, "X-Old", "00"), 200, recibo.Accepted)
}

func TestRule14SendTimeIsHeldToTheToleranceBothWays(t *testing.T) {
	r := newRig(t, acme(t, signsTime, keyID, `time: {from: "header:X-Time", unit: s, kind: send}`, "cut: [time]"))
	now := r.clock()
	for _, c := range []struct {
		name    string
		at      time.Duration
		status  int
		verdict recibo.Verdict
		reason  recibo.Reason
	}{
		{"at the edge of the past", -5 * time.Minute, 200, recibo.Accepted, ""},
		{"beyond it", -5*time.Minute - time.Second, 400, "", recibo.TooOld},
		{"at the edge of the future", 5 * time.Minute, 200, recibo.Accepted, ""},
		{"beyond it", 5*time.Minute + time.Second, 400, "", recibo.TooNew},
	} {
		r.want(c.name, acmeTimed(now.Add(c.at), `{"id":"`+c.name+c.at.String()+`"}`), c.status, c.verdict)
		if c.reason != "" {
			r.wantReason(c.name, c.reason)
		}
	}
	r.wantKept(2, 0)
}

func TestRule14WhatIsLateSpendsNoKey(t *testing.T) {
	r := newRig(t, acme(t, signsTime, keyID, `time: {from: "header:X-Time", unit: s, kind: send}`, "cut: [time]"))
	captured := acmeTimed(r.clock(), `{"id":"e1"}`)
	r.advance(10 * time.Minute)
	r.want("a capture, late", captured, 400, "")
	r.want("a fresh copy", acmeTimed(r.clock(), `{"id":"e1"}`), 200, recibo.Accepted)
}

func TestRule14EventTimeBeyondTheHorizonGoesToReview(t *testing.T) {
	source := acme(t, signsTime, keyID, `time: {from: "header:X-Time", unit: s, kind: event, horizon: 96h}`)
	r := newRig(t, source)
	now := r.clock()
	r.want("an hour ago", acmeTimed(now.Add(-time.Hour), `{"id":"e1"}`), 200, recibo.Accepted)
	r.want("within the horizon", acmeTimed(now.Add(-95*time.Hour), `{"id":"e2"}`), 200, recibo.Accepted)
	r.want("beyond it", acmeTimed(now.Add(-97*time.Hour), `{"id":"e3"}`), 200, recibo.Held)
	r.wantReason("beyond the horizon", recibo.PastHorizon)
	r.wantKept(2, 1)
}

func TestRule21AHandshakeIsVerifiedFirst(t *testing.T) {
	slack := recibo.Source{Name: "slack", Provider: provider.MustLookup("slack"), Secrets: []recibo.Secret{recibo.NewSecret(acmeSecret)}}
	r := newRig(t, slack)
	body := `{"type":"url_verification","challenge":"3eZbrw1aBm2r"}`
	unsigned := sent{"/in/slack", body, map[string][]string{"X-Slack-Request-Timestamp": {"1800000000"}, "X-Slack-Signature": {"v0=00"}}}
	if got := r.want("a forged handshake", unsigned, 401, ""); strings.Contains(got.body, "3eZbrw1aBm2r") {
		t.Errorf("the forged challenge was answered: %s", got.body)
	}
	got := r.want("a handshake", slackSends(r.clock(), body), 200, "")
	if got.body != "3eZbrw1aBm2r" || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") ||
		got.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("answered %q as %v; want the challenge as text/plain, nosniff", got.body, got.header)
	}
	r.want("one that is no plain text", slackSends(r.clock(), `{"type":"url_verification","challenge":"<b>\u0000"}`), 200, recibo.Held)
	r.wantKept(0, 1)
}

func slackSends(at time.Time, body string) sent {
	text := acmeTimed(at, "").header.Get("X-Time")
	s := acmeSends(acmeSecret, "v0:"+text+":"+body, body, "X-Slack-Request-Timestamp", text)
	s.header.Set("X-Slack-Signature", "v0="+s.header.Get("X-Sig"))
	return s.to("/in/slack")
}

func TestRule22WhatVerifiedButCannotBeReadIsKeptForReview(t *testing.T) {
	source := acme(t, signsBody, keyID)
	source.Require = []string{"json:data.amount"}
	for name, c := range map[string]struct {
		body   string
		reason recibo.Reason
	}{
		"no JSON":              {`{"id":"e1"`, recibo.Unreadable},
		"two documents":        {`{"id":"e1","data":{"amount":1}}{}`, recibo.Unreadable},
		"an id twice":          {`{"id":"e1","id":"e2","data":{"amount":1}}`, recibo.Unreadable},
		"an id in two cases":   {`{"id":"e1","ID":"e2","data":{"amount":1}}`, recibo.Unreadable},
		"bytes not UTF-8":      {"{\"id\":\"e\xff\",\"data\":{\"amount\":1}}", recibo.Unreadable},
		"no id":                {`{"data":{"amount":1}}`, recibo.NoKey},
		"an id that is empty":  {`{"id":"","data":{"amount":1}}`, recibo.NoKey},
		"a path that is asked": {`{"id":"e1"}`, recibo.MissingField},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, source)
			r.want(name, acmeBody(c.body), 200, recibo.Held)
			r.wantReason(name, c.reason)
			r.wantKept(0, 1)
			r.want("its copy", acmeBody(c.body), 200, recibo.Held)
			r.wantKept(0, 1)
		})
	}
	r := newRig(t, source)
	r.want("without the path", acmeBody(`{"id":"e1"}`), 200, recibo.Held)
	r.want("review spends no key", acmeBody(`{"id":"e1","data":{"amount":1}}`), 200, recibo.Accepted)
}

func TestRule22OneBadItemDoesNotFailItsNeighbours(t *testing.T) {
	r := newRig(t, acme(t, signsBody, `items: "json:[]"`, `key: {kind: id, from: ["json:[].id"], else: fingerprint}`))
	r.want("a batch", acmeBody(`[{"id":"a"},{"id":"a"},{"id":7},{"x":1}]`), 200, recibo.Accepted)
	r.want("its copy", acmeBody(`[{"id":"a"},{"id":"a"},{"id":7},{"x":1}]`), 200, recibo.Duplicate)
	r.want("one new among known", acmeBody(`[{"id":"a"},{"id":"b"}]`), 200, recibo.Accepted)
	receipts, _ := r.kept()
	if receipts != 4 {
		t.Errorf("%d receipts, want 4: a, 7, the one by its bytes, and b", receipts)
	}
}
