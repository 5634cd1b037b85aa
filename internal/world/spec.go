package world

import "github.com/aspis-rv/aspis/pkg/schema"

// Sort is the sort of a vertex, and of the graph that a walk stays in.
type Sort uint8

// The sorts. An unknown vertex is one that was never declared or was removed: a location
// without label and without domain, of which every containment question is answered in
// the unsafe sense.
const (
	Unknown Sort = iota
	Physical
	Informational
)

// String returns the name of the sort as policies write it.
func (s Sort) String() string {
	switch s {
	case Unknown:
		return "unknown"
	case Physical:
		return "physical"
	case Informational:
		return "informational"
	}
	return "?"
}

// Spec is the world that a policy declares: what there is before the first event, and the
// relations beyond the graph's own. It is immutable once made.
type Spec struct {
	// PhysicalUnit is the unit of physical distances, "m" unless given.
	PhysicalUnit string
	Vertices     []VertexSpec
	Edges        []EdgeSpec
	Channels     []ChannelSpec
	Entities     []EntitySpec
	Objects      []ObjectSpec
	// Attributes are the names of the attribute relations, sorted: name(entity, value).
	Attributes []string
	// States are the state relations of the policy, sorted by name.
	States []StateSpec
	// Labels and Domains are those that formulas name, sorted. With those of the vertices
	// they are what an unknown vertex may turn out to have.
	Labels, Domains []string
}

// VertexSpec declares a vertex.
type VertexSpec struct {
	Name   string
	Sort   Sort
	Domain string // informational vertices: the release domain
	Labels []string
}

// EdgeSpec declares an undirected edge. Its distance is not negative, in the unit of the
// graph.
type EdgeSpec struct {
	From, To string
	Distance int64
}

// WeightByDomain is the weight of a channel that is 0 within a domain and 1 across.
const WeightByDomain = -1

// ChannelSpec declares a directed release channel.
type ChannelSpec struct {
	From, To string
	Weight   int64 // WeightByDomain, or not negative
	Open     bool
}

// EntitySpec declares an entity and its attributes.
type EntitySpec struct {
	Name, Kind string
	Attributes []AttributeSpec
}

// AttributeSpec gives the values of an attribute of an entity.
type AttributeSpec struct {
	Name   string
	Values []schema.Value // strings
}

// ObjectSpec places an object at vertices before the first event.
type ObjectSpec struct {
	Name string
	At   []string
}

// StateSpec declares a state relation: its tuples, once set, stay.
type StateSpec struct {
	Name  string
	Kinds []schema.ValueKind
}
