package spatial

import (
	"errors"
	"fmt"
	"regexp"
	regexpsyntax "regexp/syntax"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
)

// ErrFormula is wrapped by the errors of Compile.
var ErrFormula = errors.New("location formula")

// Compile compiles the location formula of an AT in the core of a checked formula. spec says
// which relations there are. It fails on what is no core, names no relation of the spec,
// or has a variable that no predicate binds; package check lets none of that through.
func Compile(at *syntax.At, spec *world.Spec) (*Formula, error) {
	c := &compiler{spec: spec, code: &code{}, unranged: map[*syntax.Pred]bool{}}
	root, err := c.node(at.F, c.outer(at))
	if err != nil {
		return nil, fmt.Errorf("%w at %d:%d: %w", ErrFormula, at.Span().Start.Line, at.Span().Start.Col, err)
	}
	c.code.root = root
	slices.SortFunc(c.code.rels, compareRels)
	return newFormula(c.code), nil
}

func compareRels(a, b world.Rel) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	return strings.Compare(a.Name, b.Name)
}

// compiler makes the code of one formula.
type compiler struct {
	spec *world.Spec
	code *code
	// unranged are the predicates that alone bind their last argument; see relation.
	unranged map[*syntax.Pred]bool
}

// scope is where a sub-formula stands.
type scope struct {
	slots map[string]int // of the variables in scope
	bound map[int]bool   // slots whose variables are bound
	inner map[int]bool   // slots of variables quantified within the location formula
	again bool           // the sub-formula may be evaluated more than once in a run
}

// outer makes the scope of the whole formula.
func (c *compiler) outer(at *syntax.At) scope {
	s := scope{slots: map[string]int{}, bound: map[int]bool{}, inner: map[int]bool{}}
	c.code.vars = syntax.FreeVars(at.F)
	for _, n := range c.code.vars {
		s.bound[c.slot(s, n)] = true
	}
	return s
}

func (c *compiler) slot(s scope, name string) int {
	slot := c.code.slots
	c.code.slots++
	s.slots[name] = slot
	return slot
}

// node compiles a formula whose variables are all bound.
func (c *compiler) node(f syntax.Formula, s scope) (node, error) {
	switch f := f.(type) {
	case *syntax.Bool:
		return constant(f.Value), nil
	case *syntax.Label:
		return c.label(f.Name), nil
	case *syntax.Pred:
		return c.pred(f, s)
	case *syntax.Cmp:
		return c.comparison(f, s)
	case *syntax.Match:
		return c.match(f, s)
	case *syntax.Not:
		of, err := c.node(f.F, s)
		return &not{of}, err
	case *syntax.And:
		l, r, err := c.both(f.Left, f.Right, s)
		n := &and{first: l, second: r, left: l, right: r}
		if cost(f.Right) < cost(f.Left) {
			n.first, n.second = r, l
		}
		n.joins = joins(n)
		return n, err
	case *syntax.Or:
		l, r, err := c.both(f.Left, f.Right, s)
		n := &or{first: l, second: r, left: l, right: r}
		if cost(f.Right) < cost(f.Left) {
			n.first, n.second = r, l
		}
		return n, err
	case *syntax.Exists:
		return c.exists(f, s)
	case *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		return c.operator(f, s)
	case *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Next,
		*syntax.Eventually, *syntax.Always, *syntax.Until, *syntax.Agg, *syntax.Let, *syntax.New, *syntax.Since, *syntax.At:
	}
	return nil, fmt.Errorf("%T is not an operator of core location formulas; give the checked core", f)
}

func (c *compiler) both(left, right syntax.Formula, s scope) (l, r node, err error) {
	l, err = c.node(left, s)
	if err != nil {
		return nil, nil, err
	}
	r, err = c.node(right, s)
	return l, r, err
}

func (c *compiler) label(name string) node {
	c.reads(world.Rel{Kind: world.HasLabel})
	i := slices.Index(c.code.labels, name)
	if i < 0 {
		i = len(c.code.labels)
		c.code.labels = append(c.code.labels, name)
	}
	return &label{i, name}
}

func (c *compiler) reads(rel world.Rel) {
	if !slices.Contains(c.code.rels, rel) {
		c.code.rels = append(c.code.rels, rel)
	}
}

// operator compiles a spatial operator. What is under another one or in a quantifier may be
// asked again at the same vertex; it is remembered unless it depends on what is
// quantified.
func (c *compiler) operator(f syntax.Formula, s scope) (node, error) {
	n := &operator{memo: -1}
	if s.again && !c.quantified(f, s) {
		n.memo = c.code.memos
		c.code.memos++
	}
	s.again = true
	var err error
	switch f := f.(type) {
	case *syntax.Somewhere:
		var of nearest
		of, err = c.nearest(f.D, f.F, true, s)
		n.node = &somewhere{of}
	case *syntax.Everywhere:
		var of nearest
		of, err = c.nearest(f.D, f.F, false, s)
		n.node = &everywhere{of}
	case *syntax.Escape:
		of := &escape{restricted: f.Restricted}
		if of.span, err = newSpan(f.D); err == nil {
			of.of, err = c.node(f.F, s)
		}
		n.node = of
	case *syntax.Reach:
		of := &reach{}
		if of.span, err = newSpan(f.D); err == nil {
			of.left, of.right, err = c.both(f.Left, f.Right, s)
		}
		n.node = of
	case *syntax.Surround:
		of := &surround{}
		if of.span, err = newSpan(f.D); err == nil {
			of.left, of.right, err = c.both(f.Left, f.Right, s)
		}
		n.node = of
	default:
		err = fmt.Errorf("%T is no spatial operator", f)
	}
	return n, err
}

func (c *compiler) nearest(d syntax.Distance, f syntax.Formula, value bool, s scope) (nearest, error) {
	within, err := newSpan(d)
	if err != nil {
		return nearest{}, err
	}
	of, err := c.node(f, s)
	return nearest{span: within, of: of, value: value}, err
}

// quantified tells whether a formula has a free variable that is quantified within the
// location formula.
func (c *compiler) quantified(f syntax.Formula, s scope) bool {
	return slices.ContainsFunc(syntax.FreeVars(f), func(n string) bool { return s.inner[s.slots[n]] })
}

func newSpan(d syntax.Distance) (span, error) {
	s := span{lo: d.Lo, hi: d.Hi}
	if d.Unbounded {
		s.hi = unlimited
	}
	switch d.Sort {
	case "":
	case "physical":
		s.via = world.Physical
	case "informational":
		s.via = world.Informational
	default:
		return s, fmt.Errorf("VIA %s: a walk is physical or informational", d.Sort)
	}
	if s.lo < 0 || s.hi < 0 {
		return s, fmt.Errorf("distances [%d,%d]: none is negative", s.lo, s.hi)
	}
	return s, nil
}

func (c *compiler) comparison(f *syntax.Cmp, s scope) (node, error) {
	l, r, err := c.operands(f.Left, f.Right, s)
	return &comparison{op: f.Op, left: l, right: r}, err
}

func (c *compiler) operands(left, right syntax.Term, s scope) (l, r operand, err error) {
	l, err = c.operand(left, s)
	if err != nil {
		return l, r, err
	}
	r, err = c.operand(right, s)
	return l, r, err
}

func (c *compiler) operand(t syntax.Term, s scope) (operand, error) {
	switch t := t.(type) {
	case syntax.Const:
		return operand{kind: ofConstant, value: t.Value}, nil
	case syntax.Here:
		return operand{kind: ofVertex}, nil
	case syntax.Var:
		slot, ok := s.slots[t.Name]
		if !ok || !s.bound[slot] {
			return operand{}, fmt.Errorf("no predicate binds %s; add one beside it, outside of spatial operators and NOT", t.Name)
		}
		return operand{kind: ofVariable, slot: slot}, nil
	case syntax.Arith, syntax.Neg, syntax.Conv:
	}
	return operand{}, fmt.Errorf("%s: a location formula computes nothing; compute it outside of AT and give it a name, as in `x = %s`", t, t)
}

func (c *compiler) match(f *syntax.Match, s scope) (node, error) {
	l, r, err := c.operands(f.Left, f.Right, s)
	if err != nil || f.Op == syntax.Substring {
		return &substring{part: l, whole: r}, err
	}
	if len(f.Groups) > 0 {
		return nil, fmt.Errorf("%s: groups are bound outside of AT only", f)
	}
	parsed, err := regexpsyntax.Parse(f.Pattern, regexpsyntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := regexpsyntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	pattern, err := regexp.Compile(f.Pattern)
	return &matches{text: l, pattern: pattern, most: searchBudget / len(program.Inst)}, err
}
