package mfotl_test

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/mfotl/naive"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// externalRelations are the external relations that formulas scan; tests those that can
// only be asked.
func externalRelations() []relation {
	return []relation{
		{"xe", nil},
		{"xp", []schema.ValueKind{intKind}},
		{"xs", []schema.ValueKind{strKind}},
		{"xr", []schema.ValueKind{intKind, intKind}},
		{"xm", []schema.ValueKind{intKind, strKind}},
	}
}

func testRelations() []relation {
	return []relation{{"tp1", []schema.ValueKind{intKind}}, {"ts1", []schema.ValueKind{strKind}}, {"tr2", []schema.ValueKind{intKind, intKind}}}
}

func isExternal(name string) bool {
	return slices.ContainsFunc(allExternals(), func(r relation) bool { return r.name == name })
}

func allExternals() []relation { return slices.Concat(externalRelations(), testRelations()) }

// externals declares them.
func externals() []mfotl.External {
	var out []mfotl.External
	for i, r := range allExternals() {
		out = append(out, mfotl.External{Name: r.name, Arity: len(r.kinds), Test: i >= len(externalRelations())})
	}
	return out
}

// external tells whether the formula under way may read an external relation.
func (g *generator) external() bool { return g.asks && g.below == 0 }

// tested adds a test to a formula, or the NOT of one.
func (g *generator) tested(cols []check.Column, depth int) syntax.Formula {
	r := pick(g, testRelations())
	p := &syntax.Pred{Name: r.name}
	for _, k := range r.kinds {
		if own := ofKind(cols, k); len(own) > 0 && g.IntN(4) > 0 {
			p.Args = append(p.Args, syntax.Var{Name: pick(g, own).Name})
		} else {
			p.Args = append(p.Args, syntax.Const{Value: g.value(k)})
		}
	}
	g.externals++
	var f syntax.Formula = p
	if g.IntN(2) == 0 {
		f = &syntax.Not{F: p}
	}
	return &syntax.And{Left: g.formula(cols, depth), Right: f}
}

// tables are those of the external relations at a time point; none if no formula asks.
func (g *generator) tables() map[string][]naive.Tuple {
	if !g.asks {
		return nil
	}
	out := map[string][]naive.Tuple{}
	for _, r := range allExternals() {
		out[r.name] = nil
		most := 4
		if g.wide {
			most = 40
		}
		for range g.IntN(most) {
			t := naive.Tuple{Mark: pick(g, []verdict.Value{verdict.F, verdict.F, verdict.Fp, verdict.Tp}), Witness: []uint64{}}
			for _, k := range r.kinds {
				t.Args = append(t.Args, g.value(k))
			}
			if g.IntN(2) == 0 {
				t.Witness = append(t.Witness, g.Uint64N(9))
			}
			if !slices.ContainsFunc(out[r.name], func(u naive.Tuple) bool { return slices.Equal(t.Args, u.Args) }) {
				out[r.name] = append(out[r.name], t)
			}
		}
	}
	return out
}

// tableSource answers from the tables of a time point.
type tableSource struct {
	tables map[string][]naive.Tuple
	// uncertain reports whether a tuple may be wrong, or may be missing; nil: none.
	uncertain func(rel string, args []schema.Value) bool
	// possible lists, by relation, tuples that may be missing.
	possible map[string][]naive.Tuple
}

func (s tableSource) Scan(rel int, known []schema.Value, bound uint64, yield func(mfotl.ExternalTuple) bool) bool {
	name := allExternals()[rel].name
	agrees := func(t naive.Tuple) bool {
		for i, v := range t.Args {
			if bound>>i&1 == 1 && v != known[i] {
				return false
			}
		}
		return true
	}
	complete := true
	if s.uncertain != nil {
		for _, t := range slices.Concat(s.tables[name], s.possible[name]) {
			if agrees(t) && s.uncertain(name, t.Args) {
				complete = false
			}
		}
	}
	args := make([]schema.Value, len(known)) // used anew for each tuple
	for _, t := range s.tables[name] {
		if !agrees(t) {
			continue
		}
		copy(args, t.Args)
		x := mfotl.ExternalTuple{Args: args, Mark: t.Mark}
		if len(t.Witness) > 0 {
			x.Offset = t.Witness[0] + 1
		}
		if !yield(x) {
			break
		}
	}
	clear(args)
	return complete
}
