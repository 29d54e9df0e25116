package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/recibohq/recibo"
)

// A backing is what a store under test is.
type backing interface {
	recibo.Store
	recibo.Waker
	Close() error
}

// A counting is a store whose calls are counted, so that no figure rests on the status of an answer alone.
type counting struct {
	backing
	records, accepted, settled atomic.Int64
}

// counts is what a server has counted since it started.
type counts struct {
	Records  int64         // calls of Record
	Accepted int64         // events that were fresh
	Settled  int64         // receipts that are processed
	CPU      time.Duration // that the process has used
}

// counts of a server without a store are of the processor only.
func (c *counting) counts() counts {
	n := counts{CPU: ownCPU()}
	if c != nil {
		n.Records, n.Accepted, n.Settled = c.records.Load(), c.accepted.Load(), c.settled.Load()
	}
	return n
}

// since is what was counted after before.
func (n counts) since(before counts) counts {
	return counts{n.Records - before.Records, n.Accepted - before.Accepted, n.Settled - before.Settled, n.CPU - before.CPU}
}

// Record is the store's.
func (c *counting) Record(ctx context.Context, r *recibo.Recording) ([]recibo.Recorded, error) {
	c.records.Add(1)
	recorded, err := c.backing.Record(ctx, r)
	for i := range recorded {
		if recorded[i].Verdict == recibo.Accepted {
			c.accepted.Add(1)
		}
	}
	return recorded, err
}

// Settle is the store's.
func (c *counting) Settle(ctx context.Context, l recibo.LeaseRef, o recibo.Outcome) error {
	err := c.backing.Settle(ctx, l, o)
	if err == nil && o.Kind == recibo.Done {
		c.settled.Add(1)
	}
	return err
}
