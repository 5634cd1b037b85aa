package world

import (
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Op is what an Edit does.
type Op uint8

// The operations. Names that are not declared are no error: a vertex nobody declared is
// unknown, an object comes into being when it is placed.
const (
	AddVertex    Op = iota + 1 // A the vertex, Sort, B its domain, Names its labels
	RemoveVertex               // A the vertex: it becomes unknown, its edges and channels go, what it holds stays
	AddLabel                   // A the vertex, B the label
	RemoveLabel                // A the vertex, B the label
	SetDomain                  // A the vertex, B the domain
	AddEdge                    // A and B the ends, N the distance; of an edge that exists, the new distance
	RemoveEdge                 // A and B the ends
	OpenChannel                // from A to B, N its weight or WeightByDomain; what was no channel becomes one
	CloseChannel               // from A to B
	Place                      // A the object, B the vertex: one more replica
	Remove                     // A the object, B the vertex: the replica there goes
	Move                       // A the object, B the vertex: its only replica is there now
	Purge                      // A the object, B a label: its replicas at vertices with that label go
	Destroy                    // A the object: all its replicas go
	Derive                     // A the object was made from the object B, among others
	Set                        // Name the attribute, A the entity, Values: these are its values now
	Append                     // Name the attribute, A the entity, Values: these are added
	Mark                       // Name the state relation, Values the tuple, Strength: raised to this
)

// String returns the name of the operation as policies write it.
func (o Op) String() string {
	switch o {
	case AddVertex:
		return "add_vertex"
	case RemoveVertex:
		return "remove_vertex"
	case AddLabel:
		return "add_label"
	case RemoveLabel:
		return "remove_label"
	case SetDomain:
		return "set_domain"
	case AddEdge:
		return "add_edge"
	case RemoveEdge:
		return "remove_edge"
	case OpenChannel:
		return "open"
	case CloseChannel:
		return "close"
	case Place:
		return "place"
	case Remove:
		return "remove"
	case Move:
		return "move"
	case Purge:
		return "purge"
	case Destroy:
		return "destroy"
	case Derive:
		return "derive"
	case Set:
		return "set"
	case Append:
		return "append"
	case Mark:
		return "mark"
	}
	return "?"
}

// Edit is one change of the world. Which fields are used depends on Op.
type Edit struct {
	Op       Op
	A, B     string
	Name     string
	N        int64
	Sort     Sort
	Names    []string
	Values   []schema.Value
	Strength verdict.Strength
}

// Origin says which event a change belongs to.
type Origin struct {
	// Offset is the log offset of the event, plus one; 0 for what the policy declares.
	Offset uint64
	// Call is the id of the call record whose effect the change is: it can be taken back.
	// Empty for changes that stay.
	Call string
}
