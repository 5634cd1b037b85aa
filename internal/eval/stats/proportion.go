package stats

import "math"

// Z95 is the two-sided 95 % quantile of the normal distribution, to the digits
// that published tables use.
const Z95 = 1.959963985

// Proportion is K of N. It is meaningful for 0 ≤ K ≤ N.
type Proportion struct {
	K, N int
}

// Rate returns K/N, and NaN when N is 0.
func (p Proportion) Rate() float64 {
	if p.N == 0 {
		return math.NaN()
	}
	return float64(p.K) / float64(p.N)
}

// Wilson returns the 95 % score interval of the rate (Wilson, 1927). It lies in
// [0, 1] and contains the rate; for N of 0 it is all of [0, 1].
func (p Proportion) Wilson() (low, high float64) {
	if p.N == 0 {
		return 0, 1
	}
	n, rate, z2 := float64(p.N), p.Rate(), Z95*Z95
	centre := rate + z2/(2*n)
	spread := Z95 * math.Sqrt(rate*(1-rate)/n+z2/(4*n*n))
	low, high = (centre-spread)/(1+z2/n), (centre+spread)/(1+z2/n)
	// The bounds are exact at the ends, where rounding could leave the interval.
	if p.K == 0 {
		low = 0
	}
	if p.K == p.N {
		high = 1
	}
	return low, high
}

// LRPlus is the positive likelihood ratio: the rate of firing among the unsafe
// over the rate among the safe. It is +Inf when nothing safe fired but something
// unsafe did, and NaN when either group is empty or neither fired.
func LRPlus(unsafe, safe Proportion) float64 { return unsafe.Rate() / safe.Rate() }
