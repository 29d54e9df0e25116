package main

import (
	"math"
	"slices"
	"time"
)

// percentile is the smallest of the values that at least p percent of them do not exceed (nearest rank); 0 of none.
func percentile(values []time.Duration, p float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p * float64(len(sorted)) / 100))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// median is the middle value, or the mean of the two in the middle; 0 of none.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// spread is how far the values lie apart, as a part of their median.
func spread(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return part(slices.Max(values)-slices.Min(values), median(values))
}
