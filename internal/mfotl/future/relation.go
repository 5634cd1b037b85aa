package future

import "github.com/aspis-rv/aspis/pkg/schema"

// relation is a future operator of a formula, whose virtual relation is named name.
// It is part of the plan and immutable once that is compiled.
type relation struct {
	name    string
	op      op
	lo, hi  uint64
	negated bool    // the left operand of UNTIL is a NOT
	cols    []int   // the left operand's columns among those of the relation
	indexes [][]int // column sets by which guards look tuples up
	readers int     // stages that read it
}

type op uint8

const (
	opNext op = iota
	opEventually
	opUntil
)

// side says which operand of an operator is meant.
type side uint8

const (
	right side = iota // also that of an operator with one operand
	left
)

// operator evaluates a relation along a log. The relation is made at one time point
// after the other.
type operator interface {
	// read takes the tuples of an operand at the next time point. They are valid during
	// the call.
	read(l *log, which side, tuples []tuple)
	// known reports whether the relation is known at the time point to be made next,
	// which was read.
	known(l *log) bool
	// advance makes the relation at the next time point, which is known.
	advance()
	// tuples appends the relation at the time point made last.
	tuples(dst []schema.Fact) []schema.Fact
}

// virtual is a relation in a Run.
type virtual struct {
	spec  *relation
	op    operator
	until *until // op, if it is one
	tally *int
	made  uint64       // time points whose relation was made
	kept  series[kept] // what slower readers have still to read, if there are several
	fault []fault      // ascending and apart
}

// kept is the relation at one time point and the number of stages that wait for it.
type kept struct {
	facts   []schema.Fact
	readers int
}

// fault says that from a time point up to before another the relation may be wrong,
// since an operand was.
type fault struct {
	from, before uint64
	err          error
}

func newVirtual(spec *relation, tally *int) *virtual {
	v := &virtual{spec: spec, tally: tally}
	switch spec.op {
	case opNext:
		v.op = &next{spec: spec, tally: tally}
	case opEventually, opUntil:
		v.until = newUntil(spec, tally)
		v.op = v.until
	}
	return v
}

// read takes the tuples of an operand at time point j; err says why they may be wrong.
func (v *virtual) read(l *log, which side, j uint64, tuples []tuple, err error) {
	v.op.read(l, which, tuples)
	if err == nil {
		return
	}
	from, before := v.made, j // NEXT: those that are not made look no further back
	if v.until != nil {
		from, before = v.until.from, j+1 // further back, j is out of the interval
	}
	if n := len(v.fault); n > 0 && from <= v.fault[n-1].before {
		v.fault[n-1].before = max(v.fault[n-1].before, before)
	} else if from < before {
		v.fault = append(v.fault, fault{from, before, err})
	}
}

// known reports whether the relation is known at time point i.
func (v *virtual) known(l *log, i uint64) bool { return i < v.made || v.op.known(l) }

// at appends the relation at time point i, which is known, as far as the guards want
// it. Every reader asks once for each time point.
func (v *virtual) at(dst []schema.Fact, i uint64, w want) ([]schema.Fact, error) {
	err := v.faultAt(i)
	if v.spec.readers > 1 {
		return v.shared(dst, i), err
	}
	v.op.advance()
	v.made++
	if w.guards != nil && v.until != nil {
		return v.until.matching(dst, w), err
	}
	return v.op.tuples(dst), err
}

// faultAt says why the relation may be wrong at a time point.
func (v *virtual) faultAt(i uint64) error {
	oldest := i // time point that a reader may still ask for
	if v.spec.readers > 1 {
		oldest = v.kept.first
	}
	for len(v.fault) > 0 && v.fault[0].before <= oldest {
		v.fault = v.fault[1:]
	}
	for _, f := range v.fault {
		if f.from <= i && i < f.before {
			return f.err
		}
	}
	return nil
}

// shared is at for a relation with several readers.
func (v *virtual) shared(dst []schema.Fact, i uint64) []schema.Fact {
	if i == v.made {
		v.op.advance()
		v.made++
		facts := v.op.tuples(nil)
		*v.tally += len(facts)
		v.kept.push(kept{facts, v.spec.readers})
	}
	k := v.kept.at(i)
	k.readers--
	dst = append(dst, k.facts...)
	for v.kept.len() > 0 && v.kept.at(v.kept.first).readers == 0 {
		*v.tally -= len(v.kept.at(v.kept.first).facts)
		v.kept.drop()
	}
	return dst
}
