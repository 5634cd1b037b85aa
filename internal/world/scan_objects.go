package world

import (
	"slices"
	"strings"
)

func (q *query) holds() bool {
	switch {
	case q.has(0):
		v, ok := q.w.Vertex(q.str(0))
		return !ok || q.holdsAt(v)
	case q.has(1):
		id, ok := q.w.lookupObject(q.str(1))
		if !ok {
			return true
		}
		for _, r := range q.w.object(id).at {
			if !q.two(q.w.Name(r.v), q.str(1), r.origin) {
				return false
			}
		}
		return true
	}
	return q.w.graph.names.scan(func(_ string, v V) bool { return q.holdsAt(v) })
}

func (q *query) holdsAt(v V) bool {
	w := q.w
	yield := func(id uint32) bool {
		o := w.object(id)
		i, ok := w.findReplica(o.at, v)
		return !ok || q.two(w.Name(v), o.name, o.at[i].origin)
	}
	if q.has(1) {
		id, ok := w.lookupObject(q.str(1))
		return !ok || yield(id)
	}
	return w.held(v, yield)
}

// objects answers exists(o) and gone(o).
func (q *query) objects(gone bool) bool {
	yield := func(id uint32) bool {
		o := q.w.object(id)
		switch {
		case gone:
			return !o.gone() || q.one(o.name, o.emptied.origin)
		case o.exists.present:
			return q.one(o.name, o.exists.origin)
		}
		return true
	}
	if q.has(0) {
		id, ok := q.w.lookupObject(q.str(0))
		return !ok || yield(id)
	}
	return q.w.things.names.scan(func(_ string, id uint32) bool { return yield(id) })
}

// derived answers derived(o, s).
func (q *query) derived() bool {
	w := q.w
	switch {
	case q.has(0):
		id, ok := w.lookupObject(q.str(0))
		return !ok || q.derivedFrom(id)
	case q.has(1):
		id, ok := w.lookupObject(q.str(1))
		if !ok {
			return true
		}
		for _, made := range w.sortObjects(w.closure(id, (*object).children)) {
			if !q.two(w.object(made).name, q.str(1), 0) {
				return false
			}
		}
		return true
	}
	return w.things.names.scan(func(_ string, id uint32) bool { return q.derivedFrom(id) })
}

func (q *query) derivedFrom(id uint32) bool {
	w := q.w
	o := w.object(id)
	if len(o.parents) == 0 {
		return true
	}
	sources := w.closure(id, (*object).sources)
	if q.has(1) {
		source, ok := w.lookupObject(q.str(1))
		return !ok || !slices.Contains(sources, source) || q.two(o.name, q.str(1), 0)
	}
	for _, source := range w.sortObjects(sources) {
		if !q.two(o.name, w.object(source).name, 0) {
			return false
		}
	}
	return true
}

func (o *object) children(yield func(uint32)) {
	for _, id := range o.made {
		yield(id)
	}
}

func (o *object) sources(yield func(uint32)) {
	for _, l := range o.parents {
		yield(l.id)
	}
}

// closure lists what comes after an object in one or more steps.
func (w *World) closure(id uint32, after func(*object, func(uint32))) []uint32 {
	var list []uint32
	seen := &w.scratch.members
	seen.reset(w.things.names.len())
	add := func(next uint32) {
		if seen.get(V(next)) == 0 {
			seen.set(V(next), 1)
			list = append(list, next)
		}
	}
	after(w.object(id), add)
	for i := 0; i < len(list); i++ {
		after(w.object(list[i]), add)
	}
	return list
}

// sortObjects sorts objects by name, in place.
func (w *World) sortObjects(ids []uint32) []uint32 {
	slices.SortFunc(ids, func(a, b uint32) int { return strings.Compare(w.object(a).name, w.object(b).name) })
	return ids
}
