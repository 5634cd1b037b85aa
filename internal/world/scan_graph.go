package world

func (q *query) vertices() bool {
	if q.has(0) {
		if v, ok := q.w.Vertex(q.str(0)); ok && q.w.Sort(v) != Unknown {
			return q.one(q.str(0), q.w.vertex(v).origin)
		}
		return true
	}
	return q.w.graph.names.scan(func(name string, v V) bool {
		return q.w.Sort(v) == Unknown || q.one(name, q.w.vertex(v).origin)
	})
}

func (q *query) opened() bool {
	w := q.w
	switch {
	case q.has(0):
		a, ok := w.Vertex(q.str(0))
		return !ok || q.openFrom(a)
	case q.has(1):
		b, ok := w.Vertex(q.str(1))
		if !ok {
			return true
		}
		for _, c := range w.In(b) {
			if c.Open && !q.two(w.Name(c.To), q.str(1), c.Origin) {
				return false
			}
		}
		return true
	}
	return w.graph.names.scan(func(_ string, a V) bool { return q.openFrom(a) })
}

func (q *query) openFrom(a V) bool {
	w := q.w
	out := w.Out(a)
	if q.has(1) {
		b, ok := w.Vertex(q.str(1))
		if !ok {
			return true
		}
		i, ok := w.findChannel(out, b)
		return !ok || !out[i].Open || q.two(w.Name(a), q.str(1), out[i].Origin)
	}
	for _, c := range out {
		if c.Open && !q.two(w.Name(a), w.Name(c.To), c.Origin) {
			return false
		}
	}
	return true
}

// labels answers label(l, x).
func (q *query) labels() bool {
	groups := &q.w.graph.labels
	if q.has(0) {
		if v, ok := q.w.Vertex(q.str(0)); ok && q.w.Sort(v) != Unknown {
			for _, l := range q.w.vertex(v).marks {
				if name := groups.name(l.id); q.agrees(1, name) && !q.two(q.str(0), name, l.origin) {
					return false
				}
			}
			return true
		}
		return q.sense == Safe || q.assumed(groups, q.str(0), false)
	}
	return q.members(groups, func(v V, id uint32) uint64 { return q.w.vertex(v).mark(id).origin }) &&
		q.assumedOfAll(groups, false)
}

// domains answers domain(l, d).
func (q *query) domains() bool {
	groups := &q.w.graph.domains
	if q.has(0) {
		if v, ok := q.w.Vertex(q.str(0)); ok && q.w.Sort(v) != Unknown {
			x := q.w.vertex(v)
			return x.domain == "" || !q.agrees(1, x.domain) || q.two(x.name, x.domain, x.domainAt)
		}
		return q.sense == Safe || q.assumed(groups, q.str(0), true)
	}
	return q.members(groups, func(v V, _ uint32) uint64 { return q.w.vertex(v).domainAt }) &&
		q.assumedOfAll(groups, true)
}

// members yields the declared vertices of the groups that agree.
func (q *query) members(groups *groups, origin func(V, uint32) uint64) bool {
	of := func(id uint32, name string) bool {
		return groups.list.get(id).members.scan(func(vertex string, v V) bool {
			return q.two(vertex, name, origin(v, id))
		})
	}
	if q.has(1) {
		id, ok := groups.lookup(q.str(1))
		return !ok || of(id, q.str(1))
	}
	return groups.known(of)
}

// assumed yields what an unknown vertex is assumed to have: all groups that are known, and
// the unknown domain.
func (q *query) assumed(groups *groups, vertex string, domains bool) bool {
	if domains && q.agrees(1, UnknownDomain) && !q.two(vertex, UnknownDomain, 0) {
		return false
	}
	if q.has(1) {
		return !groups.knows(q.str(1)) || q.two(vertex, q.str(1), 0)
	}
	return groups.known(func(_ uint32, name string) bool { return q.two(vertex, name, 0) })
}

// assumedOfAll is assumed for all unknown vertices that occur.
func (q *query) assumedOfAll(groups *groups, domains bool) bool {
	return q.sense == Safe || q.w.Unknowns(func(v V) bool { return q.assumed(groups, q.w.Name(v), domains) })
}
