package stats_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/aspis-rv/aspis/internal/eval/stats"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(want) && math.IsNaN(got) || got == want {
		return
	}
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestWilsonMatchesPublishedIntervals(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64 // per cent, to one place
	}{
		{1354, 1931, 68.0, 72.1},
		{36, 123, 22.0, 37.8},
		{347, 483, 67.7, 75.7},
	} {
		low, high := stats.Proportion{K: c.k, N: c.n}.Wilson()
		near(t, "low", math.Round(1000*low)/10, c.low, 1e-9)
		near(t, "high", math.Round(1000*high)/10, c.high, 1e-9)
	}
}

func TestWilsonSolvesTheScoreEquation(t *testing.T) {
	// The bounds are the rates p at which the observed rate is exactly z standard
	// errors of p away.
	for n := 1; n <= 60; n++ {
		for k := 0; k <= n; k++ {
			p := stats.Proportion{K: k, N: n}
			low, high := p.Wilson()
			if low < 0 || high > 1 || low > p.Rate() || high < p.Rate() {
				t.Fatalf("%d/%d: [%v, %v] does not lie around the rate within [0, 1]", k, n, low, high)
			}
			for _, bound := range []float64{low, high} {
				if bound == 0 || bound == 1 {
					continue
				}
				z := math.Abs(p.Rate()-bound) / math.Sqrt(bound*(1-bound)/float64(n))
				near(t, "z", z, stats.Z95, 1e-7)
			}
		}
	}
	low, high := stats.Proportion{}.Wilson()
	if low != 0 || high != 1 {
		t.Errorf("0/0: [%v, %v], want [0, 1]", low, high)
	}
}

func TestLRPlus(t *testing.T) {
	for _, c := range []struct {
		unsafe, safe stats.Proportion
		want         float64
	}{
		{stats.Proportion{K: 1354, N: 1931}, stats.Proportion{K: 36, N: 123}, 2.3957},
		{stats.Proportion{K: 456, N: 576}, stats.Proportion{K: 11, N: 25}, 1.7992},
		{stats.Proportion{K: 403, N: 576}, stats.Proportion{K: 6, N: 25}, 2.9152},
		{stats.Proportion{K: 1, N: 2}, stats.Proportion{K: 0, N: 9}, math.Inf(1)},
		{stats.Proportion{K: 0, N: 2}, stats.Proportion{K: 0, N: 9}, math.NaN()},
		{stats.Proportion{}, stats.Proportion{K: 1, N: 9}, math.NaN()},
	} {
		near(t, "LR+", stats.LRPlus(c.unsafe, c.safe), c.want, 1e-4)
	}
}

func TestSignTestKnownValues(t *testing.T) {
	for _, c := range []struct {
		plus, minus int
		want        float64
	}{
		{0, 0, 1},
		{0, 1, 1},
		{5, 0, 0.0625},
		{1, 9, 0.021484375},
		{3, 10, 0.09228515625},
		{12, 5, 0.143463134765625},
		{7, 7, 1},
		{120, 80, 0.0056851559967503055},
		{540, 460, 0.01244414627717178},
		{2100, 1900, 0.0016492663751356998},
		{50, 1, 4.618527782440651e-14},
	} {
		near(t, "sign test", stats.SignTest(c.plus, c.minus)/c.want, 1, 1e-10)
		near(t, "McNemar", stats.McNemar(c.minus, c.plus)/c.want, 1, 1e-10)
	}
}

// TestSignTestMatchesExactArithmetic sums binomial coefficients as integers.
func TestSignTestMatchesExactArithmetic(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		plus, minus := r.IntN(150), r.IntN(150)
		n, sum := int64(plus+minus), new(big.Int)
		for k := int64(0); k <= int64(min(plus, minus)); k++ {
			sum.Add(sum, new(big.Int).Binomial(n, k))
		}
		exact := new(big.Rat).SetFrac(sum.Lsh(sum, 1), new(big.Int).Lsh(big.NewInt(1), uint(n)))
		want, _ := exact.Float64()
		want = min(want, 1)
		if got := stats.SignTest(plus, minus); math.Abs(got/want-1) > 1e-9 {
			t.Fatalf("seed %d: sign test of %d, %d = %v, want %v", seed, plus, minus, got, want)
		}
	}
}

func TestQuartilesAreExclusive(t *testing.T) {
	for _, c := range []struct {
		xs         []int
		q1, q2, q3 float64
	}{
		{[]int{4}, 4, 4, 4},
		{[]int{1, 2}, 0.75, 1.5, 2.25},
		{[]int{1, 2, 3}, 1, 2, 3},
		{[]int{1, 2, 3, 4}, 1.25, 2.5, 3.75},
		{[]int{7, 1, 3, 5, 9}, 2, 5, 8},
		{[]int{2, 4, 4, 4, 5, 5, 7, 9}, 4, 4.5, 6.5},
		{[]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 6, 9},
		{nil, math.NaN(), math.NaN(), math.NaN()},
	} {
		q1, q2, q3 := stats.Quartiles(c.xs)
		near(t, "q1", q1, c.q1, 1e-12)
		near(t, "q2", q2, c.q2, 1e-12)
		near(t, "q3", q3, c.q3, 1e-12)
		near(t, "median", stats.Median(c.xs), c.q2, 1e-12)
	}
	xs := []int{3, 1, 2}
	stats.Quartiles(xs)
	if xs[0] != 3 {
		t.Error("Quartiles changed its argument")
	}
}

func TestMean(t *testing.T) {
	near(t, "mean", stats.Mean([]int{1, 2, 4}), 7.0/3, 1e-12)
	near(t, "mean of nothing", stats.Mean([]float64{}), math.NaN(), 0)
}
