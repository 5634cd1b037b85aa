package world

// reacher answers for one target which vertices come to it through open channels. It
// searches from both sides: backwards from the target once for all questions, forwards from
// the vertex asked about, the side that has cost less first. So a question between two
// vertices of a large component costs the square root of its size rather than its size, and
// all questions together no more than twice the channels.
type reacher struct {
	w          *World
	ball       []V // comes to the target; the vertices from head on have open ends
	head       int
	back, fore int // work so far
}

// The states of a vertex in a search.
const (
	comesToIt  = iota + 1 // in the ball
	neverDoes             // known not to come to the target
	underStudy            // met by the question at hand
)

// reacher prepares questions about a target. It uses the states, the ball and the visited
// vertices of the scratch memory until the last question.
func (w *World) reacher(target V) reacher {
	w.scratch.states.reset(w.Vertices())
	w.scratch.states.set(target, comesToIt)
	return reacher{w: w, ball: append(w.scratch.ball[:0], target)}
}

// done gives the memory back.
func (r *reacher) done() { r.w.scratch.ball = r.ball[:0] }

// from tells whether v comes to the target.
func (r *reacher) from(v V) bool {
	states := &r.w.scratch.states
	if s := states.get(v); s != 0 {
		return s == comesToIt
	}
	states.set(v, underStudy)
	visited := append(r.w.scratch.visited[:0], v)
	found := false
	for next := 0; next < len(visited) && !found; {
		switch {
		case r.head == len(r.ball): // complete, and v is not in it
			next = len(visited)
		case r.back <= r.fore:
			found = r.widen()
		default:
			visited, found = r.step(visited, next)
			next++
		}
	}
	outcome := uint32(neverDoes)
	if found {
		outcome = 0 // of all but v not known
	}
	for _, x := range visited {
		if states.get(x) == underStudy {
			states.set(x, outcome)
		}
	}
	if found && states.get(v) != comesToIt {
		states.set(v, comesToIt)
		r.ball = append(r.ball, v)
	}
	r.w.scratch.visited = visited[:0]
	return found
}

// widen takes one vertex of the ball and adds those before it. It tells whether one of them
// is under study.
func (r *reacher) widen() (met bool) {
	states := &r.w.scratch.states
	v := r.ball[r.head]
	r.head++
	in := r.w.In(v)
	r.back += 1 + len(in)
	for i := range in {
		if !in[i].Open {
			continue
		}
		s := states.get(in[i].To)
		if s == comesToIt {
			continue
		}
		met = met || s == underStudy
		states.set(in[i].To, comesToIt)
		r.ball = append(r.ball, in[i].To)
	}
	return met
}

// step follows the channels of one visited vertex. It tells whether one leads into the ball.
func (r *reacher) step(visited []V, i int) ([]V, bool) {
	states := &r.w.scratch.states
	out := r.w.Out(visited[i])
	r.fore += 1 + len(out)
	for i := range out {
		if !out[i].Open {
			continue
		}
		switch states.get(out[i].To) {
		case comesToIt:
			return visited, true
		case 0:
			states.set(out[i].To, underStudy)
			visited = append(visited, out[i].To)
		}
	}
	return visited, false
}
