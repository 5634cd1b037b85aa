package future

// held keeps, for the tuples of the left operand of UNTIL, since when it has held. If
// the operand is a NOT, the tuples are those of the formula below it, and what is kept
// is when it failed last.
type held struct {
	negated bool
	cols    []int // of the right operand's tuples: the left one's columns
	tally   *int

	set   table
	first []uint64        // by slot: where the run of time points with the tuple began
	last  []uint64        // by slot: the last time point with the tuple
	lists series[[]int32] // by time point: the slots with a tuple there
	key   tuple
}

// read takes the tuples at time point k. Nobody will ask about time points before
// from.
func (h *held) read(k uint64, tuples []tuple, from uint64) {
	var list []int32
	if len(tuples) > 0 {
		list = make([]int32, len(tuples))
	}
	for i, t := range tuples {
		slot, made := h.set.add(t)
		if made {
			h.start(slot, k)
		}
		h.last[slot] = k
		list[i] = slot
	}
	*h.tally += len(list)
	h.lists.push(list)
	if !h.negated {
		from = k // only runs that reach to the newest time point matter
	}
	h.forget(from)
}

func (h *held) start(slot int32, k uint64) {
	if int(slot) == len(h.first) {
		h.first, h.last = append(h.first, 0), append(h.last, 0)
	}
	h.first[slot] = k
}

// forget removes the tuples that were there last before a time point.
func (h *held) forget(before uint64) {
	for h.lists.first < before && h.lists.len() > 0 {
		k := h.lists.first
		list := *h.lists.at(k)
		for _, slot := range list {
			if h.last[slot] == k {
				h.set.remove(slot)
			}
		}
		*h.tally -= len(list)
		h.lists.drop()
	}
}

// since returns the first time point from which on the left operand holds for a tuple
// of the right one, up to before time point j, which is the one after that read last;
// j if it does not hold there.
func (h *held) since(t tuple, j uint64) uint64 {
	h.key = h.key[:0]
	for _, c := range h.cols {
		h.key = append(h.key, t[c])
	}
	slot := h.set.find(h.key)
	switch {
	case h.negated && slot < 0:
		return 0
	case h.negated:
		return h.last[slot] + 1
	case slot < 0:
		return j
	}
	return h.first[slot]
}
