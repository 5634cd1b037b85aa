package world

import (
	"cmp"
	"slices"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// flying are the calls whose outcome is not known yet, with what it takes to undo them. Of
// each cell that such calls wrote there is a stack: who wrote it, and what was there before,
// the last one on top. Taking back a call is to put what was before if it is on top, and
// else to leave that to the next above it.
type flying struct {
	calls  index[*flight]
	stacks index[[]entry] // by key of the cell; never empty
	names  index[int32]   // how many calls in doubt name it
	doubts int            // calls in doubt
}

// flight is a call in flight. It is not written to once its draft is finished.
type flight struct {
	call   string
	offset uint64
	doubt  bool
	spent  bool     // in doubt and cannot be taken back
	names  []string // of entities, objects and vertices, sorted
	cells  []cell   // cells whose stacks may have an entry of it
}

// entry is a write of a call in flight.
type entry struct {
	call   string
	before image
}

// push notes that the call at hand overwrites a cell.
func (d *draft) push(key string, c cell, stack []entry, before image) {
	d.changed = true
	if !d.board() {
		return
	}
	d.call.cells = append(d.call.cells, c)
	if n := len(stack); n > 0 && stack[n-1].call == d.from.Call {
		return
	}
	d.flying.stacks.set(key, with(stack, len(stack), entry{d.from.Call, before}, false), d.owner)
}

// board makes d.call the flight of the call at hand, to be written to until finish. False if
// there are too many: the call cannot be taken back.
func (d *draft) board() bool {
	if d.call != nil {
		return true
	}
	if len(d.from.Call) > maxName {
		d.overflows()
		return false
	}
	f, ok := d.flying.calls.get(d.from.Call)
	switch {
	case ok:
		next := *f
		next.cells, next.names = slices.Clone(f.cells), slices.Clone(f.names)
		d.call = &next
	case d.flying.calls.len() >= maxCalls:
		d.overflows()
		return false
	default:
		d.call = &flight{call: d.from.Call, offset: d.from.Offset}
	}
	d.flying.calls.set(d.from.Call, d.call, d.owner)
	return true
}

// name adds the names in an edit that wrote to those of the call at hand.
func (d *draft) name(names ...string) {
	if d.call == nil {
		return
	}
	for _, name := range names {
		i, found := slices.BinarySearch(d.call.names, name)
		if found || name == "" {
			continue
		}
		d.call.names = slices.Insert(d.call.names, i, name)
		if d.call.doubt {
			d.countName(name, 1)
		}
	}
}

// Revert takes back the changes of a call, but for what a later event has written since.
func (w *World) Revert(call string, from Origin) (*World, *Delta) {
	f, ok := w.flying.calls.get(call)
	if !ok || f.spent {
		return w, w.base.nothing
	}
	d := w.draft(Origin{Offset: from.Offset})
	for _, c := range f.sortedCells(w) {
		d.takeBack(c, call)
	}
	d.land(f)
	d.flush()
	return d.finish()
}

// takeBack removes the entries of a call from the stack of a cell.
func (d *draft) takeBack(c cell, call string) {
	key := d.key(c)
	stack, _ := d.flying.stacks.get(key)
	stack = slices.Clone(stack)
	for at := len(stack); at > 0; at-- {
		i := at - 1
		if stack[i].call != call {
			continue
		}
		if at < len(stack) {
			stack[at].before = stack[i].before
		} else if d.get(c) != stack[i].before {
			d.put(key, c, stack[i].before)
		}
		stack = slices.Delete(stack, i, at)
	}
	if c.kind == tupleCell {
		d.relevel(key, c, stack)
	}
	d.setStack(key, stack)
}

// relevel makes the images of a tuple as strong as the writes that stand: each as the
// stronger of its own and the one below.
func (d *draft) relevel(key string, c cell, stack []entry) {
	for i := range stack {
		after := d.get(c)
		if i+1 < len(stack) {
			after = stack[i+1].before
		}
		strength := after.own
		if stack[i].before.present {
			strength = min(strength, stack[i].before.strength)
		}
		if !after.present || after.strength == strength {
			continue
		}
		after.strength = strength
		if i+1 < len(stack) {
			stack[i+1].before = after
		} else {
			d.put(key, c, after)
		}
	}
}

func (d *draft) setStack(key string, stack []entry) {
	if len(stack) == 0 {
		d.flying.stacks.delete(key, d.owner)
		return
	}
	d.flying.stacks.set(key, stack, d.owner)
}

// sortedCells lists the cells of a call once each, in an order that does not depend on ids.
func (f *flight) sortedCells(w *World) []cell {
	type keyed struct {
		key string
		c   cell
	}
	list := make([]keyed, len(f.cells))
	for i, c := range f.cells {
		list[i] = keyed{w.key(c), c}
	}
	slices.SortFunc(list, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	list = slices.CompactFunc(list, func(a, b keyed) bool { return a.key == b.key })
	cells := make([]cell, len(list))
	for i := range list {
		cells[i] = list[i].c
	}
	return cells
}

// land forgets a call.
func (d *draft) land(f *flight) {
	d.changed = true
	d.flying.calls.delete(f.call, d.owner)
	if !f.doubt {
		return
	}
	d.flying.doubts--
	for _, name := range f.names {
		d.countName(name, -1)
	}
}

func (d *draft) countName(name string, by int32) {
	n, _ := d.flying.names.get(name)
	if n += by; n == 0 {
		d.flying.names.delete(name, d.owner)
		return
	}
	d.flying.names.set(name, n, d.owner)
}

// settle makes what a call wrote final: neither it nor what came before can be put back. What
// was guessed of a tuple that others have made definite is final below what they made of it.
func (d *draft) settle(f *flight) {
	for _, c := range f.cells {
		key := d.key(c)
		stack, _ := d.flying.stacks.get(key)
		if origin, ok := d.supported(c, stack, f.call); ok {
			d.takeBack(c, f.call)
			if stack, _ = d.flying.stacks.get(key); len(stack) > 0 {
				d.underlay(key, stack, origin)
			}
			continue
		}
		for i, x := range slices.Backward(stack) {
			if x.call == f.call {
				d.overwritten(stack[:i])
				d.setStack(key, slices.Clone(stack[i+1:]))
				break
			}
		}
	}
}

// supported tells whether a tuple that a call made presumptive is definite by writes below
// that of the call, which may yet be taken back, and where the call wrote it.
func (d *draft) supported(c cell, stack []entry, call string) (origin uint64, ok bool) {
	seen := false
	for i, x := range slices.Backward(stack) {
		if x.call != call {
			continue
		}
		after := d.get(c)
		if i+1 < len(stack) {
			after = stack[i+1].before
		}
		if after.own == verdict.Definite {
			return 0, false
		}
		if !seen {
			seen, origin, ok = true, after.origin, after.strength == verdict.Definite
		}
	}
	return origin, ok
}

// overwritten notes that entries went because what is there now is final.
func (d *draft) overwritten(stack []entry) {
	for _, x := range stack {
		d.lost = append(d.lost, x.call)
	}
}

// release ends the doubt about calls of which nothing is left: whether they took place or not,
// all that they wrote has been written since.
func (d *draft) release() {
	slices.Sort(d.lost)
	for _, call := range slices.Compact(d.lost) {
		f, ok := d.flying.calls.get(call)
		if ok && f.doubt && !f.spent && !slices.ContainsFunc(f.cells, func(c cell) bool { return d.standing(f, c) }) {
			d.land(f)
		}
	}
	d.lost = nil
}

// standing tells whether what a call in flight wrote in a cell, or what was there before, may
// still come up.
func (w *World) standing(f *flight, c cell) bool {
	stack, _ := w.flying.stacks.get(w.key(c))
	return slices.ContainsFunc(stack, func(x entry) bool { return x.call == f.call })
}

// Keep ends the time in which the changes of a call can be taken back, and the doubt about
// them.
func (w *World) Keep(call string) *World {
	f, ok := w.flying.calls.get(call)
	if !ok {
		return w
	}
	d := w.draft(Origin{})
	d.settle(f)
	d.land(f)
	d.release()
	return d.World
}

// Doubt says that the outcome of a call is unknown: its changes stay, and what it changed is
// in doubt until Revert or Keep, or until all of it has been written by events that stay. Of more than 64 calls in doubt, those that were proposed
// first can no longer be taken back; a Revert of theirs leaves the doubt.
func (w *World) Doubt(call string) *World {
	f, ok := w.flying.calls.get(call)
	if !ok || f.doubt {
		return w
	}
	d := w.draft(Origin{})
	next := *f
	next.doubt = true
	d.flying.calls.set(call, &next, d.owner)
	d.flying.doubts++
	for _, name := range next.names {
		d.countName(name, 1)
	}
	d.lost = append(d.lost, call)
	d.release()
	d.spendOldest()
	return d.World
}

// spendOldest holds the number of calls in doubt that can be taken back at its limit.
func (d *draft) spendOldest() {
	if d.flying.doubts <= maxDoubts {
		return
	}
	var oldest *flight
	fresh := 0
	d.flying.calls.scan(func(_ string, f *flight) bool {
		if f.doubt && !f.spent {
			fresh++
			if oldest == nil || f.offset < oldest.offset {
				oldest = f
			}
		}
		return true
	})
	if fresh > maxDoubts {
		d.spend(oldest)
	}
}

// spend puts a call in doubt for good, until Keep.
func (d *draft) spend(f *flight) {
	d.settle(f)
	next := *f
	next.spent, next.cells = true, nil
	d.flying.calls.set(f.call, &next, d.owner)
}

// HasDoubts tells whether anything is in doubt; Doubtful whether the entity, object or vertex
// of a name is.
func (w *World) HasDoubts() bool { return w.flying.doubts > 0 }

// Doubtful tells whether the entity, object or vertex of a name is in doubt.
func (w *World) Doubtful(name string) bool {
	if w.flying.doubts == 0 {
		return false
	}
	_, ok := w.flying.names.get(name)
	return ok
}
