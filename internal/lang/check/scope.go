package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// scopeVariables gives every variable a name of its own, closes wildcards where
// they stand, finds the LET of every relation that has one, and leaves out quantified
// variables that do not occur.
func (w *work) scopeVariables() {
	s := scoper{w: w, used: map[string]bool{}, next: map[string]int{}, env: map[string]string{}}
	w.written = map[string]string{}
	w.lets = map[*syntax.Pred]*syntax.Let{}
	for _, name := range syntax.FreeVars(w.source) {
		if !wildcard(name) {
			s.used[name] = true
			w.written[name] = name
		}
	}
	w.scoped = s.formula(w.source, occurs{})
}

// wildcard tells whether a variable is closed where it stands.
func wildcard(name string) bool { return strings.HasPrefix(name, "_") }

// occurs is the set of variables, by their new names, that occur free in a formula.
type occurs map[string]bool

type scoper struct {
	w    *work
	used map[string]bool   // names given out
	next map[string]int    // where to look for a free name of a stem
	env  map[string]string // a name as written → the name given to it here
	lets *letScope         // the relations of the LETs around, innermost first
}

// letScope is the relation of a LET in its body.
type letScope struct {
	let   *syntax.Let // scoped; its body is not there yet
	used  bool
	outer *letScope
}

func (l *letScope) find(name string) *letScope {
	for l != nil && l.let.Name != name {
		l = l.outer
	}
	return l
}

// fresh gives out a name like the one written: the same where it is still free.
func (s *scoper) fresh(written string) string {
	stem := written + "_"
	if strings.Contains(written, "#") { // the parser's name for a wildcard
		written, stem = "_", "_"
	}
	name := written
	for n := max(s.next[stem], 2); s.used[name] || name == "_"; n++ {
		name = stem + strconv.Itoa(n-1)
		s.next[stem] = n
	}
	s.used[name] = true
	s.w.written[name] = written
	return name
}

// formula rebuilds f and adds to o the variables that occur free in it.
func (s *scoper) formula(f syntax.Formula, o occurs) syntax.Formula {
	switch f := f.(type) {
	case *syntax.Pred:
		return s.pred(f, o)
	case *syntax.Cmp:
		return substituted(f, s.rename(o))
	case *syntax.Match:
		return s.match(f, o)
	case *syntax.At:
		return &syntax.At{Node: f.Node, Loc: termBy(f.Loc, s.rename(o)), F: s.formula(f.F, o)}
	case *syntax.Exists:
		vars, g := s.quantified(f.Vars, f.F, o)
		if len(vars) == 0 {
			return g
		}
		return &syntax.Exists{Node: f.Node, Vars: vars, F: g}
	case *syntax.Forall:
		vars, g := s.quantified(f.Vars, f.F, o)
		if len(vars) == 0 {
			return g
		}
		return &syntax.Forall{Node: f.Node, Vars: vars, F: g}
	case *syntax.Agg:
		return s.agg(f, o)
	case *syntax.Let:
		return s.let(f, o)
	case *syntax.Bool, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv, *syntax.Prev, *syntax.Once,
		*syntax.Historically, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until, *syntax.New,
		*syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return rebuilt(f, func(g syntax.Formula) syntax.Formula { return s.formula(g, o) })
}

// rename is how variables of terms get their new names; it notes them.
func (s *scoper) rename(o occurs) func(syntax.Var) syntax.Term {
	return func(v syntax.Var) syntax.Term { return s.variable(v, o) }
}

func (s *scoper) variable(v syntax.Var, o occurs) syntax.Var {
	if name, ok := s.env[v.Name]; ok {
		v.Name = name
	}
	o[v.Name] = true
	return v
}

// pred renames a predicate's variables and closes its wildcards.
func (s *scoper) pred(f *syntax.Pred, o occurs) syntax.Formula {
	args, closed := s.open(f.Args, o)
	g := &syntax.Pred{Node: f.Node, Name: f.Name, Args: args}
	if l := s.lets.find(f.Name); l != nil {
		l.used = true
		s.w.lets[g] = l.let
	}
	return around(f.Node, closed, g)
}

// match renames the variables of a test of strings and closes the wildcards of its
// groups.
func (s *scoper) match(f *syntax.Match, o occurs) syntax.Formula {
	groups, closed := s.open(f.Groups, o)
	g := &syntax.Match{
		Node: f.Node, Op: f.Op, Left: termBy(f.Left, s.rename(o)), Right: termBy(f.Right, s.rename(o)),
		Pattern: f.Pattern, Groups: groups,
	}
	return around(f.Node, closed, g)
}

// open renames the variables of arguments. Wildcards get names of their own, which
// are to be closed.
func (s *scoper) open(ts []syntax.Term, o occurs) (args []syntax.Term, closed []syntax.Var) {
	names := map[string]string{}
	args = termsBy(ts, func(v syntax.Var) syntax.Term {
		if !wildcard(v.Name) {
			return s.variable(v, o)
		}
		name, seen := names[v.Name]
		if !seen {
			name = s.fresh(v.Name)
			names[v.Name] = name
			closed = append(closed, syntax.Var{Pos: v.Pos, Name: name})
		}
		return syntax.Var{Pos: v.Pos, Name: name}
	})
	return args, closed
}

// around quantifies the variables, if there are any.
func around(at syntax.Node, vars []syntax.Var, f syntax.Formula) syntax.Formula {
	if len(vars) == 0 {
		return f
	}
	return &syntax.Exists{Node: at, Vars: vars, F: f}
}

// quantified rebuilds a formula with quantified variables and returns those of them
// that occur.
func (s *scoper) quantified(vars []syntax.Var, f syntax.Formula, o occurs) (kept []syntax.Var, g syntax.Formula) {
	renamed, g, inner := s.within(vars, f)
	for i, v := range vars {
		if inner[renamed[i].Name] {
			kept = append(kept, renamed[i])
		} else {
			s.w.add(unusedVariable(v))
		}
		delete(inner, renamed[i].Name)
	}
	for name := range inner {
		o[name] = true
	}
	return kept, g
}

// within rebuilds f under new names for the variables, and returns these and the
// variables that occur free in it.
func (s *scoper) within(vars []syntax.Var, f syntax.Formula) (renamed []syntax.Var, g syntax.Formula, inner occurs) {
	outer := make([]string, len(vars)) // "" when the name had no meaning outside
	renamed = make([]syntax.Var, len(vars))
	for i, v := range vars {
		outer[i] = s.env[v.Name]
		renamed[i] = syntax.Var{Pos: v.Pos, Name: s.fresh(v.Name)}
		s.env[v.Name] = renamed[i].Name
	}
	inner = occurs{}
	g = s.formula(f, inner)
	for i, v := range slices.Backward(vars) {
		if outer[i] == "" {
			delete(s.env, v.Name)
		} else {
			s.env[v.Name] = outer[i]
		}
	}
	return renamed, g, inner
}

// agg rebuilds an aggregation. The variables of its formula that are not among the
// groups are its own.
func (s *scoper) agg(f *syntax.Agg, o occurs) syntax.Formula {
	free := slices.DeleteFunc(syntax.FreeVars(f.F), wildcard)
	s.checkAgg(f, free)
	grouped := func(name string) bool {
		return slices.ContainsFunc(f.Groups, func(v syntax.Var) bool { return v.Name == name })
	}
	var own []syntax.Var
	for _, name := range free {
		if !grouped(name) {
			own = append(own, syntax.Var{Name: name})
		}
	}
	renamed, body, _ := s.within(own, f.F)
	g := &syntax.Agg{Node: f.Node, Result: s.variable(f.Result, o), Op: f.Op, Over: f.Over, F: body}
	for _, v := range f.Groups {
		if v = s.variable(v, o); !slices.ContainsFunc(g.Groups, named(v.Name)) {
			g.Groups = append(g.Groups, v)
		}
	}
	if i := slices.IndexFunc(own, named(f.Over.Name)); i >= 0 {
		g.Over.Name = renamed[i].Name
	} else {
		g.Over = s.variable(f.Over, occurs{})
	}
	return g
}

func named(name string) func(syntax.Var) bool {
	return func(v syntax.Var) bool { return v.Name == name }
}

// checkAgg reports variables of an aggregation that its formula, with the given free
// variables, does not have, and a result that is a group or a wildcard.
func (s *scoper) checkAgg(f *syntax.Agg, free []string) {
	if wildcard(f.Result.Name) {
		s.w.add(namelessResult(f))
	}
	for _, v := range f.Groups {
		if v.Name == f.Result.Name {
			s.w.add(resultGrouped(f, v))
		} else if !slices.Contains(free, v.Name) {
			s.w.add(notAggregated(f, v, "grouped by"))
		}
	}
	if !slices.Contains(free, f.Over.Name) {
		s.w.add(notAggregated(f, f.Over, "aggregated"))
	}
}

// let rebuilds a LET. Variables of the definition that are no parameters were
// reported, and get names of their own, lest they be mistaken for those outside.
func (s *scoper) let(f *syntax.Let, o occurs) syntax.Formula {
	params := slices.Clone(f.Params)
	for _, name := range slices.DeleteFunc(syntax.FreeVars(f.Def), wildcard) {
		if !slices.ContainsFunc(params, named(name)) {
			s.w.add(noParameter(f, name))
			params = append(params, syntax.Var{Name: name})
		}
	}
	renamed, def, inner := s.within(params, f.Def)
	for i, v := range f.Params {
		if !inner[renamed[i].Name] {
			s.w.add(emptyParameter(f, v))
		}
	}
	g := &syntax.Let{Node: f.Node, Name: f.Name, Params: renamed[:len(f.Params)], Def: def}
	s.lets = &letScope{let: g, outer: s.lets}
	g.Body = s.formula(f.Body, o)
	if !s.lets.used {
		s.w.add(unusedLet(f))
	}
	s.lets = s.lets.outer
	return g
}

// asWritten is a scoped formula with the names of its variables as they were written.
func (w *work) asWritten(f syntax.Formula) syntax.Formula {
	f = substituted(rebuilt(f, w.asWritten), w.writtenVar)
	switch f := f.(type) {
	case *syntax.Exists:
		return &syntax.Exists{Node: f.Node, Vars: w.writtenVars(f.Vars), F: f.F}
	case *syntax.Forall:
		return &syntax.Forall{Node: f.Node, Vars: w.writtenVars(f.Vars), F: f.F}
	case *syntax.Agg:
		vars := w.writtenVars(append([]syntax.Var{f.Result, f.Over}, f.Groups...))
		return &syntax.Agg{Node: f.Node, Result: vars[0], Op: f.Op, Over: vars[1], Groups: vars[2:], F: f.F}
	case *syntax.Let:
		return &syntax.Let{Node: f.Node, Name: f.Name, Params: w.writtenVars(f.Params), Def: f.Def, Body: f.Body}
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next,
		*syntax.Eventually, *syntax.Always, *syntax.Until,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return f
}

func (w *work) writtenVar(v syntax.Var) syntax.Term {
	v.Name = w.written[v.Name]
	return v
}

func (w *work) writtenVars(vars []syntax.Var) []syntax.Var {
	out := make([]syntax.Var, len(vars))
	for i, v := range vars {
		out[i] = syntax.Var{Pos: v.Pos, Name: w.written[v.Name]}
	}
	return out
}
