package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// demoAtOnce is how many copies of the second payment are sent at the same moment.
const demoAtOnce = 20

// A demoSender plays the payment provider, and a forger.
type demoSender struct {
	url  string
	shop *demoShop
}

// A demoAnswer is what came back for one request.
type demoAnswer struct {
	status  int
	verdict string
}

// sendAll sends everything and watches what the shop does.
func (s *demoSender) sendAll(ctx context.Context) (*demoReport, error) {
	report := &demoReport{}
	payment, err := s.payment("evt_" + rand.Text())
	if err != nil {
		return nil, err
	}
	for range 5 {
		if err := s.send(ctx, payment, report.EqualCopies.count); err != nil {
			return nil, err
		}
	}
	if err := s.attack(ctx, payment, report); err != nil {
		return nil, err
	}
	second, err := s.atOnce(ctx, report)
	if err != nil {
		return nil, err
	}
	if err := s.late(ctx, payment, report); err != nil {
		return nil, err
	}
	s.shop.await(ctx, 2)
	time.Sleep(300 * time.Millisecond) // time for a charge too many to arrive
	report.EqualCopies.Actions = s.shop.charged(payment.event)
	report.Concurrent.Actions = s.shop.charged(second)
	report.judge(s.shop.total())
	return report, nil
}

// attack sends the payment signed with other secrets, and with a byte changed under the right signature.
func (s *demoSender) attack(ctx context.Context, payment *demoRequest, report *demoReport) error {
	for _, secret := range []string{demoForgedSecret, demoSecret + "x", demoSecret[:len(demoSecret)-1]} {
		forged, err := s.sign(payment.event, payment.body, secret)
		if err != nil {
			return err
		}
		if err := s.send(ctx, forged, report.Forged.count); err != nil {
			return err
		}
	}
	for _, edit := range [][2]string{{`"amount":1990`, `"amount":1`}, {payment.event, "evt_" + rand.Text()}} {
		changed := *payment
		changed.body = []byte(strings.Replace(string(payment.body), edit[0], edit[1], 1))
		if err := s.send(ctx, &changed, report.Changed.count); err != nil {
			return err
		}
	}
	return nil
}

// atOnce sends copies of a second payment at the same moment, each on its own connection.
func (s *demoSender) atOnce(ctx context.Context, report *demoReport) (event string, err error) {
	payment, err := s.payment("evt_" + rand.Text())
	if err != nil {
		return "", err
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	var failed error
	start := make(chan struct{})
	for range demoAtOnce {
		all.Go(func() {
			<-start
			got, err := payment.do(ctx, s.url)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
				return
			}
			report.Concurrent.count(got)
		})
	}
	close(start)
	all.Wait()
	return payment.event, failed
}

// late sends the captured request again once its window is over.
func (s *demoSender) late(ctx context.Context, payment *demoRequest, report *demoReport) error {
	select {
	case <-time.After(time.Until(payment.at.Add(demoWindow + 1100*time.Millisecond))): // signed times are whole seconds
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.send(ctx, payment, report.Late.count)
}

func (s *demoSender) send(ctx context.Context, r *demoRequest, count func(demoAnswer)) error {
	got, err := r.do(ctx, s.url)
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	count(got)
	return nil
}

// payment is a payment as Stripe would tell of it.
func (s *demoSender) payment(event string) (*demoRequest, error) {
	body, _, err := provider.MustLookup("stripe").Sample("payment_intent.succeeded", event, time.Now())
	if err != nil {
		return nil, err
	}
	return s.sign(event, body, demoSecret)
}

func (s *demoSender) sign(event string, body []byte, secret string) (*demoRequest, error) {
	now := time.Now()
	signed, err := provider.MustLookup("stripe").Sign(&provider.SignRequest{
		Secret: recibo.NewSecret(secret), URL: s.url, Body: body, ID: event, Now: now,
	})
	if err != nil {
		return nil, err
	}
	return &demoRequest{event: event, header: signed.Header, body: signed.Body, at: now}, nil
}

// A demoRequest is a signed request that can be sent again and again, as whoever captured it would.
type demoRequest struct {
	event  string
	header http.Header
	body   []byte
	at     time.Time
}

func (r *demoRequest) do(ctx context.Context, url string) (demoAnswer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(r.body))
	if err != nil {
		return demoAnswer{}, err
	}
	req.Header = r.header.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return demoAnswer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body)
	return demoAnswer{resp.StatusCode, resp.Header.Get("Recibo-Verdict")}, err
}
