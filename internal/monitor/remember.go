package monitor

import (
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/spatial"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// maxRemembered is how many values of one location formula a trace remembers, of some 100
// bytes each.
const maxRemembered = 1 << 12

// value asks a location formula about a vertex. Outside of NEW the same vertices are asked
// about time and again, such as those of a guard, while changes are elsewhere: values in the
// committed world are remembered until a change touches their vertex.
func (m *Monitor) value(x *external, w *world.World, known []schema.Value) (value verdict.Value, found bool) {
	f := m.location(x.at)
	if !x.kept {
		value = f.Value(w, known[0].Str, known[1:], x.sense)
		return value, !f.Exhausted()
	}
	c := &m.remembered[x.at.number]
	if *c == nil {
		*c = spatial.NewCache(f, m.world, maxRemembered)
	}
	return (*c).Value(w, known[0].Str, known[1:], x.sense)
}

// moveOn makes what is remembered that of the world after a shadow.
func (m *Monitor) moveOn(s *shadow) {
	for _, c := range m.remembered {
		if c == nil {
			continue
		}
		for i := range s.steps {
			c.Update(s.steps[i].after, s.steps[i].delta)
		}
		c.Rename(s.after)
	}
}
