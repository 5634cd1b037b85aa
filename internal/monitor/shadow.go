package monitor

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
)

// shadow is the world after an event, with the steps that led there.
type shadow struct {
	before, after *world.World
	steps         []worldStep

	// What it was made of.
	edits  []world.Edit
	origin world.Origin
	ended  aspects.Ended
}

// worldStep is one change of the world.
type worldStep struct {
	before, after *world.World
	delta         *world.Delta
}

// shadowOf returns the world after in. The shadow of the input judged last is kept: a world
// is immutable and a function of the world before and what is done to it, so that for an
// equal input on the same world it is the same.
func (m *Monitor) shadowOf(in *aspects.Input) *shadow {
	s := &m.shadow
	origin := world.Origin{Offset: in.Offset + 1, Call: in.Call}
	if s.before == m.world && s.origin == origin && s.ended == in.Ended && slices.EqualFunc(s.edits, in.Edits, sameEdit) {
		return s
	}
	s.reset(m.world)
	s.origin, s.ended = origin, in.Ended
	for i := range in.Edits {
		s.edits = append(s.edits, cloneEdit(&in.Edits[i])) // the caller may use its memory anew
	}
	s.end(in.Ended, origin)
	if len(in.Edits) > 0 {
		s.step(s.after.Apply(in.Edits, origin))
	}
	return s
}

func (s *shadow) reset(w *world.World) {
	clear(s.steps)
	clear(s.edits)
	s.before, s.after = w, w
	s.steps, s.edits = s.steps[:0], s.edits[:0]
}

func (s *shadow) step(after *world.World, delta *world.Delta) {
	if !delta.Empty() {
		s.steps = append(s.steps, worldStep{delta.Before(), after, delta})
	}
	s.after = after
}

// end settles a call. The origin is that of the event that says so.
func (s *shadow) end(end aspects.Ended, from world.Origin) {
	if end.Call == "" {
		return
	}
	switch end.Outcome {
	case aspects.EffectsStay:
		s.after = s.after.Keep(end.Call)
	case aspects.EffectsGo:
		s.step(s.after.Revert(end.Call, from))
	case aspects.EffectsDoubt:
		s.after = s.after.Doubt(end.Call)
	}
}

// created tells whether the event brings an object into being.
func (s *shadow) created(object string) bool {
	return slices.ContainsFunc(s.steps, func(t worldStep) bool { return t.delta.Created(object) })
}

func sameEdit(a, b world.Edit) bool {
	return a.Op == b.Op && a.A == b.A && a.B == b.B && a.Name == b.Name && a.N == b.N && a.Sort == b.Sort &&
		a.Strength == b.Strength && slices.Equal(a.Names, b.Names) && slices.Equal(a.Values, b.Values)
}

func cloneEdit(e *world.Edit) world.Edit {
	out := *e
	out.Names, out.Values = slices.Clone(e.Names), slices.Clone(e.Values)
	return out
}
