package mfotl

import (
	"fmt"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// difference takes the one form of NEW apart that there is in a plan, NEW (now AND NOT
// before): where the mark of now exceeds that of before it has the mark of the conjunction,
// elsewhere it does not hold.
func difference(f *syntax.New) (now, before syntax.Formula, ok bool) {
	and, ok := f.F.(*syntax.And)
	if !ok {
		return nil, nil, false
	}
	not, ok := and.Right.(*syntax.Not)
	if !ok {
		return nil, nil, false
	}
	return and.Left, not.F, true
}

// riseAtom is a difference.
type riseAtom struct {
	now, before *fused
	binds       bool // now collects tuples
}

// rise adds a difference.
func (b *chainBuilder) rise(f *syntax.New, delay int) (err error) {
	now, before, ok := difference(f)
	if !ok {
		return fmt.Errorf("%w: %s is no difference", ErrFormula, f)
	}
	var names []string
	bound := b.bound
	for _, v := range b.freeVars(now) {
		if !b.bound[v] {
			names = append(names, v)
			bound = bound.with(v)
		}
	}
	a := &riseAtom{binds: len(names) > 0}
	at := place{b.scope, b.level, b.bound}
	if a.binds {
		a.now, err = b.tuples(at, now, delay, names)
	} else {
		a.now, err = b.check(at, now, delay, true)
	}
	if err != nil {
		return err
	}
	b.level++ // what now yields is read while before is tested
	if a.before, err = b.check(place{b.scope, b.level, bound}, before, delay, false); err != nil {
		return err
	}
	b.atoms = append(b.atoms, a)
	b.wit += a.now.wit
	b.trigger = b.trigger.and(a.now.trigger)
	return nil
}

func (a *riseAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	if !a.binds {
		now := a.now.check(st)
		return a.risen(st, c, k, m, now, st.levels[a.now.level].wit)
	}
	rel := a.now.collect(st)
	for i := range rel.len() {
		for j, w := range rel.tuple(i) {
			st.env[a.now.out[j]] = w
		}
		if !a.risen(st, c, k, m, rel.marks[i], rel.witness(i)) {
			return false
		}
	}
	return true
}

// risen goes on if now exceeds what was before.
func (a *riseAtom) risen(st *State, c *chain, k int, m, now verdict.Value, witness []uint64) bool {
	if now == verdict.T {
		return true
	}
	before := a.before.check(st)
	if now <= before {
		return true
	}
	n := len(st.wit)
	st.wit = append(st.wit, witness...)
	more := c.next(st, k, verdict.Meet(m, verdict.Meet(now, verdict.Negate(before))))
	st.wit = st.wit[:n]
	return more
}
