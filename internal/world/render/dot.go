package render

import (
	"fmt"
	"strings"

	"github.com/aspis-rv/aspis/internal/world"
)

// DOT prints a graph in the language of Graphviz: a cluster for each sort, vertices filled
// by their domain, open channels solid and closed ones dashed. Vertices are called n0, n1, …;
// names are in labels only. Lines and free text are of a grey that is readable on white and
// on black.
func DOT(g *Graph) string {
	var s strings.Builder
	s.WriteString("digraph world {\n")
	s.WriteString("  graph [rankdir=LR, bgcolor=\"transparent\", fontname=\"sans-serif\", fontcolor=\"#808080\", color=\"#808080\"")
	fmt.Fprintf(&s, ", labelloc=t, label=%s];\n", dotText(g.headline()))
	s.WriteString("  node [shape=box, style=\"rounded,filled\", color=\"#808080\", fontname=\"sans-serif\", fontcolor=\"#101010\"];\n")
	s.WriteString("  edge [color=\"#808080\", fontname=\"sans-serif\", fontcolor=\"#808080\"];\n")
	ids := map[string]string{}
	for i := range g.Nodes {
		ids[g.Nodes[i].Name] = fmt.Sprintf("n%d", i)
	}
	domains, held := g.domains(), g.held()
	for _, sort := range []world.Sort{world.Informational, world.Physical, world.Unknown} {
		g.cluster(&s, sort, ids, domains, held)
	}
	for i := range g.Channels {
		c := &g.Channels[i]
		style := "solid"
		if !c.Open {
			style = "dashed"
		}
		fmt.Fprintf(&s, "  %s -> %s [label=\"%d\", style=%s];\n", ids[c.From], ids[c.To], c.Weight, style)
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		fmt.Fprintf(&s, "  %s -> %s [label=%s, dir=none];\n", ids[e.From], ids[e.To], dotText(e.length(g.Unit)))
	}
	s.WriteString("}\n")
	return s.String()
}

// length prints the distance of an edge with its unit.
func (e *Edge) length(unit string) string { return fmt.Sprintf("%d %s", e.Distance, Name(unit)) }

// headline says what the picture shows.
func (g *Graph) headline() string {
	text := g.At.Text()
	if g.LeftOut > 0 {
		text += fmt.Sprintf(" (%s not shown)", count(g.LeftOut, "vertex", "vertices"))
	}
	return text
}

func (g *Graph) cluster(s *strings.Builder, sort world.Sort, ids map[string]string, domains map[string]int, held map[string][]string) {
	open := false
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Sort != sort.String() {
			continue
		}
		if !open {
			fmt.Fprintf(s, "  subgraph cluster_%s {\n    label=%s;\n", sort, dotText(sort.String()))
			open = true
		}
		style := ""
		if sort == world.Unknown {
			style = ", style=\"rounded,filled,dashed\""
		}
		lines := make([]string, 0, 4)
		for _, l := range n.lines(held[n.Name]) {
			lines = append(lines, dotEscape(l))
		}
		fmt.Fprintf(s, "    %s [label=\"%s\", fillcolor=\"%s\"%s];\n", ids[n.Name], strings.Join(lines, `\n`), fill(domains, n.Domain).light, style)
	}
	if open {
		s.WriteString("  }\n")
	}
}

// dotText is a quoted string of DOT that shows s as it is.
func dotText(s string) string { return `"` + dotEscape(s) + `"` }

// dotEscape writes a printed name into a quoted string of DOT. Graphviz reads escapes and
// character entities in labels.
func dotEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`, "\n", `\n`).Replace(s)
}
