package syntax

// let = "LET" name "(" [ variable { "," variable } ] ")" "=" formula "IN" formula .
//
// Its last formula reaches as far right as it can.
func (p *parser) let() Formula {
	start := p.next()
	name := p.peek()
	if name.kind != tokIdent || name.text == "_" {
		p.unexpected("the name of a relation")
		return nil
	}
	p.next()
	p.checkIdentifier(name)
	params, ok := p.parameters()
	if !ok {
		return nil
	}
	if !p.peek().punct("=") {
		p.unexpected("`=`")
		return nil
	}
	p.next()
	def := p.nested(p.formula)
	if !p.peek().keyword("IN") {
		if def != nil {
			p.unexpected("a connective or IN")
		}
		return nil
	}
	p.next()
	body := p.nested(p.formula)
	if def == nil || body == nil {
		return nil
	}
	return &Let{Node: p.from(start.start), Name: name.text, Params: params, Def: def, Body: body}
}

// parameters reads the parameters of LET in their parentheses.
func (p *parser) parameters() ([]Var, bool) {
	if !p.peek().punct("(") {
		p.unexpected("`(`")
		return nil, false
	}
	p.next()
	var vars []Var
	seen := map[string]bool{}
	for !p.peek().punct(")") {
		if len(vars) > 0 {
			if !p.peek().punct(",") {
				p.unexpected("`,` or `)`")
				return nil, false
			}
			p.next()
		}
		v, ok := p.plainVariable("a parameter, which is a variable")
		if !ok {
			p.skipGroup()
			p.next()
			return nil, false
		}
		if seen[v.Name] {
			t := p.tokens[p.at-1]
			p.report(CodeDuplicate, t.start, t.end, "the parameter `"+v.Name+"` stands twice", "give each its own name")
		}
		seen[v.Name] = true
		vars = append(vars, v)
	}
	p.next()
	return vars, true
}
