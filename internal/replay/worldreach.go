package replay

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/internal/world/render"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// ReachSince follows, through the changes of worlds, since when objects, or what is at a vertex,
// can come to domains or vertices without a break. Give it every change in order.
type ReachSince struct {
	// From is an object or a vertex, or empty for all objects; To is a domain or a vertex, or
	// empty for all domains.
	From, To string

	traces map[protocol.TraceID]map[reachKey]*render.Event
}

type reachKey struct {
	kind     render.From
	from, to string
}

// Changed takes in a change.
func (r *ReachSince) Changed(c *WorldChange) {
	if r.traces == nil {
		r.traces = map[protocol.TraceID]map[reachKey]*render.Event{}
	}
	since := r.traces[c.Trace]
	if since == nil || c.Before == c.Base {
		since = r.reached(c.Base)
		r.traces[c.Trace] = since
	}
	for _, kind := range r.kinds() {
		for _, from := range r.touched(c, kind) {
			r.again(since, c, kind, from)
		}
	}
}

// kinds are what From may be.
func (r *ReachSince) kinds() []render.From {
	if r.From == "" {
		return []render.From{render.ByObject}
	}
	return []render.From{render.ByObject, render.ByVertex}
}

// relation is that which tells whether anything may have changed.
func (r *ReachSince) relation(kind render.From) world.Rel {
	if r.To == "" {
		return kind.Domains()
	}
	return kind.All()
}

// touched lists the starts of which the answer may have changed.
func (r *ReachSince) touched(c *WorldChange, kind render.From) []string {
	rel := r.relation(kind)
	if !c.Delta.Touches(rel) {
		return nil
	}
	if r.From != "" {
		return []string{r.From}
	}
	var out []string
	c.Delta.Touched(rel, func(args []schema.Value) bool {
		out = append(out, args[0].Str)
		return true
	})
	return out
}

// again asks for a start anew, and notes what became true and forgets what is not.
func (r *ReachSince) again(since map[reachKey]*render.Event, c *WorldChange, kind render.From, from string) {
	before, after := r.targets(c.Before, kind, from), r.targets(c.After, kind, from)
	for _, to := range before {
		if !slices.Contains(after, to) {
			delete(since, reachKey{kind, from, to})
		}
	}
	for _, to := range after {
		if !slices.Contains(before, to) {
			since[reachKey{kind, from, to}] = c.Cause
		}
	}
}

func (r *ReachSince) targets(w *world.World, kind render.From, from string) []string {
	if r.To == "" {
		return render.Targets(w, kind, from)
	}
	if render.Reaches(w, kind, from, r.To) {
		return []string{r.To}
	}
	return nil
}

// reached is what holds in a world, since before the first event.
func (r *ReachSince) reached(w *world.World) map[reachKey]*render.Event {
	out := map[reachKey]*render.Event{}
	for _, kind := range r.kinds() {
		for _, from := range r.starts(w) {
			for _, to := range r.targets(w, kind, from) {
				out[reachKey{kind, from, to}] = nil
			}
		}
	}
	return out
}

func (r *ReachSince) starts(w *world.World) []string {
	if r.From != "" {
		return []string{r.From}
	}
	return Objects(w)
}

// Objects lists the objects of a world, sorted.
func Objects(w *world.World) []string {
	var out []string
	w.Scan(world.Rel{Kind: world.Exists}, make([]schema.Value, 1), 0, world.Safe, func(t world.Tuple) bool {
		out = append(out, t.Args[0].Str)
		return true
	})
	slices.Sort(out)
	return out
}

// Since is the event since which a pair holds in a trace, nil where it held before the first
// event.
func (r *ReachSince) Since(trace protocol.TraceID, kind render.From, from, to string) *render.Event {
	return r.traces[trace][reachKey{kind, from, to}]
}

// Rows lists what holds in the world of a trace after the last change, sorted by start and
// target, with paths.
func (r *ReachSince) Rows(t *TraceWorld) []*render.Reach {
	var out []*render.Reach
	for _, from := range r.starts(t.World) {
		for _, kind := range r.kinds() {
			for _, to := range r.targets(t.World, kind, from) {
				out = append(out, render.NewReach(t.World, kind, from, to, r.Since(t.Trace, kind, from, to), t.Events))
			}
		}
	}
	return out
}
