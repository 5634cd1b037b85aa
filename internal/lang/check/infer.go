package check

import (
	"strconv"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// inferTypes gives every variable one of the types int, string and float. Nothing is
// converted implicitly: comparing an int with a float is an error. The relations of
// LET take the types that their definitions give to their parameters.
func (w *work) inferTypes() {
	u := &unifier{w: w, parent: map[string]string{}, known: map[string]evidence{}, numbers: map[string]syntax.Formula{}}
	u.formula(w.scoped)
	w.kinds = map[string]schema.ValueKind{}
	for name := range w.written {
		w.kinds[name] = u.known[u.find(name)].kind
	}
}

// evidence is what gave a term its type.
type evidence struct {
	kind  schema.ValueKind
	where syntax.Formula
}

// unifier keeps classes of terms that must have one type.
type unifier struct {
	w       *work
	parent  map[string]string
	known   map[string]evidence       // by representative
	numbers map[string]syntax.Formula // by representative: where it must be a number
	unnamed int                       // classes that began without a variable
}

func (u *unifier) find(name string) string {
	for {
		up, ok := u.parent[name]
		if !ok {
			return name
		}
		if above, ok := u.parent[up]; ok { // halve the path
			u.parent[name] = above
		}
		name = up
	}
}

// formula visits what stands inside first: it says best what the types are.
func (u *unifier) formula(f syntax.Formula) {
	for _, c := range syntax.Children(f) {
		u.formula(c)
	}
	switch f := f.(type) {
	case *syntax.Pred:
		u.pred(f)
	case *syntax.Cmp:
		u.same(f, f.Left, f.Right)
	case *syntax.Match:
		for _, t := range append([]syntax.Term{f.Left, f.Right}, f.Groups...) {
			u.learn(t, evidence{schema.KindString, f})
		}
	case *syntax.Agg:
		u.agg(f)
	case *syntax.At:
		u.location(f)
	case *syntax.Bool, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv, *syntax.Exists, *syntax.Forall,
		*syntax.Let, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next,
		*syntax.Eventually, *syntax.Always, *syntax.Until,
		*syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
}

func (u *unifier) pred(f *syntax.Pred) {
	if let := u.w.lets[f]; let != nil {
		u.call(f, let)
		return
	}
	kinds, ok := u.w.relation(f.Name)
	if !ok || len(kinds) != len(f.Args) {
		return // reported by the relations stage
	}
	for i, t := range f.Args {
		u.argument(f, i, t, kinds[i])
	}
}

// location types the vertex of AT.
func (u *unifier) location(f *syntax.At) {
	if c, ok := f.Loc.(syntax.Const); ok {
		if c.Value.Kind != schema.KindString {
			u.w.add(wrongLocation(c))
		}
		return
	}
	u.learn(f.Loc, evidence{schema.KindString, f})
}

// call types a predicate that a LET defines.
func (u *unifier) call(f *syntax.Pred, let *syntax.Let) {
	if len(let.Params) != len(f.Args) {
		return // reported by the relations stage
	}
	for i, t := range f.Args {
		if e, ok := u.known[u.find(let.Params[i].Name)]; ok {
			u.argument(f, i, t, e.kind)
		} else {
			u.same(f, t, let.Params[i])
		}
	}
}

func (u *unifier) argument(f *syntax.Pred, i int, t syntax.Term, kind schema.ValueKind) {
	if c, ok := t.(syntax.Const); ok {
		if c.Value.Kind != kind {
			u.w.add(wrongArgument(f, i, c, kind))
		}
		return
	}
	u.learn(t, evidence{kind, f})
}

func (u *unifier) agg(f *syntax.Agg) {
	switch f.Op {
	case syntax.Count:
		u.learn(f.Result, evidence{schema.KindInt, f})
	case syntax.Sum:
		u.number(f.Over, u.term(f.Over, f), f)
		u.same(f, f.Result, f.Over)
	case syntax.Min, syntax.Max:
		u.same(f, f.Result, f.Over)
	case syntax.Average, syntax.Median:
		u.number(f.Over, u.term(f.Over, f), f)
		u.learn(f.Result, evidence{schema.KindFloat, f})
	}
}

// term returns the class of a term, which stands in f.
func (u *unifier) term(t syntax.Term, f syntax.Formula) string {
	switch t := t.(type) {
	case syntax.Var:
		return u.find(t.Name)
	case syntax.Const:
		return u.class(evidence{t.Value.Kind, f})
	case syntax.Here:
		return u.class(evidence{schema.KindString, f})
	case syntax.Arith:
		if t.Op == syntax.Mod {
			return u.modulo(t, f)
		}
		c := u.same(f, t.Left, t.Right)
		u.number(t.Left, c, f)
		return c
	case syntax.Neg:
		c := u.term(t.T, f)
		u.number(t.T, c, f)
		return c
	case syntax.Conv:
		u.learn(t.T, evidence{t.Op.From(), f})
		return u.class(evidence{t.Op.To(), f})
	}
	return u.class(evidence{where: f})
}

// modulo types t, which is of ints, and returns its class. After a mistake the class has no
// type, so that one mistake is reported once.
func (u *unifier) modulo(t syntax.Arith, f syntax.Formula) string {
	integer := evidence{schema.KindInt, f}
	before := len(u.w.diags)
	u.learn(t.Left, integer)
	if len(u.w.diags) > before {
		u.term(t.Right, f)
		u.unnamed++
		return "=" + strconv.Itoa(u.unnamed)
	}
	u.learn(t.Right, integer)
	return u.class(integer)
}

// class makes a class of a known type.
func (u *unifier) class(e evidence) string {
	u.unnamed++
	name := "=" + strconv.Itoa(u.unnamed)
	u.known[name] = e
	return name
}

// learn notes the type of a term.
func (u *unifier) learn(t syntax.Term, e evidence) { u.settle(t, u.term(t, e.where), e) }

// settle notes the type of a term of the class.
func (u *unifier) settle(t syntax.Term, root string, e evidence) {
	old, ok := u.known[root]
	switch number := u.numbers[root]; {
	case ok && old.kind != e.kind:
		u.w.add(twoTypes(u.text(t), t.Span(), u.shown(old), u.shown(e)))
	case ok:
	case number != nil && e.kind == schema.KindString:
		u.noNumber(t, e, number)
	default:
		u.known[root] = e
	}
}

// number notes that a term is calculated with in f.
func (u *unifier) number(t syntax.Term, class string, f syntax.Formula) {
	if e, ok := u.known[class]; ok && e.kind == schema.KindString {
		u.noNumber(t, e, f)
		return
	}
	if u.numbers[class] == nil {
		u.numbers[class] = f
	}
}

// same notes that two terms of f have one type, and returns their class.
func (u *unifier) same(f syntax.Formula, l, r syntax.Term) string {
	a, b := u.term(l, f), u.term(r, f)
	a = u.find(a) // the other one may have joined it
	if a == b {
		return a
	}
	ea, oka := u.known[a]
	eb, okb := u.known[b]
	switch {
	case oka && okb && ea.kind != eb.kind:
		u.w.add(u.differ(f, l, ea, r, eb))
		return a
	case oka && ea.kind == schema.KindString && u.numbers[b] != nil:
		u.noNumber(r, ea, u.numbers[b])
		return a
	case okb && eb.kind == schema.KindString && u.numbers[a] != nil:
		u.noNumber(l, eb, u.numbers[a])
		return a
	}
	u.parent[b] = a
	if !oka && okb {
		u.known[a] = eb
	}
	if u.numbers[a] == nil && u.numbers[b] != nil {
		u.numbers[a] = u.numbers[b]
	}
	return a
}

// differ reports two terms of f that have not one type.
func (u *unifier) differ(f syntax.Formula, l syntax.Term, el evidence, r syntax.Term, er evidence) diag.Diagnostic {
	el, er = u.shown(el), u.shown(er)
	lc, constLeft := l.(syntax.Const)
	rc, constRight := r.(syntax.Const)
	_, cmp := f.(*syntax.Cmp)
	switch {
	case !cmp:
		return differentTypes(f, u.text(l), el, u.text(r), er)
	case constLeft && constRight:
		return mixedComparison(f, el.kind, er.kind)
	case constRight:
		return comparedConstant(f, u.text(l), el, rc)
	case constLeft:
		return comparedConstant(f, u.text(r), er, lc)
	}
	return comparedTerms(f, u.text(l), el, u.text(r), er)
}

// noNumber reports a string that f calculates with.
func (u *unifier) noNumber(t syntax.Term, e evidence, f syntax.Formula) {
	u.w.add(noNumber(u.text(t), t.Span(), u.shown(e), u.w.asWritten(f)))
}

// text is a term as it was written.
func (u *unifier) text(t syntax.Term) string { return termBy(t, u.w.writtenVar).String() }

// shown is evidence as it was written.
func (u *unifier) shown(e evidence) evidence { return evidence{e.kind, u.w.asWritten(e.where)} }
