package world

import "slices"

// CarriesDoubt tells whether what a change of the graph does to an object is in doubt: whether
// an object whose place a call in doubt has changed is, or may turn out to be, at a vertex
// that comes to something else now. The cost is that of Touched of Reaches, and of the cells
// which calls in doubt have written.
func (d *Delta) CarriesDoubt() bool {
	if d.after.flying.doubts == 0 || len(d.reach)+len(d.channels)+len(d.vertices) == 0 {
		return false
	}
	var placed []cell
	d.after.flying.calls.scan(func(_ string, f *flight) bool {
		for _, c := range f.cells {
			if f.doubt && c.kind == replicaCell && d.after.standing(f, c) {
				placed = append(placed, c)
			}
		}
		return true
	})
	if len(placed) == 0 {
		return false
	}
	if d.domainsChanged || len(d.touchedVertices()) > 0 { // what unknown vertices come to
		return true
	}
	moved := map[V]bool{}
	for _, v := range append(d.rewritten(), d.flood()...) {
		moved[v] = true
	}
	return slices.ContainsFunc(placed, func(c cell) bool {
		return moved[V(c.y)] || slices.ContainsFunc(d.after.object(c.x).at, func(r replica) bool { return moved[r.v] })
	})
}

// GraphDoubtful tells whether the graph is in doubt: whether a call in doubt has changed
// vertices, labels, domains, edges or channels. Of a call that can no longer be taken back
// that is not known any more, and it counts. The cost is that of the cells which calls in
// flight have written.
func (w *World) GraphDoubtful() bool {
	if w.flying.doubts == 0 {
		return false
	}
	doubtful := false
	w.flying.calls.scan(func(_ string, f *flight) bool {
		doubtful = f.doubt && (f.spent || slices.ContainsFunc(f.cells, func(c cell) bool { return c.kind <= channelCell && w.standing(f, c) }))
		return !doubtful
	})
	return doubtful
}
