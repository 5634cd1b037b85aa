package syntax

import (
	"math"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// term = product { ("+" | "-") product } .
//
// Wildcards stand only directly in a predicate, or for a group of MATCHES. The result
// is nil after an error.
func (p *parser) term(inPredicate bool) Term {
	return p.chainTerm(inPredicate, p.product, Add, Sub)
}

// product = factor { ("*" | "/") factor } .
func (p *parser) product(inPredicate bool) Term {
	return p.chainTerm(inPredicate, p.factor, Mul, Div)
}

// chainTerm reads left-associative operations.
func (p *parser) chainTerm(inPredicate bool, operand func(bool) Term, ops ...ArithOp) Term {
	start := p.peek().start
	left := operand(inPredicate)
	bad := left == nil
	for {
		op, ok := p.operator(ops...)
		if !ok {
			break
		}
		right := operand(false)
		if bad = bad || right == nil; !bad {
			left = p.arith(start, op, left, right)
		}
	}
	if bad {
		return nil
	}
	return left
}

// operator takes the next token if it is one of the operators.
func (p *parser) operator(ops ...ArithOp) (ArithOp, bool) {
	t := p.peek()
	for _, op := range ops {
		if t.punct(op.String()) || t.keyword(op.String()) {
			p.next()
			return op, true
		}
	}
	return Add, false
}

func (p *parser) arith(start int, op ArithOp, left, right Term) Term {
	p.count(start)
	p.plain(left)
	p.plain(right)
	return Arith{Pos: p.span(start, p.last()), Op: op, Left: left, Right: right}
}

// plain refuses a wildcard as an operand.
func (p *parser) plain(t Term) {
	if v, ok := t.(Var); ok && strings.HasPrefix(v.Name, "_") {
		p.diags = append(p.diags, diag.Diagnostic{
			Code: CodeWildcard, File: p.opts.File, Span: v.Pos,
			Message: "a wildcard has no value to calculate with", Hint: "name a variable that a predicate binds",
		})
	}
}

// factor = operand [ "MOD" term ] .
//
// MOD binds as tightly as can be on its left and as loosely on its right, as in
// MonPoly: x MOD 2 + 1 is x MOD (2 + 1).
func (p *parser) factor(inPredicate bool) Term {
	start := p.peek().start
	left := p.operand(inPredicate)
	if _, ok := p.operator(Mod); !ok {
		return left
	}
	right := p.deeperTerm(false)
	if left == nil || right == nil {
		return nil
	}
	return p.arith(start, Mod, left, right)
}

// deeperTerm parses a term one level further in, which is bounded as formulas are.
func (p *parser) deeperTerm(inPredicate bool) Term {
	p.enter()
	t := p.term(inPredicate)
	p.groups--
	return t
}

// arithmetic tells whether the token is an operator between terms.
func (p *parser) arithmetic(t token) bool {
	if t.kind == tokKeyword {
		return classify(t.text, p.opts.Mode) == wordTermOp
	}
	return t.punct("+") || t.punct("-") || t.punct("*") || t.punct("/")
}

// operand = "(" term ")" | "-" factor | conversion | number | string | variable | "_" | "@l" .
func (p *parser) operand(inPredicate bool) Term {
	t := p.peek()
	switch {
	case t.punct("("):
		p.next()
		inner := p.deeperTerm(inPredicate)
		return p.closeTerm(inner)
	case t.punct("-"):
		return p.negative()
	case t.kind == tokInt, t.kind == tokFloat:
		p.next()
		return p.constant(t, t.start, t.text)
	case t.kind == tokString:
		p.next()
		p.count(t.start)
		return stringConst(p, t, t.text)
	case t.kind == tokIdent:
		return p.variable(inPredicate)
	case t.kind == tokHere:
		return p.here()
	case t.kind == tokKeyword && classify(t.text, p.opts.Mode) == wordConversion:
		return p.conversion()
	}
	return p.noTerm(t)
}

// stringConst is a string constant.
func stringConst(p *parser, t token, s string) Term {
	return Const{Pos: p.span(t.start, t.end), Value: schema.StringValue(s)}
}

// closeTerm takes the closing parenthesis after t.
func (p *parser) closeTerm(t Term) Term {
	if !p.peek().punct(")") {
		if t != nil {
			p.unexpected("`)`")
		}
		return nil
	}
	p.next()
	return t
}

// conversion = ("i2f" | "f2i" | "i2s" | "s2i" | "f2s" | "s2f") "(" term ")" .
func (p *parser) conversion() Term {
	t := p.next()
	if !p.peek().punct("(") {
		p.unexpected("`(`")
		return nil
	}
	p.next()
	inner := p.closeTerm(p.deeperTerm(false))
	if inner == nil {
		return nil
	}
	p.count(t.start)
	for op := IntToFloat; op <= StringToFloat; op++ {
		if op.String() == t.text {
			return Conv{Pos: p.span(t.start, p.last()), Op: op, T: inner}
		}
	}
	return nil
}

// noTerm reports what stands where a term is expected.
func (p *parser) noTerm(t token) Term {
	switch t.kind {
	case tokRegexp:
		p.report(CodeSyntax, t.start, t.end, "a regular expression stands only to the right of MATCHES", "write a string as \"…\"")
		p.next()
	case tokDuration:
		p.report(CodeSyntax, t.start, t.end, "a duration such as "+t.describe()+" stands only in an interval", "")
		p.next()
	case tokEOF, tokBad, tokIdent, tokKeyword, tokInt, tokFloat, tokString, tokHere, tokPunct:
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

// negative reads a negative constant or the negative of a term.
func (p *parser) negative() Term {
	minus := p.next()
	t := p.peek()
	if t.kind == tokInt || t.kind == tokFloat {
		p.next()
		return p.constant(t, minus.start, "-"+t.text)
	}
	p.enter()
	inner := p.factor(false)
	p.groups--
	if inner == nil {
		return nil
	}
	p.count(minus.start)
	return Neg{Pos: p.span(minus.start, p.last()), T: inner}
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
// formula: there is something in it, and no predicate, comparison or keyword of
// formulas.
func (p *parser) termInParens() bool {
	for i, depth := 1, 1; ; i++ {
		t := p.ahead(i)
		switch {
		case t.kind == tokEOF:
			return false
		case t.punct("("):
			if p.ahead(i-1).kind == tokIdent {
				return false
			}
			depth++
		case t.punct(")"):
			if depth--; depth == 0 {
				return i > 1 && (!p.vertex || p.continues(p.ahead(i+1)))
			}
		case t.kind == tokKeyword:
			if c := classify(t.text, p.opts.Mode); c != wordConversion && c != wordTermOp {
				return false
			}
		case t.kind == tokPunct && !p.arithmetic(t):
			return false
		}
	}
}
