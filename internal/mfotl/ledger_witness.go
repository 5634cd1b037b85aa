package mfotl

import "github.com/aspis-rv/aspis/pkg/verdict"

// groupWitness is the witness of the certain rows of a group.
type groupWitness struct {
	recent
	before recent // before the last step that changed the group
	step   uint64 // that step
}

// recent is a witness, if it is known.
type recent struct {
	newest
	known bool
}

// undone gives a group back the witness it had before the step that is being rolled back,
// and tells whether one is.
func (s *store) undone(w *groupWitness) bool {
	if s.undoing {
		w.recent = w.before
		w.known = w.known && w.step == s.step
	}
	return s.undoing
}

// begin keeps the witness of a group before the first change in a step, so that it is
// there again if the step is rolled back. The ledger, and unless the kind is rowChanged
// the entries too, are as they were before.
func (l *ledger) begin(s *store, g int32, kind noteKind) {
	w := l.groups[g].witness
	if w.step == s.step || kind == rowExpired {
		return
	}
	if !w.known && kind != rowChanged {
		w.recent = recent{l.recent(s, g), true}
	}
	w.step, w.before = s.step, w.recent
}

// change keeps a witness up to date as a slot with entries e comes or goes. A row that goes
// with an offset among the newest leaves it unknown.
func (w *groupWitness) change(s *store, e []uint64, c class, kind noteKind) {
	switch kind {
	case rowCame:
		if c == certain && w.known {
			w.add(e[entWit:s.stride])
		}
	case rowLeft, rowExpired:
		if c == certain && w.holds(e[entWit:s.stride]) {
			w.known = false
		}
	case rowChanged:
		w.known = false
	}
}

// recent is the witness of the certain rows of a group whose marks time cannot change.
// It costs the number of its rows.
func (l *ledger) recent(s *store, g int32) (w newest) {
	x := s.index(l.spec.index)
	for slot := x.groups[g].first; slot >= 0; slot = x.next[slot] {
		if m := verdict.Value(l.given[slot] & givenMark); m == verdict.T || classOf(m) != certain {
			continue
		}
		e, best := s.ents[slot], 0
		for at := s.stride; at < len(e); at += s.stride {
			if entryMark(e, at) >= entryMark(e, best) {
				best = at
			}
		}
		w.add(e[best+entWit : best+s.stride])
	}
	return w
}

// holds tells whether an offset of a row's witness may be among the newest.
func (w *newest) holds(wit []uint64) bool {
	return len(wit) > 0 && w.n > 0 && wit[0] >= w.words[w.n-1]
}
