package world

// What is reachable. Of every vertex the world keeps the set of release domains that what is
// there can come to through open channels: its own, and those of every vertex on the way.
// A set is a row of bits, one per domain and one, unknownBit, for "an unknown vertex"; the
// rows are stored in planes of 64 bits.

const (
	unknownBit = 1 // in plane 0
	wordBits   = 64
)

// bit is the number of a domain in a row.
func bit(domain uint32) int { return int(domain) + 1 }

// reachWord returns one plane of the row of a vertex.
func (w *World) reachWord(v V, plane int) uint64 { return w.graph.reach[plane].get(uint32(v)) }

// comesTo tells whether a bit of the row of a vertex is set.
func (w *World) comesTo(v V, b int) bool {
	plane := b / wordBits
	return plane < len(w.graph.reach) && w.reachWord(v, plane)>>(b%wordBits)&1 != 0
}

// ownBit is the bit that a vertex has because of what it is; -1 if there is none.
func (w *World) ownBit(v V) int {
	switch x := w.vertex(v); {
	case x.sort == Unknown:
		return 0
	case x.domain != "":
		return bit(x.domainID)
	}
	return -1
}

// ownWord is the part of ownBit in a plane.
func (w *World) ownWord(v V, plane int) uint64 {
	if b := w.ownBit(v); b >= 0 && b/wordBits == plane {
		return 1 << (b % wordBits)
	}
	return 0
}

func (d *draft) setReach(v V, plane int, row uint64) {
	if plane >= len(d.graph.reach) {
		planes := make([]vec[uint64], plane+1)
		copy(planes, d.graph.reach)
		d.graph.reach, d.planes = planes, true
	}
	if !d.planes { // the slice is shared
		d.graph.reach = append([]vec[uint64](nil), d.graph.reach...)
		d.planes = true
	}
	*d.graph.reach[plane].at(uint32(v), d.owner) = row
	d.delta.reach = append(d.delta.reach, v)
}

// repair is what flush has to look at: a set that may have become too large.
type repair struct {
	closed [][2]V
	lost   []lostBit
}

type lostBit struct {
	v   V
	bit int
}

// ownBitChanged follows a change of the domain or the sort of a vertex.
func (d *draft) ownBitChanged(v V, was int) {
	is := d.ownBit(v)
	if is == was {
		return
	}
	if is >= 0 {
		d.gain(v, is/wordBits, 1<<(is%wordBits))
	}
	if was >= 0 {
		d.repair.lost = append(d.repair.lost, lostBit{v, was})
	}
}

// opened follows the opening of a channel: only what is new spreads.
func (d *draft) opened(a, b V) {
	for plane := range d.graph.reach {
		d.gain(a, plane, d.reachWord(b, plane))
	}
}

// closed follows the closing of a channel.
func (d *draft) closed(a, b V) { d.repair.closed = append(d.repair.closed, [2]V{a, b}) }

// gain adds bits to the row of a vertex and of all that come to it. It stops where they are
// known.
func (d *draft) gain(v V, plane int, bits uint64) {
	for len(d.graph.reach) <= plane {
		d.setReach(v, len(d.graph.reach), 0)
	}
	row := d.reachWord(v, plane)
	if bits &= ^row; bits == 0 {
		return
	}
	pending := d.scratch.pendings(d.Vertices())
	d.setReach(v, plane, row|bits)
	pending[v] = bits
	todo := append(d.scratch.todo[:0], v)
	d.scratch.members.reset(d.Vertices()) // in todo
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		d.scratch.members.set(x, 0)
		in := d.In(x)
		for i := range in {
			if !in[i].Open {
				continue
			}
			u := in[i].To
			row := d.reachWord(u, plane)
			add := pending[x] &^ row
			if add == 0 {
				continue
			}
			d.setReach(u, plane, row|add)
			if d.scratch.members.get(u) == 0 {
				d.scratch.members.set(u, 1)
				pending[u] = 0
				todo = append(todo, u)
			}
			pending[u] |= add
		}
	}
	d.scratch.todo = todo
}

// flush makes the rows right again after closings and losses.
func (d *draft) flush() {
	r := d.repair
	d.repair = repair{}
	switch {
	case len(r.closed) == 0 && len(r.lost) == 0:
	case len(r.closed) == 1 && len(r.lost) == 0:
		d.closeOne(r.closed[0][0], r.closed[0][1])
	default:
		d.closeMany(r)
	}
}

// closeOne repairs the rows after the closing of a channel from a to b. What still comes to b
// loses nothing: beyond the last time that a walk used the channel it goes on from b. Nor
// does what comes to all domains of b on other ways. So only the others among those that come
// to a are looked at.
func (d *draft) closeOne(a, b V) {
	var need row
	need.add(d.World, b)
	if need == (row{}) {
		return
	}
	r := d.coverer(need)
	r.add(b)
	if !r.from(a) {
		// All that a comes to now was followed: what is lost is the rest.
		for plane := range need {
			need[plane] &^= r.got[plane]
		}
		r.need = need
		set := d.upstream([]V{a}, func(v V) bool { return !r.from(v) })
		d.derive(set, &need)
	}
	r.done()
}

// closeMany repairs the rows after any closings and losses.
func (d *draft) closeMany(repair repair) {
	var need row
	var near []V
	for _, c := range repair.closed {
		near = append(near, c[0])
		need.add(d.World, c[1])
	}
	for _, l := range repair.lost {
		near = append(near, l.v)
		need[l.bit/wordBits] |= 1 << (l.bit % wordBits)
	}
	if need == (row{}) {
		return
	}
	r := d.coverer(need)
	set := d.upstream(near, func(v V) bool { return !r.from(v) })
	r.done()
	d.derive(set, &need)
}

// The states of a vertex in upstream.
const (
	seen = iota + 1
	member
)

// upstream lists the vertices that come to one of near through vertices of which ok holds. It
// leaves them as the members in the scratch memory.
func (d *draft) upstream(near []V, ok func(V) bool) []V {
	s := d.scratch
	s.members.reset(d.Vertices())
	todo, set := s.todo[:0], s.set[:0]
	for _, v := range near {
		if s.members.get(v) == 0 {
			s.members.set(v, seen)
			todo = append(todo, v)
		}
	}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !ok(v) {
			continue
		}
		s.members.set(v, member)
		set = append(set, v)
		in := d.In(v)
		for i := range in {
			if in[i].Open && s.members.get(in[i].To) == 0 {
				s.members.set(in[i].To, seen)
				todo = append(todo, in[i].To)
			}
		}
	}
	s.todo, s.set = todo, set
	return set
}

// derive computes the lost bits of the rows of a set of vertices, the members of upstream,
// anew from what lies outside of it. The cost is linear in the set and its channels.
func (d *draft) derive(set []V, lost *row) {
	if len(set) == 0 {
		return
	}
	d.components(set)
	for plane := range d.graph.reach {
		if lost[plane] != 0 {
			d.derivePlane(plane, lost[plane])
		}
	}
}

// derivePlane is derive for one plane. Components come after all that they lead to.
func (d *draft) derivePlane(plane int, lost uint64) {
	s := d.scratch
	rows := s.pendings(d.Vertices())
	for _, v := range s.order {
		rows[v] = 0
	}
	start := 0
	for _, end := range s.ends {
		component := s.order[start:end]
		start = end
		bits := uint64(0)
		for _, v := range component {
			bits |= d.ownWord(v, plane)
			out := d.Out(v)
			for i := range out {
				switch to := out[i].To; {
				case !out[i].Open:
				case s.members.get(to) == member:
					bits |= rows[to]
				default:
					bits |= d.reachWord(to, plane)
				}
			}
		}
		for _, v := range component {
			rows[v] = bits & lost
		}
	}
	for _, v := range s.order {
		row := d.reachWord(v, plane)
		if next := row&^lost | rows[v]; next != row {
			d.setReach(v, plane, next)
		}
	}
}
