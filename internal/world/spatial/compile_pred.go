package spatial

import (
	"fmt"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// maxArgs is how many arguments a predicate may have: their set fits into a word.
const maxArgs = 64

// pred compiles a predicate whose variables are all bound.
func (c *compiler) pred(f *syntax.Pred, s scope) (node, error) {
	if name, ok := labelHere(f); ok {
		return c.label(name), nil
	}
	n, err := c.partly(f, s)
	if err != nil {
		return nil, err
	}
	for i, a := range f.Args {
		if n.bound>>i&1 == 0 {
			_, err := c.operand(a, s)
			return nil, err
		}
	}
	return n, nil
}

// labelHere recognises label(@l, "x").
func labelHere(f *syntax.Pred) (string, bool) {
	if f.Name != "label" || len(f.Args) != 2 {
		return "", false
	}
	_, here := f.Args[0].(syntax.Here)
	x, constant := f.Args[1].(syntax.Const)
	return x.Value.Str, here && constant && x.Value.Kind == schema.KindString
}

// partly compiles a predicate that binds those of its variables that are in scope and not
// bound.
func (c *compiler) partly(f *syntax.Pred, s scope) (*pred, error) {
	if len(f.Args) > maxArgs {
		return nil, fmt.Errorf("%s has %d arguments, the limit is %d", f.Name, len(f.Args), maxArgs)
	}
	rel, err := c.relation(f)
	if err != nil {
		return nil, err
	}
	n := &pred{index: len(c.code.preds), rel: rel, args: make([]operand, len(f.Args))}
	for i, a := range f.Args {
		if v, ok := a.(syntax.Var); ok {
			if slot, ok := s.slots[v.Name]; ok && !s.bound[slot] {
				n.args[i] = operand{kind: ofVariable, slot: slot}
				continue
			}
		}
		if n.args[i], err = c.operand(a, s); err != nil {
			return nil, err
		}
		n.bound |= 1 << i
		n.local = n.local || n.args[i].kind == ofVertex
	}
	c.code.preds = append(c.code.preds, n)
	return n, nil
}

// relation is what a predicate reads. reaches(o, d) and connects(v, d) range over release
// domains, and over vertices too only where d is known: it is @l, a constant, bound outside,
// or bound by another conjunct beside it, whichever is evaluated first.
func (c *compiler) relation(f *syntax.Pred) (world.Rel, error) {
	rel, ok := c.spec.Lookup(f.Name)
	if !ok {
		return rel, fmt.Errorf("%s is no relation of the world; facts of events are joined outside of AT", f.Name)
	}
	if want := len(c.spec.Signature()[f.Name]); len(f.Args) != want {
		return rel, fmt.Errorf("%s has %d arguments here and %d in the world", f.Name, len(f.Args), want)
	}
	if len(f.Args) == 2 {
		if d, ok := f.Args[1].(syntax.Const); c.unranged[f] || ok && c.spec.IsDomain(d.Value.Str) {
			rel.Kind = ofDomains(rel.Kind)
		}
	}
	c.reads(rel)
	return rel, nil
}

func ofDomains(k world.RelKind) world.RelKind {
	switch k { //nolint:exhaustive // the other relations have one range
	case world.Reaches:
		return world.ReachesDomain
	case world.Connects:
		return world.ConnectsDomain
	}
	return k
}
