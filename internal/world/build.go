package world

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// New returns the world of a spec before the first event. It fails on a spec that
// contradicts itself: what is declared twice, ends of edges and channels and places of
// objects that are not declared, a vertex and a domain of one name, distances and weights out
// of range. The cost is n log n in what the spec declares.
func New(spec *Spec) (*World, error) {
	w := &World{base: &foundation{spec: spec}, scratch: new(scratch)}
	if err := w.base.declareTables(); err != nil {
		return nil, err
	}
	b := &builder{draft: w.draft(Origin{}), spec: spec}
	b.delta = new(Delta)
	for _, step := range []func() error{b.vertices, b.groups, b.edges, b.channels, b.objects, b.entities} {
		if err := step(); err != nil {
			return nil, err
		}
		if b.overflow {
			return nil, fmt.Errorf("world: the spec declares more than a world can hold; see docs/world.md, limits and costs")
		}
	}
	b.fill()
	w = b.World
	w.base.initial = w
	w.base.digest = w.digest()
	w.base.nothing = &Delta{before: w, after: w}
	return w, nil
}

// attribute tells whether a relation is an attribute.
func (f *foundation) attribute(name string) bool {
	t, ok := f.tables[name]
	return ok && t.Kinds == nil
}

// declareTables collects the attributes and states. Attributes have no kinds there.
func (f *foundation) declareTables() error {
	f.tables = map[string]StateSpec{}
	add := func(s StateSpec) error {
		_, twice := f.tables[s.Name]
		if twice || s.Name == "" || slices.Contains(Names(), s.Name) {
			return fmt.Errorf("world: the relation %q is declared twice or has no name; rename the attribute or the state", s.Name)
		}
		f.tables[s.Name] = s
		return nil
	}
	for _, a := range f.spec.Attributes {
		if err := add(StateSpec{Name: a}); err != nil {
			return err
		}
	}
	for _, s := range f.spec.States {
		if s.Kinds == nil {
			s.Kinds = []schema.ValueKind{}
		}
		if err := add(s); err != nil {
			return err
		}
	}
	return nil
}

// builder makes the world of a spec: in bulk, not edit by edit. Vertices get their ids in the
// order of their names, so that what is sorted by vertex is sorted by name.
type builder struct {
	*draft
	spec  *Spec
	ids   map[string]V // the same as the names of the graph, for many look-ups
	lists [][]Edge
	outs  [][]Channel
	ins   [][]Channel
}

func (b *builder) vertices() error {
	b.ids = make(map[string]V, len(b.spec.Vertices))
	list := slices.SortedFunc(slices.Values(b.spec.Vertices), func(x, y VertexSpec) int { return strings.Compare(x.Name, y.Name) })
	for i := range list {
		x := &list[i]
		switch {
		case x.Name == "" || x.Name == UnknownDomain || x.Domain == UnknownDomain:
			return fmt.Errorf("world: vertex %q of domain %q: %q and the empty name are reserved; rename it", x.Name, x.Domain, UnknownDomain)
		case i > 0 && x.Name == list[i-1].Name:
			return fmt.Errorf("world: vertex %q is declared twice", x.Name)
		case x.Sort != Physical && x.Sort != Informational:
			return fmt.Errorf("world: vertex %q has no sort; it is physical or informational", x.Name)
		}
		v, ok := b.internVertex(x.Name)
		if !ok {
			return nil
		}
		b.ids[x.Name] = v
		*b.graph.vertices.at(uint32(v), b.owner) = &vertex{name: x.Name, sort: x.Sort}
		b.graph.strangers.delete(x.Name, b.owner)
	}
	for i := range list {
		if err := b.describe(V(i), &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// describe gives a vertex its domain and its labels.
func (b *builder) describe(v V, spec *VertexSpec) error {
	x := b.vertex(v)
	if spec.Domain != "" {
		if _, clash := b.Vertex(spec.Domain); clash {
			return fmt.Errorf("world: %q is both a vertex and the domain of %q; rename one", spec.Domain, spec.Name)
		}
		id, ok := b.internDomain(spec.Domain)
		if !ok {
			return nil
		}
		x.domain, x.domainID = spec.Domain, id
		b.graph.domains.join(id, x.name, v, true, b.owner)
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(spec.Labels))) {
		id, ok := b.internLabel(name)
		if !ok {
			return nil
		}
		x.marks = append(x.marks, labelled{id: id})
		x.labels = append(x.labels, name)
		b.graph.labels.join(id, x.name, v, true, b.owner)
	}
	return nil
}

// groups adds the labels and domains that formulas name. A name of a vertex means the vertex.
func (b *builder) groups() error {
	for _, name := range b.spec.Labels {
		if id, ok := b.internLabel(name); ok {
			b.graph.labels.own(id, b.owner).named = true
		}
	}
	for _, name := range b.spec.Domains {
		if _, isVertex := b.Vertex(name); isVertex || name == UnknownDomain || name == "" {
			continue
		}
		if id, ok := b.internDomain(name); ok {
			b.graph.domains.own(id, b.owner).named = true
		}
	}
	for i := range b.spec.Vertices {
		x := &b.spec.Vertices[i]
		for _, name := range x.Labels {
			id, _ := b.graph.labels.lookup(name)
			b.graph.labels.own(id, b.owner).named = true
		}
		if x.Domain != "" {
			id, _ := b.graph.domains.lookup(x.Domain)
			b.graph.domains.own(id, b.owner).named = true
		}
	}
	return nil
}

// ends returns the vertices of an edge or channel.
func (b *builder) ends(what, from, to string, n int64) (x, y V, err error) {
	x, ok := b.ids[from]
	y, there := b.ids[to]
	switch {
	case !ok || !there:
		return 0, 0, fmt.Errorf("world: %s from %q to %q: an end is not declared; declare the vertex", what, from, to)
	case n < WeightByDomain || n > maxDistance:
		return 0, 0, fmt.Errorf("world: %s from %q to %q: %d is out of range, which is 0 to %d", what, from, to, n, int64(maxDistance))
	}
	return x, y, nil
}

func (b *builder) edges() error {
	b.lists = make([][]Edge, b.Vertices())
	for _, e := range b.spec.Edges {
		x, y, err := b.ends("edge", e.From, e.To, e.Distance)
		if err != nil {
			return err
		}
		if e.Distance < 0 {
			return fmt.Errorf("world: edge from %q to %q: the distance %d is negative", e.From, e.To, e.Distance)
		}
		b.lists[x] = append(b.lists[x], Edge{To: y, Distance: e.Distance})
		if x != y {
			b.lists[y] = append(b.lists[y], Edge{To: x, Distance: e.Distance})
		}
	}
	for v, list := range b.lists {
		slices.SortFunc(list, func(x, y Edge) int { return cmp.Compare(x.To, y.To) })
		for i := 1; i < len(list); i++ {
			if list[i].To == list[i-1].To {
				return fmt.Errorf("world: the edge between %q and %q is declared twice", b.Name(V(v)), b.Name(list[i].To))
			}
		}
	}
	b.count(len(b.spec.Edges))
	return nil
}

func (b *builder) channels() error {
	b.outs, b.ins = make([][]Channel, b.Vertices()), make([][]Channel, b.Vertices())
	for _, s := range b.spec.Channels {
		x, y, err := b.ends("channel", s.From, s.To, s.Weight)
		if err != nil {
			return err
		}
		c := Channel{To: y, Weight: s.Weight, Open: s.Open}
		if s.Weight == WeightByDomain {
			c.byDomain, c.Weight = true, b.weightByDomain(x, y)
		}
		b.outs[x] = append(b.outs[x], c)
		c.To = x
		b.ins[y] = append(b.ins[y], c)
	}
	for v := range b.outs {
		byEnd := func(x, y Channel) int { return cmp.Compare(x.To, y.To) }
		slices.SortFunc(b.outs[v], byEnd)
		slices.SortFunc(b.ins[v], byEnd)
		for i := 1; i < len(b.outs[v]); i++ {
			if to := b.outs[v][i].To; to == b.outs[v][i-1].To {
				return fmt.Errorf("world: the channel from %q to %q is declared twice", b.Name(V(v)), b.Name(to))
			}
		}
	}
	b.count(len(b.spec.Channels))
	return nil
}

// count adds lines to the graph.
func (b *builder) count(lines int) {
	if b.graph.lines += lines; b.graph.lines > maxEdges {
		b.overflows()
	}
}

func (b *builder) objects() error {
	list := slices.SortedFunc(slices.Values(b.spec.Objects), func(x, y ObjectSpec) int { return strings.Compare(x.Name, y.Name) })
	for i, s := range list {
		if s.Name == "" || i > 0 && s.Name == list[i-1].Name {
			return fmt.Errorf("world: object %q is declared twice or has no name", s.Name)
		}
		id, ok := b.internObject(s.Name)
		if !ok {
			return nil
		}
		o := b.object(id)
		o.exists.present = true
		for _, name := range slices.Compact(slices.Sorted(slices.Values(s.At))) {
			v, ok := b.Vertex(name)
			if !ok {
				return fmt.Errorf("world: object %q is placed at %q, which is not declared; declare the vertex", s.Name, name)
			}
			o.at = append(o.at, replica{v: v})
			b.graph.holds.at(uint32(v), b.owner).set(s.Name, id, b.owner)
		}
		if b.things.replicas += len(o.at); b.things.replicas > maxReplicas {
			b.overflows()
		}
	}
	return nil
}

func (b *builder) entities() error {
	for _, s := range b.spec.Entities {
		for _, a := range s.Attributes {
			if !b.base.attribute(a.Name) {
				return fmt.Errorf("world: entity %q has the attribute %q, which is not declared", s.Name, a.Name)
			}
			for _, v := range a.Values {
				if v.Kind != schema.KindString || len(v.Str) > maxName || len(s.Name) > maxName {
					return fmt.Errorf("world: attribute %q of entity %q: %v is no string or too long", a.Name, s.Name, v)
				}
				key := string(tuplePrefix(a.Name, schema.StringValue(s.Name), v))
				b.putTuple(key, image{present: true})
			}
		}
	}
	if b.things.tuples.len() > maxTuples {
		b.overflows()
	}
	return nil
}

// fill stores the adjacency and computes what is reachable.
func (b *builder) fill() {
	for v := range b.lists {
		i := uint32(v)
		if len(b.lists[v]) > 0 {
			*b.graph.edges.at(i, b.owner) = slices.Clip(b.lists[v])
		}
		if len(b.outs[v]) > 0 {
			*b.graph.out.at(i, b.owner) = slices.Clip(b.outs[v])
		}
		if len(b.ins[v]) > 0 {
			*b.graph.in.at(i, b.owner) = slices.Clip(b.ins[v])
		}
	}
	*b.delta = Delta{}
	all := make([]V, b.Vertices())
	planes := 1
	for i := range all {
		all[i] = V(i)
		planes = max(planes, b.ownBit(V(i))/wordBits+1)
	}
	if len(all) == 0 {
		return
	}
	b.graph.reach = make([]vec[uint64], planes)
	b.planes = true
	b.upstream(all, func(V) bool { return true })
	var lost row
	for i := range lost {
		lost[i] = ^uint64(0)
	}
	b.derive(all, &lost)
	*b.delta = Delta{}
}
