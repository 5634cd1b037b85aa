package mfotl

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// canon writes a formula with its variables numbered by first occurrence, so that
// formulas equal up to the names of variables have one text. SINCE gives its right
// operand first.
type canon struct {
	b     strings.Builder
	num   map[string]int
	names []string
	open  map[string]bool // bound here
	bound map[string]bool // bound somewhere
	free  map[string]bool // free somewhere
	here  bool            // @l occurs
}

// canonical returns the text of a formula and its free variables in the order of
// their numbers.
func canonical(f syntax.Formula) (text string, free []string, err error) {
	c := canon{num: map[string]int{}, open: map[string]bool{}, bound: map[string]bool{}, free: map[string]bool{}}
	if err := c.formula(f); err != nil {
		return "", nil, err
	}
	if c.here {
		return "", nil, fmt.Errorf("%w: @l is a vertex of the world and stands inside of AT alone", ErrFormula)
	}
	for _, n := range c.names {
		if !c.bound[n] {
			free = append(free, n)
		} else if c.free[n] {
			return "", nil, fmt.Errorf("%w: variable %s is both free and bound; rename one", ErrFormula, n)
		}
	}
	return c.b.String(), free, nil
}

func (c *canon) variable(name string) {
	if !c.open[name] {
		c.free[name] = true
	}
	n, ok := c.num[name]
	if !ok {
		n = len(c.names)
		c.num[name] = n
		c.names = append(c.names, name)
	}
	c.b.WriteByte('v')
	c.b.WriteString(strconv.Itoa(n))
}

func (c *canon) term(t syntax.Term) {
	switch t := t.(type) {
	case syntax.Var:
		c.variable(t.Name)
	case syntax.Const:
		c.b.WriteString(t.Value.Kind.String())
		c.b.WriteByte(':')
		c.b.WriteString(t.Value.String())
	case syntax.Here:
		c.here = true
	case syntax.Arith:
		fmt.Fprintf(&c.b, "(arith%d ", t.Op)
		c.term(t.Left)
		c.b.WriteByte(' ')
		c.term(t.Right)
		c.b.WriteByte(')')
	case syntax.Neg:
		c.b.WriteString("(neg ")
		c.term(t.T)
		c.b.WriteByte(')')
	case syntax.Conv:
		fmt.Fprintf(&c.b, "(conv%d ", t.Op)
		c.term(t.T)
		c.b.WriteByte(')')
	}
}

func (c *canon) interval(i syntax.Interval) {
	if i.Unbounded {
		fmt.Fprintf(&c.b, "[%d,*]", i.Lo)
		return
	}
	fmt.Fprintf(&c.b, "[%d,%d]", i.Lo, i.Hi)
}

func (c *canon) temporal(op string, i syntax.Interval, fs ...syntax.Formula) error {
	c.interval(i)
	return c.list(op, fs...)
}

func (c *canon) list(op string, fs ...syntax.Formula) error {
	c.b.WriteByte('(')
	c.b.WriteString(op)
	for _, f := range fs {
		c.b.WriteByte(' ')
		if err := c.formula(f); err != nil {
			return err
		}
	}
	c.b.WriteByte(')')
	return nil
}

func (c *canon) formula(f syntax.Formula) error {
	switch f := f.(type) {
	case *syntax.Bool:
		c.b.WriteString(strconv.FormatBool(f.Value))
	case *syntax.Pred:
		c.pred(f)
	case *syntax.Cmp:
		fmt.Fprintf(&c.b, "(cmp%d ", f.Op)
		c.term(f.Left)
		c.b.WriteByte(' ')
		c.term(f.Right)
		c.b.WriteByte(')')
	case *syntax.Not:
		return c.list("not", f.F)
	case *syntax.And:
		return c.list("and", f.Left, f.Right)
	case *syntax.Or:
		return c.list("or", f.Left, f.Right)
	case *syntax.Exists:
		return c.exists(f)
	case *syntax.Prev:
		return c.temporal("prev", f.I, f.F)
	case *syntax.Once:
		return c.temporal("once", f.I, f.F)
	case *syntax.Historically:
		return c.temporal("historically", f.I, f.F)
	case *syntax.Since:
		return c.temporal("since", f.I, f.Right, f.Left)
	case *syntax.New:
		return c.difference(f)
	case *syntax.Match:
		c.match(f)
	case *syntax.Agg:
		return c.agg(f)
	default:
		return outside(f)
	}
	return nil
}

// outside says why an operator cannot occur here.
func outside(f syntax.Formula) error {
	switch f.(type) {
	case *syntax.At:
		return fmt.Errorf("%w: AT speaks of a vertex of the world, and this engine has none; judge the clause by the spatial aspect", ErrFormula)
	case *syntax.New:
		return fmt.Errorf("%w: NEW compares two worlds, and this engine has none; judge the clause by the spatial aspect", ErrFormula)
	case *syntax.Next, *syntax.Eventually, *syntax.Until:
		return fmt.Errorf("%w: %s reads what follows the time point; this engine judges at the time point itself", ErrFormula, f)
	default:
		return fmt.Errorf("%w: %T is not an operator of the core language; give the checked core formula", ErrFormula, f)
	}
}

func (c *canon) pred(f *syntax.Pred) {
	c.b.WriteString(strconv.Quote(f.Name))
	for _, t := range f.Args {
		c.b.WriteByte(' ')
		c.term(t)
	}
	c.b.WriteByte(';')
}

func (c *canon) difference(f *syntax.New) error {
	if _, _, ok := difference(f); !ok {
		return outside(f)
	}
	return c.list("new", f.F)
}

func (c *canon) match(f *syntax.Match) {
	fmt.Fprintf(&c.b, "(match%d ", f.Op)
	c.term(f.Left)
	c.b.WriteByte(' ')
	if f.Op == syntax.Matches {
		c.b.WriteString(strconv.Quote(f.Pattern))
	} else {
		c.term(f.Right)
	}
	for _, t := range f.Groups {
		c.b.WriteByte(' ')
		c.term(t)
	}
	c.b.WriteByte(')')
}

// agg writes an aggregation: it binds the variables of its formula that are no groups.
func (c *canon) agg(f *syntax.Agg) error {
	fmt.Fprintf(&c.b, "(agg%d ", f.Op)
	c.variable(f.Result.Name)
	of := map[string]bool{}
	for _, n := range syntax.FreeVars(f.F) {
		of[n] = true
	}
	local := maps.Clone(of)
	for _, v := range f.Groups {
		c.b.WriteByte(' ')
		c.variable(v.Name)
		delete(local, v.Name)
		if !of[v.Name] {
			return fmt.Errorf("%w: group %s is not a free variable of %s", ErrFormula, v.Name, f.F)
		}
	}
	switch {
	case !of[f.Over.Name]:
		return fmt.Errorf("%w: %s is not a free variable of %s", ErrFormula, f.Over.Name, f.F)
	case of[f.Result.Name]:
		return fmt.Errorf("%w: the result %s is also a variable of %s; rename one", ErrFormula, f.Result.Name, f.F)
	}
	for _, n := range slices.Sorted(maps.Keys(local)) {
		if c.open[n] {
			return fmt.Errorf("%w: variable %s is bound again where it is bound; rename one", ErrFormula, n)
		}
		c.open[n], c.bound[n] = true, true
	}
	c.b.WriteByte(';')
	c.variable(f.Over.Name)
	err := c.list("", f.F)
	for n := range local {
		delete(c.open, n)
	}
	return err
}

// exists writes a quantifier. Copies of one sub-formula may bind the same names,
// but not one within the other.
func (c *canon) exists(f *syntax.Exists) error {
	c.b.WriteString("(exists")
	for _, v := range f.Vars {
		if c.open[v.Name] {
			return fmt.Errorf("%w: variable %s is bound again where it is bound; rename one", ErrFormula, v.Name)
		}
		c.open[v.Name], c.bound[v.Name] = true, true
		c.b.WriteByte(' ')
		c.variable(v.Name)
	}
	err := c.list(")", f.F)
	for _, v := range f.Vars {
		delete(c.open, v.Name)
	}
	return err
}

// freeVars returns the free variables of a formula that canonical accepted.
func (c *compiler) freeVars(f syntax.Formula) []string {
	free, ok := c.frees[f]
	if !ok {
		_, free, _ = canonical(f) // no names if it is refused, as it is where it is compiled
		c.frees[f] = free
	}
	return free
}
