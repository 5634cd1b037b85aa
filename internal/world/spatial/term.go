package spatial

import (
	"regexp"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// operand is a variable, a constant, or @l.
type operand struct {
	kind  operandKind
	slot  int
	value schema.Value
}

type operandKind uint8

const (
	ofConstant operandKind = iota
	ofVariable
	ofVertex
)

func (o *operand) in(r *run, v world.V) schema.Value {
	switch o.kind {
	case ofConstant:
		return o.value
	case ofVariable:
		return r.env[o.slot]
	case ofVertex:
		return schema.StringValue(r.g.Name(v))
	}
	return schema.Value{}
}

// comparison compares two terms. Values of different kinds satisfy none.
type comparison struct {
	constant    // nothing in it depends on the graph
	op          syntax.CmpOp
	left, right operand
}

func (n *comparison) holds(r *run, v world.V, _ bool) bool {
	a, b := n.left.in(r, v), n.right.in(r, v)
	return a.Kind == b.Kind && n.op.Holds(schema.Compare(a, b))
}

// substring is SUBSTRING.
type substring struct {
	constant
	part, whole operand
}

func (n *substring) holds(r *run, v world.V, _ bool) bool {
	part, whole := n.part.in(r, v), n.whole.in(r, v)
	return part.Kind == schema.KindString && whole.Kind == schema.KindString && strings.Contains(whole.Str, part.Str)
}

// searchBudget bounds a search for a regular expression: the instructions of its program
// times the bytes of the text, as in package mfotl.
const searchBudget = 1 << 22

// matches is MATCHES without groups. A text that is too long to be searched is a guess.
type matches struct {
	constant
	text    operand
	pattern *regexp.Regexp
	most    int // bytes of a text
}

func (n *matches) holds(r *run, v world.V, negated bool) bool {
	text := n.text.in(r, v)
	switch {
	case text.Kind != schema.KindString:
		return false
	case len(text.Str) > n.most:
		return r.guess(negated)
	}
	return n.pattern.MatchString(text.Str)
}
