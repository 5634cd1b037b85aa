package world

import (
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// RelKind is a kind of relation of the world.
type RelKind uint8

// The relations of every world, and the two kinds that a policy declares.
const (
	Holds          RelKind = iota + 1 // holds(l, o): vertex l has a replica of object o
	Reaches                           // reaches(o, d): o can come to release domain or vertex d through open channels
	ReachesDomain                     // reaches(o, d), d a release domain
	Connects                          // connects(v, d): what is at v can come to release domain or vertex d
	ConnectsDomain                    // connects(v, d), d a release domain
	HasLabel                          // label(l, x)
	InDomain                          // domain(l, d)
	Exists                            // exists(o): o has come into being, whether or not it is gone
	Gone                              // gone(o): o came into being and no replica is left
	Derived                           // derived(o, s): o was made from s in one or more steps
	Opened                            // opened(a, b): the channel from a to b is open
	DeclaredVertex                    // vertex(l): l is declared
	AttributeOf                       // name(entity, value)
	StateOf                           // name(…), declared under state
)

// Rel is a relation of the world; Name is that of an attribute or of a state relation.
type Rel struct {
	Kind RelKind
	Name string
}

// String names the relation as policies do; the two that range over domains alone have that
// after the name of the one that they are part of.
func (r Rel) String() string {
	switch r.Kind {
	case Holds:
		return "holds"
	case Reaches:
		return "reaches"
	case ReachesDomain:
		return "reaches domain"
	case Connects:
		return "connects"
	case ConnectsDomain:
		return "connects domain"
	case HasLabel:
		return "label"
	case InDomain:
		return "domain"
	case Exists:
		return "exists"
	case Gone:
		return "gone"
	case Derived:
		return "derived"
	case Opened:
		return "opened"
	case DeclaredVertex:
		return "vertex"
	case AttributeOf, StateOf:
	}
	return r.Name
}

// named are the relations that every world has, in the order of their names.
func named() []Rel {
	return []Rel{
		{Kind: Connects},
		{Kind: Derived},
		{Kind: InDomain},
		{Kind: Exists},
		{Kind: Gone},
		{Kind: Holds},
		{Kind: HasLabel},
		{Kind: Opened},
		{Kind: Reaches},
		{Kind: DeclaredVertex},
	}
}

// Names lists the names of the relations that every world has, sorted.
func Names() []string {
	var out []string
	for _, r := range named() {
		out = append(out, r.String())
	}
	return out
}

// Lookup returns the relation of a name, attributes and states of the spec included. Of
// Reaches and Connects it returns the full relation.
func (s *Spec) Lookup(name string) (Rel, bool) {
	for _, r := range named() {
		if r.String() == name {
			return r, true
		}
	}
	if slices.Contains(s.Attributes, name) {
		return Rel{Kind: AttributeOf, Name: name}, true
	}
	for i := range s.States {
		if s.States[i].Name == name {
			return Rel{Kind: StateOf, Name: name}, true
		}
	}
	return Rel{}, false
}

// IsDomain tells whether a name is that of a release domain in every world of the spec: a
// vertex is in it or formulas name it, and no vertex is called so.
func (s *Spec) IsDomain(name string) bool {
	for i := range s.Vertices {
		switch name {
		case "":
			return false
		case s.Vertices[i].Domain:
			return true
		case s.Vertices[i].Name:
			return false
		}
	}
	return name == UnknownDomain || slices.Contains(s.Domains, name)
}

// Signature gives the types of the arguments of every relation of the spec, by name.
func (s *Spec) Signature() map[string][]schema.ValueKind {
	one, two := []schema.ValueKind{schema.KindString}, []schema.ValueKind{schema.KindString, schema.KindString}
	out := map[string][]schema.ValueKind{}
	for _, name := range Names() {
		out[name] = two
	}
	for _, name := range []string{"exists", "gone", "vertex"} {
		out[name] = one
	}
	for _, a := range s.Attributes {
		out[a] = two
	}
	for i := range s.States {
		out[s.States[i].Name] = s.States[i].Kinds
	}
	return out
}
