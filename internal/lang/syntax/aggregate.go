package syntax

import "strings"

// aggregation = variable "<-" ("CNT" | "SUM" | "MIN" | "MAX" | "AVG" | "MED") variable
// [ ";" variable { "," variable } ] formula .
//
// Its formula reaches as far right as it can.
func (p *parser) aggregation() Formula {
	result := p.next()
	arrow := p.next()
	op, ok := p.aggregate(arrow)
	if !ok {
		return nil
	}
	f := &Agg{Result: p.localVar(result), Op: op}
	over, ok := p.plainVariable("the aggregated variable")
	if !ok {
		return nil
	}
	f.Over = over
	if p.peek().punct(";") {
		p.next()
		if f.Groups, ok = p.groupVariables(); !ok {
			return nil
		}
	}
	if f.F = p.nested(p.formula); f.F == nil {
		return nil
	}
	f.Node = p.from(result.start)
	p.checkPrefix(result, f.F, func(g Formula) Formula {
		h := *f
		h.F = g
		return &h
	})
	return f
}

// aggregate reads the name of an aggregation.
func (p *parser) aggregate(arrow token) (AggOp, bool) {
	t := p.peek()
	if t.kind == tokInt || t.kind == tokFloat {
		p.report(CodeSyntax, arrow.start, arrow.end, "`<-` is the arrow of an aggregation",
			"put a blank between `<` and `-`")
		p.skip()
		return Count, false
	}
	for op := Count; op <= Median; op++ {
		if t.keyword(op.String()) {
			p.next()
			return op, true
		}
	}
	const expected = "CNT, SUM, MIN, MAX, AVG or MED"
	if op := foreignAggregate(t.text); op != "" {
		p.report(CodeSyntax, t.start, t.end, "found "+t.describe()+" where "+expected+" is expected", "write `"+op+"`")
		p.skip()
		return Count, false
	}
	p.unexpected(expected)
	return Count, false
}

// foreignAggregate says how an aggregation that other languages know is called here.
func foreignAggregate(name string) string {
	switch strings.ToUpper(name) {
	case "COUNT", "CNT":
		return Count.String()
	case "AVERAGE", "MEAN", "AVG":
		return Average.String()
	case "MEDIAN", "MED":
		return Median.String()
	case "MINIMUM", "MIN":
		return Min.String()
	case "MAXIMUM", "MAX":
		return Max.String()
	case "TOTAL", "SUM":
		return Sum.String()
	}
	return ""
}

// localVar makes a variable of an identifier that was read.
func (p *parser) localVar(t token) Var {
	p.checkIdentifier(t)
	p.count(t.start)
	return Var{Pos: p.span(t.start, t.end), Name: t.text}
}

// plainVariable reads a variable that is no wildcard.
func (p *parser) plainVariable(what string) (Var, bool) {
	t := p.peek()
	if t.kind != tokIdent || t.text == "_" {
		p.unexpected(what)
		return Var{}, false
	}
	p.next()
	return p.localVar(t), true
}

func (p *parser) groupVariables() ([]Var, bool) {
	var vars []Var
	seen := map[string]bool{}
	for {
		v, ok := p.plainVariable("a variable to group by")
		if !ok {
			return nil, false
		}
		if seen[v.Name] {
			t := p.tokens[p.at-1]
			p.report(CodeDuplicate, t.start, t.end, "`"+v.Name+"` is grouped by twice", "leave one out")
		}
		seen[v.Name] = true
		vars = append(vars, v)
		if !p.peek().punct(",") {
			return vars, true
		}
		p.next()
	}
}
