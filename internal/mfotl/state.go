package mfotl

import (
	"math/bits"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// State is what one trace has left behind in a Plan. It is not safe for concurrent
// use. Between Step and the Commit or Rollback that ends it a step is pending: only
// then are there Rows.
type State struct {
	plan    *Plan
	stores  []*store     // by id; nil: empty
	lost    []loss       // by store; nil: there was none
	faulty  []lostBefore // stores that the pending step found incomplete
	faults  []fault      // by root: what its last evaluation met; nil: nothing yet
	fault   fault        // what the evaluation under way met
	ring    []frame      // the newest time points; one more than the plan reads
	base    int          // where in ring the newest is
	points  uint64       // time points so far, the pending one included
	pending bool
	entries int // over all stores
	dict    dict
	sweepAt int
	journal journal
	step    uint64 // steps made, rolled back ones included; not part of the state

	// Scratch memory.
	env    []word
	key    []word
	wit    []uint64
	levels []level
	gather gathered
	order  []uint64
	awake  awake
	preds  []predIndex

	asked asked // of external relations

	explains bool // an explanation is under way
}

// New returns the state of a trace without history.
func (p *Plan) New() *State {
	return &State{
		plan:    p,
		stores:  make([]*store, len(p.stores)),
		ring:    make([]frame, p.depth+2),
		dict:    dict{base: uint64(len(p.consts.vals))},
		sweepAt: sweepSlack,
		env:     make([]word, p.envSize),
		key:     make([]word, p.keySize),
		levels:  make([]level, p.levels),
		awake: awake{
			stores:   make([]uint64, len(p.storeWakes.always)),
			formulas: make([]uint64, len(p.formulaWakes.always)),
		},
	}
}

// Step evaluates the next time point provisionally: its time stamp, the log offset
// of its event, which must be below 1<<64 - 1, and its facts, which are a set. A
// time stamp before that of the last time point counts as that. Facts of relations
// no formula reads, and those with a wrong number of arguments, are passed over.
//
// Step panics if a step is pending already: that is an error of the program.
// Its cost grows with the facts that formulas read and what they change, not with
// the length of the trace.
func (st *State) Step(ts int64, offset uint64, facts []schema.Fact) {
	st.StepIn(ts, offset, facts, nil)
}

// StepIn is Step with a source for the external relations, which is asked until the step
// is committed or rolled back. Without one, to read an external relation is an error of the
// program: it panics.
func (st *State) StepIn(ts int64, offset uint64, facts []schema.Fact, src Source) {
	if st.pending {
		panic("mfotl: Step before the pending one was committed or rolled back")
	}
	if st.points > 0 {
		ts = max(ts, st.frame(0).ts)
	}
	st.pending = true
	st.asked.source = src
	st.step++
	st.points++
	clear(st.faults)
	if st.base--; st.base < 0 {
		st.base += len(st.ring)
	}
	st.fill(st.frame(0), ts, offset+1, facts)
	st.update()
}

// update brings the stores that may change up to the pending time point, each
// after those it reads.
func (st *State) update() {
	st.plan.storeWakes.in(st, st.awake.stores)
	for i, w := range st.awake.stores {
		for ; w != 0; w &= w - 1 {
			spec := st.plan.stores[64*i+bits.TrailingZeros64(w)]
			if st.points > uint64(spec.delay) {
				st.updateStore(spec)
			}
		}
	}
}

// moment is a time point: its index in the trace and its time stamp.
type moment struct {
	index uint64
	ts    int64
}

// moment returns the time point at a delay, which exists.
func (st *State) moment(delay int) moment {
	return moment{index: st.points - 1 - uint64(delay), ts: st.frame(delay).ts}
}

// clock returns the time point up to which a store at a delay is committed; false
// if there is none yet.
func (st *State) clock(delay int) (moment, bool) {
	if st.pending {
		delay++
	}
	if st.points <= uint64(delay) {
		return moment{}, false
	}
	return st.moment(delay), true
}

// Commit makes the pending step part of the state.
func (st *State) Commit() {
	st.mustPend("Commit")
	st.pending, st.asked.source = false, nil
	st.faulty = st.faulty[:0]
	st.journal.clear()
	st.enforceBudget()
	st.sweepIfDue()
}

// Rollback undoes the pending step: the state is as before it. The cost is that of
// what the step changed.
func (st *State) Rollback() {
	st.mustPend("Rollback")
	st.journal.undo(st.stores)
	st.findAgain()
	if st.base++; st.base == len(st.ring) {
		st.base = 0
	}
	st.points--
	st.pending, st.asked.source = false, nil
	st.sweepIfDue()
}

func (st *State) mustPend(what string) {
	if !st.pending {
		panic("mfotl: " + what + " without a pending step")
	}
}

// Trim gives memory back that no later step can use. It changes nothing that can
// be observed.
func (st *State) Trim() {
	if st.pending {
		return
	}
	st.expireAll()
	for id, s := range st.stores {
		if s != nil && s.n == 0 && len(s.gaps) == 0 {
			st.stores[id] = nil
		}
	}
}

func (st *State) expireAll() {
	for _, s := range st.stores {
		if s == nil {
			continue
		}
		if clock, ok := st.clock(s.spec.delay); ok {
			s.expire(clock)
		}
	}
}
