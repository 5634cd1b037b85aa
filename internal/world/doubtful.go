package world

import "slices"

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
		doubtful = f.doubt && (f.spent || slices.ContainsFunc(f.cells, func(c cell) bool { return c.kind <= channelCell }))
		return !doubtful
	})
	return doubtful
}
