package spatial

import (
	"fmt"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// evaluation is one of the three evaluations that give a value its mark: it says which
// presumptive tuples count.
type evaluation uint8

const (
	allTuples     evaluation = iota
	negatedTuples            // presumptive ones under a negation only
	plainTuples              // presumptive ones not under a negation only
)

// run is an evaluation under way, and the memory of the next one.
type run struct {
	g           Graph
	env         []schema.Value // by slot
	unsafe      bool
	which       evaluation
	presumptive bool // a presumptive tuple was met
	labels      []labelID
	preds       []predState
	memos       []memo
	gen         uint32 // of the memos
	searches    []*search
	depth       int   // of searches in use
	limit       int64 // of the steps of an evaluation
	budget      int64 // what is left of it
	granted     int64 // what it was at the beginning
	purse       *int64
}

// maxSteps bounds an evaluation: a vertex that a search visits, nested ones each anew, an edge
// or channel that it follows from there, and a tuple that is looked at are a step each, of some
// 20 to 100 ns. It lets nested operators look at fifteen times all of a world of 100,000
// vertices with five lines each. An agent may be able to make a world grow, and must not be
// able to stop a monitor with it.
const maxSteps = 1 << 24

// spend takes steps from a budget, and leaves nothing where there are not as many.
func spend(budget *int64, steps int) { *budget -= min(*budget, int64(steps)) }

// labelID is the id of a label in the graph of the run.
type labelID struct {
	id uint32
	ok bool
}

func (r *run) init(c *code) {
	r.limit = maxSteps
	r.env = make([]schema.Value, c.slots)
	r.labels = make([]labelID, len(c.labels))
	r.memos = make([]memo, c.memos)
	r.preds = make([]predState, len(c.preds))
	for i, p := range c.preds {
		r.preds[i] = predState{
			known: make([]schema.Value, len(p.args)),
			yield: func(t world.Tuple) bool { return p.take(r, t) },
		}
	}
}

// enter prepares an evaluation. False if nothing is known of the location.
func (r *run) enter(g Graph, c *code, loc string, args []schema.Value, sense world.Sense) (world.V, bool) {
	if len(args) != len(c.vars) {
		panic(fmt.Sprintf("spatial: %d values for %d variables", len(args), len(c.vars))) // an error of the program
	}
	v, ok := g.Vertex(loc)
	if !ok || g.Sort(v) == world.Unknown {
		return v, false
	}
	r.g, r.unsafe, r.presumptive, r.budget = g, sense == world.Unsafe, false, r.limit
	if r.purse != nil {
		r.budget = min(r.limit, *r.purse)
	}
	r.granted = r.budget
	copy(r.env, args)
	for i, l := range c.labels {
		r.labels[i].id, r.labels[i].ok = g.LabelID(l)
	}
	return v, true
}

// pay takes what an evaluation visited from the purse, times over.
func (r *run) pay(times int64) {
	if r.purse != nil {
		*r.purse = max(0, *r.purse-times*(r.granted-r.budget))
	}
}

// leave lets go of the graph.
func (r *run) leave() {
	r.g, r.depth = nil, 0
	for _, s := range r.searches {
		s.g = nil
	}
}

// holds evaluates a whole formula.
func (r *run) holds(n node, v world.V, which evaluation) bool {
	r.which = which
	r.gen++
	if r.gen == 0 {
		for i := range r.memos {
			r.memos[i].forget()
		}
		r.gen = 1
	}
	return n.holds(r, v, false)
}

// guess is the answer about an unknown vertex, at a place that is under an odd number of
// negations if negated.
func (r *run) guess(negated bool) bool { return r.unsafe != negated }

func (r *run) sense(negated bool) world.Sense {
	if r.guess(negated) {
		return world.Unsafe
	}
	return world.Safe
}

// counts tells whether a tuple with a mark counts in this evaluation.
func (r *run) counts(m verdict.Value, negated bool) bool {
	if m == verdict.F {
		return true
	}
	r.presumptive = true
	switch r.which {
	case allTuples:
		return true
	case negatedTuples:
		return negated
	case plainTuples:
		return !negated
	}
	return false
}

// begin starts a search; end gives its memory back. Searches end in the reverse order of
// their begin.
func (r *run) begin(w walk) *search {
	s := r.take()
	s.begin(w)
	return s
}

// take is begin without a start.
func (r *run) take() *search {
	if r.depth == len(r.searches) {
		r.searches = append(r.searches, &search{budget: &r.budget})
	}
	s := r.searches[r.depth]
	r.depth++
	return s
}

func (r *run) end() { r.depth-- }

// walk is the walk of an operator that is evaluated at a vertex.
func (r *run) walk(v world.V, via world.Sort) walk {
	if via == world.Unknown {
		via = r.g.Sort(v)
	}
	return walk{g: r.g, sort: via, start: v}
}

// searcher is an operator that one search decides, maybe after others.
type searcher interface {
	// run searches, with all for every target of the least distance; the caller gives back
	// the memory of the searches.
	run(r *run, v world.V, negated, all bool) *search
}

// finds tells whether the search of an operator has a target.
func (r *run) finds(n searcher, v world.V, negated bool) bool {
	depth := r.depth
	found := n.run(r, v, negated, false).found()
	r.depth = depth
	return found
}

// shows returns the path to the target of an operator's search, false if it has none.
func (r *run) shows(n searcher, v world.V, negated bool) ([]world.Step, bool) {
	depth := r.depth
	path, ok := n.run(r, v, negated, true).path()
	r.depth = depth
	return path, ok
}
