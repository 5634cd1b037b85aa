package mfotl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// core reads a formula that is in the core language as it stands, over integer
// columns.
func core(tb testing.TB, text string, columns ...string) *check.Checked {
	tb.Helper()
	f, diags := syntax.Parse(text, syntax.Options{Mode: syntax.MonPoly})
	if f == nil {
		tb.Fatalf("%s: %v", text, diags)
	}
	c := &check.Checked{Core: f}
	for _, n := range columns {
		c.Free = append(c.Free, check.Column{Name: n})
	}
	return c
}

func compile(tb testing.TB, formulas ...*check.Checked) *mfotl.Plan {
	tb.Helper()
	p, err := mfotl.Compile(formulas)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func fact(name string, args ...int64) schema.Fact {
	f := schema.Fact{Name: name}
	for _, a := range args {
		f.Args = append(f.Args, schema.IntValue(a))
	}
	return f
}

func presumptive(f schema.Fact) schema.Fact {
	f.Strength = verdict.Presumptive
	return f
}

// rows prints rows as `(1,1)F@[0 3]`.
func rows(rs []schema.Row) string {
	var out []string
	for _, r := range rs {
		var vs []string
		for _, v := range r.Values {
			vs = append(vs, v.String())
		}
		out = append(out, fmt.Sprintf("(%s)%v@%v", strings.Join(vs, ","), r.Mark, r.Witness))
	}
	return strings.Join(out, " ")
}

// run adopts time points at ts, whose offset is their index, and returns the rows
// of formula 0 at each.
func run(p *mfotl.Plan, trace []point) []string {
	st := p.New()
	var out []string
	for i, tp := range trace {
		st.Step(tp.ts, uint64(i), tp.facts)
		out = append(out, rows(st.Rows(0)))
		st.Commit()
	}
	return out
}

type point struct {
	ts    int64
	facts []schema.Fact
}

func at(ts int64, facts ...schema.Fact) point { return point{ts, facts} }
