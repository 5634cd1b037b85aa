package mfotl

// update brings a window up to the time point at its delay: SINCE first restricts
// what is in it by the left operand, then both take in what the operand yields.
func (p *storeSpec) update(st *State) {
	if s := st.stores[p.id]; s != nil && s.n > 0 {
		if clock, ok := st.clock(p.delay); ok {
			s.clock = clock
			s.expire(clock)
		}
		if p.left != nil {
			p.left.restrict(st, s)
		}
	}
	p.absorb(st)
}

// absorb is ONCE: every tuple of the operand enters the window.
func (p *storeSpec) absorb(st *State) {
	if !p.operand.trigger.fires(st) {
		return
	}
	rel := p.operand.collect(st)
	if rel.len() == 0 {
		return
	}
	s := st.stores[p.id]
	if s == nil {
		s = newStore(p, st.plan.seed, &st.entries)
		st.stores[p.id] = s
	}
	now := st.frame(p.delay).ts
	for i := range rel.len() {
		s.add(&st.journal, rel.tuple(i), now, rel.marks[i], rel.witness(i))
	}
}
