package main

import (
	"slices"
	"testing"
	"time"
)

func TestPercentileIsTheNearestRank(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	slices.Reverse(hundred)
	for _, c := range []struct {
		values []time.Duration
		p      float64
		want   time.Duration
	}{
		{nil, 99, 0},
		{[]time.Duration{7}, 50, 7},
		{[]time.Duration{7}, 99, 7},
		{[]time.Duration{3, 1, 2}, 50, 2},
		{[]time.Duration{4, 1, 3, 2}, 50, 2},
		{hundred, 0, 1},
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 99.5, 100},
		{hundred, 100, 100},
	} {
		if got := percentile(c.values, c.p); got != c.want {
			t.Errorf("percentile(%v, %v) = %v, want %v", c.values, c.p, got, c.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("percentile sorted its argument")
	}
}

func TestMedianAndSpread(t *testing.T) {
	for _, c := range []struct {
		values         []float64
		median, spread float64
	}{
		{nil, 0, 0},
		{[]float64{5}, 5, 0},
		{[]float64{3, 1, 2}, 2, 1},
		{[]float64{4, 1, 3, 2}, 2.5, 1.2},
		{[]float64{0, 0}, 0, 0},
	} {
		if m, s := median(c.values), spread(c.values); m != c.median || s != c.spread {
			t.Errorf("median and spread of %v = %v, %v; want %v, %v", c.values, m, s, c.median, c.spread)
		}
	}
}

func TestFiguresKeepFourDigits(t *testing.T) {
	for f, want := range map[float64]float64{0: 0, 0.123456: 0.1235, 12345.6: 12350, 1: 1, -0.98765: -0.9877} {
		if got := rounded(f); got != want {
			t.Errorf("rounded(%v) = %v, want %v", f, got, want)
		}
	}
}
