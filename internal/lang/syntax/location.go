package syntax

import "strings"

// This file reads what speaks of the vertices of the world. Bundles alone have it.

// located = "AT" (variable | string) "(" formula ")" .
func (p *parser) located() Formula {
	at := p.next()
	loc := p.location()
	if loc == nil {
		p.skip()
		return nil
	}
	if !p.peek().punct("(") {
		p.unparenthesised("`(` after the vertex of AT", "AT v")
		return nil
	}
	outer := p.vertex
	p.vertex = true
	f := p.nested(p.group)
	p.vertex = outer
	if f == nil {
		return nil
	}
	return &At{Node: p.from(at.start), Loc: loc, F: f}
}

// location reads the vertex of AT.
func (p *parser) location() Term {
	t := p.peek()
	switch t.kind {
	case tokString:
		p.next()
		p.count(t.start)
		return stringConst(p, t, t.text)
	case tokIdent:
		if strings.HasPrefix(t.text, "_") {
			p.report(CodeWildcard, t.start, t.end, "AT needs to know the vertex, and a wildcard stands for some value of a predicate's argument",
				"name it: `EXISTS v. (vertex(v) AND AT v (…))`")
			return nil
		}
		p.next()
		return p.localVar(t)
	case tokHere:
		p.report(CodeLocation, t.start, t.end, "`@l` is the vertex of the AT around it, so AT `@l` says nothing more", "leave this AT out and keep what is in its parentheses")
		return nil
	case tokEOF, tokBad, tokKeyword, tokInt, tokFloat, tokDuration, tokRegexp, tokPunct:
	}
	p.unexpected("a variable or a string, the vertex of AT,")
	return nil
}

// spatial = ("SOMEWHERE" | "EVERYWHERE" | "ESCAPE") distance equiv .
func (p *parser) spatial() Formula {
	op := p.next()
	leave := p.enterSpatial(op, true)
	d, ok := p.distance()
	body := p.nested(p.equiv)
	if !leave() || body == nil || !ok {
		return nil
	}
	node := p.from(op.start)
	wrap := func(f Formula) Formula {
		switch op.text {
		case "SOMEWHERE":
			return &Somewhere{Node: node, D: d, F: f}
		case "EVERYWHERE":
			return &Everywhere{Node: node, D: d, F: f}
		}
		return &Escape{Node: node, D: d, F: f}
	}
	p.checkPrefix(op, body, wrap)
	return wrap(body)
}

// between reads the rest of REACH or SURROUND after the left operand.
func (p *parser) between(start int, left Formula) Formula {
	op := p.next()
	leave := p.enterSpatial(op, left != nil)
	d, ok := p.distance()
	right := p.nested(p.since)
	if !leave() || left == nil || right == nil || !ok {
		return nil
	}
	var f Formula
	if node := p.from(start); op.text == "REACH" {
		f = &Reach{Node: node, D: d, Left: left, Right: right}
	} else {
		f = &Surround{Node: node, D: d, Left: left, Right: right}
	}
	p.checkSince(op, left, right, f)
	return f
}

// enterSpatial reports a spatial operator that stands outside of AT, unless its left
// operand was a mistake, and has what follows read as if it stood inside, so that one
// mistake is reported once. The function that it returns ends that, and tells whether the
// operator stands where it may.
func (p *parser) enterSpatial(op token, report bool) (leave func() bool) {
	inside := p.vertex
	if !inside && report {
		p.report(CodeLocation, op.start, op.end, op.text+" stands outside of AT, and nothing says from which vertex it looks",
			"say it of a vertex: `AT v (… "+op.text+" …)`")
	}
	p.vertex = true
	return func() bool {
		p.vertex = inside
		return inside
	}
}

// label = name | string .
func (p *parser) label() Formula {
	t := p.next()
	switch {
	case t.kind == tokString && t.text == "":
		p.report(CodeLocation, t.start, t.end, "a label has a name, and this one has none", "")
		return nil
	case t.text == "_" && t.kind == tokIdent:
		p.report(CodeWildcard, t.start, t.end, "`_` cannot name a label", "that there is some label is `label(@l, _)`")
		return nil
	case t.kind == tokIdent && !p.ends(p.peek()) && p.misspelt(t.text, t.start):
		p.skip()
		return nil
	}
	return &Label{Node: p.from(t.start), Name: t.text}
}

// ends tells whether an operand can end before the token.
func (p *parser) ends(t token) bool {
	return t.kind == tokEOF || t.punct(")") || t.keyword("IN") || t.kind == tokKeyword && p.connective(t)
}

// begins tells whether the name or string that comes next begins a predicate, an
// aggregation or a comparison, and so is no label.
func (p *parser) begins() bool {
	t := p.ahead(1)
	if p.peek().kind == tokIdent && (t.punct("(") || t.punct("<-")) {
		return true
	}
	return p.continues(t)
}

// continues tells whether the token goes on with what began with a term.
func (p *parser) continues(t token) bool {
	switch t.kind {
	case tokKeyword:
		c := classify(t.text, p.opts.Mode)
		return c == wordTermOp || c == wordRelationOp
	case tokPunct:
		switch t.text {
		case "=", "<", "<=", ">", ">=", "+", "-", "*", "/", "==", "!=", "<>":
			return true
		}
	case tokEOF, tokBad, tokIdent, tokInt, tokFloat, tokDuration, tokString, tokRegexp, tokHere:
	}
	return false
}

// here reads @l.
func (p *parser) here() Term {
	t := p.next()
	if !p.vertex {
		p.report(CodeLocation, t.start, t.end, "`@l` stands outside of AT, and there is no vertex for it to be",
			"name the vertex by a variable, or put this inside of `AT v (…)`")
		return nil
	}
	p.count(t.start)
	return Here{Pos: p.span(t.start, t.end)}
}
