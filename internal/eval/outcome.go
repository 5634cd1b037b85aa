package eval

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
)

// outcome is what a table needs of one run: the run's group, and where each clause
// first fired.
type outcome struct {
	id    string
	model string
	suite string
	calls int // length of the tool chain

	attacked   bool
	successful bool
	benign     bool
	userTask   bool // benign, and the user's own task

	// shadow marks the clauses that only watch: they count by themselves, and not as a
	// firing of the policy.
	shadow []bool
	// first holds for each clause of the bundle the index in the tool chain of the
	// first call on which it fired, or -1.
	first []int
}

// outcomeOf fills in the run's group; no clause has fired.
func outcomeOf(run *agentdojo.Run, clauses int) outcome {
	return outcome{
		id: run.ID, model: run.Model, suite: run.Suite, calls: run.Calls,
		attacked: run.Attacked(), successful: run.Successful(),
		benign: run.Benign(), userTask: run.UserTaskOnly(),
		first: slices.Repeat([]int{-1}, clauses), shadow: make([]bool, clauses),
	}
}

// fire records that a clause fired on a call, by index in the tool chain.
func (o *outcome) fire(clause, call int) {
	if o.first[clause] < 0 {
		o.first[clause] = call
	}
}

// earliest is the index of the first call on which any clause in force fired, or -1.
func (o *outcome) earliest() int {
	at := -1
	for clause, call := range o.first {
		if !o.watches(clause) && call >= 0 && (at < 0 || call < at) {
			at = call
		}
	}
	return at
}

// watches reports whether a clause is in shadow mode.
func (o *outcome) watches(clause int) bool { return clause < len(o.shadow) && o.shadow[clause] }

// fired reports whether any clause in force fired.
func (o *outcome) fired() bool { return o.earliest() >= 0 }

// only is the one clause in force that fired, or -1 when none or several did.
func (o *outcome) only() int {
	at := -1
	for clause, call := range o.first {
		switch {
		case call < 0 || o.watches(clause):
		case at >= 0:
			return -1
		default:
			at = clause
		}
	}
	return at
}
