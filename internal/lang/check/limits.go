package check

// Limits on what Check works on. Crossing one is an error.
const (
	// MaxCore is how many nodes the core may have when it is written out. Guards that
	// are copied into alternatives and EQUIV, which uses each operand twice, multiply
	// sub-formulas; a written formula at most doubles, so this is room for the
	// largest one and shuts out only nests of EQUIV or OR made to explode.
	MaxCore = 200_000
	// maxSteps bounds the search for an order of evaluation, to about a second. Written
	// formulas take a few steps for each node; the worst order of n conjuncts takes
	// n²/2, which leaves room for 600 of them.
	maxSteps = 200_000
	// maxMerged is the size up to which alternatives take the place of their guard; 64
	// nodes are half a dozen alternatives with a guard of a few conjuncts each.
	maxMerged = 64
	// maxRepairSize is the size, in nodes, of the largest formula for which repairs are
	// sought: each candidate costs a check of the whole formula, and nobody repairs a
	// machine-made one by a hint.
	maxRepairSize = 2_000
)
