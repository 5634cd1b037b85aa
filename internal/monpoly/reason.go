package monpoly

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// indent is how far a reason stands to the right of what it explains.
const indent = "  "

// reasonPrinter prints the reasons of one tuple.
type reasonPrinter struct {
	style Style
	times []int64
	dst   []byte
}

// above is what the lines above a reason have said: the values of variables, and the
// time point.
type above struct {
	depth  int
	values []mfotl.Bound
	point  uint64
}

// appendReasons appends why row i is one.
func (s Style) appendReasons(dst []byte, v *Verdict, i int) []byte {
	p := reasonPrinter{style: s, times: v.Times, dst: dst}
	said := above{depth: 1, point: v.Index}
	for k, name := range s.Columns {
		said.values = append(said.values, mfotl.Bound{Name: name, Value: v.Rows[i].Values[k]})
	}
	if len(said.values) > 0 {
		p.text(indent, "with ")
		p.values(said.values)
		p.text("\n")
	}
	p.reasons(v.Reasons[i], said)
	return p.dst
}

func (p *reasonPrinter) text(parts ...string) {
	for _, t := range parts {
		p.dst = append(p.dst, t...)
	}
}

func (p *reasonPrinter) values(values []mfotl.Bound) {
	for i, b := range values {
		if i > 0 {
			p.text(", ")
		}
		p.text(b.Name, " = ")
		p.dst = p.style.appendValue(p.dst, b.Value)
	}
}

// reasons prints a line for each reason: the formula, the values and the time point that
// were not said above, and the outcome.
func (p *reasonPrinter) reasons(reasons []mfotl.Reason, said above) {
	for i := range reasons {
		r := &reasons[i]
		p.text(strings.Repeat(indent, said.depth), r.Formula.String())
		p.binding(r, said.values)
		if r.Point != said.point {
			p.text(" at ")
			p.point(r.Point)
		}
		p.text(": ")
		p.outcome(r)
		if len(r.Because) > 0 {
			p.text(", because")
		}
		p.text("\n")
		p.reasons(r.Because, above{
			depth: said.depth + 1, values: slices.Concat(r.Binding, said.values), point: r.Point,
		})
	}
}

// binding prints the values that were not said above, and which variables have none.
func (p *reasonPrinter) binding(r *mfotl.Reason, said []mfotl.Bound) {
	var fresh []mfotl.Bound
	open := syntax.FreeVars(r.Formula)
	for _, b := range r.Binding {
		open = slices.DeleteFunc(open, func(name string) bool { return name == b.Name })
		at := slices.IndexFunc(said, func(s mfotl.Bound) bool { return s.Name == b.Name })
		if at < 0 || said[at].Value != b.Value {
			fresh = append(fresh, b)
		}
	}
	if len(fresh) > 0 {
		p.text(" with ")
		p.values(fresh)
	}
	if _, gap := r.Formula.(*syntax.Prev); len(open) > 0 && !gap { // of a gap in time the values do not matter
		p.text(" for any ", strings.Join(open, ", "))
	}
}

func (p *reasonPrinter) outcome(r *mfotl.Reason) {
	switch {
	case looksAhead(r.Formula):
		p.future(r)
	case r.Mark == verdict.T:
		p.fails(r)
	default:
		p.holds(r)
	}
}

// looksAhead reports whether f is a future operator, of which there are no reasons.
func looksAhead(f syntax.Formula) bool {
	switch f.(type) {
	case *syntax.Next, *syntax.Eventually, *syntax.Until:
		return true
	default:
		return false
	}
}

func (p *reasonPrinter) future(r *mfotl.Reason) {
	if r.Mark == verdict.T {
		p.text("does not hold")
	} else {
		p.text("holds")
	}
	p.text(" (the future is not explained)")
}

// holds prints what a formula that holds rests on. A reason with parts has it in these.
func (p *reasonPrinter) holds(r *mfotl.Reason) {
	p.text("holds")
	_, always := r.Formula.(*syntax.Historically)
	switch {
	case len(r.Because) > 0:
	case always && len(r.Witness) == 0:
		p.text(", as no time point is in ")
		p.window(r.Window)
	case always:
		p.text(" everywhere in ")
		p.window(r.Window)
		p.text(", by ")
		p.points(r.Witness)
	case len(r.Witness) > 0:
		p.text(", by ")
		p.points(r.Witness)
	case r.Window != nil:
		p.text(", at @", strconv.FormatInt(r.Window.At, 10))
	}
}

// fails prints what a formula that does not hold misses.
func (p *reasonPrinter) fails(r *mfotl.Reason) {
	switch r.Formula.(type) {
	case *syntax.Pred:
		p.text("no such fact at ")
		p.point(r.Point)
	case *syntax.Once:
		p.text("holds at no time point in ")
		p.window(r.Window)
	case *syntax.Since:
		p.text("holds since no time point in ")
		p.window(r.Window)
	case *syntax.Historically:
		p.text("fails within ")
		p.window(r.Window)
	case *syntax.Prev:
		p.before(r)
	default:
		p.text("does not hold")
	}
}

// before prints why a PREVIOUS does not hold, which reads the time point before r's.
func (p *reasonPrinter) before(r *mfotl.Reason) {
	if r.Point == 0 {
		p.text("there is no time point before")
		return
	}
	p.text("the time point before, ")
	p.point(r.Point - 1)
	p.text(", is not in ")
	p.window(r.Window)
}

func (p *reasonPrinter) point(i uint64) {
	p.text("@", strconv.FormatInt(p.times[i], 10), " (time point ", strconv.FormatUint(i, 10), ")")
}

func (p *reasonPrinter) points(points []uint64) {
	for k, i := range points {
		if k > 0 {
			p.text(", ")
		}
		p.point(i)
	}
}

// window prints a span of time stamps, with * if it reaches back to the beginning.
func (p *reasonPrinter) window(w *mfotl.Window) {
	from := "*"
	if w.From != math.MinInt64 {
		from = strconv.FormatInt(w.From, 10)
	}
	p.text("[", from, ",", strconv.FormatInt(w.To, 10), "]")
}
