package check

import (
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// scopeVariables gives every variable a name of its own, closes wildcards at their
// predicate, and leaves out quantified variables that do not occur.
func (w *work) scopeVariables() {
	s := scoper{w: w, used: map[string]bool{}, next: map[string]int{}, env: map[string]string{}}
	w.written = map[string]string{}
	for _, name := range syntax.FreeVars(w.source) {
		if !wildcard(name) {
			s.used[name] = true
			w.written[name] = name
		}
	}
	w.scoped, _ = s.formula(w.source)
}

// wildcard tells whether a variable of a predicate is closed there.
func wildcard(name string) bool { return strings.HasPrefix(name, "_") }

// occurs is the set of variables, by their new names, that occur free in a formula.
type occurs map[string]bool

func (o occurs) union(p occurs) occurs {
	if len(o) < len(p) {
		o, p = p, o
	}
	for name := range p {
		o[name] = true
	}
	return o
}

type scoper struct {
	w    *work
	used map[string]bool   // names given out
	next map[string]int    // where to look for a free name of a stem
	env  map[string]string // a name as written → the name given to it here
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

// formula rebuilds f and returns the variables that occur free in it. The set is
// the caller's.
func (s *scoper) formula(f syntax.Formula) (syntax.Formula, occurs) {
	switch f := f.(type) {
	case *syntax.Bool:
		return f, occurs{}
	case *syntax.Pred:
		return s.pred(f)
	case *syntax.Cmp:
		o := occurs{}
		g := &syntax.Cmp{Node: f.Node, Op: f.Op, Left: s.term(f.Left, o), Right: s.term(f.Right, o)}
		return g, o
	case *syntax.Not:
		g, o := s.formula(f.F)
		return &syntax.Not{Node: f.Node, F: g}, o
	case *syntax.And:
		l, r, o := s.both(f.Left, f.Right)
		return &syntax.And{Node: f.Node, Left: l, Right: r}, o
	case *syntax.Or:
		l, r, o := s.both(f.Left, f.Right)
		return &syntax.Or{Node: f.Node, Left: l, Right: r}, o
	case *syntax.Implies:
		l, r, o := s.both(f.Left, f.Right)
		return &syntax.Implies{Node: f.Node, Left: l, Right: r}, o
	case *syntax.Equiv:
		l, r, o := s.both(f.Left, f.Right)
		return &syntax.Equiv{Node: f.Node, Left: l, Right: r}, o
	case *syntax.Exists:
		vars, g, o := s.quantified(f.Vars, f.F)
		if len(vars) == 0 {
			return g, o
		}
		return &syntax.Exists{Node: f.Node, Vars: vars, F: g}, o
	case *syntax.Forall:
		vars, g, o := s.quantified(f.Vars, f.F)
		if len(vars) == 0 {
			return g, o
		}
		return &syntax.Forall{Node: f.Node, Vars: vars, F: g}, o
	case *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since:
		return s.temporal(f)
	}
	return f, occurs{}
}

func (s *scoper) temporal(f syntax.Formula) (syntax.Formula, occurs) {
	switch f := f.(type) {
	case *syntax.Prev:
		g, o := s.formula(f.F)
		return &syntax.Prev{Node: f.Node, I: f.I, F: g}, o
	case *syntax.Once:
		g, o := s.formula(f.F)
		return &syntax.Once{Node: f.Node, I: f.I, F: g}, o
	case *syntax.Historically:
		g, o := s.formula(f.F)
		return &syntax.Historically{Node: f.Node, I: f.I, F: g}, o
	case *syntax.Since:
		l, r, o := s.both(f.Left, f.Right)
		return &syntax.Since{Node: f.Node, I: f.I, Left: l, Right: r}, o
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall:
	}
	return f, occurs{}
}

func (s *scoper) both(l, r syntax.Formula) (syntax.Formula, syntax.Formula, occurs) {
	l, ol := s.formula(l)
	r, or := s.formula(r)
	return l, r, ol.union(or)
}

// term renames a term that is no wildcard and notes its variable.
func (s *scoper) term(t syntax.Term, o occurs) syntax.Term {
	v, ok := t.(syntax.Var)
	if !ok {
		return t
	}
	if name, ok := s.env[v.Name]; ok {
		v.Name = name
	}
	o[v.Name] = true
	return v
}

// pred renames a predicate's variables and closes its wildcards.
func (s *scoper) pred(f *syntax.Pred) (syntax.Formula, occurs) {
	o := occurs{}
	args := make([]syntax.Term, len(f.Args))
	var closed []syntax.Var
	names := map[string]string{}
	for i, t := range f.Args {
		v, ok := t.(syntax.Var)
		if !ok || !wildcard(v.Name) {
			args[i] = s.term(t, o)
			continue
		}
		name, seen := names[v.Name]
		if !seen {
			name = s.fresh(v.Name)
			names[v.Name] = name
			closed = append(closed, syntax.Var{Pos: v.Pos, Name: name})
		}
		args[i] = syntax.Var{Pos: v.Pos, Name: name}
	}
	g := &syntax.Pred{Node: f.Node, Name: f.Name, Args: args}
	if len(closed) == 0 {
		return g, o
	}
	return &syntax.Exists{Node: f.Node, Vars: closed, F: g}, o
}

func (s *scoper) quantified(vars []syntax.Var, f syntax.Formula) ([]syntax.Var, syntax.Formula, occurs) {
	outer := make([]string, len(vars)) // "" when the name had no meaning outside
	renamed := make([]syntax.Var, len(vars))
	for i, v := range vars {
		outer[i] = s.env[v.Name]
		renamed[i] = syntax.Var{Pos: v.Pos, Name: s.fresh(v.Name)}
		s.env[v.Name] = renamed[i].Name
	}
	g, o := s.formula(f)
	var kept []syntax.Var
	for i, v := range vars {
		if outer[i] == "" {
			delete(s.env, v.Name)
		} else {
			s.env[v.Name] = outer[i]
		}
		if o[renamed[i].Name] {
			kept = append(kept, renamed[i])
		} else {
			s.w.add(unusedVariable(v))
		}
		delete(o, renamed[i].Name)
	}
	return kept, g, o
}
