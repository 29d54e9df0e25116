package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"
)

// A bench is a measurement in progress.
type bench struct {
	began time.Time
	*setting
	results
	plan plan
	// guess is the most requests a second that a subject has answered; it says how many are to be signed.
	guess map[string]float64
	// known are the events that a subject accepted last.
	known map[string]*batch
}

// measureAll makes one measurement. Whatever it started is gone when it returns.
func measureAll(ctx context.Context, p plan) (_ *results, err error) {
	began := time.Now()
	s, err := newSetting()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	b := &bench{
		began: began, plan: p, setting: s, guess: map[string]float64{}, known: map[string]*batch{},
		results: newResults(),
	}
	for _, part := range []func(context.Context) error{
		b.prepare, b.round, b.compare, b.halfRate, b.stopServers, b.fullMemory, b.allocations,
	} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return &b.results, nil
}

// prepare starts a server for each subject and warms it up.
func (b *bench) prepare(ctx context.Context) error {
	for subject := range subjects {
		if err := b.start(ctx, subject); err != nil {
			return err
		}
		b.guess[subject] = 10_000
		if _, err := b.fresh(ctx, subject, b.plan.warm, bodySize); err != nil {
			return err
		}
	}
	return nil
}

// round runs all phases in turn. Two baselines stand around those that are compared with it.
func (b *bench) round(ctx context.Context) error {
	phases := []struct {
		name, subject string
		run           func(ctx context.Context, subject string) (*tally, error)
	}{
		{"mac", "mac", b.repeat},
		{"accept_sqlite", "sqlite", b.accept},
		{"accept_postgres", "postgres", b.accept},
		{"duplicate", "sqlite", b.duplicate},
		{"duplicate_postgres", "postgres", b.duplicate},
		{"refuse", "sqlite", b.refuse},
		{"mac_again", "mac", b.repeat},
		{"life", "sqlite-life", b.life},
		{"life_postgres", "postgres-life", b.life},
		{"naive_sqlite", "naive-sqlite", b.accept},
		{"naive_postgres", "naive-postgres", b.accept},
	}
	for i := range b.plan.rounds {
		if i > 0 && time.Since(b.began) > b.plan.within {
			break
		}
		for _, phase := range phases {
			begin, end := b.profile(phase.name, i+1)
			server := b.servers[phase.subject]
			_, err := server.ask(begin)
			if err != nil {
				return err
			}
			t, err := phase.run(ctx, phase.subject)
			if err != nil {
				return fmt.Errorf("%s: %w", phase.name, err)
			}
			b.note(phase.name, t)
			if _, err := server.ask(end); err != nil {
				return err
			}
		}
	}
	return nil
}

// profile has the server write a profile of the phase, if profiles are wanted.
func (b *bench) profile(phase string, round int) (begin, end order) {
	if b.plan.profiles == "" {
		return order{}, order{}
	}
	file := fmt.Sprintf("%s-%d.pprof", phase, round)
	return order{Profile: filepath.Join(b.plan.profiles, file)}, order{Stop: true}
}

// compare has wrk, where it is installed, and our generator send one request to the baseline, in turns.
func (b *bench) compare(ctx context.Context) error {
	if !wrkInstalled() {
		return nil
	}
	requests, err := signBatch(1, bodySize, time.Now())
	if err != nil {
		return err
	}
	server := b.servers["mac"]
	for range b.plan.turns {
		t, err := b.send(ctx, server, &load{requests: requests, repeat: true, want: 200, lasting: time.Second})
		if err != nil {
			return err
		}
		b.ours = append(b.ours, cost{t.rate(), t.generatorCPU / time.Duration(t.sent)})
		theirs, err := runWrk(ctx, b.dir, requests, server.address)
		if err != nil {
			return err
		}
		b.theirs = append(b.theirs, theirs)
	}
	return nil
}

// halfRate measures the latency at half of the maximum rate.
func (b *bench) halfRate(ctx context.Context) error {
	for _, subject := range []string{"sqlite", "postgres"} {
		rate := median(b.rates["accept_"+subject]) / 2
		n := int(math.Ceil(rate * b.plan.halfRate.Seconds()))
		t, err := b.sendFresh(ctx, subject, n, bodySize, &load{lasting: b.plan.halfRate, perSecond: rate})
		if err != nil {
			return err
		}
		b.latencies = append(b.latencies, latencies{
			subject: subject, perSecond: rate,
			p50: percentile(t.latencies, 50), p99: percentile(t.latencies, 99), most: percentile(t.latencies, 100),
		})
	}
	return nil
}

// stopServers leaves the machine to what comes.
func (b *bench) stopServers(context.Context) error {
	for subject := range b.servers {
		if err := b.stop(subject); err != nil {
			return err
		}
	}
	return nil
}

// fullMemory watches a new server that accepts and works, at full rate and with larger bodies.
func (b *bench) fullMemory(ctx context.Context) error {
	const subject = "sqlite-life"
	if err := b.start(ctx, subject); err != nil {
		return err
	}
	watch, stop := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() {
		var err error
		b.resident, err = watchMemory(watch, b.servers[subject])
		watched <- err
	}()
	_, err := b.fresh(ctx, subject, b.plan.memory, memoryBodySize)
	stop()
	return errors.Join(err, <-watched, b.stop(subject))
}

// watchMemory notes a server's resident memory ten times a second until ctx ends.
func watchMemory(ctx context.Context, s *server) (sizes []float64, err error) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		size, err := s.memory()
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, float64(size)/1e6)
		select {
		case <-ctx.Done():
			return sizes, nil
		case <-ticker.C:
		}
	}
}
