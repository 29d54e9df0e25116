package crash

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// shopSecret signs what the gateway forwards.
var shopSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("the shop behind a killed gateway"))

// A shop is the application behind the gateway and the ledger of effects: it lives in the test's process, which nobody
// kills. It acts once per Idempotency-Key, as the README asks of an application.
type shop struct {
	url      string
	verifier recibo.Verifier
	manner   func() manner // of the next call

	mu          sync.Mutex
	calls, acts []call
	acted       map[string]bool
	odd         []string
}

// A manner is how the shop takes a call.
type manner int

const (
	obliges   manner = iota
	refuses          // 500 and no act
	regrets          // acts, then 500
	hangsUp          // acts, then drops the connection
	holdsBack        // acts, then says nothing until the caller hangs up
)

// moody makes most of the cases in which the gateway cannot know what has happened.
func moody() manner {
	switch n := rand.IntN(100); {
	case n < 8:
		return refuses
	case n < 12:
		return regrets
	case n < 16:
		return hangsUp
	default:
		return obliges
	}
}

func polite() manner { return obliges }

func newShop(t *testing.T, manner func() manner) *shop {
	t.Helper()
	verifier, err := provider.MustLookup("standard-webhooks").Bind(&recibo.Source{
		Name: "recibo", Secrets: []recibo.Secret{recibo.NewSecret(shopSecret)},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{verifier: verifier, manner: manner, acted: map[string]bool{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL + "/webhooks"
	return s
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the gateway died while it sent
	}
	c := call{recibo.Key(r.Header.Get("Recibo-Key")), r.Header.Get("Idempotency-Key")}
	if err := s.examine(r, c, body); err != nil {
		s.note(err)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	time.Sleep(time.Millisecond + rand.N(29*time.Millisecond))
	switch how := s.manner(); how {
	case refuses:
		s.enter(c, false)
		w.WriteHeader(http.StatusInternalServerError)
	default:
		s.enter(c, true)
		how.answer(w, r)
	}
}

// answer is what the gateway gets to see of a call on which the shop has acted.
func (how manner) answer(w http.ResponseWriter, r *http.Request) {
	switch how {
	case regrets:
		w.WriteHeader(http.StatusInternalServerError)
	case hangsUp:
		panic(http.ErrAbortHandler)
	case holdsBack:
		<-r.Context().Done()
	}
}

// examine: the call is recibo's, and it brings the bytes that the sender sent.
func (s *shop) examine(r *http.Request, c call, body []byte) error {
	d := &recibo.Delivery{Method: r.Method, Path: r.URL.Path, Header: r.Header, Body: body}
	if _, err := s.verifier.Verify(r.Context(), d); err != nil {
		return fmt.Errorf("the shop was called for %s with a signature that does not verify: %w", c.key, err)
	}
	if string(body) != eventBody(c.key) {
		return fmt.Errorf("the shop was called for %s with other bytes than were sent: %s", c.key, body)
	}
	return nil
}

// enter writes the call into the ledger, and the act if it is to be one and the first under its Idempotency-Key.
func (s *shop) enter(c call, act bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	if act && !s.acted[c.token] {
		s.acted[c.token] = true
		s.acts = append(s.acts, c)
	}
}

func (s *shop) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.odd = append(s.odd, err.Error())
}

// addTo adds the ledger to a history.
func (s *shop) addTo(h *history) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.calls, h.acts, h.odd = append(h.calls, s.calls...), append(h.acts, s.acts...), append(h.odd, s.odd...)
}
