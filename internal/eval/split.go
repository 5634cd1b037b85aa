package eval

import "crypto/sha256"

// Half is one half of the user's tasks of a corpus.
type Half string

// The halves: clauses are written with the runs of the one at hand, and what they are worth is
// measured on the other.
const (
	WrittenOn Half = "written_on"
	HeldOut   Half = "held_out"
)

// halves lists them in the order of the tables.
func halves() [2]Half { return [2]Half{WrittenOn, HeldOut} }

// splitRule states halfOf for readers of a table.
const splitRule = `by the first byte of SHA-256("SUITE/TASK"): even is written_on, odd is held_out`

// halfOf says in which half a task lies. All runs of a task lie in the same one, whatever
// model ran it and whatever attacked it.
func halfOf(suite, task string) Half {
	if sha256.Sum256([]byte(suite + "/" + task))[0]%2 == 0 {
		return WrittenOn
	}
	return HeldOut
}
