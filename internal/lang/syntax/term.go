package syntax

import (
	"math"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// term = [ "-" ] number | string | variable | "_" | "(" term ")" .
//
// Wildcards stand only directly in a predicate. A term with arithmetic is reported
// and skipped as a whole. The result is nil after an error.
func (p *parser) term(inPredicate bool) Term {
	t := p.operand(inPredicate)
	for op := p.peek(); p.arithmetic(op); op = p.peek() {
		if t != nil {
			p.notYet(op, "arithmetic")
			t = nil
		}
		p.next()
		p.operand(inPredicate)
	}
	return t
}

// arithmetic tells whether the token is an operator between terms.
func (p *parser) arithmetic(t token) bool {
	if t.kind == tokKeyword {
		return classify(t.text, p.opts.Mode) == wordTermOp
	}
	return t.punct("+") || t.punct("-") || t.punct("*") || t.punct("/")
}

func (p *parser) operand(inPredicate bool) Term {
	t := p.peek()
	switch {
	case t.punct("("):
		p.enter()
		p.next()
		inner := p.term(inPredicate)
		p.groups--
		if !p.peek().punct(")") {
			if inner != nil {
				p.unexpected("`)`")
			}
			return nil
		}
		p.next()
		return inner
	case t.punct("-"):
		return p.negative()
	case t.kind == tokInt, t.kind == tokFloat:
		p.next()
		return p.constant(t, t.start, t.text)
	case t.kind == tokString:
		p.next()
		p.count(t.start)
		return Const{Pos: p.span(t.start, t.end), Value: schema.StringValue(t.text)}
	case t.kind == tokIdent:
		return p.variable(inPredicate)
	}
	return p.noTerm(t)
}

// noTerm reports what stands where a term is expected.
func (p *parser) noTerm(t token) Term {
	switch {
	case t.kind == tokRegexp:
		p.notYet(t, "a regular expression")
		p.next()
	case t.kind == tokKeyword && classify(t.text, p.opts.Mode) == wordConversion:
		p.notYet(t, "the conversion `"+t.text+"`")
		p.next()
		if p.peek().punct("(") {
			p.next()
			p.skipGroup()
			p.next()
		}
	case t.kind == tokDuration:
		p.report(CodeSyntax, t.start, t.end, "a duration such as "+t.describe()+" stands only in an interval", "")
		p.next()
	default:
		p.unexpected("a variable or a constant")
	}
	return nil
}

// variable reads a variable or a wildcard.
func (p *parser) variable(inPredicate bool) Term {
	t := p.next()
	p.count(t.start)
	if strings.HasPrefix(t.text, "_") && !inPredicate {
		p.report(CodeWildcard, t.start, t.end, "the wildcard `"+t.text+"` stands for some value of a predicate's argument and has no meaning elsewhere",
			"name a variable that a predicate binds")
		return nil
	}
	if t.text == "_" {
		p.wild++
		return Var{Pos: p.span(t.start, t.end), Name: wildcardPrefix + strconv.Itoa(p.wild)}
	}
	p.checkIdentifier(t)
	return Var{Pos: p.span(t.start, t.end), Name: t.text}
}

// negative reads a negative constant.
func (p *parser) negative() Term {
	minus := p.next()
	t := p.peek()
	if t.kind != tokInt && t.kind != tokFloat {
		p.notYet(minus, "arithmetic")
		p.operand(false)
		return nil
	}
	p.next()
	return p.constant(t, minus.start, "-"+t.text)
}

// constant makes a number's value; text is the number with its sign.
func (p *parser) constant(t token, start int, text string) Term {
	p.count(start)
	pos := p.span(start, t.end)
	if t.kind == tokInt {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			p.report(CodeNumber, start, t.end, "the integer `"+shorten(text)+"` is out of range",
				"integers have 64 bits: "+strconv.FormatInt(math.MinInt64, 10)+" to "+strconv.FormatInt(math.MaxInt64, 10))
			return nil
		}
		return Const{Pos: pos, Value: schema.IntValue(n)}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		p.report(CodeNumber, start, t.end, "the number `"+shorten(text)+"` is out of range",
			"floats have 64 bits: up to about 1.8 times 10 to the 308")
		return nil
	}
	return Const{Pos: pos, Value: schema.FloatValue(x)}
}

// termInParens tells whether the parenthesis that comes next opens a term and not a
// formula: one operand, possibly in further parentheses, then something that
// continues a term or a comparison.
func (p *parser) termInParens() bool {
	i, open := 0, 0
	for ; p.ahead(i).punct("("); i++ {
		open++
	}
	if p.ahead(i).punct("-") {
		i++
	}
	switch t := p.ahead(i); t.kind {
	case tokIdent, tokInt, tokFloat, tokString, tokRegexp, tokDuration:
		i++
	case tokKeyword:
		return classify(t.text, p.opts.Mode) == wordConversion
	case tokEOF, tokBad, tokPunct:
		return false
	}
	closed := 0
	for ; p.ahead(i).punct(")") && closed < open; i++ {
		closed++
	}
	if closed == 0 { // "(x + 1) = y", but "(x = 1)" is a formula
		return p.arithmetic(p.ahead(i)) && p.closesTerm(i)
	}
	t := p.ahead(i)
	if p.arithmetic(t) || t.kind == tokKeyword && classify(t.text, p.opts.Mode) == wordRelationOp {
		return closed == open || p.closesTerm(i)
	}
	switch t.text {
	case "=", "<", "<=", ">", ">=", "!=", "==", "<>":
		return t.kind == tokPunct && closed == open
	}
	return false
}

// closesTerm tells whether, from the token at i on, a closing parenthesis comes
// before a comparison.
func (p *parser) closesTerm(i int) bool {
	for depth := 0; ; i++ {
		t := p.ahead(i)
		switch {
		case t.kind == tokEOF:
			return false
		case t.punct("("):
			depth++
		case t.punct(")") && depth == 0:
			return true
		case t.punct(")"):
			depth--
		case t.kind == tokPunct && strings.ContainsAny(t.text, "=<>"), t.kind == tokKeyword && p.connective(t):
			return false
		}
	}
}
