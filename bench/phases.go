package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

func (b *bench) baseline(ctx context.Context) (float64, error) {
	requests, err := signBatch(1000, bodySize, time.Now())
	if err != nil {
		return 0, err
	}
	server := b.servers["mac"]
	before, err := server.ask(order{})
	if err != nil {
		return 0, err
	}
	used := ownCPU()
	t, err := b.send(ctx, server, &load{requests: requests, repeat: true, want: 200, lasting: b.plan.phase})
	if err != nil {
		return 0, err
	}
	used = ownCPU() - used
	after, err := server.ask(order{})
	b.generator.used += used
	b.generator.total += used + after.since(before).CPU
	b.generator.requests += t.sent
	return t.rate(), err
}

func (b *bench) accept(subject string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		server := b.servers[subject]
		if b.plan.profiles != "" {
			file := fmt.Sprintf("accept-%s-%d.pprof", subject, len(b.rates["accept_"+subject])+1)
			if _, err := server.ask(order{Profile: filepath.Join(b.plan.profiles, file)}); err != nil {
				return 0, err
			}
		}
		t, err := b.fresh(ctx, subject, b.plan.phase, bodySize)
		if err != nil {
			return 0, err
		}
		_, err = server.ask(order{Stop: b.plan.profiles != ""})
		return t.rate(), err
	}
}

// fresh sends new events only, and checks that each was accepted.
func (b *bench) fresh(ctx context.Context, subject string, lasting time.Duration, size int) (*tally, error) {
	n := int(2*b.guess[subject]*lasting.Seconds()) + 4*connections
	t, err := b.sendFresh(ctx, subject, n, size, &load{lasting: lasting})
	if err == nil {
		b.guess[subject] = max(b.guess[subject], t.rate())
	}
	return t, err
}

func (b *bench) sendFresh(ctx context.Context, subject string, n, size int, l *load) (*tally, error) {
	requests, err := signBatch(n, size, time.Now())
	if err != nil {
		return nil, err
	}
	server := b.servers[subject]
	before, err := server.ask(order{})
	if err != nil {
		return nil, err
	}
	l.requests, l.want = requests, 200
	t, err := b.send(ctx, server, l)
	if err != nil {
		return nil, err
	}
	known := *requests
	known.stamps = requests.stamps[:t.sent]
	b.known[subject] = &known
	after, err := server.ask(order{})
	if got := after.since(before); err == nil && got.Records > 0 && got.Accepted < int64(t.sent-t.others) {
		err = fmt.Errorf("%d of %d fresh events were accepted", got.Accepted, t.sent-t.others)
	}
	return t, err
}

// send runs a load, in which nearly all answers must be those that are wanted.
func (*bench) send(ctx context.Context, to *server, l *load) (*tally, error) {
	l.to = to.address
	t, err := l.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("load on server %s: %w", to.subject, err)
	}
	if 20*t.others > t.sent {
		return nil, fmt.Errorf("server %s answered %d of %d requests otherwise than %d, such as %d",
			to.subject, t.others, t.sent, l.want, t.other)
	}
	return t, nil
}

// duplicate sends again what the subject's last phase had accepted.
func (b *bench) duplicate(subject string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		t, n, err := b.resend(ctx, subject, b.known[subject], 200)
		if err == nil && (n.Accepted > 0 || n.Records != int64(t.sent)) {
			err = fmt.Errorf("%d copies: %d calls of the store, %d accepted", t.sent, n.Records, n.Accepted)
		}
		return t.rate(), err
	}
}

// refuse sends known events with bad signatures.
func (b *bench) refuse(ctx context.Context) (float64, error) {
	t, n, err := b.resend(ctx, "sqlite", b.known["sqlite"].forged(), 401)
	b.single["refuse_store_calls"] += float64(n.Records)
	return t.rate(), err
}

func (b *bench) resend(ctx context.Context, subject string, requests *batch, want int) (*tally, counts, error) {
	server := b.servers[subject]
	before, err := server.ask(order{})
	if err != nil {
		return &tally{}, counts{}, err
	}
	t, err := b.send(ctx, server, &load{requests: requests, repeat: true, want: want, lasting: b.plan.phase})
	if err != nil {
		return &tally{}, counts{}, err
	}
	after, err := server.ask(order{})
	return t, after.since(before), err
}

// life is the rate of whole lives: accepts at full rate for the phase's time while a worker works, then waits until the
// worker has settled the last. The receipts, by the time from the first request to the last one settled.
func (b *bench) life(subject string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		server := b.servers[subject]
		if err := b.settled(ctx, server); err != nil {
			return 0, err
		}
		before, err := server.ask(order{})
		if err != nil {
			return 0, err
		}
		t, err := b.fresh(ctx, subject, b.plan.phase, bodySize)
		if err != nil {
			return 0, err
		}
		err = b.settled(ctx, server)
		elapsed := time.Since(t.began)
		after, askErr := server.ask(order{})
		return float64(after.since(before).Settled) / elapsed.Seconds(), errors.Join(err, askErr)
	}
}

// settled waits until nothing is left to do: all that was accepted is settled.
func (b *bench) settled(ctx context.Context, server *server) error {
	deadline := time.Now().Add(20*b.plan.phase + grace)
	for {
		n, err := server.ask(order{})
		if err != nil || n.Settled >= n.Accepted {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("server %s: %d of %d receipts are settled", server.subject, n.Settled, n.Accepted)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (b *bench) naive(subject string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		t, err := b.fresh(ctx, subject, b.plan.phase, bodySize)
		if err != nil {
			return 0, err
		}
		return t.rate(), nil
	}
}
