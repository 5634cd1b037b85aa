package world

import "slices"

// touchedReach lists the objects that come to other domains than before.
func (d *Delta) touchedReach() []uint32 {
	if d.moved == nil {
		ids := slices.DeleteFunc(d.maybeMoved(), func(id uint32) bool { return !d.movedTo(id) })
		d.moved = &ids
	}
	return *d.moved
}

// movedTo tells whether an object comes to other domains.
func (d *Delta) movedTo(id uint32) bool {
	before, after := d.before.objectRow(id), d.after.objectRow(id)
	return before != after || d.domainsChanged && after.unknown()
}

func (w *World) objectRow(id uint32) (r row) {
	for _, at := range w.object(id).at {
		r.add(w, at.v)
	}
	return r
}

// maybeMoved lists the objects that were placed or removed, or are where a row changed.
func (d *Delta) maybeMoved() []uint32 {
	ids := d.heldAt(nil, d.rewritten())
	for _, r := range d.replicas {
		ids = append(ids, r.object)
	}
	if d.domainsChanged {
		ids = d.appendUnknowns(ids)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// rewritten lists the vertices whose rows were written, once each.
func (d *Delta) rewritten() []V {
	members := &d.after.scratch.members
	members.reset(d.after.Vertices())
	list := make([]V, 0, len(d.reach))
	for _, v := range d.reach {
		if members.get(v) == 0 {
			members.set(v, 1)
			list = append(list, v)
		}
	}
	return list
}

// heldAt appends the objects that are or were at vertices.
func (d *Delta) heldAt(ids []uint32, vs []V) []uint32 {
	add := func(id uint32) bool {
		ids = append(ids, id)
		return true
	}
	for _, v := range vs {
		before, after := d.before.graph.holds.get(uint32(v)), d.after.graph.holds.get(uint32(v))
		if after.m != nil {
			d.after.held(v, add)
		}
		if before.m != nil && before.m != after.m {
			d.before.held(v, add)
		}
	}
	return ids
}

// appendUnknowns appends the objects that come to an unknown vertex, now or before.
func (d *Delta) appendUnknowns(ids []uint32) []uint32 {
	d.after.things.names.scan(func(_ string, id uint32) bool {
		before, after := d.before.objectRow(id), d.after.objectRow(id)
		if before.unknown() || after.unknown() {
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// touchedFullReach lists the objects that may come to other domains or vertices.
func (d *Delta) touchedFullReach() []uint32 {
	ids := slices.Clone(d.touchedReach())
	for _, r := range d.replicas {
		ids = append(ids, r.object)
	}
	switch {
	case d.domainsChanged: // names may mean vertices now, or domains
		d.after.things.names.scan(func(_ string, id uint32) bool {
			ids = append(ids, id)
			return true
		})
	case len(d.touchedVertices()) > 0: // what an unknown vertex is assumed to come to
		ids = d.appendUnknowns(ids)
	}
	return d.heldAt(ids, d.flood())
}

// flood lists the vertices that come, or came, to the near end of a channel that was opened
// or closed.
func (d *Delta) flood() []V {
	if len(d.channels) == 0 {
		return nil
	}
	list := d.before.comeTo(nil, d.channels)
	return d.after.comeTo(list, d.channels)
}

// comeTo appends the vertices that come to the near end of a channel.
func (w *World) comeTo(list []V, channels [][2]V) []V {
	members := &w.scratch.members
	n := V(w.Vertices())
	members.reset(w.Vertices())
	start := len(list)
	for _, c := range channels {
		if c[0] < n && members.get(c[0]) == 0 {
			members.set(c[0], 1)
			list = append(list, c[0])
		}
	}
	for i := start; i < len(list); i++ {
		in := w.In(list[i])
		for j := range in {
			if in[j].Open && members.get(in[j].To) == 0 {
				members.set(in[j].To, 1)
				list = append(list, in[j].To)
			}
		}
	}
	return list
}

// touchedConnects lists the vertices that come to other domains, or that began or ceased to
// occur.
func (d *Delta) touchedConnects() []V {
	list := slices.DeleteFunc(d.rewritten(), func(v V) bool {
		var before, after row
		before.add(d.before, v)
		after.add(d.after, v)
		return before == after
	})
	list = append(list, d.met()...)
	for _, v := range d.vertices {
		if d.before.occurs(v) != d.after.occurs(v) {
			list = append(list, v)
		}
	}
	if d.domainsChanged {
		list = d.appendUnknownVertices(list)
	}
	return list
}

// appendUnknownVertices appends the vertices that come to an unknown one, now or before.
func (d *Delta) appendUnknownVertices(list []V) []V {
	for v := range V(d.after.Vertices()) {
		if d.before.comesTo(v, 0) || d.after.comesTo(v, 0) {
			list = append(list, v)
		}
	}
	return list
}

// touchedFullConnects lists the vertices that may come to other domains or vertices.
func (d *Delta) touchedFullConnects() []V {
	list := d.touchedConnects()
	switch {
	case d.domainsChanged:
		for v := range V(d.after.Vertices()) {
			list = append(list, v)
		}
	case len(d.touchedVertices()) > 0:
		list = d.appendUnknownVertices(list)
	}
	return append(list, d.flood()...)
}
