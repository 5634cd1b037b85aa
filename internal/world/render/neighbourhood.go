package render

import (
	"errors"
	"fmt"
	"slices"
)

// MaxDrawn is the number of vertices that a picture shows: beyond it, boxes and lines are too
// many to be told apart on a page.
const MaxDrawn = 60

// ErrTooLarge is returned for a graph that is too large for a picture and of which no part
// stands out.
var ErrTooLarge = errors.New("too many vertices for a picture")

// Neighbourhood returns a graph of at most n vertices as it is. Of a larger one it returns
// the part around what holds objects: the vertices that hold some, and those next to them,
// step by step, as long as whole steps fit; LeftOut counts the others. It fails with
// ErrTooLarge where no vertex holds anything, or more than n do.
func Neighbourhood(g *Graph, n int) (*Graph, error) {
	if len(g.Nodes) <= n {
		return g, nil
	}
	keep := map[string]bool{}
	for i := range g.Objects {
		for _, r := range g.Objects[i].Replicas {
			keep[r.Vertex] = true
		}
	}
	if len(keep) == 0 {
		return nil, fmt.Errorf("%w: %d, at most %d are drawn, and none of them holds anything", ErrTooLarge, len(g.Nodes), n)
	}
	if len(keep) > n {
		return nil, fmt.Errorf("%w: %d hold objects, at most %d are drawn", ErrTooLarge, len(keep), n)
	}
	next := g.adjacency()
	for ring := mapKeys(keep); ; {
		var outer []string
		seen := map[string]bool{}
		for _, v := range ring {
			for _, u := range next[v] {
				if !keep[u] && !seen[u] {
					seen[u] = true
					outer = append(outer, u)
				}
			}
		}
		if len(outer) == 0 || len(keep)+len(outer) > n {
			return g.only(func(name string) bool { return keep[name] }), nil
		}
		for _, u := range outer {
			keep[u] = true
		}
		ring = outer
	}
}

func mapKeys(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// adjacency lists the vertices that an edge or a channel, in whatever direction, joins to
// each.
func (g *Graph) adjacency() map[string][]string {
	out := map[string][]string{}
	join := func(a, b string) {
		out[a], out[b] = append(out[a], b), append(out[b], a)
	}
	for i := range g.Edges {
		join(g.Edges[i].From, g.Edges[i].To)
	}
	for i := range g.Channels {
		join(g.Channels[i].From, g.Channels[i].To)
	}
	return out
}
