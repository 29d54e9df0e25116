package main

import (
	"math"
	"slices"
	"time"
)

// results are what was measured.
type results struct {
	rates     map[string][]float64 // per second, of each phase by round
	cpu       map[string][]float64 // microseconds of the server's process for each request
	own       map[string][]float64 // the same of the generator's
	others    []float64            // the part of the machine that other programs took during the baselines
	single    map[string]float64   // figures that are no ratio of rates
	latencies []latencies
	resident  []float64 // megabytes, while the load lasted
	// The generators on one request; theirs is wrk's.
	ours, theirs []cost
}

func newResults() results {
	return results{
		rates: map[string][]float64{}, cpu: map[string][]float64{}, own: map[string][]float64{}, single: map[string]float64{},
	}
}

func (r *results) note(phase string, t *tally) {
	r.rates[phase] = append(r.rates[phase], t.rate())
	r.cpu[phase] = append(r.cpu[phase], part(microseconds(t.server.CPU), float64(t.sent)))
	r.own[phase] = append(r.own[phase], part(microseconds(t.generatorCPU), float64(t.sent)))
	if phase == "mac" || phase == "mac_again" {
		r.others = append(r.others, t.others())
	}
}

// latencies are those of accepts at half of the maximum rate.
type latencies struct {
	subject        string
	perSecond      float64
	p50, p99, most time.Duration
}

// A figure is one line of the design's table.
type figure struct {
	key, title string
	measured   float64
	spread     float64 // of the rounds; 0 for what has none
	goal       float64
	atMost     bool // the goal is an upper bound
	from       string
}

// A ratio is a figure that is one rate by another.
type ratio struct {
	key, title string
	over       string // the phase in the denominator; "mac" is the mean of the round's two baselines
	phase      string
	goal       float64
}

var ratios = []ratio{
	{"accept_sqlite_over_mac", "accept on SQLite ÷ read and MAC", "mac", "accept_sqlite", 0.6},
	{"accept_postgres_over_mac", "accept on PostgreSQL ÷ read and MAC", "mac", "accept_postgres", 0.45},
	{"accept_sqlite_over_naive", "accept on SQLite ÷ one commit a request", "naive_sqlite", "accept_sqlite", 8},
	{"accept_postgres_over_naive", "accept on PostgreSQL ÷ one commit a request", "naive_postgres", "accept_postgres", 5},
	{"duplicate_over_mac", "duplicates (SQLite) ÷ read and MAC", "mac", "duplicate", 0.8},
	{"duplicate_postgres_over_mac", "duplicates (PostgreSQL) ÷ read and MAC", "mac", "duplicate_postgres", 0.8},
	{"refuse_over_mac", "refusals ÷ read and MAC", "mac", "refuse", 0.95},
	{"life_over_accept", "whole lives ÷ accepts, SQLite", "accept_sqlite", "life", 0.5},
	{"life_postgres_over_accept", "whole lives ÷ accepts, PostgreSQL", "accept_postgres", "life_postgres", 0.5},
}

// of divides the rates round by round.
func (r *results) of(phase, over string) []float64 {
	by := slices.Clone(r.rates[over])
	if over == "mac" {
		for i := range by {
			by[i] = (by[i] + r.rates["mac_again"][i]) / 2
		}
	}
	for i := range by {
		by[i] = part(r.rates[phase][i], by[i])
	}
	return by
}

// part is a ÷ b, and 0 where there was nothing.
func part(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// figures are all lines of the table, in its order.
func (r *results) figures() []figure {
	var all []figure
	for _, x := range ratios {
		values := r.of(x.phase, x.over)
		all = append(all, figure{
			key: x.key, title: x.title, measured: median(values), spread: spread(values), goal: x.goal,
			from: perSecond(median(r.rates[x.phase])) + " ÷ " + perSecond(median(r.rates[x.over])),
		})
	}
	all = append(all, figure{
		key: "refuse_store_calls", title: "calls of the store for refusals", measured: r.single["refuse_store_calls"], atMost: true,
	})
	for i := range r.latencies {
		all = append(all, r.latencies[i].figure())
	}
	return append(all, r.memoryFigures()...)
}

func (l *latencies) figure() figure {
	f := figure{
		key: "p99_accept_ms", title: "p99 at half of the rate, SQLite, ms", measured: milliseconds(l.p99), goal: 50, atMost: true,
		from: perSecond(l.perSecond) + "; median " + l.p50.Round(10*time.Microsecond).String() +
			", longest " + l.most.Round(10*time.Microsecond).String(),
	}
	if l.subject != "sqlite" {
		f.key, f.title = "p99_accept_postgres_ms", "p99 at half of the rate, PostgreSQL, ms"
	}
	return f
}

// memoryFigures compare the two quarters of the second half: in the first half caches fill.
func (r *results) memoryFigures() []figure {
	n := len(r.resident)
	early, late := r.resident[n/2:n-n/4], r.resident[n-n/4:]
	return []figure{
		{
			key: "rss_mb", title: "memory under full load, 2 KiB bodies, MB", measured: slices.Max(r.resident), goal: 150, atMost: true,
			from: "the most of " + number(float64(n)) + " looks",
		},
		{
			key: "rss_growth", title: "memory in the last quarter ÷ in the third", measured: part(median(late), median(early)), goal: 1.1, atMost: true,
			from: number(median(late)) + " ÷ " + number(median(early)) + " MB",
		},
		{
			key: "allocs_per_accept", title: "allocations per accept, SQLite", measured: r.single["allocs_per_accept"], goal: 60, atMost: true,
			from: number(r.single["allocs_without_store"]) + " of them before the store",
		},
		{
			key: "allocs_per_accept_postgres", title: "allocations per accept, PostgreSQL", measured: r.single["allocs_per_accept_postgres"],
			goal: 60, atMost: true,
		},
	}
}

func (f *figure) met() bool {
	if f.atMost {
		return f.measured <= f.goal
	}
	return f.measured >= f.goal
}

// generatorShare is the generator's part of the processor time that it and the baseline's server used together.
func (r *results) generatorShare() float64 {
	own := median(r.own["mac"])
	return part(own, own+median(r.cpu["mac"]))
}

// values are all figures, rates and spreads by key.
func (r *results) values() map[string]float64 {
	v := map[string]float64{
		"generator_cpu_share": rounded(r.generatorShare()), "others_cpu_share": rounded(median(r.others)),
	}
	for _, f := range r.figures() {
		v[f.key] = rounded(f.measured)
		if f.spread > 0 {
			v["spread_"+f.key] = rounded(f.spread)
		}
	}
	for phase, rates := range r.rates {
		v["rate_"+phase] = math.Round(median(rates))
		v["server_cpu_us_"+phase] = rounded(median(r.cpu[phase]))
	}
	for name, costs := range map[string][]cost{"generator": r.ours, "wrk": r.theirs} {
		if len(costs) > 0 {
			c := medianCost(costs)
			v["rate_on_one_request_"+name] = math.Round(c.perSecond)
			v["cpu_us_per_request_"+name] = rounded(microseconds(c.each))
		}
	}
	return v
}

func medianCost(costs []cost) cost {
	var rates, each []float64
	for _, c := range costs {
		rates = append(rates, c.perSecond)
		each = append(each, float64(c.each))
	}
	return cost{median(rates), time.Duration(median(each))}
}

// rounded keeps four digits: no more are meant.
func rounded(f float64) float64 {
	if f == 0 {
		return 0
	}
	digits := math.Pow10(3 - int(math.Floor(math.Log10(math.Abs(f)))))
	return math.Round(f*digits) / digits
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
