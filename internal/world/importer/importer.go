// Package importer reads graphs in GraphML and GeoJSON as vertices, edges and channels of a
// world. The functions are pure: bytes in, values out, each with its place in the bytes.
//
// What a vertex or edge is follows from its properties, which have the same names in both
// formats and in world.yaml; other properties are left to other programs, see
// Graph.Ignored:
//
//	sort      vertex: physical or informational; informational if there is a domain, else physical
//	domain    vertex: its release domain
//	labels    vertex: its labels, a list or a text with commas between them
//	distance  edge: a whole number, not negative, in the unit of the graph
//	weight    channel: a whole number, not negative; by domain if there is none
//	open      channel: true or false; must be there
//
// An undirected edge is an edge, a directed one a channel.
package importer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/world"
)

// The limits of one graph. Its bytes bound it too: an element takes ten of them at least.
const (
	// MaxElements bounds vertices, edges and channels together. The largest graphs in use
	// have 100,000 vertices and four edges for each.
	MaxElements = 600_000
	// maxDepth bounds nesting. GraphML without nested graphs is 5 deep, GeoJSON 8.
	maxDepth = 32
)

// Graph is what a file declares, in its order. It is not checked as a whole: names may be
// declared twice or not at all.
type Graph struct {
	Vertices []Vertex
	Edges    []Edge
	Channels []Channel
	// Ignored are the names of properties without meaning here, each where it is first met.
	Ignored []Property
}

// Vertex is a vertex and where it stands, in bytes from the start.
type Vertex struct {
	world.VertexSpec
	Offset int
}

// Edge is an edge and where it stands, in bytes from the start.
type Edge struct {
	world.EdgeSpec
	Offset int
}

// Channel is a channel and where it stands, in bytes from the start.
type Channel struct {
	world.ChannelSpec
	Offset int
}

// Property is a name of a property and where it stands, in bytes from the start.
type Property struct {
	Name   string
	Offset int
}

// Error says what is wrong with a file, where, and how to repair it.
type Error struct {
	Offset        int // bytes from the start
	Message, Hint string
}

// Error returns the message and the place.
func (e *Error) Error() string { return fmt.Sprintf("%s (at byte %d)", e.Message, e.Offset) }

func fail(offset int, hint, format string, args ...any) error {
	return &Error{Offset: offset, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// VertexProperties and EdgeProperties list the names of properties with a meaning, sorted.
func VertexProperties() []string { return []string{"domain", "labels", "sort"} }

// EdgeProperties lists the names of the properties of edges and channels, sorted.
func EdgeProperties() []string { return []string{"distance", "open", "weight"} }

// values are the properties of one element, by name.
type values map[string]value

// value is one property: a text, or the texts of a list.
type value struct {
	texts  []string
	list   bool
	offset int
}

func (v value) text() string { return strings.Join(v.texts, ",") }

// builder makes a graph of elements and their properties.
type builder struct {
	graph   Graph
	ignored map[string]bool
}

// take notes the properties that are none of the known ones.
func (b *builder) take(props values, known []string, order []string) {
	for _, name := range order {
		if b.ignored[name] || slices.Contains(known, name) {
			continue
		}
		if b.ignored == nil {
			b.ignored = map[string]bool{}
		}
		b.ignored[name] = true
		b.graph.Ignored = append(b.graph.Ignored, Property{name, props[name].offset})
	}
}

// room reports whether one more element fits.
func (b *builder) room(offset int) error {
	if len(b.graph.Vertices)+len(b.graph.Edges)+len(b.graph.Channels) >= MaxElements {
		return fail(offset, "", "the graph has too many elements, the limit is %d", MaxElements)
	}
	return nil
}

// vertex adds a vertex.
func (b *builder) vertex(name string, props values, offset int) error {
	if err := b.room(offset); err != nil {
		return err
	}
	if strings.TrimSpace(name) == "" {
		return fail(offset, "give it an id", "a vertex has no name")
	}
	v := world.VertexSpec{Name: name, Sort: world.Physical, Domain: strings.TrimSpace(props["domain"].text()), Labels: props["labels"].words()}
	if v.Domain != "" {
		v.Sort = world.Informational
	}
	if p, ok := props["sort"]; ok {
		switch strings.TrimSpace(p.text()) {
		case world.Physical.String():
			v.Sort = world.Physical
		case world.Informational.String():
			v.Sort = world.Informational
		default:
			return fail(p.offset, "write physical or informational", "%q is no sort of a vertex", p.text())
		}
	}
	b.graph.Vertices = append(b.graph.Vertices, Vertex{v, offset})
	return nil
}

// words splits labels.
func (v value) words() []string {
	parts := v.texts
	if !v.list {
		parts = strings.Split(v.text(), ",")
	}
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// edge adds an undirected edge.
func (b *builder) edge(from, to string, props values, offset int) error {
	if err := b.ends(from, to, props, offset, "weight", "open"); err != nil {
		return err
	}
	p, ok := props["distance"]
	if !ok {
		return fail(offset, "give it the property distance; what is directed is a channel", "the edge from %q to %q has no distance", from, to)
	}
	n, err := p.number("a distance")
	if err != nil {
		return err
	}
	b.graph.Edges = append(b.graph.Edges, Edge{world.EdgeSpec{From: from, To: to, Distance: n}, offset})
	return nil
}

// channel adds a directed channel.
func (b *builder) channel(from, to string, props values, offset int) error {
	if err := b.ends(from, to, props, offset, "distance"); err != nil {
		return err
	}
	c := world.ChannelSpec{From: from, To: to, Weight: world.WeightByDomain}
	if p, ok := props["weight"]; ok {
		n, err := p.number("a weight")
		if err != nil {
			return err
		}
		c.Weight = n
	}
	p, ok := props["open"]
	if !ok {
		return fail(offset, "give it the property open, true or false", "the channel from %q to %q does not say whether it is open", from, to)
	}
	switch strings.TrimSpace(p.text()) {
	case "true", "1":
		c.Open = true
	case "false", "0":
	default:
		return fail(p.offset, "write true or false", "%q does not say whether the channel is open", p.text())
	}
	b.graph.Channels = append(b.graph.Channels, Channel{c, offset})
	return nil
}

// ends checks what edges and channels have in common; foreign are properties of the other.
func (b *builder) ends(from, to string, props values, offset int, foreign ...string) error {
	if err := b.room(offset); err != nil {
		return err
	}
	if from == "" || to == "" {
		return fail(offset, "name the vertices that it joins", "an edge lacks an end")
	}
	for _, name := range foreign {
		if p, ok := props[name]; ok {
			return fail(p.offset, "an edge has a distance and no direction; a channel has a direction, weight and open",
				"the edge from %q to %q cannot have the property %s", from, to, name)
		}
	}
	return nil
}

// number reads a whole number that is not negative. A fraction of zeros does no harm.
func (v value) number(what string) (int64, error) {
	text := strings.TrimSpace(v.text())
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.Trim(fraction, "0") != "" || n < 0 {
		return 0, fail(v.offset, "write a whole number, not negative, in the unit of the graph", "%q is not %s", text, what)
	}
	return n, nil
}

// placed gives an error of a decoder a place.
func placed(err error, offset int) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return fail(offset, "", "the file cannot be read: %v", err)
}
