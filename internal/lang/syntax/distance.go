package syntax

import (
	"math"
	"strconv"
)

// The sorts of vertices that VIA names.
const (
	viaPhysical      = "physical"
	viaInformational = "informational"
)

// distance = [ ("[" | "(") digits "," ( digits | "*" ) ("]" | ")") ] [ "VIA" ("physical" | "informational") ] .
//
// After an error ok is false.
func (p *parser) distance() (d Distance, ok bool) {
	d, ok = Distance{Unbounded: true}, true
	if p.startsInterval() {
		d, ok = p.distances()
	}
	if p.peek().keyword("VIA") {
		p.next()
		t := p.peek()
		if t.text != viaPhysical && t.text != viaInformational || t.kind != tokIdent {
			p.report(CodeDistance, t.start, t.end, "found "+t.describe()+" where a sort of vertices is expected", "write `VIA physical` or `VIA informational`")
			if t.kind == tokIdent || t.kind == tokString {
				p.next()
			}
			return d, false
		}
		p.next()
		d.Sort = t.text
	}
	return d, ok
}

// distances reads an interval of distances and makes its bounds inclusive.
func (p *parser) distances() (Distance, bool) {
	open := p.next()
	lo, ok := p.metre()
	if !ok {
		p.skipInterval()
		return Distance{}, false
	}
	if t := p.peek(); !t.punct(",") {
		given := p.src[open.end:t.start]
		p.report(CodeDistance, open.start, t.end, "an interval of distances has two bounds", "write `[0,"+given+"]` or `["+given+",*]`")
		p.skipInterval()
		return Distance{}, false
	}
	p.next()
	d := Distance{Lo: lo}
	if p.peek().punct("*") {
		p.next()
		d.Unbounded = true
	} else if d.Hi, ok = p.metre(); !ok {
		p.skipInterval()
		return Distance{}, false
	}
	end := p.peek()
	if end.kind == tokIdent && p.ahead(1).punct("]") {
		p.unitOf(p.tokens[p.at-1].text, p.tokens[p.at-1].start, end.end)
		p.skipInterval()
		return Distance{}, false
	}
	if !end.punct("]") && !end.punct(")") {
		p.noDistance("`]` or `)` at the end of an interval of distances")
		return Distance{}, false
	}
	p.next()
	if open.text == "(" {
		d.Lo++ // bounds are at most MaxInt64-1
	}
	if !d.Unbounded && end.text == ")" {
		d.Hi--
	}
	if !d.Unbounded && d.Lo > d.Hi {
		p.report(CodeDistance, open.start, end.end, "the interval of distances is empty", "the lower bound comes first, and `(` and `)` exclude their bound")
		return Distance{}, false
	}
	return d, true
}

// metre reads a bound of an interval of distances.
func (p *parser) metre() (int64, bool) {
	t := p.peek()
	switch t.kind {
	case tokInt:
		p.next()
		n, err := strconv.ParseInt(t.text, 10, 64)
		if err != nil || n == math.MaxInt64 {
			p.report(CodeNumber, t.start, t.end, "the distance `"+shorten(t.text)+"` is out of range", "write `*` for no upper bound")
			return 0, false
		}
		return n, true
	case tokDuration:
		p.unitOf(t.text[:len(t.text)-1], t.start, t.end)
		return 0, false
	case tokFloat:
		p.report(CodeDistance, t.start, t.end, "a distance is a whole number", "round it, or declare a smaller unit for the graph")
		return 0, false
	case tokPunct:
		if t.punct("-") {
			p.report(CodeDistance, t.start, p.ahead(1).end, "a distance cannot be negative", "`[0,4000]` is up to 4000 away")
			return 0, false
		}
	case tokEOF, tokBad, tokIdent, tokKeyword, tokString, tokRegexp, tokHere:
	}
	p.noDistance("a distance")
	return 0, false
}

// unitOf reports a distance, of which the digits are given, with a unit.
func (p *parser) unitOf(digits string, start, end int) {
	p.report(CodeDistance, start, end, "the distance `"+shorten(p.src[start:end])+"` has a unit, and distances have that of the graph",
		"write `"+shorten(digits)+"`, counted in the unit that the world declares: metres, or boundaries between domains")
}

// noDistance reports the next token within an interval of distances and leaves it there.
func (p *parser) noDistance(expected string) {
	t := p.peek()
	if t.kind == tokBad {
		return
	}
	p.report(CodeDistance, t.start, t.end, "found "+t.describe()+" where "+expected+" is expected",
		"an interval of distances is written `[0,4000]` or `(0,*]`")
}

// String prints the distances as the parser reads them: `[0,4000]`, `[1,*) VIA physical`.
func (d Distance) String() string {
	s := "[" + strconv.FormatInt(d.Lo, 10) + ",*)"
	if !d.Unbounded {
		s = "[" + strconv.FormatInt(d.Lo, 10) + "," + strconv.FormatInt(d.Hi, 10) + "]"
	}
	if d.Sort != "" {
		s += " VIA " + d.Sort
	}
	return s
}
