package render

import (
	"fmt"
	"slices"
)

// The lengths of what stands in the box of a vertex. A name longer than a line is clipped
// there; text and JSON have all of it.
const (
	maxLine  = 28 // characters
	maxHeld  = 4  // objects
	maxLabel = 4  // labels
)

// lines are the lines in the box of a vertex: its name, domain, labels and objects.
func (n *Node) lines(held []string) []string {
	out := []string{clip(Name(n.Name))}
	if n.Domain != "" {
		out = append(out, clip(Name(n.Domain)))
	}
	if len(n.Labels) > 0 {
		out = append(out, clip("["+several(n.Labels, maxLabel)+"]"))
	}
	if len(held) > 0 {
		out = append(out, clip("holds "+several(held, maxHeld)))
	}
	return out
}

// several prints at most n names and how many there are besides.
func several(list []string, n int) string {
	if len(list) <= n {
		return names(list)
	}
	return fmt.Sprintf("%s + %d", names(list[:n-1]), len(list)-n+1)
}

// domains numbers the release domains of a graph by name.
func (g *Graph) domains() map[string]int {
	var list []string
	for i := range g.Nodes {
		if d := g.Nodes[i].Domain; d != "" {
			list = append(list, d)
		}
	}
	slices.Sort(list)
	out := map[string]int{}
	for i, d := range slices.Compact(list) {
		out[d] = i
	}
	return out
}

// colour is how a domain is filled on a light ground and on a dark one.
type colour struct{ light, dark string }

// palette has fills on which black, or on a dark ground white, is readable: a contrast of 7
// and more. Domains beyond it share colours; their names stand in the boxes.
func palette() []colour {
	return []colour{
		{"#cfe3ff", "#1d3a63"},
		{"#ffe0b8", "#5c3a0c"},
		{"#d3f2d0", "#1c4a1e"},
		{"#f8d0e0", "#5f1d3c"},
		{"#e3d8fb", "#40306b"},
		{"#fdf3b4", "#504708"},
		{"#c9f1ee", "#0e4a47"},
		{"#e6e0d5", "#4a4236"},
	}
}

// fill is the colour of a domain; without one it is plain.
func fill(domains map[string]int, domain string) colour {
	if domain == "" {
		return colour{"#f0f0f0", "#303030"}
	}
	p := palette()
	return p[domains[domain]%len(p)]
}
