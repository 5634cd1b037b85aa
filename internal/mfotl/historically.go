package mfotl

// holdAll brings the window of a HISTORICALLY up to the time point at its delay: what
// the operand yields has held there, everything else has not.
func (p *storeSpec) holdAll(st *State) {
	s := st.stores[p.id]
	h := holding{now: st.moment(p.delay), source: st.frame(p.delay).source}
	if clock, ok := st.clock(p.delay); ok {
		h.before = clock.ts
		if s != nil {
			s.settle(clock)
		}
	}
	if p.opensGap(h.now, h.before) {
		s = st.store(p)
		s.openGap(&st.journal, h.now, h.before)
	}
	if !p.bounded && h.now.index > 0 && (s == nil || s.n == 0) {
		return // nothing has held at all time points
	}
	if !p.operand.trigger.fires(st) {
		return
	}
	rel := p.operand.collect(st)
	if rel.len() == 0 {
		return
	}
	s = st.store(p)
	for i := range rel.len() {
		h.mark, h.wit = rel.marks[i], rel.witness(i)
		s.hold(&st.journal, rel.tuple(i), &h)
	}
}
