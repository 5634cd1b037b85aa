package world

// draft is a world in the making: the successor that Apply or Revert returns.
type draft struct {
	*World         // the successor
	before  *World // what it is made from; unchanged
	owner   *owner
	from    Origin
	delta   *Delta
	changed bool
	wrote   bool    // whether the edit at hand wrote a cell
	call    *flight // of the call at hand; nil until it writes
	planes  bool    // whether the slice of planes is its own
	crowded bool    // whether there was no room for a name
	repair  repair  // of what is reachable, until flush
	// lost are the calls in flight of whose writes some have become final history, until release.
	lost []string
}

func (w *World) draft(from Origin) *draft {
	next := *w
	d := &draft{World: &next, before: w, owner: new(owner), from: from}
	d.delta = &Delta{before: w, after: &next}
	next.graph.labels.changed, next.graph.domains.changed = false, false
	return d
}

// finish returns the successor and what changed.
func (d *draft) finish() (*World, *Delta) {
	d.release()
	if !d.changed {
		return d.before, d.base.nothing
	}
	d.delta.labelsChanged = d.graph.labels.changed
	d.delta.domainsChanged = d.graph.domains.changed
	return d.World, d.delta
}

// overflows notes that an edit went beyond the limits.
func (d *draft) overflows() {
	if !d.overflow {
		d.overflow, d.changed = true, true
	}
}

// crowds notes that there is no room for a name, of which so many were met already.
func (d *draft) crowds(met, limit int) {
	d.crowded = d.crowded || met >= limit
	d.overflows()
}

// renewed is the same world without the names that were met and are in no cell any more. That
// a world is crowded is said of this one, so that it does not depend on what the trace has met
// since it was restored last.
func (w *World) renewed() *World {
	s := w.scratch
	if s.worn != w {
		fresh, err := w.base.initial.Fork().reopen(w.AppendState(nil))
		if err != nil {
			panic("world: its own encoding is damaged: " + err.Error()) // an error of the program
		}
		s.worn, s.fresh = w, fresh
	}
	return s.fresh
}

// internVertex returns the vertex of a name, which is unknown if the name is new. False if
// there are too many.
func (d *draft) internVertex(name string) (V, bool) {
	if v, ok := d.graph.names.get(name); ok {
		return v, true
	}
	n := d.graph.names.len()
	if n >= maxVertices || len(name) > maxName {
		d.crowds(n, maxVertices)
		return 0, false
	}
	v := V(n)
	d.graph.names.set(name, v, d.owner)
	*d.graph.vertices.at(uint32(v), d.owner) = &vertex{name: name}
	d.graph.strangers.set(name, v, d.owner)
	d.setReach(v, 0, unknownBit)
	return v, true
}

// internVertices is internVertex of two names.
func (d *draft) internVertices(a, b string) (x, y V, ok bool) {
	if x, ok = d.internVertex(a); !ok {
		return 0, 0, false
	}
	y, ok = d.internVertex(b)
	return x, y, ok
}

// internObject returns the object of a name. False if there are too many.
func (d *draft) internObject(name string) (uint32, bool) {
	if id, ok := d.things.names.get(name); ok {
		return id, true
	}
	n := d.things.names.len()
	if n >= maxObjects || len(name) > maxName {
		d.crowds(n, maxObjects)
		return 0, false
	}
	d.things.names.set(name, uint32(n), d.owner)
	*d.things.objects.at(uint32(n), d.owner) = &object{name: name}
	return uint32(n), true
}

// internLabel returns the id of a label. False if there are too many.
func (d *draft) internLabel(name string) (uint32, bool) {
	return d.internGroup(&d.graph.labels, name, maxLabels)
}

// internDomain returns the id of a domain. False if there are too many.
func (d *draft) internDomain(name string) (uint32, bool) {
	return d.internGroup(&d.graph.domains, name, maxDomains)
}

func (d *draft) internGroup(gs *groups, name string, limit int) (uint32, bool) {
	if _, ok := gs.lookup(name); !ok && (gs.ids.len() >= limit || len(name) > maxName) {
		d.crowds(gs.ids.len(), limit)
		return 0, false
	}
	return gs.intern(name, d.owner), true
}
