// Package render shows a world to people and to programs: as text, as Graphviz DOT, as SVG
// and, by the tags of its types, as JSON. It shows differences of two worlds and what
// reaches what in the same ways. All of it is a pure function of what is shown: equal
// worlds look equal, byte for byte.
//
// Names in a world come from tools and agents. Whatever they hold, they cannot break out of
// the format, hide, or turn the text around them: see Name.
package render

import (
	"cmp"
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
)

// Graph is a world, or a part of it, in the order in which it is shown: everything is sorted
// by name. Lists without elements are empty, not nil: JSON has []. It shares nothing with the world it was made from.
type Graph struct {
	Unit       string      `json:"unit"` // of physical distances
	Nodes      []Node      `json:"nodes"`
	Edges      []Edge      `json:"edges"`
	Channels   []Channel   `json:"channels"`
	Objects    []Object    `json:"objects"`
	Attributes []Attribute `json:"attributes"`
	States     []State     `json:"states"`
	// Incomplete is set when the world went beyond its limits: what followed is not in it.
	Incomplete bool `json:"incomplete,omitempty"`
	// LeftOut counts the vertices that are not shown.
	LeftOut int `json:"left_out,omitempty"`
	At      At  `json:"at"`
}

// At is where in the history the world is.
type At struct {
	Policy   string `json:"policy"`
	Revision int64  `json:"revision"`
	Tenant   string `json:"tenant,omitempty"`
	Trace    string `json:"trace,omitempty"` // empty: the world that the policy declares
	// Position is that of the last record folded, partition/offset; empty where events were
	// read from a file.
	Position string `json:"position,omitempty"`
	// Event is the number of the last event of the file, from 0.
	Event *int `json:"event,omitempty"`
	// TS is the time there, ns: that of appending in a log, log time in a file; 0 is not printed.
	TS int64 `json:"ts,omitempty"`
	// Before is set when the event there is not in the world.
	Before bool `json:"before,omitempty"`
	// Truncated is set when the first records of the log are gone: what they did is not in
	// the world.
	Truncated bool `json:"truncated,omitempty"`
}

// Event is an event that changed the world.
type Event struct {
	Event    string `json:"event"`              // its number in the file, or its id in the log
	Position string `json:"position,omitempty"` // partition/offset, of a log
	TS       int64  `json:"ts"`                 // log time, ns
	Call     string `json:"call,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Actor    string `json:"actor,omitempty"`
}

// Events finds the event with a log offset; nil where it is not known. A nil function knows
// none.
type Events func(offset uint64) *Event

// origin is the event that a tuple's origin names, nil for what the policy declares.
func (e Events) origin(o uint64) *Event {
	if o == 0 || e == nil {
		return nil
	}
	return e(o - 1)
}

// Node is a vertex. One of an unknown sort was never declared, or was removed.
type Node struct {
	Name     string   `json:"name"`
	Sort     string   `json:"sort"`
	Domain   string   `json:"domain,omitempty"`
	Labels   []string `json:"labels,omitempty"`
	Doubtful bool     `json:"doubtful,omitempty"`
}

// Edge is an undirected edge; From is not greater than To.
type Edge struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Distance int64  `json:"distance"`
	Since    *Event `json:"since,omitempty"` // nil: declared
}

// Channel is a directed release channel.
type Channel struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Weight int64  `json:"weight"`
	Open   bool   `json:"open"`
	Since  *Event `json:"since,omitempty"` // of its being open or closed; nil: declared
}

// Object is a thing that vertices hold.
type Object struct {
	Name        string    `json:"name"`
	Replicas    []Replica `json:"at"`
	Gone        bool      `json:"gone,omitempty"`
	DerivedFrom []string  `json:"derived_from,omitempty"` // in one or more steps
	// Reaches lists the release domains that it can come to, in the unsafe sense: at or
	// through an unknown vertex it reaches all of them.
	Reaches  []string `json:"reaches,omitempty"`
	Doubtful bool     `json:"doubtful,omitempty"`
}

// Replica is a place where an object is.
type Replica struct {
	Vertex string `json:"vertex"`
	Since  *Event `json:"since,omitempty"` // nil: declared
}

// Attribute is one value of an attribute of an entity.
type Attribute struct {
	Name   string `json:"name"`
	Entity string `json:"entity"`
	Value  string `json:"value"`
	Since  *Event `json:"since,omitempty"` // nil: declared
}

// State is a tuple of a state relation.
type State struct {
	Name        string `json:"name"`
	Args        []any  `json:"args"`
	Presumptive bool   `json:"presumptive,omitempty"`
	Since       *Event `json:"since,omitempty"`
}

// View returns all of a world; at says where it is. The cost is linear in the world, but
// for what its objects reach.
func View(w *world.World, at At, events Events) *Graph {
	g := &Graph{
		Unit: w.Spec().PhysicalUnit, Incomplete: w.Overflowed(), At: at, Nodes: []Node{}, Edges: []Edge{}, Channels: []Channel{},
		Objects: []Object{}, Attributes: []Attribute{}, States: []State{},
	}
	v := viewer{w: w, events: events, out: g}
	for i := range w.Vertices() {
		v.vertex(world.V(i)) //nolint:gosec // a vertex number
	}
	v.objects()
	v.attributes()
	v.states()
	g.sort()
	return g
}

// sort brings what has no order of its own into that of names.
func (g *Graph) sort() {
	slices.SortFunc(g.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(g.Edges, func(a, b Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	slices.SortFunc(g.Channels, func(a, b Channel) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	slices.SortFunc(g.Objects, func(a, b Object) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(g.Attributes, func(a, b Attribute) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Entity, b.Entity), cmp.Compare(a.Value, b.Value))
	})
	slices.SortFunc(g.States, func(a, b State) int { return cmp.Compare(a.key(), b.key()) })
}

// key is the tuple as it is printed.
func (s *State) key() string { return Name(s.Name) + arguments(s.Args) }

// Of returns the part of a graph in which every vertex is of a sort, or is unknown and
// joined to one of them. Objects keep the replicas that are at vertices of the part, and are
// left out where none is; attributes and states stay.
func (g *Graph) Of(sort world.Sort) *Graph {
	keep := map[string]bool{}
	unknown := map[string]bool{}
	for i := range g.Nodes {
		keep[g.Nodes[i].Name] = g.Nodes[i].Sort == sort.String()
		unknown[g.Nodes[i].Name] = g.Nodes[i].Sort == world.Unknown.String()
	}
	joined := map[string]bool{}
	join := func(a, b string) {
		joined[b] = joined[b] || keep[a] && unknown[b]
		joined[a] = joined[a] || keep[b] && unknown[a]
	}
	for i := range g.Edges {
		join(g.Edges[i].From, g.Edges[i].To)
	}
	for i := range g.Channels {
		join(g.Channels[i].From, g.Channels[i].To)
	}
	return g.only(func(name string) bool { return keep[name] || joined[name] })
}

// only returns the part of a graph with the vertices that keep accepts.
func (g *Graph) only(keep func(string) bool) *Graph {
	out := *g
	out.Nodes = where(g.Nodes, func(n *Node) bool { return keep(n.Name) })
	out.Edges = where(g.Edges, func(e *Edge) bool { return keep(e.From) && keep(e.To) })
	out.Channels = where(g.Channels, func(c *Channel) bool { return keep(c.From) && keep(c.To) })
	out.Objects = []Object{}
	for i := range g.Objects {
		o := g.Objects[i]
		o.Replicas = where(o.Replicas, func(r *Replica) bool { return keep(r.Vertex) })
		if len(o.Replicas) > 0 || len(g.Objects[i].Replicas) == 0 {
			out.Objects = append(out.Objects, o)
		}
	}
	out.LeftOut += len(g.Nodes) - len(out.Nodes)
	return &out
}

func where[T any](list []T, keep func(*T) bool) []T {
	out := []T{}
	for i := range list {
		if keep(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}
