package world

// reacher answers which vertices come through open channels to one target, or to vertices of
// all the domains that are needed. It searches from both sides: backwards from what is known
// to do so once for all questions, forwards from the vertex asked about, the side that has
// cost less first. So a question between two vertices of a large component costs the square
// root of its size rather than its size.
type reacher struct {
	w          *World
	ball       []V // do so; the vertices from head on have open ends
	head       int
	back, fore int // work so far
	cover      bool
	need       row // where cover
	got        row // what the vertex asked about last comes to, as far as it was followed
}

// The states of a vertex in a search.
const (
	comesToIt  = iota + 1 // in the ball
	neverDoes             // known not to
	underStudy            // met by the question at hand
)

// reacher prepares questions about a target. It uses the states, the ball and the visited
// vertices of the scratch memory until the last question.
func (w *World) reacher(target V) reacher {
	r := w.coverer(row{})
	r.cover = false
	r.add(target)
	return r
}

// coverer prepares questions about domains: whether a vertex comes to all that are needed. To
// come to what was added, or to a vertex of which the answer was yes, is to come to all.
func (w *World) coverer(need row) reacher {
	w.scratch.states.reset(w.Vertices())
	return reacher{w: w, ball: w.scratch.ball[:0], cover: true, need: need}
}

// add says of a vertex that the answer is yes.
func (r *reacher) add(v V) {
	r.w.scratch.states.set(v, comesToIt)
	r.ball = append(r.ball, v)
}

// done gives the memory back.
func (r *reacher) done() { r.w.scratch.ball = r.ball[:0] }

// from answers for a vertex.
func (r *reacher) from(v V) bool {
	states := &r.w.scratch.states
	if s := states.get(v); s != 0 {
		return s == comesToIt
	}
	visited, found := r.search(v)
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
		r.add(v)
	}
	r.w.scratch.visited = visited[:0]
	return found
}

// search follows the channels from a vertex until the answer is known.
func (r *reacher) search(v V) (visited []V, found bool) {
	r.got = row{}
	visited = append(r.w.scratch.visited[:0], v)
	r.w.scratch.states.set(v, underStudy)
	for next := 0; next < len(visited); {
		switch {
		case r.head == len(r.ball) && !r.cover: // complete, and v is not in it
			return visited, false
		case r.head < len(r.ball) && r.back <= r.fore:
			found = r.widen()
		case r.covers(visited[next]):
			return visited, true
		default:
			visited, found = r.step(visited, next)
			next++
		}
		if found {
			return visited, true
		}
	}
	return visited, false
}

// covers adds the domain of a vertex to what was got, and tells whether that is all.
func (r *reacher) covers(v V) bool {
	if !r.cover {
		return false
	}
	b := r.w.ownBit(v)
	if b < 0 || r.got.has(b) {
		return false
	}
	r.got[b/wordBits] |= 1 << (b % wordBits)
	return r.got.includes(&r.need)
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
