package render

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aspis-rv/aspis/internal/world"
)

// TestDiff: each kind of change has its line.
func TestDiff(t *testing.T) {
	before, after := medevac(), medevac()
	after.At.TS, after.At.Event = 900e9, new(int)
	*after.At.Event = 6
	after.Nodes[0].Labels = []string{"landing_zone"}
	after.Nodes = append(after.Nodes, Node{Name: "depot", Sort: "informational", Domain: "LOG"})
	after.Nodes = after.Nodes[1:]
	after.Nodes[0].Domain = "X"
	after.Edges = append(after.Edges[1:], Edge{From: "open_1", To: "wp_1", Distance: 9})
	after.Edges[0].Distance = 77
	for i := range after.Channels {
		after.Channels[i].Open = !after.Channels[i].Open
	}
	after.Channels[0].Weight = 4
	after.Objects = append(after.Objects, Object{Name: "C", Replicas: []Replica{{Vertex: "med_rear"}}, Reaches: []string{"MED"}})
	after.Objects[1] = Object{Name: "A-summary", Gone: true}
	after.Attributes = []Attribute{{Name: "lz", Entity: "m1", Value: "bravo"}}
	after.States[1].Presumptive = false
	after.States = append(after.States, State{Name: "marked", Args: []any{"C", "PHI"}, Presumptive: true})
	after.sort()
	golden(t, "diff.txt", Diff(before, after).Text())
	golden(t, "undone.txt", Diff(after, before).Text())
	if c := Diff(before, before); !c.Empty() {
		t.Errorf("a world differs from itself: %+v", c)
	}
}

func TestReachText(t *testing.T) {
	g := medevac()
	placed, opened := g.Objects[0].Replicas[0].Since, g.Channels[0].Since
	rows := []*Reach{
		{From: "A", To: "MED", Path: []string{"med_fwd"}, Since: placed, By: []*Event{placed}},
		{From: "A", To: "PARTNER", Path: []string{"med_fwd", "c2_cop", "coalition_cop"}, Distance: 1, Since: opened, By: []*Event{placed, opened}},
		{From: "B", To: "?", Path: []string{"med_rear", "field laptop"}, Distance: 1, Unknown: true, Since: opened},
		{From: "C", To: "MED", Unknown: true},
	}
	text := ""
	for _, r := range rows {
		text += r.Text()
	}
	golden(t, "reach.txt", text+Matrix([]string{"A", "B", "C"}, []string{"?", "MED", "PARTNER"}, rows))
}

func TestOfSort(t *testing.T) {
	g := medevac().Of(world.Informational)
	if len(g.Nodes) != 7 || len(g.Edges) != 0 || len(g.Channels) != 7 || len(g.Objects) != 3 || g.LeftOut != 8 {
		t.Errorf("got %+v", g)
	}
	g = medevac().Of(world.Physical)
	if len(g.Nodes) != 8 || len(g.Edges) != 7 || len(g.Channels) != 0 || len(g.Objects) != 1 || g.LeftOut != 7 {
		t.Errorf("got %+v", g)
	}
}

// chain is a line of n vertices of which the one in the middle holds something.
func chain(n int) *Graph {
	g := &Graph{Objects: []Object{{Name: "o", Replicas: []Replica{{Vertex: fmt.Sprintf("v%03d", n/2)}}}}}
	for i := range n {
		g.Nodes = append(g.Nodes, Node{Name: fmt.Sprintf("v%03d", i), Sort: "physical"})
		if i > 0 {
			g.Edges = append(g.Edges, Edge{From: g.Nodes[i-1].Name, To: g.Nodes[i].Name})
		}
	}
	return g
}

func TestNeighbourhood(t *testing.T) {
	whole := chain(MaxDrawn)
	if g, err := Neighbourhood(whole, MaxDrawn); err != nil || g != whole {
		t.Errorf("%d vertices fit: %v", MaxDrawn, err)
	}
	g, err := Neighbourhood(chain(MaxDrawn+1), MaxDrawn)
	if err != nil || len(g.Nodes) != 59 || g.LeftOut != 2 || g.Nodes[0].Name != "v001" {
		t.Fatalf("got %d vertices, %v", len(g.Nodes), err)
	}
	empty := chain(MaxDrawn + 1)
	empty.Objects = nil
	full := chain(MaxDrawn + 1)
	for i := range full.Nodes {
		full.Objects[0].Replicas = append(full.Objects[0].Replicas, Replica{Vertex: full.Nodes[i].Name})
	}
	for _, g := range []*Graph{empty, full} {
		if _, err := Neighbourhood(g, MaxDrawn); !errors.Is(err, ErrTooLarge) {
			t.Errorf("got %v", err)
		}
	}
}
