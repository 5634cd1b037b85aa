package check

import "github.com/aspis-rv/aspis/internal/lang/syntax"

// checkOperators reports operators that the options do not admit, future operators
// without an upper bound, and terms where only variables and constants may stand.
func (w *work) checkOperators() { w.operatorsIn(w.source) }

func (w *work) operatorsIn(f syntax.Formula) {
	if future(f) && !w.opts.Future {
		w.addFuture(f)
		return // those inside have the same repair
	}
	switch f := f.(type) {
	case *syntax.Pred:
		w.checkArguments(f, f.Args)
	case *syntax.Match:
		w.checkArguments(f, f.Groups)
	case *syntax.Eventually, *syntax.Always, *syntax.Until:
		if i, _ := intervalOf(f); i.Unbounded {
			w.add(unboundedFuture(f, f == w.source, w.opts.Mode))
		}
	case *syntax.New:
		if w.opts.World == nil {
			w.add(newWithoutWorld(f))
		}
	case *syntax.At:
		if w.opts.World == nil {
			w.add(atWithoutWorld(f))
		}
		w.checkArguments(f, []syntax.Term{f.Loc})
	case *syntax.Bool, *syntax.Cmp, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv, *syntax.Exists,
		*syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since, *syntax.Next,
		*syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	for _, c := range syntax.Children(f) {
		w.operatorsIn(c)
	}
}

func (w *work) checkArguments(f syntax.Formula, args []syntax.Term) {
	for _, t := range args {
		switch t.(type) {
		case syntax.Var, syntax.Const, syntax.Here:
		case syntax.Arith, syntax.Neg, syntax.Conv:
			w.add(expressionArgument(f, t))
		}
	}
}

// addFuture reports a future operator. It proposes the formula's mirror image if the
// whole is fine with that.
func (w *work) addFuture(f syntax.Formula) {
	d := futureOperator(f)
	w.futures++
	if w.repair && w.futures <= maxRefusals && newMeasure().size(w.source) <= maxRepairSize {
		past := mirrored(f)
		if _, diags := check(replaced(w.source, f, past), w.sig, w.opts, false); !diags.HasErrors() {
			d.Hint = "if it is something that must have happened before: `" + shortIn(past, w.opts.Mode) + "`"
		}
	}
	w.add(d)
}

// future tells whether the outermost operator looks at later time points.
func future(f syntax.Formula) bool {
	switch f.(type) {
	case *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until:
		return true
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New, *syntax.Prev, *syntax.Once,
		*syntax.Historically, *syntax.Since,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return false
}

// past tells whether the outermost operator looks at earlier time points.
func past(f syntax.Formula) bool {
	_, temporal := intervalOf(f)
	return temporal && !future(f)
}

// intervalOf is the interval of a temporal operator.
func intervalOf(f syntax.Formula) (i syntax.Interval, temporal bool) {
	switch f := f.(type) {
	case *syntax.Prev:
		return f.I, true
	case *syntax.Once:
		return f.I, true
	case *syntax.Historically:
		return f.I, true
	case *syntax.Since:
		return f.I, true
	case *syntax.Next:
		return f.I, true
	case *syntax.Eventually:
		return f.I, true
	case *syntax.Always:
		return f.I, true
	case *syntax.Until:
		return f.I, true
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return i, false
}

// mirrored is f with past operators in the place of the future ones.
func mirrored(f syntax.Formula) syntax.Formula {
	switch f := f.(type) {
	case *syntax.Next:
		return &syntax.Prev{Node: f.Node, I: f.I, F: mirrored(f.F)}
	case *syntax.Eventually:
		return &syntax.Once{Node: f.Node, I: f.I, F: mirrored(f.F)}
	case *syntax.Always:
		return &syntax.Historically{Node: f.Node, I: f.I, F: mirrored(f.F)}
	case *syntax.Until:
		return &syntax.Since{Node: f.Node, I: f.I, Left: mirrored(f.Left), Right: mirrored(f.Right)}
	case *syntax.Bool, *syntax.Pred, *syntax.Cmp, *syntax.Match, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies,
		*syntax.Equiv, *syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New, *syntax.Prev, *syntax.Once,
		*syntax.Historically, *syntax.Since,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
	}
	return rebuilt(f, mirrored)
}
