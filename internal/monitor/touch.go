package monitor

import (
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// maxTouched is the number of touch facts of one event. Beyond that, to list what changed
// costs more than to evaluate the formulas that read it in full.
const maxTouched = 1 << 14

// toucher makes the touch facts of an event in memory that is used over and over.
type toucher struct {
	facts []schema.Fact
	args  []schema.Value
	count int
}

// appendTouches appends the touch facts of a shadow to facts, with stored those alone
// that windows read. The result is valid until the next call.
func (m *Monitor) appendTouches(facts []schema.Fact, s *shadow, stored bool) []schema.Fact {
	if len(s.steps) == 0 || len(m.engine.touches) == 0 {
		return facts
	}
	t := &m.touched
	t.reset()
	t.facts = append(t.facts, facts...)
	for _, touch := range m.engine.touches {
		if stored && !touch.stored {
			continue
		}
		for i := range s.steps {
			if !t.add(m, touch, &s.steps[i]) {
				t.facts = append(t.facts[:len(facts)], schema.Fact{Name: touchedAll, Strength: verdict.Definite})
				return t.facts
			}
		}
	}
	return t.facts
}

// keepTouches is the capacity above which memory is given back.
const keepTouches = 4096

func (t *toucher) reset() {
	if cap(t.facts) > keepTouches {
		*t = toucher{}
	}
	clear(t.facts)
	clear(t.args)
	t.facts, t.args, t.count = t.facts[:0], t.args[:0], 0
}

// add lists what one step touches; false if that is too much.
func (t *toucher) add(m *Monitor, touch *touch, s *worldStep) bool {
	enough := true
	if touch.at != nil {
		m.location(touch.at).Touched(s.before, s.after, s.delta, func(vertex string) bool {
			enough = t.fact(touch.name, schema.StringValue(vertex))
			return enough
		})
		return enough
	}
	if !s.delta.Touches(touch.rel) {
		return true
	}
	s.delta.Touched(touch.rel, func(args []schema.Value) bool {
		enough = t.fact(touch.name, args[:touch.arity]...)
		return enough
	})
	return enough
}

// fact adds a touch fact; false if there are too many.
func (t *toucher) fact(name string, args ...schema.Value) bool {
	if t.count++; t.count > maxTouched {
		return false
	}
	if len(t.args)+len(args) > cap(t.args) { // facts keep the array they were made in
		t.args = make([]schema.Value, 0, max(64, 2*cap(t.args)))
	}
	n := len(t.args)
	t.args = append(t.args, args...)
	t.facts = append(t.facts, schema.Fact{Name: name, Args: t.args[n:len(t.args):len(t.args)], Strength: verdict.Definite})
	return true
}
