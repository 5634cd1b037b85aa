package render

import (
	"fmt"
	"strings"

	"github.com/aspis-rv/aspis/internal/world"
)

// Text prints a graph for people.
func Text(g *Graph) string {
	var s strings.Builder
	s.WriteString(g.At.Text() + "\n")
	if g.Incomplete {
		s.WriteString("incomplete: the world went beyond its limits, and what followed is not in it\n")
	}
	if g.LeftOut > 0 {
		fmt.Fprintf(&s, "%s not shown\n", count(g.LeftOut, "vertex", "vertices"))
	}
	for _, sort := range []world.Sort{world.Informational, world.Physical, world.Unknown} {
		g.nodesText(&s, sort)
	}
	g.edgesText(&s)
	g.channelsText(&s)
	g.objectsText(&s)
	g.factsText(&s)
	return s.String()
}

// Text says where in the history a world is.
func (a *At) Text() string {
	text := fmt.Sprintf("policy %s revision %d: ", Name(a.Policy), a.Revision)
	switch {
	case a.Trace != "":
		text += fmt.Sprintf("trace %s of tenant %s", Name(a.Trace), Name(a.Tenant))
	case a.Position == "" && a.Event == nil:
		return text + "the world as declared"
	default:
		text += "any trace"
	}
	side := "after"
	if a.Before {
		side = "before"
	}
	switch {
	case a.Position != "":
		text += fmt.Sprintf(", %s record %s", side, a.Position)
	case a.Event != nil:
		text += fmt.Sprintf(", %s event %d", side, *a.Event)
	default:
		text += ", before the first event"
	}
	if a.TS != 0 && (a.Position != "" || a.Event != nil) {
		text += " at " + Time(a.TS)
	}
	if a.Truncated {
		text += "; the log's first records are gone, and what they did is not in it"
	}
	return text
}

func section(s *strings.Builder, head string, t *table) {
	if len(t.rows) > 0 {
		s.WriteString(head + "\n" + t.text("  "))
	}
}

func (g *Graph) nodesText(s *strings.Builder, sort world.Sort) {
	held := g.held()
	var t table
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Sort != sort.String() {
			continue
		}
		var what []string
		if len(n.Labels) > 0 {
			what = append(what, "["+names(n.Labels)+"]")
		}
		if h := held[n.Name]; len(h) > 0 {
			what = append(what, "holds "+names(h))
		}
		if n.Doubtful {
			what = append(what, "in doubt")
		}
		domain := ""
		if n.Domain != "" {
			domain = Name(n.Domain)
		}
		t.row(Name(n.Name), domain, strings.Join(what, " "))
	}
	section(s, sort.String()+" vertices", &t)
}

// held lists the objects of each vertex, in order.
func (g *Graph) held() map[string][]string {
	out := map[string][]string{}
	for i := range g.Objects {
		for _, r := range g.Objects[i].Replicas {
			out[r.Vertex] = append(out[r.Vertex], g.Objects[i].Name)
		}
	}
	return out
}

func names(list []string) string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = Name(n)
	}
	return strings.Join(out, ", ")
}

func (g *Graph) edgesText(s *strings.Builder) {
	var t table
	for i := range g.Edges {
		e := &g.Edges[i]
		t.row(Name(e.From), "—", Name(e.To), fmt.Sprintf("%d %s", e.Distance, Name(g.Unit)), since(e.Since))
	}
	section(s, "edges", &t)
}

func (g *Graph) channelsText(s *strings.Builder) {
	var t table
	for i := range g.Channels {
		c := &g.Channels[i]
		t.row(Name(c.From), "→", Name(c.To), fmt.Sprint(c.Weight), c.openness(), since(c.Since))
	}
	section(s, "channels", &t)
}

func (c *Channel) openness() string {
	if c.Open {
		return "open"
	}
	return "closed"
}

func (g *Graph) objectsText(s *strings.Builder) {
	var t table
	for i := range g.Objects {
		o := &g.Objects[i]
		what := "gone"
		if !o.Gone {
			var at []string
			for _, r := range o.Replicas {
				at = append(at, r.Vertex)
			}
			what = "at " + names(at)
		}
		if len(o.Reaches) > 0 {
			what += "; reaches " + names(o.Reaches)
		}
		if len(o.DerivedFrom) > 0 {
			what += "; made from " + names(o.DerivedFrom)
		}
		if o.Doubtful {
			what += "; in doubt"
		}
		t.row(Name(o.Name), what)
	}
	section(s, "objects", &t)
}

func (g *Graph) factsText(s *strings.Builder) {
	var attributes, states table
	for i := range g.Attributes {
		a := &g.Attributes[i]
		attributes.row(a.text(), since(a.Since))
	}
	for i := range g.States {
		st := &g.States[i]
		strength := ""
		if st.Presumptive {
			strength = "presumptive"
		}
		states.row(st.key(), strength, since(st.Since))
	}
	section(s, "attributes", &attributes)
	section(s, "states", &states)
}

func (a *Attribute) text() string { return Name(a.Name) + arguments([]any{a.Entity, a.Value}) }
