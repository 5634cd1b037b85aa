package stats

import "math"

// SignTest is the exact two-sided sign test: the probability, under even chances,
// of a split of plus+minus trials at least as uneven as the one observed. Ties are
// dropped before. Both counts are at least 0; with no trials it is 1.
func SignTest(plus, minus int) float64 {
	n, k := plus+minus, min(plus, minus)
	if n == 0 {
		return 1
	}
	return min(1, 2*lowerTail(n, k))
}

// McNemar is the exact two-sided McNemar test on paired binary outcomes. Its
// arguments are the discordant counts: pairs in which only the first outcome is
// positive and pairs in which only the second is.
func McNemar(onlyFirst, onlySecond int) float64 { return SignTest(onlyFirst, onlySecond) }

// lowerTail is P(X ≤ k) for X binomial with n even trials. Terms are summed as
// logarithms of their ratio to the largest one, so that n of many thousands
// neither underflows nor loses digits.
func lowerTail(n, k int) float64 {
	logTerm := func(i int) float64 {
		return lgamma(n+1) - lgamma(i+1) - lgamma(n-i+1) - float64(n)*math.Ln2
	}
	// k is at most n/2, so the last term is the largest.
	top, sum, ratio := logTerm(k), 0.0, 1.0
	for i := k; i >= 0; i-- {
		sum += ratio
		ratio *= float64(i) / float64(n-i+1)
	}
	return math.Exp(top) * sum
}

func lgamma(x int) float64 {
	v, _ := math.Lgamma(float64(x))
	return v
}
