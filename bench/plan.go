package main

import "time"

// A plan says how long the phases last. Every one is bounded, whatever the server does.
type plan struct {
	warm   time.Duration // of each server, before the first round
	phase  time.Duration
	rounds int
	// within is when the last round may begin, on a machine that has no time for all of them.
	within   time.Duration
	halfRate time.Duration
	memory   time.Duration
	// turns are those of each generator when ours is compared with wrk, a second each.
	turns int
	// accepts are how many are counted for the allocations.
	accepts int
	// profiles is where the processor profiles go; empty: none are written.
	profiles string
}

var (
	full = plan{
		warm: time.Second, phase: 2 * time.Second, rounds: 5, within: 5 * time.Minute, halfRate: 10 * time.Second,
		memory: 20 * time.Second, turns: 3, accepts: 20_000,
	}
	short = plan{
		warm: 200 * time.Millisecond, phase: 400 * time.Millisecond, rounds: 3, within: 20 * time.Second,
		halfRate: 1500 * time.Millisecond, memory: 4 * time.Second, turns: 1, accepts: 4_000,
	}
)

const (
	// connections are those of the generator, as many as wrk had when the goals were set.
	connections = 128
	// naiveConnections are those to the database of the handler that commits each request.
	naiveConnections = 16

	bodySize       = 1200
	memoryBodySize = 2048
)
