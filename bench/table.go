package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// table prints the figures beside their goals.
func (r *results) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tmeasured\tgoal\t\tspread\tfrom")
	for _, f := range r.figures() {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", f.title, number(f.measured), f.bound(), f.word(), f.scatter(), f.from)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, r.about())
	return err
}

func (f *figure) bound() string {
	if f.atMost {
		return "≤ " + number(f.goal)
	}
	return "≥ " + number(f.goal)
}

func (f *figure) scatter() string {
	if f.spread == 0 {
		return ""
	}
	return percent(f.spread)
}

func (f *figure) word() string {
	if f.met() {
		return "met"
	}
	return "missed"
}

// about says what the figures stand on.
func (r *results) about() string {
	text := fmt.Sprintf("\nMedian of %d rounds; the spread is from the lowest to the highest. %d connections, bodies of %d bytes, requests "+
		"signed before the clock starts.\n", len(r.rates["mac"]), connections, bodySize)
	text += fmt.Sprintf("Other programs took %s of the machine during the baselines: above a few percent, repeat it on a quiet one.\n",
		percent(median(r.others)))
	text += fmt.Sprintf("The generator took %s of the processor time that it and the baseline's server used, %.1f µs a request.\n",
		percent(r.generatorShare()), median(r.own["mac"]))
	text += fmt.Sprintf("The server's process took %.1f µs of the processor for a request of the baseline, %.1f and %.1f for an accept "+
		"on SQLite and PostgreSQL, %.1f for a duplicate, %.1f for a refusal.\n", median(r.cpu["mac"]), median(r.cpu["accept_sqlite"]),
		median(r.cpu["accept_postgres"]), median(r.cpu["duplicate"]), median(r.cpu["refuse"]))
	if len(r.theirs) > 0 {
		ours, theirs := medianCost(r.ours), medianCost(r.theirs)
		text += fmt.Sprintf("On one request against the baseline: %s, %.1f µs of the processor each; wrk %s, %.1f µs.\n",
			perSecond(ours.perSecond), microseconds(ours.each), perSecond(theirs.perSecond), microseconds(theirs.each))
	}
	return text
}

func perSecond(rate float64) string { return strconv.FormatFloat(rate, 'f', 0, 64) + "/s" }

func number(f float64) string { return strconv.FormatFloat(rounded(f), 'f', -1, 64) }

func percent(of float64) string {
	return fmt.Sprintf("%.0f %%", 100*of)
}
