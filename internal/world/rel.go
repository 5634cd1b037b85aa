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

// Names lists the names of the relations that every world has, sorted.
func Names() []string {
	return []string{"connects", "derived", "domain", "exists", "gone", "holds", "label", "opened", "reaches", "vertex"}
}

// Lookup returns the relation of a name, attributes and states of the spec included. Of
// Reaches and Connects it returns the full relation.
func (s *Spec) Lookup(name string) (Rel, bool) {
	switch name {
	case "connects":
		return Rel{Kind: Connects}, true
	case "derived":
		return Rel{Kind: Derived}, true
	case "domain":
		return Rel{Kind: InDomain}, true
	case "exists":
		return Rel{Kind: Exists}, true
	case "gone":
		return Rel{Kind: Gone}, true
	case "holds":
		return Rel{Kind: Holds}, true
	case "label":
		return Rel{Kind: HasLabel}, true
	case "opened":
		return Rel{Kind: Opened}, true
	case "reaches":
		return Rel{Kind: Reaches}, true
	case "vertex":
		return Rel{Kind: DeclaredVertex}, true
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
