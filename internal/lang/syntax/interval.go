package syntax

import (
	"math"
	"strconv"
)

// optionalInterval reads an interval if one comes next; else it is [0,*).
// After an error ok is false.
func (p *parser) optionalInterval() (i Interval, ok bool) {
	if p.startsInterval() {
		return p.interval()
	}
	return AnyTime(), true
}

// startsInterval tells whether an interval comes next, and no operand in parentheses.
func (p *parser) startsInterval() bool {
	if p.peek().punct("[") {
		return true
	}
	n := 1
	if p.ahead(n).punct("-") {
		n++
	}
	k := p.ahead(n).kind
	return p.peek().punct("(") && (k == tokInt || k == tokDuration || k == tokFloat) && p.ahead(n+1).punct(",")
}

// interval = ("[" | "(") bound "," (bound | "*") ("]" | ")") .
func (p *parser) interval() (Interval, bool) {
	open := p.next()
	lo, ok := p.bound()
	if !ok {
		p.skipInterval()
		return Interval{}, false
	}
	if !p.peek().punct(",") {
		t := p.peek()
		p.report(CodeInterval, open.start, t.end, "an interval has two bounds", "write `[0,"+p.src[open.end:t.start]+"]` or `["+p.src[open.end:t.start]+",*)`")
		p.skipInterval()
		return Interval{}, false
	}
	p.next()
	i := Interval{Lo: lo}
	if p.peek().punct("*") {
		p.next()
		i.Unbounded = true
	} else if i.Hi, ok = p.bound(); !ok {
		p.skipInterval()
		return Interval{}, false
	}
	end := p.peek()
	if !end.punct("]") && !end.punct(")") {
		p.misplaced("`]` or `)` at the end of an interval")
		return Interval{}, false
	}
	p.next()
	return p.normalise(i, open, end)
}

// normalise makes open ends inclusive and refuses an empty interval.
func (p *parser) normalise(i Interval, open, end token) (Interval, bool) {
	written := i
	if open.text == "(" {
		i.Lo++ // bounds are at most MaxInt64-1
	}
	if !i.Unbounded && end.text == ")" {
		i.Hi--
	}
	if !i.Empty() {
		return i, true
	}
	if p.opts.Mode == MonPoly && written.Lo < written.Hi {
		p.warn(CodeEmptyInterval, p.span(open.start, end.end),
			"no whole number lies strictly between these bounds, so the operator never holds", "close one end: `[` or `]`")
		return i, true
	}
	p.report(CodeInterval, open.start, end.end, "the interval is empty", "the lower bound comes first, and `(` and `)` exclude their bound")
	return Interval{}, false
}

// skipInterval moves behind the interval's closing bracket, if it is near.
func (p *parser) skipInterval() {
	for n := range 6 { // an interval has at most that many tokens left
		if t := p.ahead(n); t.punct("]") || t.punct(")") {
			p.at += n + 1
			return
		}
	}
}

// bound reads a bound and converts it into the unit of the log's timestamps:
// seconds in MonPoly mode, nanoseconds in Bundle mode.
func (p *parser) bound() (int64, bool) {
	t := p.peek()
	switch {
	case t.punct("-"):
		p.report(CodeInterval, t.start, p.ahead(1).end, "a time bound cannot be negative", "intervals reach back from now: `[0,1h]` is the last hour")
		return 0, false
	case t.kind == tokFloat:
		p.report(CodeInterval, t.start, t.end, "a time bound is a whole number", "use a smaller unit")
		return 0, false
	case t.kind != tokInt && t.kind != tokDuration:
		p.misplaced("a time bound")
		return 0, false
	}
	p.next()
	unit := int64(1)
	digits := t.text
	if t.kind == tokDuration {
		u := rune(t.text[len(t.text)-1])
		digits = t.text[:len(t.text)-1]
		if unit = unitSeconds(u); unit == 0 {
			p.report(CodeUnit, t.end-1, t.end, "there is no time unit `"+string(u)+"`", "the units are d, h, m and s")
			return 0, false
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if p.opts.Mode == Bundle {
		if t.kind == tokInt && (err != nil || n != 0) {
			p.report(CodeUnit, t.start, t.end, "the time bound `"+shorten(digits)+"` has no unit", "write `"+shorten(digits)+"s` for seconds; the units are d, h, m and s")
			return 0, false
		}
		unit *= nanosPerSecond
	}
	if err != nil || n > (math.MaxInt64-1)/unit {
		p.report(CodeNumber, t.start, t.end, "the time bound `"+shorten(t.text)+"` is out of range", "write `*` for no upper bound")
		return 0, false
	}
	return n * unit, true
}

// misplaced reports the next token within an interval and leaves it there: what
// follows is most likely the operand.
func (p *parser) misplaced(expected string) {
	t := p.peek()
	if t.kind == tokBad {
		return
	}
	p.report(CodeInterval, t.start, t.end, "found "+t.describe()+" where "+expected+" is expected",
		"an interval is written `[0,12h]` or `(1h,*)`")
}
