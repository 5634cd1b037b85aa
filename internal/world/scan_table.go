package world

import (
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// table answers for an attribute or a state.
func (q *query) table(rel Rel) bool {
	leading := 0
	for leading < len(q.known) && q.has(leading) {
		leading++
	}
	trailing := len(q.known)
	for trailing > leading && q.has(trailing-1) {
		trailing--
	}
	buf := make([]schema.Value, 0, 4)
	if leading > 0 || trailing == len(q.known) {
		prefix := string(tuplePrefix(rel.Name, q.known[:leading]...))
		return q.w.things.tuples.prefixed(prefix, func(key string, t tuple) bool {
			return q.row(key, t, buf)
		})
	}
	last := slices.Clone(q.known[trailing:])
	slices.Reverse(last)
	prefix := string(tuplePrefix(rel.Name, last...))
	return q.w.things.reversed.prefixed(prefix, func(rev string, _ struct{}) bool {
		key := reverse(rev)
		t, _ := q.w.things.tuples.get(key)
		return q.row(key, t, buf)
	})
}

// row yields a tuple of a table if it agrees.
func (q *query) row(key string, t tuple, buf []schema.Value) bool {
	_, args, _ := cutTuple(key, buf)
	for i := range args {
		if i < len(q.known) && q.has(i) && args[i] != q.known[i] && schema.Compare(args[i], q.known[i]) != 0 {
			return true
		}
	}
	return q.yield(Tuple{Args: args, Mark: t.image.strength.Mark(), Origin: t.image.origin})
}
