package check

// Limits on what Check works on. Crossing one is an error.
const (
	// MaxCore is how many nodes the core may have when it is written out. Guards that
	// are copied into alternatives and EQUIV, which uses each operand twice, multiply
	// sub-formulas; a written formula at most doubles, so this is room for the
	// largest one and shuts out only nests of EQUIV or OR made to explode.
	MaxCore = 200_000
	// maxSteps bounds the search for an order of evaluation. It takes a few steps for
	// each node of the formula unless guards must be tried at many depths.
	maxSteps = 1_000_000
	// maxRepairSize is the size, in nodes, of the largest formula for which repairs are
	// sought: each candidate costs a check of the whole formula, and nobody repairs a
	// machine-made one by a hint.
	maxRepairSize = 2_000
)
