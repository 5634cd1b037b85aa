package world

// tarjan is memory for components, and their result.
type tarjan struct {
	number []uint32 // of a vertex, in the order in which it was met
	low    []uint32 // the least number that it leads back to
	path   []V      // vertices whose component is not complete
	calls  []visit
	order  []V   // the vertices, component after component
	ends   []int // where in order the components end
}

// visit is a vertex whose channels are being followed.
type visit struct {
	v    V
	next int
}

// The states of a vertex in components.
const (
	isOpen = iota + 1 // its component is not complete
	isDone
)

// components splits the members of upstream into strongly connected components through open
// channels: scratch.order and scratch.ends. A component comes after all that it leads to.
// Source: R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1, 1972;
// here without recursion.
func (d *draft) components(set []V) {
	s := d.scratch
	n := d.Vertices()
	if len(s.number) < n {
		s.number, s.low = make([]uint32, n+n/4), make([]uint32, n+n/4)
	}
	s.states.reset(n)
	s.order, s.ends, s.path = s.order[:0], s.ends[:0], s.path[:0]
	met := uint32(0)
	for _, root := range set {
		if s.states.get(root) != 0 {
			continue
		}
		s.calls = s.calls[:0]
		s.enter(root, &met)
		for len(s.calls) > 0 {
			if next, ok := d.advance(); ok {
				s.enter(next, &met)
			} else {
				s.leave()
			}
		}
	}
}

// enter begins the visit of a vertex.
func (s *scratch) enter(v V, met *uint32) {
	s.states.set(v, isOpen)
	s.number[v], s.low[v] = *met, *met
	*met++
	s.path = append(s.path, v)
	s.calls = append(s.calls, visit{v: v})
}

// advance follows the channels of the vertex visited last up to one that was not met.
func (d *draft) advance() (V, bool) {
	s := d.scratch
	top := &s.calls[len(s.calls)-1]
	out := d.Out(top.v)
	for top.next < len(out) {
		c := &out[top.next]
		top.next++
		if !c.Open || s.members.get(c.To) != member {
			continue
		}
		switch s.states.get(c.To) {
		case 0:
			return c.To, true
		case isOpen:
			s.low[top.v] = min(s.low[top.v], s.number[c.To])
		}
	}
	return 0, false
}

// leave ends the visit of a vertex, and its component if it was met first of it.
func (s *scratch) leave() {
	v := s.calls[len(s.calls)-1].v
	s.calls = s.calls[:len(s.calls)-1]
	if len(s.calls) > 0 {
		up := s.calls[len(s.calls)-1].v
		s.low[up] = min(s.low[up], s.low[v])
	}
	if s.low[v] != s.number[v] {
		return
	}
	for {
		last := s.path[len(s.path)-1]
		s.path = s.path[:len(s.path)-1]
		s.states.set(last, isDone)
		s.order = append(s.order, last)
		if last == v {
			break
		}
	}
	s.ends = append(s.ends, len(s.order))
}
