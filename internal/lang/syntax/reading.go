package syntax

import "strings"

// This file finds formulas that do not read as they are parsed.

// checkIdentifier warns of an identifier that looks like arithmetic. Only MonPoly
// mode reads such identifiers.
func (p *parser) checkIdentifier(t token) {
	if strings.ContainsAny(t.text, "-/") {
		p.warn(CodeIdentifier, p.span(t.start, t.end), "`"+t.text+"` is one identifier, not arithmetic",
			"put blanks around the operator, or use `_` in the name")
	}
}

// checkPrefix warns when the operator op, applied to body by wrap, reaches over a
// connective without parentheses. A quantifier before IMPLIES or EQUIV reads as
// everywhere else and is fine.
func (p *parser) checkPrefix(op token, body Formula, wrap func(Formula) Formula) {
	name := p.connectiveOf(body)
	quantifier := op.text == "EXISTS" || op.text == "FORALL"
	if name == "" || quantifier && (name == "IMPLIES" || name == "EQUIV") {
		return
	}
	p.parens[body] = true // the hint's reading; also reports this place once
	p.warn(CodeReading, p.span(op.start, op.end),
		op.text+" reaches over "+name+" to its right: this reads "+p.quoted(wrap(body)),
		"put the parentheses: "+p.quoted(wrap(body))+", or "+p.quoted(p.narrow(body, wrap))+" if that is meant")
}

// narrow applies wrap to the leftmost operand of body only.
func (p *parser) narrow(body Formula, wrap func(Formula) Formula) Formula {
	rec := func(l Formula) Formula {
		if p.connectiveOf(l) == "" {
			return wrap(l)
		}
		return p.narrow(l, wrap)
	}
	switch f := body.(type) {
	case *And:
		return &And{Left: rec(f.Left), Right: f.Right}
	case *Or:
		return &Or{Left: rec(f.Left), Right: f.Right}
	case *Implies:
		return &Implies{Left: rec(f.Left), Right: f.Right}
	case *Equiv:
		return &Equiv{Left: rec(f.Left), Right: f.Right}
	case *Bool, *Pred, *Cmp, *Not, *Exists, *Forall, *Prev, *Once, *Historically, *Since,
		*Next, *Eventually, *Always, *Until, *Match, *Agg, *Let, *New,
		*At, *Label, *Somewhere, *Everywhere, *Escape, *Reach, *Surround:
	}
	return wrap(body)
}

// checkSince warns of operands of SINCE, UNTIL, REACH or SURROUND that readers would group otherwise.
func (p *parser) checkSince(op token, left, right, f Formula) {
	name := p.connectiveOf(left)
	if name == "" {
		name = p.connectiveOf(right)
	}
	if name == "" {
		name = p.openPrefix(left)
	}
	if name == "" {
		return
	}
	p.warn(CodeSinceReading, p.span(op.start, op.end),
		op.text+" binds weaker than "+name+": this reads "+p.quoted(f), "put parentheses around each operand of "+op.text)
}

// connectiveOf names the connective of a formula that was written without
// parentheses, or returns "".
func (p *parser) connectiveOf(f Formula) string {
	if p.parens[f] {
		return ""
	}
	switch f.(type) {
	case *And:
		return "AND"
	case *Or:
		return "OR"
	case *Implies:
		return "IMPLIES"
	case *Equiv:
		return "EQUIV"
	case *Bool, *Pred, *Cmp, *Not, *Exists, *Forall, *Prev, *Once, *Historically, *Since,
		*Next, *Eventually, *Always, *Until, *Match, *Agg, *Let, *New,
		*At, *Label, *Somewhere, *Everywhere, *Escape, *Reach, *Surround:
	}
	return ""
}

// openPrefix names the quantifier without parentheses that f ends in, or returns "".
func (p *parser) openPrefix(f Formula) string {
	for !p.parens[f] {
		switch g := f.(type) {
		case *Exists:
			return "EXISTS"
		case *Forall:
			return "FORALL"
		case *Not:
			f = g.F
		case *Prev:
			f = g.F
		case *Once:
			f = g.F
		case *Historically:
			f = g.F
		case *Next:
			f = g.F
		case *Eventually:
			f = g.F
		case *Always:
			f = g.F
		case *Somewhere:
			f = g.F
		case *Everywhere:
			f = g.F
		case *Escape:
			f = g.F
		case *Bool, *Pred, *Cmp, *And, *Or, *Implies, *Equiv, *Since, *Until, *Match, *Agg, *Let, *New,
			*At, *Label, *Reach, *Surround:
			return ""
		}
	}
	return ""
}
