package latch

// Marks wakes those who wait for an ascending number to be reached, such as the offset
// up to which a log is folded. The zero value has nobody waiting. It is guarded by its
// owner's lock; the channels are not.
type Marks struct {
	waiting []mark
}

type mark struct {
	at      uint64
	reached chan struct{}
}

// Wait returns a channel that is closed by the first Reach of at least at.
func (m *Marks) Wait(at uint64) <-chan struct{} {
	reached := make(chan struct{})
	m.waiting = append(m.waiting, mark{at, reached})
	return reached
}

// Reach wakes those who wait for no more than next. The cost is linear in the number
// of those who wait.
func (m *Marks) Reach(next uint64) {
	if len(m.waiting) == 0 {
		return
	}
	rest := m.waiting[:0]
	for _, w := range m.waiting {
		if w.at <= next {
			close(w.reached)
			continue
		}
		rest = append(rest, w)
	}
	clear(m.waiting[len(rest):])
	m.waiting = rest
}
