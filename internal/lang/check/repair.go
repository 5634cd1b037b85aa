package check

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// maxRefusals is how many refusals of one formula are reported. The others mostly
// follow from the first ones.
const maxRefusals = 10

// refuse reports why there is no order of evaluation, with a checked repair where
// there is a mechanical one.
func (w *work) refuse(why []refusal) {
	for _, ref := range why[:min(len(why), maxRefusals)] {
		missing := make([]string, len(ref.missing))
		for i, name := range ref.missing {
			missing[i] = w.written[name]
		}
		node := nodeAt(w.source, ref.at.Span())
		d := w.message(ref, node, missing)
		d.Span = ref.at.Span()
		if w.repair && node != nil {
			if hint := w.propose(ref.kind, node, missing); hint != "" {
				d.Hint = hint
			} else if ref.kind == openNegation && w.forallAround(node) != nil {
				d.Hint = "FORALL goes with IMPLIES: say before it of which " + quoteAll(missing) + " it must hold"
			}
		}
		w.add(d)
	}
}

// message words a refusal. The node is the sub-formula as written, or nil.
func (w *work) message(ref refusal, node syntax.Formula, missing []string) diag.Diagnostic {
	what := ref.at
	if node != nil {
		what = node
	}
	text := shortIn(what, w.opts.Mode)
	switch ref.kind {
	case openNegation:
		across := ""
		if ref.across != nil {
			across = "`" + operatorOf(ref.across) + "`"
			if _, temporal := intervalOf(ref.across); temporal {
				across += ", at another time point"
			}
		}
		text = "`" + text + "`"
		if !negates(what) {
			text = "the negation of " + text
		}
		return openNegationMessage(text, across, missing)
	case openComparison:
		does := "compares"
		if _, ok := what.(*syntax.Match); ok {
			does = "tests"
		}
		return openComparisonMessage(text, does, missing)
	case orVariables:
		return orVariablesMessage(missing)
	case sinceVariables:
		return sinceVariablesMessage(operatorOf(ref.at), missing)
	case openLocation:
		return openLocationMessage(text, missing)
	}
	return diag.Diagnostic{}
}

// negates tells whether a formula as written is a kind of negation.
func negates(f syntax.Formula) bool {
	switch f.(type) {
	case *syntax.Not, *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Historically, *syntax.Always:
		return true
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.And, *syntax.Or, *syntax.Exists, *syntax.Agg,
		*syntax.Let, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Since, *syntax.Next, *syntax.Eventually, *syntax.Until,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return false
}

// operatorOf names an operator that looks elsewhere: at other time points, at a set of
// tuples, at another world, at a vertex.
func operatorOf(f syntax.Formula) string {
	switch f := f.(type) {
	case *syntax.Once:
		return "ONCE"
	case *syntax.Prev:
		return "PREVIOUS"
	case *syntax.Historically:
		return "HISTORICALLY"
	case *syntax.Since:
		return "SINCE"
	case *syntax.Next:
		return "NEXT"
	case *syntax.Eventually:
		return "EVENTUALLY"
	case *syntax.Always:
		return "ALWAYS"
	case *syntax.Until:
		return "UNTIL"
	case *syntax.Agg:
		return f.Op.String()
	case *syntax.New:
		return "NEW"
	case *syntax.At:
		return "AT"
	case *syntax.Somewhere:
		return "SOMEWHERE"
	case *syntax.Everywhere:
		return "EVERYWHERE"
	case *syntax.Escape:
		return "ESCAPE"
	case *syntax.Reach:
		return "REACH"
	case *syntax.Surround:
		return "SURROUND"
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Let, *syntax.Label:
	}
	return "the operator"
}

// candidate is a possible repair: new instead of old.
type candidate struct {
	old, new syntax.Formula
	meaning  string // when this is what was meant
}

// propose returns a hint with the first candidate that passes the check, or "".
func (w *work) propose(kind refusalKind, node syntax.Formula, missing []string) string {
	if newMeasure().size(w.inlined) > maxRepairSize {
		return ""
	}
	vars := make([]syntax.Var, len(missing))
	for i, name := range missing {
		vars[i] = syntax.Var{Name: name}
	}
	for _, c := range w.candidates(kind, node, vars) {
		repaired := replaced(w.source, c.old, c.new)
		if _, diags := check(repaired, w.sig, w.opts, false); diags.HasErrors() {
			continue
		}
		return c.meaning + ": `" + shortIn(c.new, w.opts.Mode) + "`"
	}
	return ""
}

func (w *work) candidates(kind refusalKind, node syntax.Formula, vars []syntax.Var) []candidate {
	names := namesOf(vars)
	some := "if it does not matter which " + quoteAll(names)
	switch kind {
	case openNegation:
		return w.negationCandidates(node, vars, names)
	case openComparison:
		if c, ok := node.(*syntax.Cmp); ok && len(vars) == 1 {
			return solutions(c, vars[0])
		}
	case openLocation:
		return w.vertexCandidates(node, vars)
	case orVariables:
		if or, ok := node.(*syntax.Or); ok {
			return []candidate{{or, &syntax.Or{Left: closed(or.Left, vars), Right: closed(or.Right, vars)}, some}}
		}
	case sinceVariables:
		if _, temporal := intervalOf(node); temporal {
			left := syntax.Children(node)[0]
			by := closed(left, vars)
			if not, ok := left.(*syntax.Not); ok {
				by = &syntax.Not{F: closed(not.F, vars)}
			}
			return []candidate{{node, replaced(node, left, by), some}}
		}
	}
	return nil
}

// vertexCandidates lets AT speak of any vertex.
func (w *work) vertexCandidates(node syntax.Formula, vars []syntax.Var) []candidate {
	at, ok := node.(*syntax.At)
	if not, negated := node.(*syntax.Not); negated {
		at, ok = not.F.(*syntax.At)
	}
	if !ok || len(vars) != 1 || !w.opts.World["vertex"] || at.Loc.String() != vars[0].Name {
		return nil
	}
	vertex := &syntax.Pred{Name: "vertex", Args: []syntax.Term{vars[0]}}
	meaning := "a vertex called " + vars[0].Name + " stands in quotes, `AT \"" + vars[0].Name + "\" (…)`; to speak of every vertex there is"
	return []candidate{{node, &syntax.And{Left: vertex, Right: node}, meaning}}
}

// solutions solves an equation for a variable, where it occurs once and is added or
// subtracted.
func solutions(c *syntax.Cmp, v syntax.Var) []candidate {
	if c.Op != syntax.Eq {
		return nil
	}
	var out []candidate
	for _, side := range [][2]syntax.Term{{c.Left, c.Right}, {c.Right, c.Left}} {
		if t := solved(side[0], side[1], v.Name); t != nil {
			equal := &syntax.Cmp{Op: syntax.Eq, Left: v, Right: t}
			out = append(out, candidate{c, equal, "solved for `" + v.Name + "`"})
		}
	}
	return out
}

// solved is the value of a variable for which the left term is the right one, or nil.
func solved(left, right syntax.Term, name string) syntax.Term {
	switch t := left.(type) {
	case syntax.Var:
		if t.Name == name {
			return right
		}
	case syntax.Neg:
		return solved(t.T, syntax.Neg{T: right}, name)
	case syntax.Arith:
		return solvedArith(t, right, name)
	case syntax.Const, syntax.Conv, syntax.Here:
	}
	return nil
}

func solvedArith(t syntax.Arith, right syntax.Term, name string) syntax.Term {
	var back syntax.ArithOp
	switch t.Op {
	case syntax.Add:
		back = syntax.Sub
	case syntax.Sub:
		back = syntax.Add
	case syntax.Mul, syntax.Div, syntax.Mod:
		return nil
	}
	if s := solved(t.Left, syntax.Arith{Op: back, Left: right, Right: t.Right}, name); s != nil {
		return s
	}
	other := syntax.Arith{Op: syntax.Sub, Left: right, Right: t.Left}
	if t.Op == syntax.Sub {
		other = syntax.Arith{Op: syntax.Sub, Left: t.Left, Right: right}
	}
	return solved(t.Right, other, name)
}

func (w *work) negationCandidates(node syntax.Formula, vars []syntax.Var, names []string) []candidate {
	var out []candidate
	_, historically := node.(*syntax.Historically)
	_, always := node.(*syntax.Always)
	if historically || always {
		guarded := &syntax.And{Left: syntax.Children(node)[0], Right: node}
		out = append(out, candidate{node, guarded, "if it must hold now too"})
		for _, some := range someOf(vars) {
			every := at(node, &syntax.Forall{Vars: some, F: syntax.Children(node)[0]})
			out = append(out, candidate{node, every, "if it must hold for all " + quoteAll(namesOf(some))})
		}
	}
	if not, ok := node.(*syntax.Not); ok {
		for _, some := range someOf(vars) {
			none := &syntax.Not{F: closed(not.F, some)}
			out = append(out, candidate{not, none, "if it must hold for no " + quoteAll(namesOf(some))})
		}
	}
	if all := w.forallAround(node); all != nil {
		and, ok := all.F.(*syntax.And)
		if ok {
			implied := &syntax.Forall{Vars: all.Vars, F: &syntax.Implies{Left: and.Left, Right: and.Right}}
			out = append(out, candidate{all, implied, "FORALL goes with IMPLIES"})
		}
	}
	all := &syntax.Forall{Vars: vars, F: w.source}
	return append(out, candidate{w.source, all, "if it must hold for all " + quoteAll(names)})
}

// maxChosen is the number of variables up to which repairs choose among them.
const maxChosen = 4

// someOf returns choices of the variables to quantify, small ones first: the others may
// get their values from outside. The last choice is all of them.
func someOf(vars []syntax.Var) [][]syntax.Var {
	var out [][]syntax.Var
	if n := len(vars); n > 1 && n <= maxChosen {
		for i := range vars {
			out = append(out, vars[i:i+1])
		}
		for i := 0; i < n && n > 2; i++ {
			out = append(out, slices.Concat(vars[:i], vars[i+1:]))
		}
	}
	return append(out, vars)
}

func namesOf(vars []syntax.Var) []string {
	names := make([]string, len(vars))
	for i, v := range vars {
		names[i] = v.Name
	}
	return names
}

// forallAround returns the innermost FORALL whose body is node or contains it.
func (w *work) forallAround(node syntax.Formula) *syntax.Forall {
	var found *syntax.Forall
	syntax.Walk(w.source, func(f syntax.Formula) bool {
		if all, ok := f.(*syntax.Forall); ok && contains(all, node) {
			found = all
		}
		return true
	})
	return found
}

func contains(f, node syntax.Formula) bool {
	return f == node || slices.ContainsFunc(syntax.Children(f), func(c syntax.Formula) bool { return contains(c, node) })
}

// closed quantifies those of the variables that are free in f.
func closed(f syntax.Formula, vars []syntax.Var) syntax.Formula {
	free := syntax.FreeVars(f)
	var occurring []syntax.Var
	for _, v := range vars {
		if slices.Contains(free, v.Name) {
			occurring = append(occurring, v)
		}
	}
	if len(occurring) == 0 {
		return f
	}
	return &syntax.Exists{Vars: occurring, F: f}
}

// nodeAt returns the outermost sub-formula of f at the place, or nil.
func nodeAt(f syntax.Formula, at diag.Span) syntax.Formula {
	var found syntax.Formula
	syntax.Walk(f, func(g syntax.Formula) bool {
		if found == nil && at.Start.IsValid() && g.Span() == at {
			found = g
		}
		return found == nil
	})
	return found
}

// replaced is f with one sub-formula replaced.
func replaced(f, old, by syntax.Formula) syntax.Formula {
	if f == old {
		return by
	}
	return rebuilt(f, func(g syntax.Formula) syntax.Formula { return replaced(g, old, by) })
}
