package render

import (
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// viewer reads a world into a graph.
type viewer struct {
	w      *world.World
	events Events
	out    *Graph
}

func (v *viewer) vertex(id world.V) {
	name := v.w.Name(id)
	for _, e := range v.w.Edges(id) {
		if other := v.w.Name(e.To); name <= other {
			v.out.Edges = append(v.out.Edges, Edge{From: name, To: other, Distance: e.Distance, Since: v.events.origin(e.Origin)})
		}
	}
	for _, c := range v.w.Out(id) {
		v.out.Channels = append(v.out.Channels, Channel{
			From: name, To: v.w.Name(c.To), Weight: c.Weight, Open: c.Open, Since: v.events.origin(c.Origin),
		})
	}
	if !IsVertex(v.w, name) {
		return // a name that was met, and is of no account
	}
	v.out.Nodes = append(v.out.Nodes, Node{
		Name: name, Sort: v.w.Sort(id).String(), Domain: v.w.Domain(id), Labels: append([]string(nil), v.w.Labels(id)...),
		Doubtful: v.w.HasDoubts() && v.w.Doubtful(name),
	})
}

func (v *viewer) objects() {
	v.w.Scan(world.Rel{Kind: world.Exists}, make([]schema.Value, 1), 0, world.Safe, func(t world.Tuple) bool {
		v.out.Objects = append(v.out.Objects, Object{Name: t.Args[0].Str, Replicas: []Replica{}})
		return true
	})
	for i := range v.out.Objects {
		v.object(&v.out.Objects[i])
	}
}

func (v *viewer) object(o *Object) {
	name := schema.StringValue(o.Name)
	v.w.Scan(world.Rel{Kind: world.Holds}, []schema.Value{{}, name}, 2, world.Safe, func(t world.Tuple) bool {
		o.Replicas = append(o.Replicas, Replica{Vertex: t.Args[0].Str, Since: v.events.origin(t.Origin)})
		return true
	})
	v.w.Scan(world.Rel{Kind: world.Derived}, []schema.Value{name, {}}, 1, world.Safe, func(t world.Tuple) bool {
		o.DerivedFrom = append(o.DerivedFrom, t.Args[1].Str)
		return true
	})
	o.Reaches = Targets(v.w, ByObject, o.Name)
	o.Gone = len(o.Replicas) == 0
	o.Doubtful = v.w.HasDoubts() && v.w.Doubtful(o.Name)
}

func (v *viewer) attributes() {
	for _, name := range v.w.Spec().Attributes {
		v.w.Scan(world.Rel{Kind: world.AttributeOf, Name: name}, make([]schema.Value, 2), 0, world.Safe, func(t world.Tuple) bool {
			v.out.Attributes = append(v.out.Attributes, Attribute{
				Name: name, Entity: t.Args[0].Str, Value: t.Args[1].Str, Since: v.events.origin(t.Origin),
			})
			return true
		})
	}
}

func (v *viewer) states() {
	for i := range v.w.Spec().States {
		s := &v.w.Spec().States[i]
		v.w.Scan(world.Rel{Kind: world.StateOf, Name: s.Name}, make([]schema.Value, len(s.Kinds)), 0, world.Safe, func(t world.Tuple) bool {
			v.out.States = append(v.out.States, State{
				Name: s.Name, Args: values(t.Args), Presumptive: t.Mark == verdict.Fp, Since: v.events.origin(t.Origin),
			})
			return true
		})
	}
}

func values(args []schema.Value) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a.Kind {
		case schema.KindInt:
			out[i] = a.Int
		case schema.KindFloat:
			out[i] = a.Float
		case schema.KindString:
			out[i] = a.Str
		}
	}
	return out
}
