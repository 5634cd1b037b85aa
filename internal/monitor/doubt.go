package monitor

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// What a call in doubt has changed may or may not be so. Every tuple that it changed names, at
// its key, an entity, object or vertex that the call names; and what is reached, and what
// holds at a vertex, rests on the whole graph. So an answer is certain if the key it is about is
// not in doubt and, where it rests on the graph, that is not.

// doubts is what of a world is in doubt.
type doubts struct {
	w     *world.World
	all   bool // nothing is certain: the world has overflowed
	some  bool
	graph bool
}

func doubtsOf(w *world.World) doubts {
	return doubts{w: w, all: w.Overflowed(), some: w.HasDoubts(), graph: w.GraphDoubtful()}
}

// relation tells whether an answer about a relation may be wrong.
func (d *doubts) relation(rel world.Rel, known []schema.Value, bound uint64) bool {
	if d.all || !d.some {
		return d.all
	}
	in := func(i int) bool { // whether the key i leaves a doubt
		return bound>>i&1 == 0 || known[i].Kind != schema.KindString || d.w.Doubtful(known[i].Str)
	}
	switch rel.Kind {
	case world.Holds:
		return in(1)
	case world.Exists, world.Gone, world.AttributeOf:
		return in(0)
	case world.StateOf:
		for i := range known {
			if !in(i) { // a change names every text of the tuple
				return false
			}
		}
		return true
	case world.Reaches, world.ReachesDomain:
		return d.graph || in(0)
	case world.Derived:
		return true // by way of whatever
	case world.HasLabel, world.InDomain, world.DeclaredVertex, world.Opened, world.Connects, world.ConnectsDomain:
	}
	return d.graph
}

// at tells whether the value of a location formula may be wrong.
func (d *doubts) at(l *location) bool {
	return d.all || d.graph || d.some && l.reads
}

// novelty is what of the changes of an event is in doubt, so that it is not known what is new:
// the tuples that came or went need not be those that would have if the call in doubt had
// ended otherwise.
type novelty struct {
	all     bool // anything: the event is about something in doubt
	carried bool // what objects come to: the graph changes where one in doubt may be
	located bool // what AT says of more than the graph: where that matters depends on what is in doubt
}

func (n novelty) any() bool { return n.all || n.carried || n.located }

// novelty is that of an event that leads to a shadow.
func (d *doubts) novelty(s *shadow) novelty {
	if !d.some {
		return novelty{}
	}
	goes := s.ended.Outcome == aspects.EffectsGo // what comes up is what a call in doubt may have left
	return novelty{
		all:     goes || len(s.edits) > 0 && (d.graph || slices.ContainsFunc(s.edits, func(e world.Edit) bool { return d.edit(&e) })),
		carried: slices.ContainsFunc(s.steps, func(t worldStep) bool { return t.delta.CarriesDoubt() }),
		located: len(s.steps) > 0,
	}
}

func (d *doubts) edit(e *world.Edit) bool {
	switch e.Op {
	case world.Place, world.Remove, world.Move, world.Purge, world.Destroy, world.Set, world.Append:
		return d.w.Doubtful(e.A)
	case world.Derive:
		return d.w.Doubtful(e.A) || d.w.Doubtful(e.B)
	case world.Mark:
		return !slices.ContainsFunc(e.Values, func(v schema.Value) bool { return v.Kind == schema.KindString && !d.w.Doubtful(v.Str) })
	case world.AddVertex, world.RemoveVertex, world.AddLabel, world.RemoveLabel, world.SetDomain, world.AddEdge,
		world.RemoveEdge, world.OpenChannel, world.CloseChannel:
	}
	return false // the graph is not in doubt; see novelty.carried
}
