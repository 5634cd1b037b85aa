package syntax

// Limits on what Parse reads. Crossing one is an error at the place where it is
// crossed; nothing is cut off silently.
const (
	// MaxSource is the longest text in bytes. The largest published rule pack, 60
	// clauses in one query, has 24 kB; the limit leaves forty times that.
	MaxSource = 1 << 20
	// MaxDepth is how deep operators may nest, a chain of the same connective counted
	// once, and likewise parentheses. Written formulas stay below 20 and generated ones
	// below 100; the parser recurses a few times a level.
	MaxDepth = 250
	// MaxNodes is how many nodes, terms included, one formula may have. The rule pack
	// above has about 2,500; plans and windows are linear in the number.
	MaxNodes = 50_000
	// MaxRegexp is how large the regular expressions of one formula may be together, in
	// characters with repetitions written out: each is a state of an automaton of some
	// 40 bytes, and a search takes up to that many steps for every byte of the text.
	MaxRegexp = 20_000
	// maxErrors ends the parse of one formula: further errors are mostly echoes.
	maxErrors = 20
)
