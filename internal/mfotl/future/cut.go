package future

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// prefix begins the names of virtual relations. No signature has a name with a space.
const prefix = "future "

func isVirtual(name string) bool { return strings.HasPrefix(name, prefix) }

// cutter cuts a formula at its future operators.
type cutter struct {
	plan  *Plan
	kinds map[string]schema.ValueKind
	names map[string]int // relations by their text
	cuts  map[syntax.Formula]syntax.Formula
	err   error
	parts []part
}

// part is a past-time formula with what it is for.
type part struct {
	checked *check.Checked
	feed    feed
	reads   []int // virtual relations, ascending
}

func (c *cutter) root(f *check.Checked) error {
	c.cuts = map[syntax.Formula]syntax.Formula{}
	core := c.formula(f.Core)
	if c.err != nil {
		return c.err
	}
	cut := *f
	cut.Core = core
	c.part(&cut, feed{relation: -1})
	c.stages()
	return nil
}

func (c *cutter) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", mfotl.ErrFormula, fmt.Sprintf(format, args...))
	}
}

// formula returns f with virtual relations in place of its future operators.
func (c *cutter) formula(f syntax.Formula) syntax.Formula {
	g, ok := c.cuts[f]
	if !ok {
		g = c.cut(f)
		c.cuts[f] = g
		c.plan.uncut[g] = f
	}
	return g
}

func (c *cutter) cut(f syntax.Formula) syntax.Formula {
	switch f := f.(type) {
	case *syntax.Bool, *syntax.Cmp, *syntax.Match:
		return f
	case *syntax.Pred:
		if isVirtual(f.Name) {
			c.fail("relation %q has a reserved name; no signature can have it", f.Name)
		}
		return f
	case *syntax.Not:
		return &syntax.Not{Node: f.Node, F: c.formula(f.F)}
	case *syntax.And:
		return &syntax.And{Node: f.Node, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	case *syntax.Or:
		return &syntax.Or{Node: f.Node, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	case *syntax.Exists:
		return &syntax.Exists{Node: f.Node, Vars: f.Vars, F: c.formula(f.F)}
	case *syntax.Prev:
		return &syntax.Prev{Node: f.Node, I: f.I, F: c.formula(f.F)}
	case *syntax.Once:
		return &syntax.Once{Node: f.Node, I: f.I, F: c.formula(f.F)}
	case *syntax.Historically:
		return &syntax.Historically{Node: f.Node, I: f.I, F: c.formula(f.F)}
	case *syntax.Since:
		return &syntax.Since{Node: f.Node, I: f.I, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	case *syntax.Agg:
		return &syntax.Agg{Node: f.Node, Result: f.Result, Op: f.Op, Over: f.Over, Groups: f.Groups, F: c.formula(f.F)}
	case *syntax.Next:
		return c.next(f)
	case *syntax.Eventually:
		return c.eventually(f)
	case *syntax.Until:
		return c.until(f)
	case *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Always, *syntax.Let, *syntax.New,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	c.fail("%T is not an operator of the core language; give the checked core formula", f)
	return f
}

func (c *cutter) next(f *syntax.Next) syntax.Formula {
	cut := &syntax.Next{Node: f.Node, I: f.I, F: c.formula(f.F)}
	return c.relation(cut, opNext, f.I, func(_ *relation, id int) {
		c.operand(cut.F, syntax.FreeVars(cut), feed{id, right})
	})
}

func (c *cutter) eventually(f *syntax.Eventually) syntax.Formula {
	c.bounded(f, f.I)
	cut := &syntax.Eventually{Node: f.Node, I: f.I, F: c.formula(f.F)}
	return c.relation(cut, opEventually, f.I, func(_ *relation, id int) {
		c.operand(cut.F, syntax.FreeVars(cut), feed{id, right})
	})
}

func (c *cutter) until(f *syntax.Until) syntax.Formula {
	c.bounded(f, f.I)
	cut := &syntax.Until{Node: f.Node, I: f.I, Left: c.formula(f.Left), Right: c.formula(f.Right)}
	return c.relation(cut, opUntil, f.I, func(r *relation, id int) {
		free := syntax.FreeVars(cut)
		c.operand(cut.Right, free, feed{id, right})
		held := cut.Left
		if not, ok := held.(*syntax.Not); ok {
			r.negated, held = true, not.F
		}
		of := syntax.FreeVars(held)
		var own []string
		for i, name := range free {
			if slices.Contains(of, name) {
				r.cols, own = append(r.cols, i), append(own, name)
			}
		}
		c.operand(held, own, feed{id, left})
	})
}

func (c *cutter) bounded(f syntax.Formula, i syntax.Interval) {
	if i.Unbounded {
		c.fail("a future operator without an upper bound: %s; give it one", f)
	}
}

// relation returns the virtual relation of an operator whose operands are cut. Equal
// operators share one; fill adds the operands of a new one.
func (c *cutter) relation(f syntax.Formula, o op, i syntax.Interval, fill func(r *relation, id int)) syntax.Formula {
	if i.Lo < 0 || i.Empty() {
		c.fail("the interval of %s is negative or empty", f)
	}
	if c.err != nil {
		return f
	}
	text := f.String()
	id, ok := c.names[text]
	if !ok {
		id = len(c.plan.relations)
		c.names[text] = id
		r := &relation{name: fmt.Sprint(prefix, id), op: o, lo: uint64(i.Lo), hi: uint64(i.Hi)}
		if i.Unbounded {
			r.hi = math.MaxUint64
		}
		c.plan.relations = append(c.plan.relations, r)
		fill(r, id)
	}
	p := &syntax.Pred{Node: syntax.Node{Pos: f.Span()}, Name: c.plan.relations[id].name}
	for _, name := range syntax.FreeVars(f) {
		p.Args = append(p.Args, syntax.Var{Name: name})
	}
	return p
}

// operand adds an operand, whose free variables are columns.
func (c *cutter) operand(f syntax.Formula, columns []string, to feed) {
	if n := len(syntax.FreeVars(f)); n != len(columns) {
		c.fail("the left operand of UNTIL has a variable that the right one has not: %s", f)
	}
	checked := &check.Checked{Source: f, Core: f, Kinds: c.kinds}
	for _, name := range columns {
		checked.Free = append(checked.Free, check.Column{Name: name, Kind: c.kinds[name]})
	}
	c.part(checked, to)
}

func (c *cutter) part(f *check.Checked, to feed) {
	p := part{checked: f, feed: to}
	syntax.Walk(f.Core, func(f syntax.Formula) bool {
		if id := c.virtual(f); id >= 0 && !slices.Contains(p.reads, id) {
			p.reads = append(p.reads, id)
		}
		return true
	})
	slices.Sort(p.reads)
	c.parts = append(c.parts, p)
}

// virtual returns the number of the relation that f is an atom of, or -1.
func (c *cutter) virtual(f syntax.Formula) int {
	p, ok := f.(*syntax.Pred)
	if !ok || !isVirtual(p.Name) {
		return -1
	}
	return slices.IndexFunc(c.plan.relations, func(r *relation) bool { return r.name == p.Name })
}

// stages makes the stages of the plan. A relation has a greater number than those its
// operands read, so that the order of the greatest numbers is one of evaluation.
func (c *cutter) stages() {
	greatest := func(p part) int {
		if len(p.reads) == 0 {
			return -1
		}
		return p.reads[len(p.reads)-1]
	}
	slices.SortStableFunc(c.parts, func(a, b part) int {
		if d := greatest(a) - greatest(b); d != 0 {
			return d
		}
		return slices.Compare(a.reads, b.reads)
	})
	for i, p := range c.parts {
		if i == 0 || !slices.Equal(p.reads, c.parts[i-1].reads) {
			c.plan.stages = append(c.plan.stages, &stage{})
		}
		s := c.plan.stages[len(c.plan.stages)-1]
		s.source = append(s.source, p.checked)
		s.feeds = append(s.feeds, p.feed)
		if len(s.source) == 1 {
			c.inputs(s, p.reads)
		}
	}
	for _, s := range c.plan.stages {
		s.remembers = slices.ContainsFunc(s.source, readsThePast)
		if len(s.reads) > 0 {
			c.keep(s)
			c.guard(s)
		}
	}
}

func readsThePast(f *check.Checked) bool {
	found := false
	syntax.Walk(f.Core, func(f syntax.Formula) bool {
		switch f.(type) {
		case *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since:
			found = true
		case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
			*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until,
			*syntax.Agg, *syntax.Let, *syntax.New,
			*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		}
		return !found
	})
	return found
}

// inputs notes which virtual relations a stage reads.
func (c *cutter) inputs(s *stage, reads []int) {
	for _, id := range reads {
		s.reads = append(s.reads, input{relation: id})
		c.plan.relations[id].readers++
	}
}

// keep notes of which relations facts are kept for a stage.
func (c *cutter) keep(s *stage) {
	if c.plan.keep == nil {
		c.plan.keep = map[string]string{}
	}
	for _, f := range s.source {
		syntax.Walk(f.Core, func(f syntax.Formula) bool {
			if p, ok := f.(*syntax.Pred); ok && !isVirtual(p.Name) {
				c.plan.keep[p.Name] = p.Name
			}
			return true
		})
	}
}
