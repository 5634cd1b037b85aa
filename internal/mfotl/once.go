package mfotl

// update brings a window up to the time point at its delay: SINCE first restricts
// what is in it by the left operand, then both take in what the operand yields.
// HISTORICALLY has its own way.
func (p *storeSpec) update(st *State) {
	if p.universal {
		p.holdAll(st)
		return
	}
	if s := st.stores[p.id]; s != nil && s.n > 0 {
		if clock, ok := st.clock(p.delay); ok {
			s.clock = clock.ts
			s.expire(clock)
		}
		s.step = st.step
		if p.left != nil && s.n > 0 { // what is expired must not make the left operand matter
			p.left.restrict(st, s)
		}
	}
	p.absorb(st)
}

// store returns the store of p, made if there is none.
func (st *State) store(p *storeSpec) *store {
	s := st.stores[p.id]
	if s == nil {
		s = newStore(p, st.plan.seed, &st.entries)
		st.stores[p.id] = s
	}
	return s
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
	s := st.store(p)
	s.step = st.step
	now := st.frame(p.delay).ts
	for i := range rel.len() {
		s.add(&st.journal, rel.tuple(i), now, rel.marks[i], rel.witness(i))
	}
}
