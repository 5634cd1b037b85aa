package syntax

import (
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
)

// The precedences, weakest first; each level has its parse function.
//
//	LET … IN, aggregations             prefix  let, aggregation
//	SINCE UNTIL REACH SURROUND         right   since
//	ONCE PREVIOUS EVENTUALLY …         prefix  temporal, reached through unary
//	SOMEWHERE EVERYWHERE ESCAPE        prefix  spatial, reached through unary
//	EXISTS FORALL                      prefix  prefix, reached through unary
//	EQUIV                              left    equiv
//	IMPLIES                            right   implies
//	OR                                 left    or
//	AND                                left    and
//	NOT                                prefix  unary
//
// A prefix may stand wherever an operand of AND may, and then reaches as far right
// as its precedence allows: up to SINCE, UNTIL, REACH, SURROUND, a closing parenthesis or the end, LET
// and an aggregation up to the closing parenthesis, IN, or the end.

// formula = since .
func (p *parser) formula() Formula { return p.since() }

// since = equiv [ ( ("SINCE" | "UNTIL") [ interval ] | ("REACH" | "SURROUND") distance ) since ] .
func (p *parser) since() Formula {
	start := p.peek().start
	left := p.equiv()
	op := p.peek()
	if op.keyword("REACH") || op.keyword("SURROUND") {
		return p.between(start, left)
	}
	if !op.keyword("SINCE") && !op.keyword("UNTIL") {
		return left
	}
	p.next()
	i, ok := p.optionalInterval()
	right := p.nested(p.since)
	if left == nil || right == nil || !ok {
		return nil
	}
	var f Formula
	if node := p.from(start); op.text == "SINCE" {
		f = &Since{Node: node, I: i, Left: left, Right: right}
	} else {
		f = &Until{Node: node, I: i, Left: left, Right: right}
	}
	p.checkSince(op, left, right, f)
	return f
}

// equiv = implies { "EQUIV" implies } .
func (p *parser) equiv() Formula {
	return p.leftAssociative("EQUIV", p.implies, func(n Node, l, r Formula) Formula {
		return &Equiv{Node: n, Left: l, Right: r}
	})
}

// implies = or [ "IMPLIES" implies ] .
func (p *parser) implies() Formula {
	start := p.peek().start
	left := p.or()
	if !p.peek().keyword("IMPLIES") {
		return left
	}
	p.next()
	right := p.nested(p.implies)
	if left == nil || right == nil {
		return nil
	}
	return &Implies{Node: p.from(start), Left: left, Right: right}
}

// or = and { "OR" and } .
func (p *parser) or() Formula {
	return p.leftAssociative("OR", p.and, func(n Node, l, r Formula) Formula {
		return &Or{Node: n, Left: l, Right: r}
	})
}

// and = unary { "AND" unary } .
func (p *parser) and() Formula {
	return p.leftAssociative("AND", p.unary, func(n Node, l, r Formula) Formula {
		return &And{Node: n, Left: l, Right: r}
	})
}

func (p *parser) leftAssociative(op string, operand func() Formula, build func(Node, Formula, Formula) Formula) Formula {
	start := p.peek().start
	left := operand()
	bad := left == nil
	for p.peek().keyword(op) {
		p.next()
		right := operand()
		if bad = bad || right == nil; !bad {
			left = build(p.from(start), left, right)
		}
	}
	if bad {
		return nil
	}
	return left
}

// unary = "NOT" unary | prefix | atom .
func (p *parser) unary() Formula {
	t := p.peek()
	if t.kind != tokKeyword {
		return p.atom()
	}
	switch classify(t.text, p.opts.Mode) {
	case wordConstant:
		p.next()
		return &Bool{Node: p.from(t.start), Value: t.text == "TRUE"}
	case wordNot:
		p.next()
		if f := p.nested(p.unary); f != nil {
			return &Not{Node: p.from(t.start), F: f}
		}
		return nil
	case wordQuantifier:
		return p.quantifier()
	case wordTemporal:
		return p.temporal()
	case wordLet:
		return p.let()
	case wordConversion:
		return p.comparison()
	case wordNew:
		return p.changed()
	case wordAt:
		return p.located()
	case wordSpatial:
		return p.spatial()
	case wordNone, wordAggregate, wordTermOp, wordRelationOp, wordOther, wordConnective, wordPunctuation:
	}
	return p.reserved()
}

// changed = "NEW" "(" formula ")" .
func (p *parser) changed() Formula {
	t := p.next()
	if !p.peek().punct("(") {
		p.unparenthesised("`(` after NEW", "NEW")
		return nil
	}
	f := p.nested(p.group)
	if f == nil {
		return nil
	}
	return &New{Node: p.from(t.start), F: f}
}

// quantifier = ("EXISTS" | "FORALL") variable { "," variable } "." equiv .
func (p *parser) quantifier() Formula {
	op := p.next()
	vars, ok := p.variables(op)
	if !ok {
		return nil
	}
	body := p.nested(p.equiv)
	if body == nil {
		return nil
	}
	node := p.from(op.start)
	wrap := func(f Formula) Formula {
		if op.text == "EXISTS" {
			return &Exists{Node: node, Vars: vars, F: f}
		}
		return &Forall{Node: node, Vars: vars, F: f}
	}
	p.checkPrefix(op, body, wrap)
	return wrap(body)
}

// temporal = ("ONCE" | "PREVIOUS" | "PREV" | "HISTORICALLY" | "PAST_ALWAYS" | "NEXT" |
// "EVENTUALLY" | "SOMETIMES" | "ALWAYS") [ interval ] equiv .
func (p *parser) temporal() Formula {
	op := p.next()
	i, ok := p.optionalInterval()
	body := p.nested(p.equiv)
	if body == nil || !ok {
		return nil
	}
	node := p.from(op.start)
	wrap := func(f Formula) Formula { return prefixed(op.text, node, i, f) }
	p.checkPrefix(op, body, wrap)
	return wrap(body)
}

// prefixed makes the formula of a temporal prefix operator.
func prefixed(op string, node Node, i Interval, f Formula) Formula {
	switch op {
	case "ONCE":
		return &Once{Node: node, I: i, F: f}
	case "HISTORICALLY", "PAST_ALWAYS":
		return &Historically{Node: node, I: i, F: f}
	case "NEXT":
		return &Next{Node: node, I: i, F: f}
	case "EVENTUALLY", "SOMETIMES":
		return &Eventually{Node: node, I: i, F: f}
	case "ALWAYS":
		return &Always{Node: node, I: i, F: f}
	}
	return &Prev{Node: node, I: i, F: f}
}

// reserved reports a reserved word that starts no formula.
func (p *parser) reserved() Formula {
	t := p.peek()
	if classify(t.text, p.opts.Mode) == wordOther {
		p.notYet(t, "`"+t.text+"`")
		p.skipGroup()
		return nil
	}
	if classify(t.text, p.opts.Mode) == wordAggregate {
		p.report(CodeSyntax, t.start, t.end, "an aggregation names its result first", "write `n <- "+t.text+" x; …`")
		p.skipGroup()
		return nil
	}
	switch t.text {
	case "SINCE", "UNTIL", "REACH", "SURROUND":
		if classify(t.text, p.opts.Mode) == wordConnective {
			p.report(CodeSyntax, t.start, t.end, "found `"+t.text+"` where a formula is expected",
				"it stands between two formulas: `p "+t.text+" q`; where p does not matter, `TRUE "+t.text+" q`")
			p.skip()
			return nil
		}
	}
	p.unexpected("a formula")
	return nil
}

// variables = variable { "," variable } "." .
func (p *parser) variables(op token) ([]Var, bool) {
	var vars []Var
	seen := map[string]bool{}
	for {
		t := p.peek()
		if t.kind != tokIdent || t.text == "_" {
			p.unexpected("a variable of " + op.text)
			return nil, false
		}
		p.next()
		p.checkIdentifier(t)
		if seen[t.text] {
			p.report(CodeDuplicate, t.start, t.end, "the variable `"+t.text+"` is quantified twice here", "leave one out")
		}
		seen[t.text] = true
		p.count(t.start)
		vars = append(vars, Var{Pos: p.span(t.start, t.end), Name: t.text})
		sep := p.peek()
		switch {
		case sep.punct(","):
			p.next()
		case sep.punct("."):
			p.next()
			return vars, true
		default:
			p.unexpected("`,` or `.` after a variable of " + op.text)
			return nil, false
		}
	}
}

// atom = "(" formula ")" | predicate | aggregation | label | comparison .
func (p *parser) atom() Formula {
	t := p.peek()
	switch {
	case p.vertex && (t.kind == tokIdent || t.kind == tokString) && !p.begins():
		return p.label()
	case t.punct("(") && !p.termInParens():
		return p.group()
	case t.kind == tokIdent && p.ahead(1).punct("("):
		return p.predicate()
	case t.kind == tokIdent && p.ahead(1).punct("<-"):
		return p.aggregation()
	case t.kind == tokIdent, t.kind == tokInt, t.kind == tokFloat, t.kind == tokString, t.kind == tokRegexp,
		t.kind == tokHere, t.punct("("), t.punct("-"):
		return p.comparison()
	}
	p.unexpected("a formula")
	return nil
}

// group = "(" formula ")" .
func (p *parser) group() Formula {
	p.enter()
	open := p.next()
	f := p.formula()
	p.groups--
	switch {
	case p.peek().punct(")"):
		p.next()
		if f != nil {
			p.parens[f] = true
		}
		return f
	case p.peek().kind == tokEOF && f == nil: // reported already
	case p.peek().kind == tokEOF:
		p.report(CodeSyntax, open.start, open.end, "this parenthesis is not closed", "")
	default:
		p.unexpected("a connective or `)`")
		if p.peek().punct(")") {
			p.next()
		}
	}
	return nil
}

// predicate = name "(" [ term { "," term } ] ")" .
func (p *parser) predicate() Formula {
	name := p.next()
	p.checkIdentifier(name)
	p.next()
	var args []Term
	bad := name.text == "_"
	if bad {
		p.report(CodeWildcard, name.start, name.end, "`_` cannot name a relation", "")
	}
	for first := true; !p.peek().punct(")"); first = false {
		if !first {
			if !p.peek().punct(",") {
				bad = true
				if p.peek().punct("(") && p.misspelt(name.text, name.start) {
					p.skipGroup()
				} else {
					p.unexpectedIn("`,` or `)`")
				}
				break
			}
			p.next()
		}
		a := p.term(true)
		bad = bad || a == nil
		args = append(args, a)
		if a == nil && !p.peek().punct(",") && !p.peek().punct(")") {
			return nil // reported already
		}
	}
	if !p.peek().punct(")") {
		return nil
	}
	p.next()
	if bad {
		return nil
	}
	return &Pred{Node: p.from(name.start), Name: name.text, Args: args}
}

// unexpectedIn reports the next token within an argument list and moves on to the
// list's closing parenthesis.
func (p *parser) unexpectedIn(expected string) {
	p.unexpected(expected)
	if p.peek().kind == tokKeyword {
		return // most likely the parenthesis was forgotten
	}
	p.skipGroup()
}

// comparison = term ( ("=" | "<" | "<=" | ">" | ">=") term | match ) .
func (p *parser) comparison() Formula {
	start := p.peek().start
	left := p.term(false)
	if left == nil {
		p.skip()
		return nil
	}
	if t := p.peek(); t.kind == tokKeyword && classify(t.text, p.opts.Mode) == wordRelationOp {
		return p.match(start, left)
	}
	op, ok := p.comparator(start, left)
	if !ok {
		return nil
	}
	right := p.term(false)
	if right == nil {
		p.skip()
		return nil
	}
	return &Cmp{Node: p.from(start), Op: op, Left: left, Right: right}
}

// comparator reads the operator of a comparison. Where there is none, the operand was
// perhaps meant to be a keyword: ONEC p(x).
func (p *parser) comparator(start int, left Term) (CmpOp, bool) {
	t := p.peek()
	for op := Eq; op <= GreaterEq; op++ {
		if t.punct(op.String()) {
			p.next()
			return op, true
		}
	}
	if v, ok := left.(Var); ok && t.kind != tokEOF && !t.punct(")") && p.misspelt(v.Name, start) {
		p.skip()
		return Eq, false
	}
	p.noComparison(left, t)
	return Eq, false
}

// noComparison reports what stands after a term where the operator of a comparison is
// expected.
func (p *parser) noComparison(left Term, t token) {
	var hint string
	switch strings.ToUpper(t.text) {
	case "MATCH", "LIKE", "REGEXP":
		hint = "regular expressions are tested with `MATCHES r\"…\"`"
	case "CONTAINS":
		hint = "`s SUBSTRING t` says that s is part of t"
	case "IN":
		hint = "whether a value is in a relation is written `relation(value)`"
	default:
		before := len(p.diags)
		p.unexpected("a comparison")
		if v, ok := left.(Var); ok && p.opts.Mode == Bundle && !p.vertex && len(p.diags) > before && p.diags[before].Hint == "" {
			p.diags[before].Hint = "a fact has parentheses, `" + v.Name + "(…)`; a label stands inside of `AT v (…)`"
		}
		return
	}
	p.report(CodeSyntax, t.start, t.end, "found "+t.describe()+" where a comparison is expected", hint)
	p.skip()
}

// misspelt reports a name that stands where a prefix operator can, if it is nearly the
// name of one.
func (p *parser) misspelt(name string, start int) bool {
	k := diag.Closest(name, prefixKeywords(p.opts.Mode))
	if k != "" {
		p.report(CodeSyntax, start, start+len(name), "`"+name+"` is no operator", "did you mean `"+k+"`?")
	}
	return k != ""
}
