package recibo_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
	"github.com/recibohq/recibo/sqlite"
)

const acmeSecret = "acme-secret-of-32-bytes-or-so-ok"

// A rig is a receiver on a real store, with a clock that the test sets.
type rig struct {
	t        *testing.T
	store    *sqlite.Store
	receiver *recibo.Receiver
	log      bytes.Buffer
	mu       sync.Mutex
	now      time.Time
}

func newRig(t *testing.T, sources ...recibo.Source) *rig {
	t.Helper()
	r := &rig{t: t, store: openSQLite(t), now: time.Unix(1_800_000_000, 0)}
	r.receiver = r.newReceiver(r.store, sources...)
	return r
}

func (r *rig) newReceiver(store recibo.Store, sources ...recibo.Source) *recibo.Receiver {
	r.t.Helper()
	dir, err := recibo.NewDirectory(sources...)
	if err != nil {
		r.t.Fatal(err)
	}
	receiver, err := recibo.NewReceiver(store, dir, &recibo.ReceiverOptions{Now: r.clock, Logger: slog.New(slog.NewTextHandler(&r.log, nil))})
	if err != nil {
		r.t.Fatal(err)
	}
	return receiver
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) advance(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

// acme is a home-made sender from the lines that describe it.
func acme(t *testing.T, lines ...string) recibo.Source {
	t.Helper()
	p, err := provider.Parse("acme.yaml", []byte("provider: acme\ntitle: Acme\n"+strings.Join(lines, "\n")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return recibo.Source{Name: "acme", Provider: p, Secrets: []recibo.Secret{recibo.NewSecret(acmeSecret)}}
}

// Lines of acme's descriptions.
const (
	signsBody = `signature: {scheme: hmac, hash: sha256, from: "header:X-Sig", format: "{sig}", encoding: hex, secret: utf8, signed: "{body}"}`
	signsTime = `signature: {scheme: hmac, hash: sha256, from: "header:X-Sig", format: "{sig}", encoding: hex, secret: utf8, signed: "{header:X-Time}.{body}"}`
	keyID     = `key: {kind: id, from: ["json:id"]}`
	keyFP     = `key: {kind: fingerprint}`
)

// A sent is a request on its way, with a body that acme signed.
type sent struct {
	path   string
	body   string
	header http.Header
}

// acmeSends is a request as acme signs it: signed is what the MAC is over. Headers come in pairs.
func acmeSends(secret, signed, body string, headers ...string) sent {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	h := http.Header{"X-Sig": {hex.EncodeToString(mac.Sum(nil))}}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return sent{path: "/in/acme", body: body, header: h}
}

func acmeBody(body string, headers ...string) sent {
	return acmeSends(acmeSecret, body, body, headers...)
}

func acmeTimed(at time.Time, body string) sent {
	text := strconv.FormatInt(at.Unix(), 10)
	return acmeSends(acmeSecret, text+"."+body, body, "X-Time", text)
}

func (s sent) to(path string) sent { s.path = path; return s }

// An answer is what came back.
type answer struct {
	status           int
	verdict, receipt string
	header           http.Header
	body             string
}

func (r *rig) send(s sent) answer {
	r.t.Helper()
	req := httptest.NewRequest(http.MethodPost, s.path, strings.NewReader(s.body))
	req.Header = s.header
	return r.do(r.receiver, req)
}

func (r *rig) do(h http.Handler, req *http.Request) answer {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return answer{w.Code, w.Header().Get("Recibo-Verdict"), w.Header().Get("Recibo-Receipt"), w.Header(), w.Body.String()}
}

// want sends and compares the answer.
func (r *rig) want(what string, s sent, status int, verdict recibo.Verdict) answer {
	r.t.Helper()
	got := r.send(s)
	if got.status != status || got.verdict != string(verdict) {
		r.t.Errorf("%s: answered %d %q, want %d %q\nlog: %s", what, got.status, got.verdict, status, verdict, r.lastLog())
	}
	return got
}

func (r *rig) lastLog() string {
	lines := strings.Split(strings.TrimSpace(r.log.String()), "\n")
	return lines[len(lines)-1]
}

// wantReason checks why the last delivery was decided as it was; only the log says.
func (r *rig) wantReason(what string, why recibo.Reason) {
	r.t.Helper()
	if !strings.Contains(r.lastLog(), "reason="+string(why)) {
		r.t.Errorf("%s: reason is not %s in: %s", what, why, r.lastLog())
	}
}

// kept counts receipts and review items.
func (r *rig) kept() (receipts, reviews int) {
	r.t.Helper()
	counts, err := r.store.Counts(context.Background(), recibo.DefaultTenant)
	if err != nil {
		r.t.Fatal(err)
	}
	items, err := r.store.Reviews(context.Background(), recibo.DefaultTenant, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, n := range counts {
		receipts += n
	}
	return receipts, len(items)
}

func (r *rig) wantKept(receipts, reviews int) {
	r.t.Helper()
	gotReceipts, gotReviews := r.kept()
	if gotReceipts != receipts || gotReviews != reviews {
		r.t.Errorf("kept %d receipts and %d review items, want %d and %d", gotReceipts, gotReviews, receipts, reviews)
	}
}

func TestReceiverAcceptsOnceAndAnswersCopies(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyID))
	first := r.want("the event", acmeBody(`{"id":"e1"}`), 200, recibo.Accepted)
	second := r.want("its copy", acmeBody(`{"id":"e1"}`), 200, recibo.Duplicate)
	if first.receipt == "" || first.receipt != second.receipt {
		t.Errorf("receipts are %q and %q, want the same", first.receipt, second.receipt)
	}
	if first.body != "" || first.header.Get("Content-Length") != "0" {
		t.Errorf("the answer has a body %q (length %q); a body can be an instruction", first.body, first.header.Get("Content-Length"))
	}
	r.wantKept(1, 0)
}

func TestReceiverRefusesBadSignaturesAndKeepsNothing(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyID))
	good := acmeBody(`{"id":"e1"}`).header.Get("X-Sig")
	for name, values := range map[string][]string{
		"missing":         nil,
		"empty":           {""},
		"of another body": {acmeBody(`{"id":"e2"}`).header.Get("X-Sig")},
		"repeated":        {good, good},
		"good and bad":    {good, strings.Repeat("0", 64)},
		"cut short":       {good[:8]},
		"with a blank":    {good + " x"},
		"not hex":         {strings.Repeat("z", 64)},
		"not ASCII":       {"é" + good},
		"oversized":       {good + strings.Repeat("0", 9<<10)},
	} {
		got := r.want(name, sent{"/in/acme", `{"id":"e1"}`, http.Header{"X-Sig": values}}, 401, "")
		if strings.Contains(got.body, "signature") || got.receipt != "" || !strings.Contains(got.body, `"instance":"dlv_`) {
			t.Errorf("%s: answered %s %s; want the delivery's id and not what was wrong", name, got.body, got.receipt)
		}
	}
	r.wantKept(0, 0)
}

func TestReceiverBoundsTheBody(t *testing.T) {
	source := acme(t, signsBody, keyID)
	source.MaxBody = 1000
	r := newRig(t, source)
	huge := httptest.NewRequest(http.MethodPost, "/in/acme", unreadable{t})
	huge.ContentLength = 1001
	if got := r.do(r.receiver, huge); got.status != 413 || got.header.Get("Connection") != "close" {
		t.Errorf("a declared length over the limit: answered %d, want 413 before reading, and the connection closed", got.status)
	}
	chunked := httptest.NewRequest(http.MethodPost, "/in/acme", strings.NewReader(strings.Repeat("x", 1001)))
	chunked.ContentLength = -1
	if got := r.do(r.receiver, chunked); got.status != 413 {
		t.Errorf("a chunked body over the limit: answered %d, want 413", got.status)
	}
	r.want("a body of the limit", acmeBody(`{"id":"e1","x":"`+strings.Repeat("x", 1000-18)+`"}`), 200, recibo.Accepted)
	r.want("an empty body", acmeSends(acmeSecret, "", ""), 200, recibo.Held)
}

// unreadable fails the test when it is read.
type unreadable struct{ t *testing.T }

func (u unreadable) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestReceiverNamesAMiddlewareThatReadTheBody(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyID))
	eats := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		r.receiver.ServeHTTP(w, req)
	})
	s := acmeBody(`{"id":"e1"}`)
	req := httptest.NewRequest(http.MethodPost, s.path, strings.NewReader(s.body))
	req.Header = s.header
	got := r.do(eats, req)
	if got.status != 503 {
		t.Errorf("answered %d, want 503: it is our own fault", got.status)
	}
	r.wantReason("a body that was read", recibo.BodyAlreadyRead)
	if !strings.Contains(r.lastLog(), "middleware") {
		t.Errorf("the log does not name the middleware: %s", r.lastLog())
	}
}

func TestReceiverKnowsItsPathsAndMethods(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyID))
	for _, path := range []string{"/in/acme/", "//in//acme", "/in/acme"} {
		r.want(path, acmeBody(`{"id":"`+path+`"}`).to(path), 200, recibo.Accepted)
	}
	for _, path := range []string{"/", "/in", "/in/acme/x", "/in/ACME", "/in/%61cme", "/in/..%2fin/acme", "/in/acme%2f"} {
		r.want(path, acmeBody(`{"id":"e2"}`).to(path), 404, "")
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		got := r.do(r.receiver, httptest.NewRequest(method, "/in/acme", http.NoBody))
		if got.status != 405 || got.header.Get("Allow") != "POST" {
			t.Errorf("%s: answered %d with Allow %q, want 405 and POST", method, got.status, got.header.Get("Allow"))
		}
	}
}

// failing is a store that cannot record.
type failing struct {
	recibo.Store
	err error
}

func (f failing) Record(ctx context.Context, _ *recibo.Recording) ([]recibo.Recorded, error) {
	if f.err == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, f.err
}

func TestReceiverAnswers503WhenTheStoreCannot(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		reason recibo.Reason
	}{
		"down":                {errors.New("connection refused"), recibo.StoreFailed},
		"full":                {recibo.ErrStoreFull, recibo.StoreFull},
		"closed":              {recibo.ErrStoreClosed, recibo.StoreFailed},
		"slow":                {nil, recibo.StoreFailed},
		"of unknown outcome":  {errors.New("unexpected EOF after COMMIT"), recibo.StoreFailed},
		"failing by a Reason": {recibo.BadSignature, recibo.StoreFailed}, // must not become the sender's fault
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, acme(t, signsBody, keyID))
			r.receiver = r.newReceiver(failing{r.store, c.err}, acme(t, signsBody, keyID))
			got := r.want(name, acmeBody(`{"id":"e1"}`), 503, "")
			r.wantReason(name, c.reason)
			if wait, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || wait < 5 || wait > 50 {
				t.Errorf("Retry-After %q, want 5 to 50 seconds", got.header.Get("Retry-After"))
			}
			if got.body != "" {
				t.Errorf("answered a body %q, want none", got.body)
			}
		})
	}
}

func TestReceiverDrains(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyID))
	r.receiver.Drain()
	got := r.want("while draining", acmeBody(`{"id":"e1"}`), 503, "")
	if got.header.Get("Connection") != "close" {
		t.Errorf("Connection is %q, want close", got.header.Get("Connection"))
	}
}

func TestReceiverStoresOnlyAllowedHeaders(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyID))
	got := r.send(acmeBody(`{"id":"e1"}`, "Authorization", "Bearer canary", "Cookie", "canary", "Content-Type", "application/json"))
	leased, err := r.store.Lease(t.Context(), recibo.LeaseQuery{Max: 1, For: time.Minute})
	if err != nil || len(leased.Leases) != 1 {
		t.Fatalf("lease of %s: %+v, %v", got.receipt, leased, err)
	}
	if want := `{"Content-Type":"application/json"}`; string(leased.Leases[0].Receipt.Header) != want {
		t.Errorf("stored headers %s, want %s", leased.Leases[0].Receipt.Header, want)
	}
}

func TestReceiverWritesOneLinePerDecision(t *testing.T) {
	r := newRig(t, acme(t, signsBody, keyID, `type: "json:type"`))
	got := r.send(acmeBody(`{"id":"e1","type":"paid"}`, "X-Request-Id", "req-7"))
	line := r.log.String()
	if strings.Count(line, "\n") != 1 {
		t.Errorf("logged %d lines, want 1: %s", strings.Count(line, "\n"), line)
	}
	for _, want := range []string{"delivery=dlv_", "request_id=req-7", "receipt=" + got.receipt, "tenant=default", "source=acme",
		"type=paid", "verdict=accepted", "status=200"} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in: %s", want, line)
		}
	}
	if strings.Contains(line, acmeSecret) || strings.Contains(line, "X-Sig") {
		t.Errorf("the log shows what it must not: %s", line)
	}
}

// panics is a verifier with a bug.
type panics struct{ recibo.Verifier }

func (panics) Verify(context.Context, *recibo.Delivery) (*recibo.Verified, error) { panic("nil map") }

type panicProvider struct{ recibo.Provider }

func (p panicProvider) Bind(s *recibo.Source) (recibo.Verifier, error) {
	v, err := p.Provider.Bind(s)
	return panics{v}, err
}

func TestReceiverAnswers503ForItsOwnBug(t *testing.T) {
	source := acme(t, signsBody, keyID)
	source.Provider = panicProvider{source.Provider}
	r := newRig(t, source)
	r.want("a panic", acmeBody(`{"id":"e1"}`), 503, "")
	r.wantReason("a panic", recibo.Fault)
}

func TestDirectoryRefusesWhatCannotWork(t *testing.T) {
	with := func(change func(*recibo.Source)) recibo.Source {
		s := acme(t, signsBody, keyID)
		change(&s)
		return s
	}
	for _, c := range []struct{ name, says string }{
		{"no secret", "no secret"}, {"an empty secret", "empty"}, {"a short secret", "fewer than 16"}, {"no name", "no name"},
		{"no provider", "no provider"}, {"an unknown variant", "variant"}, {"an unknown order", "order"}, {"an unknown parameter", "parameter"},
	} {
		_, err := recibo.NewDirectory(with(func(s *recibo.Source) {
			switch c.name {
			case "no secret":
				s.Secrets = nil
			case "an empty secret":
				s.Secrets = []recibo.Secret{{}}
			case "a short secret":
				s.Secrets = []recibo.Secret{recibo.NewSecret("short")}
			case "no name":
				s.Name = ""
			case "no provider":
				s.Provider = nil
			case "an unknown variant":
				s.Variant = "v9"
			case "an unknown order":
				s.Order = "sorted"
			case "an unknown parameter":
				s.Params = map[string]string{"colour": "red"}
			}
		}))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: NewDirectory = %v, want an error that says %q", c.name, err, c.says)
		}
	}
	if _, err := recibo.NewDirectory(); err == nil {
		t.Error("NewDirectory without sources succeeded")
	}
}
