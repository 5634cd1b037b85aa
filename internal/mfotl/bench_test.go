package mfotl_test

import (
	"fmt"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// clauses are five formulas of the kind a bundle for a coding agent has, over
// strings.
func clauses(tb testing.TB) *mfotl.Plan {
	tb.Helper()
	str := func(c *check.Checked) *check.Checked {
		for i := range c.Free {
			c.Free[i].Kind = strKind
		}
		return c
	}
	return compile(tb,
		str(core(tb, "destructive(c) AND NOT (PREVIOUS (ONCE approval(c)))", "c")),
		str(core(tb, "send(d,r) AND (ONCE secret(d)) AND NOT (ONCE[0,3600] consent(d,r))", "d", "r")),
		str(core(tb, "use(u,k) AND NOT ((NOT revoke(u,k)) SINCE grant(u,k))", "u", "k")),
		str(core(tb, "login(u) AND (ONCE[0,60] failed(u)) AND PREVIOUS[0,5] failed(u)", "u")),
		str(core(tb, "write(p) AND EXISTS q. (ONCE[0,600] fetched(q)) AND NOT (ONCE reviewed(p))", "p")),
	)
}

func text(name string, args ...string) schema.Fact {
	f := schema.Fact{Name: name}
	for _, a := range args {
		f.Args = append(f.Args, schema.StringValue(a))
	}
	return f
}

// script is a cycle of events that touch the clauses; some fire.
func script() [][]schema.Fact {
	return [][]schema.Fact{
		{text("approval", "drop users")},
		{text("grant", "ann", "db"), text("secret", "key.pem")},
		{text("destructive", "drop users")},
		{text("fetched", "http://x")},
		{text("use", "ann", "db")},
		{text("failed", "bob")},
		{text("consent", "key.pem", "bob")},
		{text("send", "key.pem", "bob")},
		{text("reviewed", "a.go"), text("write", "a.go")},
		{text("write", "b.go")},
		{text("revoke", "ann", "db")},
		{text("call", "ls"), text("tool", "sh")},
	}
}

func judge(st *mfotl.State, formulas int) (v verdict.Value) {
	for f := range formulas {
		for _, r := range st.Rows(f) {
			v = verdict.Fuse(v, r.Mark)
		}
	}
	return v
}

// BenchmarkStepClauses is one judged and adopted event over five clauses.
func BenchmarkStepClauses(b *testing.B) {
	plan := clauses(b)
	events := script()
	st := plan.New()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		st.Step(int64(i), uint64(i), events[i%len(events)])
		judge(st, plan.Formulas())
		st.Commit()
	}
}

// BenchmarkShadowClauses is one judged event that is refused.
func BenchmarkShadowClauses(b *testing.B) {
	plan := clauses(b)
	events := script()
	st := plan.New()
	for i, e := range events {
		st.Step(int64(i), uint64(i), e)
		st.Commit()
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		st.Step(100, 100, events[i%len(events)])
		judge(st, plan.Formulas())
		st.Rollback()
	}
}

// BenchmarkStepUntouched is an event no formula reads.
func BenchmarkStepUntouched(b *testing.B) {
	plan := clauses(b)
	st := plan.New()
	facts := []schema.Fact{text("call", "ls"), text("tool", "sh")}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		st.Step(int64(i), uint64(i), facts)
		judge(st, plan.Formulas())
		st.Commit()
	}
}

// BenchmarkStepHistory shows that a step does not grow with the trace before it.
func BenchmarkStepHistory(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			plan := clauses(b)
			st := plan.New()
			for i := range n {
				st.Step(int64(i), uint64(i), []schema.Fact{text("approval", fmt.Sprint(i))})
				st.Commit()
			}
			facts := []schema.Fact{text("destructive", "drop users"), text("approval", "5")}
			b.ReportAllocs()
			for i := n; b.Loop(); i++ {
				st.Step(int64(i), uint64(i), facts)
				judge(st, plan.Formulas())
				st.Commit()
			}
		})
	}
}

// BenchmarkExport is the first workload of the design's table: 10,000 objects, 10
// events per time unit.
func BenchmarkExport(b *testing.B) {
	benchmarkStream(b, "export(o) AND NOT (ONCE[0,24] consent(o))", []string{"o"}, func(i int) (int64, schema.Fact) {
		o := int64(hash(i) % 10_000)
		if hash(i+1)%2 == 0 {
			return int64(i / 10), fact("consent", o)
		}
		return int64(i / 10), fact("export", o)
	})
}

// BenchmarkGrants is the unbounded SINCE of the design's table: 200 users by 200
// resources.
func BenchmarkGrants(b *testing.B) {
	benchmarkStream(b, "use(u,r) AND NOT ((NOT revoke(u,r)) SINCE grant(u,r))", []string{"u", "r"}, grantEvent)
}

// BenchmarkGrantsWindow is the same with a bounded window.
func BenchmarkGrantsWindow(b *testing.B) {
	benchmarkStream(b, "use(u,r) AND NOT ((NOT revoke(u,r)) SINCE[0,500] grant(u,r))", []string{"u", "r"}, grantEvent)
}

// BenchmarkDelayed is a window with a lower bound.
func BenchmarkDelayed(b *testing.B) {
	benchmarkStream(b, "use(u,r) AND NOT ((NOT revoke(u,r)) SINCE[20,500] grant(u,r))", []string{"u", "r"}, grantEvent)
}

// historyStream feeds time points at each of which 20 of 200 sensors report, the same
// ones for 100 time points on end but for one that is missing now and then.
func historyStream(b *testing.B, formula string) {
	b.Helper()
	plan := compile(b, core(b, formula, "x"))
	st := plan.New()
	facts := make([]schema.Fact, 0, 21)
	events := make([][]schema.Fact, 4000)
	for i := range events {
		facts = facts[:0]
		for k := range 20 {
			if hash(i*20+k)%64 != 0 {
				facts = append(facts, fact("ok", int64(i/100*20+k)%200))
			}
		}
		facts = append(facts, fact("use", int64(hash(i)%200)))
		events[i] = append([]schema.Fact(nil), facts...)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		st.Step(int64(i), uint64(i), events[i%len(events)])
		st.Rows(0)
		st.Commit()
	}
}

// BenchmarkHistory is HISTORICALLY up to the present, with 20 tuples a time point: the
// cost does not depend on the length of the interval.
func BenchmarkHistory(b *testing.B) {
	for _, hi := range []int{5, 500, 50_000} {
		b.Run(fmt.Sprint(hi), func(b *testing.B) {
			historyStream(b, fmt.Sprintf("use(x) AND HISTORICALLY[0,%d] ok(x)", hi))
		})
	}
}

// BenchmarkHistoryDelayed is the same with a lower bound, which keeps what has ended.
func BenchmarkHistoryDelayed(b *testing.B) {
	for _, lo := range []int{5, 50, 500} {
		b.Run(fmt.Sprint(lo), func(b *testing.B) {
			historyStream(b, fmt.Sprintf("use(x) AND NOT (HISTORICALLY[%d,%d] ok(x))", lo, lo+20))
		})
	}
}

// BenchmarkHistoryShadow is a refused event that leaves 10,000 runs open.
func BenchmarkHistoryShadow(b *testing.B) {
	plan := compile(b,
		core(b, "use(x) AND NOT (HISTORICALLY[0,60] ok(x))", "x"),
		core(b, "use(x) AND NOT (HISTORICALLY[5,60] ok(x))", "x"),
	)
	st := plan.New()
	var facts []schema.Fact
	for x := range int64(10_000) {
		facts = append(facts, fact("ok", x))
	}
	for i := range 10 {
		st.Step(int64(i), uint64(i), facts)
		st.Commit()
	}
	use := []schema.Fact{fact("use", 77)}
	b.ReportAllocs()
	for b.Loop() {
		st.Step(10, 10, use)
		judge(st, plan.Formulas())
		st.Rollback()
	}
}

func grantEvent(i int) (int64, schema.Fact) {
	u, r := int64(hash(i)%200), int64(hash(i+1)%200)
	return int64(i / 10), fact([]string{"use", "use", "grant", "revoke"}[hash(i+2)%4], u, r)
}

func hash(i int) uint64 {
	h := uint64(i)*0x9E3779B97F4A7C15 + 0xABCDEF
	h ^= h >> 31
	h *= 0xBF58476D1CE4E5B9
	return h ^ h>>29
}

func benchmarkStream(b *testing.B, formula string, columns []string, event func(i int) (int64, schema.Fact)) {
	b.Helper()
	plan := compile(b, core(b, formula, columns...))
	st := plan.New()
	facts := make([]schema.Fact, 1)
	events := make([]schema.Fact, 1<<16)
	for i := range events {
		_, events[i] = event(i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		facts[0] = events[i%len(events)]
		st.Step(int64(i/10), uint64(i), facts)
		st.Rows(0)
		st.Commit()
	}
}
