package mfotl

import (
	"fmt"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestAggregateSurvivesSweep reads aggregates with strings and fractions as values, which
// have ids, while ever new ones pass through the dictionary: a value remembered must
// not outlive its id.
func TestAggregateSurvivesSweep(t *testing.T) {
	least := coreOf(t, "x <- MIN y ONCE q(y)", "x")
	mean := coreOf(t, "x <- AVG y; k ONCE r(k,y)", "x", "k")
	noise := coreOf(t, "e() AND PREVIOUS s(x)", "x")
	least.Kinds = map[string]schema.ValueKind{"y": schema.KindString}
	p, err := Compile([]*check.Checked{least, mean, noise})
	if err != nil {
		t.Fatal(err)
	}
	str := func(name, arg string) schema.Fact {
		return schema.Fact{Name: name, Args: []schema.Value{schema.StringValue(arg)}}
	}
	ints := func(name string, args ...int64) (f schema.Fact) {
		f.Name = name
		for _, a := range args {
			f.Args = append(f.Args, schema.IntValue(a))
		}
		return f
	}
	st := p.New()
	st.Step(0, 0, []schema.Fact{str("q", "the least"), str("q", "this one is not"), ints("r", 1, 1), ints("r", 1, 1), ints("r", 1, 3), ints("r", 1, 6)})
	st.Commit()
	for i := range 4 * sweepSlack {
		st.Step(int64(i), uint64(i), []schema.Fact{str("s", fmt.Sprint("noise ", i))})
		if rows := st.Rows(0); len(rows) != 1 || rows[0].Values[0].Str != "the least" {
			t.Fatalf("step %d: the least is %v", i, rows)
		}
		if rows := st.Rows(1); len(rows) != 1 || rows[0].Values[0].Float != 10.0/3 {
			t.Fatalf("step %d: the mean is %v", i, rows)
		}
		st.Commit()
	}
	if st.dict.sweeps == 0 {
		t.Error("the dictionary was never swept")
	}
}

// crowd is a trace with n rows in one group of a window, and one row in each of n others.
func crowd(tb testing.TB, n int) *State {
	tb.Helper()
	p, err := Compile([]*check.Checked{
		coreOf(tb, "(n <- CNT i; d ONCE[0,600] cmd(d,i)) AND n > 40", "n", "d"),
		coreOf(tb, "m <- MAX i ONCE[0,600] cmd(d,i)", "m"),
	})
	if err != nil {
		tb.Fatal(err)
	}
	st := p.New()
	for i := range n {
		st.Step(int64(i/1000), uint64(i), []schema.Fact{command(0, i), command(i+1, i)})
		st.Commit()
	}
	return st
}

func command(d, i int) schema.Fact {
	return schema.Fact{Name: "cmd", Args: []schema.Value{schema.IntValue(int64(d)), schema.IntValue(int64(i))}}
}

// TestGroupIsNotRecounted judges proposals that are taken back and adopts others: what a
// count, its witness and a greatest value look at must not grow with the group, in any
// mixture of both.
func TestGroupIsNotRecounted(t *testing.T) {
	st := crowd(t, 5000)
	s := st.stores[0]
	group := func() *groupLedger {
		return &s.ledgers[0].groups[s.index(s.ledgers[0].spec.index).groupOf[s.find([]word{0, 0})]]
	}
	unknown, greatest := 0, 0
	for i := range 1000 {
		st.Step(5, uint64(10_000+i), []schema.Fact{command(0, 10_000+i)})
		if w := group().witness; w == nil || !w.known {
			unknown++
		}
		if s.ledgers[1].groups[0].swept == 0 {
			greatest++
		}
		if rows := st.Rows(1); len(rows) != 1 || rows[0].Values[0].Int != int64(10_000+i) {
			t.Fatalf("step %d: the greatest is %v", i, rows)
		}
		rows := st.Rows(0)
		if len(rows) != 1 || rows[0].Values[0].Int != int64(5001+i/10) || rows[0].Witness[aggWitness-1] != uint64(10_000+i) {
			t.Fatalf("step %d: %v", i, rows)
		}
		if i%10 == 9 {
			st.Commit()
		} else {
			st.Rollback()
		}
	}
	if unknown > 2 {
		t.Errorf("the witness had to be looked for %d times", unknown)
	}
	if greatest > 2 {
		t.Errorf("the greatest value had to be looked for %d times", greatest)
	}
	if large := len(s.ledgers[0].large); large != 1 {
		t.Errorf("%d groups are looked at, want 1", large)
	}
}

// BenchmarkCountShadow is a proposal that is refused, with a group of 10,000 rows and
// 10,000 groups of one.
func BenchmarkCountShadow(b *testing.B) {
	st := crowd(b, 10_000)
	var buf RowBuffer
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		st.Step(10, uint64(20_000+i), []schema.Fact{command(0, 20_000)})
		st.ReadRows(0, &buf)
		st.Rollback()
	}
}
