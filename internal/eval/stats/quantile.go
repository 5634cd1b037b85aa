package stats

import (
	"cmp"
	"math"
	"slices"
)

// Number is what the summaries take.
type Number interface {
	~int | ~int64 | ~float64
}

// Mean is the arithmetic mean, NaN of nothing.
func Mean[T Number](xs []T) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range xs {
		sum += float64(x)
	}
	return sum / float64(len(xs))
}

// Quartiles returns the three quartiles by the exclusive method: the quantile p of
// n ordered values stands at p·(n+1), counted from 1, interpolated linearly
// between its neighbours (the outermost pair when it lies outside). They are NaN
// of nothing, and all equal to the value of a single one. xs is not changed.
func Quartiles[T Number](xs []T) (q1, q2, q3 float64) {
	sorted := slices.SortedFunc(slices.Values(xs), cmp.Compare[T])
	return quantile(sorted, 1), quantile(sorted, 2), quantile(sorted, 3)
}

// Median is the second quartile.
func Median[T Number](xs []T) float64 {
	_, m, _ := Quartiles(xs)
	return m
}

// quantile is the quarter-th quartile of ordered values.
func quantile[T Number](sorted []T, quarter int) float64 {
	n := len(sorted)
	switch n {
	case 0:
		return math.NaN()
	case 1:
		return float64(sorted[0])
	}
	at := quarter * (n + 1)
	below := min(max(at/4, 1), n-1)
	part := float64(at-4*below) / 4
	return float64(sorted[below-1])*(1-part) + float64(sorted[below])*part
}
