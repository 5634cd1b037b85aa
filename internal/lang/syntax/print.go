package syntax

import (
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// Format prints f fully parenthesised in the given mode, so that parsing the
// result in that mode gives f again: in MonPoly mode time bounds are plain numbers,
// in Bundle mode they carry their units.
func Format(f Formula, mode Mode) string {
	p := printer{mode: mode}
	p.formula(f)
	return p.b.String()
}

// String returns the operator as it is written.
func (o CmpOp) String() string {
	switch o {
	case Eq:
		return "="
	case Less:
		return "<"
	case LessEq:
		return "<="
	case Greater:
		return ">"
	case GreaterEq:
		return ">="
	}
	return "?"
}

// String returns the operator as it is written.
func (o ArithOp) String() string { return [...]string{"+", "-", "*", "/", "MOD"}[o] }

// String returns the conversion as it is written.
func (o ConvOp) String() string { return [...]string{"i2f", "f2i", "i2s", "s2i", "f2s", "s2f"}[o] }

// String returns the test as it is written.
func (o MatchOp) String() string { return [...]string{"SUBSTRING", "MATCHES"}[o] }

// String returns the aggregation as it is written.
func (o AggOp) String() string { return [...]string{"CNT", "SUM", "MIN", "MAX", "AVG", "MED"}[o] }

// String prints the term; operands that are operations themselves in parentheses.
func (a Arith) String() string {
	return operandTerm(a.Left) + " " + a.Op.String() + " " + operandTerm(a.Right)
}

// String prints the term.
func (n Neg) String() string { return "-(" + n.T.String() + ")" }

// String prints the term.
func (c Conv) String() string { return c.Op.String() + "(" + c.T.String() + ")" }

func operandTerm(t Term) string {
	switch t.(type) {
	case Arith, Neg:
		return "(" + t.String() + ")"
	case Var, Const, Conv, Here:
	}
	return t.String()
}

// String prints the interval with plain numbers: `[0,5]`, `[3,*)`.
func (i Interval) String() string { return formatInterval(i, MonPoly) }

// String prints the variable; a wildcard prints as `_`.
func (v Var) String() string {
	if strings.HasPrefix(v.Name, wildcardPrefix) {
		return "_"
	}
	return v.Name
}

// String prints the constant as the parser reads it: strings quoted, floats
// always with a decimal point.
func (c Const) String() string {
	if c.Value.Kind != schema.KindFloat {
		return c.Value.String()
	}
	s := strconv.FormatFloat(c.Value.Float, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// String prints the formula.
func (f *Bool) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Pred) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Cmp) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Not) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *And) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Or) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Implies) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Equiv) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Exists) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Forall) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Prev) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Once) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Historically) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Since) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Next) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Eventually) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Always) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Until) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *At) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Label) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Somewhere) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Everywhere) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Escape) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Reach) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Surround) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Match) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Agg) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *Let) String() string { return Format(f, MonPoly) }

// String prints the formula.
func (f *New) String() string { return Format(f, MonPoly) }

type printer struct {
	b    strings.Builder
	mode Mode
}

func (p *printer) formula(f Formula) {
	switch f := f.(type) {
	case *Bool:
		p.b.WriteString(strings.ToUpper(strconv.FormatBool(f.Value)))
	case *Pred:
		p.b.WriteString(f.Name + "(" + termList(f.Args) + ")")
	case *Cmp:
		p.b.WriteString(f.Left.String() + " " + f.Op.String() + " " + f.Right.String())
	case *Match:
		p.match(f)
	case *Not:
		p.prefix("NOT ", f.F)
	case *And:
		p.chain(f, f.Left, "AND", f.Right)
	case *Or:
		p.chain(f, f.Left, "OR", f.Right)
	case *Implies:
		p.binary(f.Left, "IMPLIES", f.Right)
	case *Equiv:
		p.chain(f, f.Left, "EQUIV", f.Right)
	case *Exists:
		p.prefix("EXISTS "+varList(f.Vars)+". ", f.F)
	case *Forall:
		p.prefix("FORALL "+varList(f.Vars)+". ", f.F)
	case *Prev, *Once, *Historically, *Since, *Next, *Eventually, *Always, *Until:
		p.temporal(f)
	case *At, *Label, *Somewhere, *Everywhere, *Escape, *Reach, *Surround:
		p.spatial(f)
	case *Agg:
		p.agg(f)
	case *Let:
		p.let(f)
	case *New:
		p.b.WriteString("NEW (")
		p.formula(f.F)
		p.b.WriteByte(')')
	}
}

// temporal prints a formula whose outermost operator has an interval.
func (p *printer) temporal(f Formula) {
	during := func(op string, i Interval) string { return op + formatInterval(i, p.mode) }
	switch f := f.(type) {
	case *Prev:
		p.prefix(during("PREVIOUS", f.I)+" ", f.F)
	case *Once:
		p.prefix(during("ONCE", f.I)+" ", f.F)
	case *Historically:
		p.prefix(during("HISTORICALLY", f.I)+" ", f.F)
	case *Since:
		p.binary(f.Left, during("SINCE", f.I), f.Right)
	case *Next:
		p.prefix(during("NEXT", f.I)+" ", f.F)
	case *Eventually:
		p.prefix(during("EVENTUALLY", f.I)+" ", f.F)
	case *Always:
		p.prefix(during("ALWAYS", f.I)+" ", f.F)
	case *Until:
		p.binary(f.Left, during("UNTIL", f.I), f.Right)
	case *Bool, *Pred, *Cmp, *Match, *Not, *And, *Or, *Implies, *Equiv, *Exists, *Forall, *Agg, *Let, *New,
		*At, *Label, *Somewhere, *Everywhere, *Escape, *Reach, *Surround:
	}
}

// spatial prints a formula about a vertex of the world.
func (p *printer) spatial(f Formula) {
	switch f := f.(type) {
	case *At:
		p.b.WriteString("AT " + f.Loc.String() + " (")
		p.formula(f.F)
		p.b.WriteByte(')')
	case *Label:
		p.b.WriteString(labelText(f.Name))
	case *Somewhere:
		p.prefix("SOMEWHERE"+f.D.String()+" ", f.F)
	case *Everywhere:
		p.prefix("EVERYWHERE"+f.D.String()+" ", f.F)
	case *Escape:
		p.prefix("ESCAPE"+f.D.String()+" ", f.F)
	case *Reach:
		p.binary(f.Left, "REACH"+f.D.String(), f.Right)
	case *Surround:
		p.binary(f.Left, "SURROUND"+f.D.String(), f.Right)
	case *Bool, *Pred, *Cmp, *Match, *Not, *And, *Or, *Implies, *Equiv, *Exists, *Forall, *Agg, *Let, *New,
		*Prev, *Once, *Historically, *Since, *Next, *Eventually, *Always, *Until:
	}
}

// labelText is a label as it is written: bare, or in quotes where it would read as
// something else.
func labelText(name string) string {
	for i := range len(name) {
		if !isLetter(name[i]) && (i == 0 || !isWordPart(name[i])) {
			return schema.StringValue(name).String()
		}
	}
	if name == "" || classify(name, Bundle) != wordNone {
		return schema.StringValue(name).String()
	}
	return name
}

func (p *printer) match(f *Match) {
	p.b.WriteString(f.Left.String() + " " + f.Op.String() + " ")
	if c, ok := f.Right.(Const); ok && f.Op == Matches {
		p.b.WriteString(`r"` + c.Value.Str + `"`)
	} else {
		p.b.WriteString(f.Right.String())
	}
	if len(f.Groups) > 0 {
		p.b.WriteString(" (" + termList(f.Groups) + ")")
	}
}

func (p *printer) agg(f *Agg) {
	p.b.WriteString(f.Result.Name + " <- " + f.Op.String() + " " + f.Over.Name)
	if len(f.Groups) > 0 {
		p.b.WriteString("; " + varList(f.Groups))
	}
	p.b.WriteByte(' ')
	p.operand(f.F)
}

func termList(ts []Term) string {
	s := make([]string, len(ts))
	for i, t := range ts {
		s[i] = t.String()
	}
	return strings.Join(s, ", ")
}

func (p *printer) let(f *Let) {
	p.b.WriteString("LET " + f.Name + "(" + varList(f.Params) + ") = ")
	p.operand(f.Def)
	p.b.WriteString(" IN ")
	p.operand(f.Body)
}

func (p *printer) prefix(op string, f Formula) {
	p.b.WriteString(op)
	p.operand(f)
}

func (p *printer) binary(l Formula, op string, r Formula) {
	p.operand(l)
	p.b.WriteString(" " + op + " ")
	p.operand(r)
}

// chain prints a left-associative operator. Its left operand stands without
// parentheses when it is the same operator.
func (p *printer) chain(f, l Formula, op string, r Formula) {
	if chained(f) {
		p.formula(l)
	} else {
		p.operand(l)
	}
	p.b.WriteString(" " + op + " ")
	p.operand(r)
}

// operand prints f in parentheses unless it is an atom.
func (p *printer) operand(f Formula) {
	switch f.(type) {
	case *Bool, *Pred, *New, *At, *Label:
		p.formula(f)
	case *Cmp, *Not, *And, *Or, *Implies, *Equiv, *Exists, *Forall, *Prev, *Once, *Historically, *Since,
		*Next, *Eventually, *Always, *Until, *Match, *Agg, *Let, *Somewhere, *Everywhere, *Escape, *Reach, *Surround:
		p.b.WriteByte('(')
		p.formula(f)
		p.b.WriteByte(')')
	}
}

func varList(vars []Var) string {
	names := make([]string, len(vars))
	for i, v := range vars {
		names[i] = v.Name
	}
	return strings.Join(names, ", ")
}

// formatInterval prints i so that it parses to itself in the given mode.
func formatInterval(i Interval, mode Mode) string {
	if mode == MonPoly && !i.Empty() {
		if i.Unbounded {
			return "[" + strconv.FormatInt(i.Lo, 10) + ",*)"
		}
		return "[" + strconv.FormatInt(i.Lo, 10) + "," + strconv.FormatInt(i.Hi, 10) + "]"
	}
	if mode == MonPoly {
		return "(" + strconv.FormatInt(i.Lo-1, 10) + "," + strconv.FormatInt(i.Hi+1, 10) + ")"
	}
	lo := "[" + withUnit(i.Lo)
	if i.Lo%nanosPerSecond != 0 {
		lo = "(" + withUnit(i.Lo-1)
	}
	switch {
	case i.Unbounded:
		return lo + ",*)"
	case i.Hi%nanosPerSecond != 0:
		return lo + "," + withUnit(i.Hi+1) + ")"
	}
	return lo + "," + withUnit(i.Hi) + "]"
}

// withUnit prints a bound in nanoseconds in the largest unit that divides it.
// Parsed bounds are whole seconds, give or take the one nanosecond of an open end,
// which formatInterval has undone; anything else prints as nanoseconds, which the
// language cannot read.
func withUnit(ns int64) string {
	if ns == 0 {
		return "0"
	}
	for _, u := range "dhms" {
		if n := unitSeconds(u) * nanosPerSecond; ns%n == 0 {
			return strconv.FormatInt(ns/n, 10) + string(u)
		}
	}
	return strconv.FormatInt(ns, 10) + "ns"
}
