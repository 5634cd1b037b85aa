package records

// Misfit returns the first place, in the order of the value, where the path cannot go on
// because the value is of another kind than the path says: a text where it has items, a list
// where it has members. want is "a list" or "a map". A member or an item that is not there,
// and null, are no misfits: records differ.
func (p Path) Misfit(v Value) (at, want string, found bool) { return misfit(p.steps, "", v) }

func misfit(steps []step, here string, v Value) (at, want string, found bool) {
	if len(steps) == 0 || v.kind == Null {
		return "", "", false
	}
	kind, wanted := Map, "a map"
	if steps[0].kind == everyItem || steps[0].kind == byIndex {
		kind, wanted = List, "a list"
	}
	if v.kind != kind {
		return here, wanted, true
	}
	s := selector{at: []byte(here), visit: func(there string, w Value) bool {
		at, want, found = misfit(steps[1:], there, w)
		return !found
	}}
	s.descend(steps[:1], v)
	return at, want, found
}
