package mfotl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// packFormula is 60 rules in one disjunction, as the rule packs for tool calls of language
// models have them: some look at the call alone, some at what was classified before.
func packFormula() string {
	const kinds = 13
	var rules []string
	for i := range 60 {
		rule := fmt.Sprintf(`active(t,"pack%d") AND turn(t,s) AND planned(t,c,tool) AND classify(t,c,"class","class%d")`, i%kinds, i%kinds)
		if i%3 == 0 {
			rule += fmt.Sprintf(` AND (ONCE[0,120] (EXISTS c2. turn(t2,s) AND classify(t2,c2,"kind","kind%d"))) AND NOT (t = t2)`, i%20)
			rule = "t2. " + rule
		} else {
			rule = fmt.Sprintf(`c2. c2 = c AND %s AND classify(t,c,"kind","kind%d")`, rule, i%20)
		}
		rules = append(rules, fmt.Sprintf(`((EXISTS s, c, tool, %s) AND rule = "rule %d")`, rule, i))
	}
	return strings.Join(rules, " OR ")
}

// packEvents are tool calls with 22 facts each.
func packEvents() []point {
	word := func(format string, n int) schema.Value { return schema.StringValue(fmt.Sprintf(format, n)) }
	var points []point
	for i := range 2000 {
		t, call := schema.IntValue(int64(i)), word("c%d", i)
		var facts []schema.Fact
		add := func(name string, args ...schema.Value) { facts = append(facts, schema.Fact{Name: name, Args: args}) }
		for k := range 13 {
			add("active", t, word("pack%d", k))
		}
		add("turn", t, schema.StringValue("s1"))
		add("planned", t, call, schema.StringValue("bash"))
		for k := range 5 {
			add("classify", t, call, word("dim%d", k), schema.StringValue("safe"))
		}
		add("classify", t, call, schema.StringValue("class"), word("class%d", int(hash(i)%40)))
		add("classify", t, call, schema.StringValue("kind"), word("kind%d", int(hash(i+1)%400)))
		points = append(points, point{int64(i), facts})
	}
	return points
}

// BenchmarkPack is one tool call judged by 60 rules.
func BenchmarkPack(b *testing.B) {
	checked := core(b, packFormula(), "t", "rule")
	checked.Free[1].Kind = strKind
	st := compile(b, checked).New()
	events := stream{log: packEvents()}
	var buf mfotl.RowBuffer
	b.ReportAllocs()
	fired := 0
	for b.Loop() {
		st.Step(events.next())
		fired += len(st.ReadRows(0, &buf))
		st.Commit()
	}
	b.ReportMetric(float64(fired)/float64(b.N), "rows/event")
}
