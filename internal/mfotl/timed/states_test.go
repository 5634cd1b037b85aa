package timed_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestSessionsApart: if the time points of two traces are taken in any order, each by the
// state of its own trace of one plan, each trace has the rows, marks and witnesses that
// it has alone, and leaves the same state to the byte.
func TestSessionsApart(t *testing.T) {
	everyRun(t, func(_ *testing.T, c *trial, plan *mfotl.Plan) string {
		traces := []trace{c.trace, c.another().trace}
		states := []*mfotl.State{plan.New(), plan.New()}
		got := make([][][]schema.Row, 2)
		for next := []int{0, 0}; next[0] < len(traces[0]) || next[1] < len(traces[1]); {
			k := c.IntN(2)
			if next[k] == len(traces[k]) {
				k = 1 - k
			}
			rows, _ := runOn(states[k], traces[k][next[k]:next[k]+1])
			got[k] = append(got[k], rows...)
			next[k]++
		}
		for k, tr := range traces {
			rows, state := runOn(plan.New(), tr)
			if wrong := differ(got[k], rows); wrong != "" {
				return fmt.Sprintf("session %d of two: %s", k, wrong)
			}
			if !bytes.Equal(states[k].AppendState(nil), state) {
				return fmt.Sprintf("session %d of two leaves another state", k)
			}
		}
		return ""
	})
}

// TestSnapshot: if the state is encoded anywhere in a trace and restored, the restored
// one encodes to the same bytes, the rest of the trace has the same rows, marks and
// witnesses, and the state at the end is the same to the byte.
func TestSnapshot(t *testing.T) {
	everyRun(t, func(_ *testing.T, c *trial, plan *mfotl.Plan) string {
		at := c.IntN(len(c.trace) + 1)
		st := plan.New()
		head, saved := runOn(st, c.trace[:at])
		restored, err := plan.Restore(saved)
		if err != nil {
			return fmt.Sprintf("after %d time points: %v", at, err)
		}
		if !bytes.Equal(restored.AppendState(nil), saved) {
			return fmt.Sprintf("after %d time points: restoring changes the state", at)
		}
		for who, state := range map[string]*mfotl.State{"the restored state": restored, "the state that was encoded": st} {
			tail, end := runOn(state, c.trace[at:])
			if wrong := differ(slices.Concat(head, tail), c.rows); wrong != "" {
				return fmt.Sprintf("%s, of %d time points: %s", who, at, wrong)
			}
			if _, want := runOn(plan.New(), c.trace); !bytes.Equal(end, want) {
				return fmt.Sprintf("%s, of %d time points, ends otherwise", who, at)
			}
		}
		return ""
	})
}

// TestProposals: if other time points are proposed and rolled back anywhere in a trace,
// the bytes of the state before and after are the same, the trace has the same rows,
// marks and witnesses, and the state at the end is the same to the byte. A proposal
// has the rows it would have if it were adopted.
func TestProposals(t *testing.T) {
	everyRun(t, func(_ *testing.T, c *trial, plan *mfotl.Plan) string {
		st := plan.New()
		var got [][]schema.Row
		for i, tp := range c.trace {
			for range c.IntN(3) {
				if wrong := c.propose(st, i); wrong != "" {
					return fmt.Sprintf("before time point %d: %s", i, wrong)
				}
			}
			rows, _ := runOn(st, []timePoint{tp})
			got = append(got, rows...)
		}
		if wrong := differ(got, c.rows); wrong != "" {
			return wrong
		}
		if _, want := runOn(plan.New(), c.trace); !bytes.Equal(st.AppendState(nil), want) {
			return "proposals change the state at the end"
		}
		return ""
	})
}

// propose makes a step after the first n time points and takes it back.
func (c *trial) propose(st *mfotl.State, n int) string {
	tp := timePoint{TS: c.trace[max(0, n-1)].TS + pick(c.chance, c.policy.gaps), Offset: 1 << 32}
	tp.Facts = c.facts(c.policy, c.policy.relations, c.IntN(4))
	if n < len(c.trace) && c.IntN(2) == 0 { // what comes anyway, only later
		tp.Facts = c.trace[n].Facts
	}
	before := st.AppendState(nil)
	st.Step(tp.TS, tp.Offset, tp.Facts)
	rows := st.Rows(0)
	st.Rollback()
	if !bytes.Equal(before, st.AppendState(nil)) {
		return "a proposal rolled back changes the state"
	}
	if want := c.policy.answer(append(slices.Clone(c.trace[:n]), tp))[n]; !equalRows(rows, withoutEvidence([][]tuple{want})[0]) {
		return fmt.Sprintf("the proposal @%d %v has %s, want %v", tp.TS, tp.Facts, showRows(rows), want)
	}
	return ""
}

// differ says where two runs of one trace differ, or nothing.
func differ(got, want [][]schema.Row) string {
	for i := range want {
		if !slices.EqualFunc(got[i], want[i], sameRow) {
			return fmt.Sprintf("time point %d: got %s, want %s", i, showRows(got[i]), showRows(want[i]))
		}
	}
	return ""
}
