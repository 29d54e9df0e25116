package main

import (
	"context"
	"fmt"
	"time"
)

// send runs a load, in which nearly all answers must be those that are wanted.
func (*bench) send(ctx context.Context, to *server, l *load) (*tally, error) {
	before, err := to.ask(order{})
	if err != nil {
		return nil, err
	}
	l.to = to.address
	own, all, began := ownCPU(), machineCPU(), time.Now()
	t, err := l.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("load on server %s: %w", to.subject, err)
	}
	t.generatorCPU, t.machineCPU, t.wall = ownCPU()-own, machineCPU()-all, time.Since(began)
	after, err := to.ask(order{})
	t.server = after.since(before)
	if err == nil && 20*t.strays > t.sent {
		err = fmt.Errorf("server %s answered %d of %d requests otherwise than %d, such as %d",
			to.subject, t.strays, t.sent, l.want, t.stray)
	}
	return t, err
}

// repeat sends the same events over and over to a server that does not care.
func (b *bench) repeat(ctx context.Context, subject string) (*tally, error) {
	requests, err := signBatch(1000, bodySize, time.Now())
	if err != nil {
		return nil, err
	}
	return b.send(ctx, b.servers[subject], &load{requests: requests, repeat: true, want: 200, lasting: b.plan.phase})
}

func (b *bench) accept(ctx context.Context, subject string) (*tally, error) {
	return b.fresh(ctx, subject, b.plan.phase, bodySize)
}

// fresh sends new events only, as fast as they are answered.
func (b *bench) fresh(ctx context.Context, subject string, lasting time.Duration, size int) (*tally, error) {
	n := int(2*b.guess[subject]*lasting.Seconds()) + 4*connections
	t, err := b.sendFresh(ctx, subject, n, size, &load{lasting: lasting})
	if err == nil {
		b.guess[subject] = max(b.guess[subject], t.rate())
	}
	return t, err
}

// sendFresh completes a load with n new events, and checks that each that was sent was accepted.
func (b *bench) sendFresh(ctx context.Context, subject string, n, size int, l *load) (*tally, error) {
	requests, err := signBatch(n, size, time.Now())
	if err != nil {
		return nil, err
	}
	l.requests, l.want = requests, 200
	t, err := b.send(ctx, b.servers[subject], l)
	if err != nil {
		return nil, err
	}
	known := *requests
	known.stamps = requests.stamps[:t.sent]
	b.known[subject] = &known
	if got := &t.server; got.Records > 0 && got.Accepted < int64(t.sent-t.strays) {
		return nil, fmt.Errorf("%d of %d fresh events were accepted", got.Accepted, t.sent-t.strays)
	}
	return t, nil
}

// duplicate sends again what the subject's last phase had accepted.
func (b *bench) duplicate(ctx context.Context, subject string) (*tally, error) {
	t, err := b.send(ctx, b.servers[subject], &load{
		requests: b.known[subject], repeat: true, want: 200, lasting: b.plan.phase,
	})
	if err == nil && (t.server.Accepted > 0 || t.server.Records != int64(t.sent)) {
		err = fmt.Errorf("%d copies: %d calls of the store, %d accepted", t.sent, t.server.Records, t.server.Accepted)
	}
	return t, err
}

// refuse sends known events with bad signatures.
func (b *bench) refuse(ctx context.Context, subject string) (*tally, error) {
	t, err := b.send(ctx, b.servers[subject], &load{
		requests: b.known[subject].forged(), repeat: true, want: 401, lasting: b.plan.phase,
	})
	if err == nil {
		b.single["refuse_store_calls"] += float64(t.server.Records)
	}
	return t, err
}

// life is the rate of whole lives: accepts at full rate for the phase's time while a worker works, then waits until the
// worker has settled the last. The receipts, by the time from the first request to the last one settled.
func (b *bench) life(ctx context.Context, subject string) (*tally, error) {
	server := b.servers[subject]
	before, err := b.settled(ctx, server)
	if err != nil {
		return nil, err
	}
	t, err := b.fresh(ctx, subject, b.plan.phase, bodySize)
	if err != nil {
		return nil, err
	}
	after, err := b.settled(ctx, server)
	t.elapsed, t.server = time.Since(t.began), after.since(before)
	t.counted = int(t.server.Settled)
	return t, err
}

// settled waits until nothing is left to do: all that was accepted is settled.
func (b *bench) settled(ctx context.Context, server *server) (counts, error) {
	deadline := time.Now().Add(20*b.plan.phase + grace)
	for {
		n, err := server.ask(order{})
		if err != nil || n.Settled >= n.Accepted {
			return n, err
		}
		if time.Now().After(deadline) {
			return n, fmt.Errorf("server %s: %d of %d receipts are settled", server.subject, n.Settled, n.Accepted)
		}
		select {
		case <-ctx.Done():
			return n, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
