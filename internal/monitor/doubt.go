package monitor

import (
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// uncertain tells whether an answer about a relation may be wrong: the world overflowed, or
// a call in doubt may or may not have changed it. Every change of a tuple names its key, so
// that an answer under a key that is not in doubt is certain, and one that is not under a
// key is not while anything is in doubt.
func uncertain(w *world.World, rel world.Rel, known []schema.Value, bound uint64) bool {
	if w.Overflowed() {
		return true
	}
	if !w.HasDoubts() {
		return false
	}
	key := keyOf(rel)
	if key < 0 {
		return true
	}
	return bound>>key&1 == 0 || known[key].Kind != schema.KindString || w.Doubtful(known[key].Str)
}

// keyOf is the argument of a relation that every change of a tuple names; -1 if there is
// none: what is reached rests on every channel on the way.
func keyOf(rel world.Rel) int {
	switch rel.Kind {
	case world.Holds:
		return 1
	case world.HasLabel, world.InDomain, world.Exists, world.Gone, world.Opened, world.DeclaredVertex, world.AttributeOf, world.StateOf:
		return 0
	case world.Reaches, world.ReachesDomain, world.Connects, world.ConnectsDomain, world.Derived:
	}
	return -1
}

// uncertainAt tells whether the value of a location formula may be wrong. It may rest on
// every vertex that a walk comes to.
func uncertainAt(w *world.World, _ []schema.Value) bool { return w.Overflowed() || w.HasDoubts() }
