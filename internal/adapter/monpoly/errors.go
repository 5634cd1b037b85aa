package monpoly

import "errors"

// The errors of this package, to be tested with errors.Is.
var (
	// ErrBinary is a binary that is missing, is no MonPoly, or answers wrongly.
	ErrBinary = errors.New("monpoly: the binary cannot be used")
	// ErrFormula is a formula that the binary does not monitor, or that cannot be put
	// to it so that its answers are to be trusted.
	ErrFormula = errors.New("monpoly: formula cannot be monitored")
	// ErrValue is a fact or a time stamp that cannot be told to the binary unchanged.
	ErrValue = errors.New("monpoly: value out of range")
	// ErrAnswer is what a process wrote when it was not the answer to its question.
	ErrAnswer = errors.New("monpoly: unexpected answer")
	// ErrProcess is a process that died, did not answer in time, or did not start.
	ErrProcess = errors.New("monpoly: process failed")
	// ErrState is an encoded monitor state that this engine cannot restore: of another
	// version, engine or policy, or damaged.
	ErrState = errors.New("monpoly: cannot restore state")
)
