package crash

import (
	"context"
	"crypto/hmac"
	crand "crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/recibohq/recibo"
)

// stripeSecret signs what senders send.
const stripeSecret = "whsec_of_the_crash_check_0123456789"

// newKey is the key of an event that nobody has sent.
func newKey() recibo.Key { return recibo.Key("id:evt_" + crand.Text()) }

// eventBody is the event of a key: its bytes are the same in every copy.
func eventBody(key recibo.Key) string {
	id := strings.TrimPrefix(string(key), "id:")
	return fmt.Sprintf(`{"id":%q,"object":"event","created":1764600000,"livemode":true,"type":"invoice.paid",`+
		`"data":{"object":{"id":"in_%s","object":"invoice","amount_paid":1990}}}`, id, id)
}

// newRequest is a copy of the event as Stripe sends it: each is signed at its own time.
func newRequest(ctx context.Context, url string, key recibo.Key) (*http.Request, error) {
	body := eventBody(key)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	at := time.Now().Unix()
	mac := hmac.New(sha256.New, []byte(stripeSecret))
	_, _ = fmt.Fprintf(mac, "%d.%s", at, body)
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("Stripe-Signature", fmt.Sprintf("t=%d,v1=%x", at, mac.Sum(nil)))
	return req, nil
}

// send sends one copy over client. ok is false if nobody listened: the request had no effect and is no part of the history.
func send(ctx context.Context, client *http.Client, url string, key recibo.Key) (a answer, ok bool, err error) {
	req, err := newRequest(ctx, url, key)
	if err != nil {
		return answer{}, false, err
	}
	var began atomic.Bool
	trace := &httptrace.ClientTrace{GotFirstResponseByte: func() { began.Store(true) }}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	a = answer{key: key, sent: time.Now()}
	resp, err := client.Do(req)
	a.at = time.Now()
	if err != nil {
		a.cut = began.Load()
		return a, !errors.Is(err, syscall.ECONNREFUSED), nil
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	a.at, a.cut = time.Now(), err != nil
	a.status, a.verdict = resp.StatusCode, recibo.Verdict(resp.Header.Get("Recibo-Verdict"))
	a.receipt = resp.Header.Get("Recibo-Receipt")
	return a, true, nil
}

// newClient keeps its connections open, one for each that it needs at once.
func newClient(t *testing.T) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 200, ExpectContinueTimeout: 5 * time.Second}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 5 * time.Second}
}

// How the senders send.
const (
	senders  = 8
	pause    = 40 * time.Millisecond // the longest between two events: what they bring must also be worked on
	again    = 20 * time.Millisecond // before a lost or refused one is sent again
	remember = 100                   // events of which copies come in between
)

// A load is senders that send until they are stopped, to gateways that are up or down.
type load struct {
	urls     []string
	onlyOnce bool // send each event once, no copies and none again

	client  *http.Client
	mu      sync.Mutex
	recent  []recibo.Key
	answers []answer
	err     error
	running sync.WaitGroup
	cancel  context.CancelFunc
}

// start starts the senders; stop waits for them.
func (l *load) start(t *testing.T) {
	t.Helper()
	l.client = newClient(t)
	ctx, cancel := context.WithCancel(t.Context())
	l.cancel = cancel
	for range senders {
		l.running.Go(func() { l.run(ctx) })
	}
	t.Cleanup(l.wait)
}

func (l *load) run(ctx context.Context) {
	for ctx.Err() == nil {
		l.deliver(ctx, l.next())
		time.Sleep(rand.N(pause))
	}
}

// next is a fresh event, or in three of ten cases a recent one, which may be on its way at this moment.
func (l *load) next() recibo.Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.recent) > 0 && !l.onlyOnce && rand.IntN(10) < 3 {
		return l.recent[rand.IntN(len(l.recent))]
	}
	key := newKey()
	l.recent = append(l.recent, key)
	l.recent = l.recent[max(0, len(l.recent)-remember):]
	return key
}

// deliver sends the event until it is taken, but one sender in ten gives up: what it leaves behind may be kept or not.
func (l *load) deliver(ctx context.Context, key recibo.Key) {
	for {
		a, ok, err := send(context.WithoutCancel(ctx), l.client, l.urls[rand.IntN(len(l.urls))], key)
		l.enter(a, ok, err)
		if err != nil || a.acknowledged() || ctx.Err() != nil || l.onlyOnce || (ok && rand.IntN(10) == 0) {
			return
		}
		time.Sleep(again)
	}
}

func (l *load) enter(a answer, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok {
		l.answers = append(l.answers, a)
	}
	l.err = errors.Join(l.err, err)
}

func (l *load) wait() {
	l.cancel()
	l.running.Wait()
}

// stop ends the senders and adds what they were answered to a history.
func (l *load) stop(t *testing.T, h *history) {
	t.Helper()
	l.wait()
	if l.err != nil {
		t.Fatal(l.err)
	}
	h.answers = append(h.answers, l.answers...)
}
