package source

import "github.com/aspis-rv/aspis/internal/diag"

// Kind is the shape of a node.
type Kind uint8

// The kinds of node.
const (
	Scalar Kind = iota
	Map
	List
)

// String returns the kind as messages name it.
func (k Kind) String() string {
	switch k {
	case Scalar:
		return "a value"
	case Map:
		return "a map"
	case List:
		return "a list"
	}
	return "?"
}

// Type is the type of a scalar.
type Type uint8

// The types of scalar.
const (
	String Type = iota
	Int
	Float
	Bool
	Null
)

// String returns the type as messages name it.
func (t Type) String() string {
	switch t {
	case String:
		return "a string"
	case Int:
		return "an integer"
	case Float:
		return "a number"
	case Bool:
		return "true or false"
	case Null:
		return "nothing"
	}
	return "?"
}

type style uint8

const (
	plain style = iota
	single
	double
	literal
	folded
)

// Node is one value of the tree.
type Node struct {
	Kind   Kind
	Type   Type   // of a scalar
	Value  string // of a scalar: its text after unquoting
	Fields []Field
	Items  []*Node

	file  *File
	span  diag.Span
	style style
}

// Field is one entry of a map, in the order of the file.
type Field struct {
	Key   *Node
	Value *Node
}

// Span returns where the node stands: the whole text of a scalar on its first
// line, the first line of a map or list.
func (n *Node) Span() diag.Span { return n.span }

// File returns the file the node stands in.
func (n *Node) File() *File { return n.file }

// Get returns the value of a key of a map, nil when the key is absent.
func (n *Node) Get(key string) *Node {
	for i := range n.Fields {
		if n.Fields[i].Key.Value == key {
			return n.Fields[i].Value
		}
	}
	return nil
}

// Quoted reports whether a scalar is written in quotes or as a block.
func (n *Node) Quoted() bool { return n.style != plain }

// Describe says in a few words what the node is, for messages.
func (n *Node) Describe() string {
	if n.Kind == Scalar {
		return n.Type.String()
	}
	return n.Kind.String()
}
