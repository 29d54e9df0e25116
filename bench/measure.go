package main

import (
	"context"
	"errors"
	"fmt"
	"math"
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
		results: results{rates: map[string][]float64{}, single: map[string]float64{}},
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
		name string
		run  func(context.Context) (float64, error)
	}{
		{"mac", b.baseline},
		{"accept_sqlite", b.accept("sqlite")},
		{"accept_postgres", b.accept("postgres")},
		{"duplicate", b.duplicate("sqlite")},
		{"duplicate_postgres", b.duplicate("postgres")},
		{"refuse", b.refuse},
		{"mac_again", b.baseline},
		{"life", b.life("sqlite-life")},
		{"life_postgres", b.life("postgres-life")},
		{"naive_sqlite", b.naive("naive-sqlite")},
		{"naive_postgres", b.naive("naive-postgres")},
	}
	for i := range b.plan.rounds {
		if i > 0 && time.Since(b.began) > b.plan.within {
			break
		}
		for _, phase := range phases {
			rate, err := phase.run(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", phase.name, err)
			}
			b.rates[phase.name] = append(b.rates[phase.name], rate)
		}
	}
	return nil
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
		used := ownCPU()
		t, err := b.send(ctx, server, &load{requests: requests, repeat: true, want: 200, lasting: time.Second})
		if err != nil {
			return err
		}
		b.ours = append(b.ours, cost{t.rate(), (ownCPU() - used) / time.Duration(t.sent)})
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
