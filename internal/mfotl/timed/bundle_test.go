package timed_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/aspects/temporal"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// loadBundle reads the policies as a bundle, which has nothing to complain about.
func loadBundle(t *testing.T) (*policy.Bundle, *temporal.Engine) {
	t.Helper()
	b, diags := policy.Load("testdata/bundle")
	if len(diags) > 0 {
		t.Fatal(diags.Render(nil))
	}
	engine, err := temporal.New(b)
	if err != nil {
		t.Fatal(err)
	}
	return b, engine
}

// TestBundleCases runs the tests of the bundle: the published cases as calls of tools
// and grants, hours apart, and each window on its bound and a nanosecond beyond.
func TestBundleCases(t *testing.T) {
	b, engine := loadBundle(t)
	expectations := 0
	for i := range b.Tests {
		test := &b.Tests[i]
		decisions, err := offline.Run(offline.Config{Bundle: b, Engines: []aspects.Engine{engine}}, test.Copies())
		if err != nil {
			t.Fatalf("%s: %v", test.Name, err)
		}
		for _, want := range test.Expect {
			expectations++
			at := slices.IndexFunc(decisions, func(d *offline.Decision) bool { return d.Index == want.At })
			if at < 0 {
				t.Fatalf("%s: event %d was not decided", test.Name, want.At)
			}
			for _, wrong := range want.Match(outcome(decisions[at])) {
				t.Errorf("%s: event %d: %s", test.Name, want.At, wrong)
			}
		}
	}
	if expectations < 49 {
		t.Errorf("only %d expectations", expectations)
	}
}

// outcome is a decision in the terms of an expectation.
func outcome(d *offline.Decision) policy.Outcome {
	out := policy.Outcome{Decision: d.Outcome, Flagged: d.Flagged, Reason: d.Reason, Value: d.Value}
	for _, c := range d.Clauses {
		clause := policy.ClauseOutcome{ID: c.ID, Value: c.Value}
		for i := range c.Firings {
			clause.Bindings = append(clause.Bindings, binding(&c.Firings[i]))
		}
		out.Clauses = append(out.Clauses, clause)
	}
	return out
}

func binding(f *compose.Firing) map[string]schema.Value {
	out := map[string]schema.Value{}
	for i, column := range f.Columns {
		out[column] = f.Values[i]
	}
	return out
}

// TestBundleTraces runs every trace through the temporal aspect of the bundle, the
// unit of time an hour: the policy's clause has the rows, marks and witnesses that
// the formula alone has, is sound, and no other clause speaks.
func TestBundleTraces(t *testing.T) {
	_, engine := loadBundle(t)
	everyRun(t, func(_ *testing.T, c *trial, _ *mfotl.Plan) string {
		m := engine.New()
		for i, tp := range c.trace {
			in := aspects.Input{
				TimePoint: uint64(i), Timestamp: tp.TS * int64(time.Hour), Offset: tp.Offset, Facts: c.inBundle(tp.Facts),
			}
			got := m.Judge(in)
			if wrong := c.meetsParts(got, i); wrong != "" {
				return fmt.Sprintf("time point %d: %s", i, wrong)
			}
			m.Adopt(in)
		}
		return ""
	})
}

// inBundle gives facts the names they have in the bundle, where the consent of Lock
// must not be that of T1.
func (c *trial) inBundle(facts []schema.Fact) []schema.Fact {
	out := slices.Clone(facts)
	for i := range out {
		if out[i].Name == "consent" && len(out[i].Args) == 0 {
			out[i].Name = "consented"
		}
	}
	return out
}

// meetsParts says how the parts of a time point differ from the rows of the formula.
// A bundle's T2 speaks of the devices that are commanded at the time point itself.
func (c *trial) meetsParts(got []schema.Part, i int) string {
	want := c.rows[i]
	if c.policy.act == "" {
		now := c.policy.subjects(c.trace[i : i+1])
		want = slices.DeleteFunc(slices.Clone(want), func(r schema.Row) bool { return !now[c.policy.subject(r.Values)] })
	}
	switch {
	case len(want) == 0 && len(got) == 0:
		return ""
	case len(got) != 1 || got[0].Clause != c.policy.name:
		return fmt.Sprintf("got parts %+v, want one of %s with %s", got, c.policy.name, showRows(want))
	case got[0].Completeness != verdict.Sound:
		return "completeness is " + got[0].Completeness.String()
	}
	same := sameRow
	if c.policy.act == "" { // the formula has one more conjunct there, with a witness
		same = func(a, b schema.Row) bool { return a.Mark == b.Mark && slices.Equal(a.Values, b.Values) }
	}
	if !slices.EqualFunc(got[0].Rows, want, same) {
		return fmt.Sprintf("got %s, want %s", showRows(got[0].Rows), showRows(want))
	}
	return ""
}
