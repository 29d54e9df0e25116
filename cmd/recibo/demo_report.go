package main

import (
	"net/http"
	"text/tabwriter"
)

// A demoReport is what was answered and what the shop did.
type demoReport struct {
	Actions     int        `json:"actions"` // charges for the payment that was sent five times, forged, changed and late
	EqualCopies demoCopies `json:"equal_copies"`
	Concurrent  demoCopies `json:"concurrent_copies"` // of a second payment
	Forged      demoRefuse `json:"forged"`
	Changed     demoRefuse `json:"changed"`
	Late        demoRefuse `json:"late"`
	PromiseHeld bool       `json:"promise_held"`
}

// demoCopies counts how copies of one payment were answered.
type demoCopies struct {
	Sent      int `json:"sent"`
	Accepted  int `json:"accepted"`
	Duplicate int `json:"duplicate"`
	Other     int `json:"other"`
	Actions   int `json:"actions"`
}

func (c *demoCopies) count(a demoAnswer) {
	c.Sent++
	switch {
	case a.status == http.StatusOK && a.verdict == "accepted":
		c.Accepted++
	case a.status == http.StatusOK && a.verdict == "duplicate":
		c.Duplicate++
	default:
		c.Other++
	}
}

func (c *demoCopies) held() bool {
	return c.Accepted == 1 && c.Duplicate == c.Sent-1 && c.Actions == 1
}

// demoRefuse counts how requests that must be refused were answered.
type demoRefuse struct {
	Sent    int `json:"sent"`
	Refused int `json:"refused"`
	Status  int `json:"status"` // the last one
}

// count takes any 4xx but 404 and 405 for a refusal: those would mean that the request never got to be judged.
func (r *demoRefuse) count(a demoAnswer) {
	r.Sent++
	r.Status = a.status
	if a.status/100 == 4 && a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed {
		r.Refused++
	}
}

func (r *demoRefuse) held() bool { return r.Sent > 0 && r.Refused == r.Sent }

// judge says whether the promise held, total being all charges that the shop made.
func (r *demoReport) judge(total int) {
	r.Actions = r.EqualCopies.Actions
	r.PromiseHeld = r.EqualCopies.held() && r.Concurrent.held() && r.Forged.held() && r.Changed.held() && r.Late.held() &&
		total == r.EqualCopies.Actions+r.Concurrent.Actions
}

func (r *demoReport) print(e *env) {
	e.printf("One gateway, one shop, real HTTP on this machine.\n\n")
	w := tabwriter.NewWriter(e.stdout, 0, 0, 3, ' ', 0)
	table := &env{stdout: w}
	table.printf("what was sent\tanswers\tcharges\t\n")
	copies := func(what string, c demoCopies) {
		table.printf("%s\t%d accepted, %d duplicate, %d other\t%d\t%s\n", what, c.Accepted, c.Duplicate, c.Other, c.Actions, mark(c.held()))
	}
	refuse := func(what string, c demoRefuse) {
		table.printf("%s\t%d of %d refused (%d)\t0\t%s\n", what, c.Refused, c.Sent, c.Status, mark(c.held()))
	}
	copies("a payment of 19.90, five times", r.EqualCopies)
	copies("another one, 20 copies at once", r.Concurrent)
	refuse("the first, signed by a forger", r.Forged)
	refuse("the first, one byte changed", r.Changed)
	refuse("the first, captured, after its window", r.Late)
	_ = w.Flush() // standard output is all there is to tell
	if r.PromiseHeld {
		e.printf("\nThe promise held: each payment was charged once.\n")
	} else {
		e.printf("\nTHE PROMISE WAS BROKEN: see the lines that are not ok.\n")
	}
}

func mark(ok bool) string {
	if ok {
		return "ok"
	}
	return "BROKEN"
}
