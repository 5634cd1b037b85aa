package render

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
)

// Changes is how two worlds differ.
type Changes struct {
	From    At   `json:"from"`
	To      At   `json:"to"`
	Added   Part `json:"added"`
	Removed Part `json:"removed"`
	// Altered are the vertices that are there before and after, with another sort, domain or
	// set of labels.
	Altered []Altered `json:"altered,omitempty"`
	// Opened and Closed are the channels whose state changed, those that came or went left
	// out. Reweighted are edges and channels with another distance or weight, as they are
	// now.
	Opened     []Channel `json:"opened,omitempty"`
	Closed     []Channel `json:"closed,omitempty"`
	Reweighted []Weight  `json:"reweighted,omitempty"`
	// Created are the objects that came into being, Gone those whose last replica went.
	Created []string `json:"created,omitempty"`
	Gone    []string `json:"gone,omitempty"`
	// Strengthened are the tuples of states that were presumptive and are definite.
	Strengthened []State `json:"strengthened,omitempty"`
	// Reached and Unreached are the pairs of an object and a release domain that it can now
	// come to and could not, and the other way round.
	Reached   []*Reach `json:"reached,omitempty"`
	Unreached []Pair   `json:"unreached,omitempty"`
}

// Part is what is in one of two worlds only.
type Part struct {
	Nodes      []Node      `json:"nodes,omitempty"`
	Edges      []Edge      `json:"edges,omitempty"`
	Channels   []Channel   `json:"channels,omitempty"`
	Replicas   []Pair      `json:"replicas,omitempty"` // an object and a vertex that holds it
	Derived    []Pair      `json:"derived,omitempty"`  // an object and what it was made from
	Attributes []Attribute `json:"attributes,omitempty"`
	States     []State     `json:"states,omitempty"`
}

// Pair is an object with something else.
type Pair struct {
	Object string `json:"object"`
	Of     string `json:"of"`
}

// Altered is a vertex as it was and as it is.
type Altered struct {
	Before Node `json:"before"`
	After  Node `json:"after"`
}

// Weight is an edge or a channel with another distance or weight.
type Weight struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Channel bool   `json:"channel"`
	Before  int64  `json:"before"`
	After   int64  `json:"after"`
}

// Diff compares two graphs. The rows of Reached are without paths; see Explain.
func Diff(before, after *Graph) *Changes {
	c := &Changes{From: before.At, To: after.At}
	c.nodes(before, after)
	c.edges(before, after)
	c.channels(before, after)
	c.objects(before, after)
	added, removed, _ := compare(before.Attributes, after.Attributes, func(a *Attribute) string { return a.text() })
	c.Added.Attributes, c.Removed.Attributes = added, removed
	c.states(before, after)
	return c
}

// Empty tells whether nothing differs.
func (c *Changes) Empty() bool {
	return c.Added.empty() && c.Removed.empty() && len(c.Altered)+len(c.Opened)+len(c.Closed)+len(c.Reweighted)+
		len(c.Created)+len(c.Gone)+len(c.Strengthened)+len(c.Reached)+len(c.Unreached) == 0
}

func (p *Part) empty() bool {
	return len(p.Nodes)+len(p.Edges)+len(p.Channels)+len(p.Replicas)+len(p.Derived)+len(p.Attributes)+len(p.States) == 0
}

// Explain gives the rows of Reached their paths in the later world.
func (c *Changes) Explain(after *world.World, events Events) {
	for i, r := range c.Reached {
		c.Reached[i] = NewReach(after, r.Kind, r.From, r.To, r.Since, events)
	}
}

// change is a thing that is in both worlds.
type change[T any] struct{ before, after T }

// compare splits two lists by a key, keeping their order.
func compare[T any](before, after []T, key func(*T) string) (added, removed []T, both []change[T]) {
	had := make(map[string]int, len(before))
	for i := range before {
		had[key(&before[i])] = i
	}
	kept := make([]bool, len(before))
	for i := range after {
		k, ok := had[key(&after[i])]
		if !ok {
			added = append(added, after[i])
			continue
		}
		kept[k] = true
		both = append(both, change[T]{before[k], after[i]})
	}
	for i := range before {
		if !kept[i] {
			removed = append(removed, before[i])
		}
	}
	return added, removed, both
}

// joined is a key of two names.
func joined(a, b string) string { return arguments([]any{a, b}) }

func (c *Changes) nodes(before, after *Graph) {
	added, removed, both := compare(before.Nodes, after.Nodes, func(n *Node) string { return n.Name })
	c.Added.Nodes, c.Removed.Nodes = added, removed
	for _, x := range both {
		if x.before.Sort != x.after.Sort || x.before.Domain != x.after.Domain || !slices.Equal(x.before.Labels, x.after.Labels) {
			c.Altered = append(c.Altered, Altered{x.before, x.after})
		}
	}
}

func (c *Changes) edges(before, after *Graph) {
	added, removed, both := compare(before.Edges, after.Edges, func(e *Edge) string { return joined(e.From, e.To) })
	c.Added.Edges, c.Removed.Edges = added, removed
	for _, x := range both {
		if x.before.Distance != x.after.Distance {
			c.Reweighted = append(c.Reweighted, Weight{From: x.after.From, To: x.after.To, Before: x.before.Distance, After: x.after.Distance})
		}
	}
}

func (c *Changes) channels(before, after *Graph) {
	added, removed, both := compare(before.Channels, after.Channels, func(e *Channel) string { return joined(e.From, e.To) })
	c.Added.Channels, c.Removed.Channels = added, removed
	for _, x := range both {
		switch {
		case x.after.Open && !x.before.Open:
			c.Opened = append(c.Opened, x.after)
		case x.before.Open && !x.after.Open:
			c.Closed = append(c.Closed, x.after)
		}
		if x.before.Weight != x.after.Weight {
			c.Reweighted = append(c.Reweighted, Weight{
				From: x.after.From, To: x.after.To, Channel: true, Before: x.before.Weight, After: x.after.Weight,
			})
		}
	}
}

func (c *Changes) objects(before, after *Graph) {
	key := func(p *Pair) string { return joined(p.Object, p.Of) }
	created, _, both := compare(before.Objects, after.Objects, func(o *Object) string { return o.Name })
	for i := range created {
		c.Created = append(c.Created, created[i].Name)
	}
	for _, x := range both {
		if x.after.Gone && !x.before.Gone {
			c.Gone = append(c.Gone, x.after.Name)
		}
	}
	c.Added.Replicas, c.Removed.Replicas, _ = compare(before.pairs(replicas), after.pairs(replicas), key)
	c.Added.Derived, c.Removed.Derived, _ = compare(before.pairs(sources), after.pairs(sources), key)
	reached, unreached, _ := compare(before.pairs(reached), after.pairs(reached), key)
	for _, p := range reached {
		c.Reached = append(c.Reached, &Reach{From: p.Object, Kind: ByObject, To: p.Of})
	}
	c.Unreached = unreached
}

// pairs lists the objects with each of what of says about them.
func (g *Graph) pairs(of func(*Object) []string) []Pair {
	var out []Pair
	for i := range g.Objects {
		for _, x := range of(&g.Objects[i]) {
			out = append(out, Pair{g.Objects[i].Name, x})
		}
	}
	return out
}

func replicas(o *Object) []string {
	out := make([]string, len(o.Replicas))
	for i := range o.Replicas {
		out[i] = o.Replicas[i].Vertex
	}
	return out
}

func sources(o *Object) []string { return o.DerivedFrom }

func reached(o *Object) []string { return o.Reaches }

func (c *Changes) states(before, after *Graph) {
	added, removed, both := compare(before.States, after.States, func(s *State) string { return s.key() })
	c.Added.States, c.Removed.States = added, removed
	for _, x := range both {
		if x.before.Presumptive && !x.after.Presumptive {
			c.Strengthened = append(c.Strengthened, x.after)
		}
	}
}
