package timed_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// variant is what a relation makes of a trace, with what must then be found.
type variant struct {
	trace     trace
	points    []expected       // by time point of the variant
	objects   schema.ValueKind // the type of what names an object
	sameState bool             // the state that the variant leaves is that of the original
}

// expected is what must be found at a time point.
type expected struct {
	rows []schema.Row     // a row without a witness may have any
	only func(tuple) bool // the rows that count; nil: all of them
}

// unspecified is expected where nothing is claimed.
func unspecified() expected { return expected{only: func(tuple) bool { return false }} }

// copied is a variant that begins as the original, with nothing shared but facts.
func copied(c *trial) variant {
	v := variant{trace: slices.Clone(c.trace), objects: schema.KindInt}
	for i := range v.trace {
		v.trace[i].Facts = slices.Clone(v.trace[i].Facts)
		v.points = append(v.points, expected{rows: c.rows[i]})
	}
	return v
}

// insert puts a time point before time point i of the variant.
func (v *variant) insert(i int, tp timePoint, want expected) {
	v.trace = slices.Insert(v.trace, i, tp)
	v.points = slices.Insert(v.points, i, want)
}

// forgetWitnesses leaves open on which events firings rest.
func (v *variant) forgetWitnesses() {
	for i := range v.points {
		rows := slices.Clone(v.points[i].rows)
		for k := range rows {
			rows[k].Witness = nil
		}
		v.points[i].rows = rows
	}
}

// meets says how rows differ from what is expected, or nothing.
func (e expected) meets(got []schema.Row) string {
	if e.only != nil {
		got = slices.DeleteFunc(slices.Clone(got), func(r schema.Row) bool { return !e.only(r.Values) })
	}
	if slices.EqualFunc(got, e.rows, func(g, w schema.Row) bool {
		return g.Mark == w.Mark && slices.Equal(g.Values, w.Values) && (w.Witness == nil || slices.Equal(g.Witness, w.Witness))
	}) {
		return ""
	}
	return fmt.Sprintf("got %s, want %s", showRows(got), showRows(e.rows))
}

// everyVariant applies a relation to every trace and holds oracle and engine to it.
// The relation must apply to atLeast traces of each policy to which it applies at
// all, which applies reports.
func everyVariant(t *testing.T, atLeast int, applies func(*rule) bool, relate func(c *trial) (variant, bool)) {
	t.Helper()
	strings := map[*rule]*mfotl.Plan{} // of formulas over objects that are strings
	everyTrace(t, func(p *rule) int {
		if applies(p) {
			return atLeast
		}
		return 0
	}, func(t *testing.T, c *trial, plan *mfotl.Plan) (bool, string) {
		t.Helper()
		if !applies(c.policy) {
			return false, ""
		}
		v, ok := relate(c)
		if !ok {
			return false, ""
		}
		answer := withoutEvidence(c.policy.answer(v.trace))
		if wrong := v.check("the oracle", answer, true); wrong != "" {
			return true, wrong
		}
		if v.objects == schema.KindString {
			if strings[c.policy] == nil {
				strings[c.policy] = c.policy.compile(t, c.policy.formula, v.objects)
			}
			plan = strings[c.policy]
		}
		rows, state := runOn(plan.New(), v.trace)
		if wrong := v.check("the engine", rows, false); wrong != "" {
			return true, wrong
		}
		if !v.sameState {
			return true, ""
		}
		if _, want := runOn(plan.New(), c.trace); !bytes.Equal(state, want) {
			return true, "the variant leaves another state:\n" + showTrace(v.trace, rows)
		}
		return true, ""
	})
}

// check says where rows are not as expected, or nothing.
func (v *variant) check(who string, rows [][]schema.Row, bare bool) string {
	for i, want := range v.points {
		if bare { // an oracle gives no witnesses
			one := variant{points: []expected{want}}
			one.forgetWitnesses()
			want = one.points[0]
		}
		if wrong := want.meets(rows[i]); wrong != "" {
			return fmt.Sprintf("%s, time point %d of the variant: %s\n%sthe original:", who, i, wrong, showTrace(v.trace, rows))
		}
	}
	return ""
}

func all(*rule) bool { return true }

// relation returns the policy's relation of that name.
func (p *rule) relation(name string) (relation, bool) {
	i := slices.IndexFunc(p.relations, func(r relation) bool { return r.name == name })
	if i < 0 {
		return relation{}, false
	}
	return p.relations[i], true
}

// columns says what the values of a row stand for.
func (p *rule) columns() []role {
	if r, ok := p.relation(p.act); ok {
		return r.args
	}
	return []role{number, object}
}

// subject is the object that a row speaks of.
func (p *rule) subject(row tuple) schema.Value { return row[slices.Index(p.columns(), object)] }

// subjects are the objects that facts of a trace are judged about: the first
// argument that names one.
func (p *rule) subjects(tr trace) map[schema.Value]bool {
	out := map[schema.Value]bool{}
	for _, tp := range tr {
		for _, f := range tp.Facts {
			if r, ok := p.relation(f.Name); ok && r.objects() {
				out[f.Args[slices.Index(r.args, object)]] = true
			}
		}
	}
	return out
}

// rename gives the objects of the policy's facts other names.
func (p *rule) rename(tr trace, name func(schema.Value) schema.Value) {
	for _, tp := range tr {
		for k, f := range tp.Facts {
			if r, ok := p.relation(f.Name); ok {
				tp.Facts[k].Args = renamed(f.Args, r.args, name)
			}
		}
	}
}

func renamed(values []schema.Value, roles []role, name func(schema.Value) schema.Value) []schema.Value {
	out := slices.Clone(values)
	for i := range out {
		if roles[i] == object {
			out[i] = name(out[i])
		}
	}
	return out
}

// renameRows renames what rows speak of, and sorts them anew.
func (p *rule) renameRows(rows []schema.Row, name func(schema.Value) schema.Value) []schema.Row {
	out := slices.Clone(rows)
	for i := range out {
		out[i].Values = renamed(out[i].Values, p.columns(), name)
	}
	slices.SortFunc(out, func(a, b schema.Row) int { return compareTuples(a.Values, b.Values) })
	return out
}

// row is a firing with any witness.
func row(values tuple) schema.Row { return schema.Row{Values: values, Mark: verdict.F} }
