package judge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestOutcomeUnknown: while the outcome of a permitted call is unknown, because its
// result did not come or says so, what its ok result would have supplied is uncertain;
// a late result settles that, a second "unknown" does not.
func TestOutcomeUnknown(t *testing.T) {
	known := func(at int64) []aspects.Uncertain { return []aspects.Uncertain{{Relation: "known", At: at * second}} }
	result := func(status schema.ResultStatus) *schema.Event {
		ev := record(schema.KindResult, "s", "c", "look", `{"address":"x"}`)
		ev.Status = status
		return ev
	}
	for _, tc := range []struct {
		name, tool string
		lost       *schema.Event // what makes the outcome unknown
		late       *schema.Event
		want, then []aspects.Uncertain
	}{
		{"no result", "look", tick(2, 130), result(schema.ResultOK), known(130), nil},
		{"an error comes late", "look", tick(2, 130), result(schema.ResultError), known(130), nil},
		{"a result that says unknown", "look", result(schema.ResultUnknown), result(schema.ResultOK), known(105), nil},
		{"unknown for good", "look", result(schema.ResultUnknown), result(schema.ResultUnknown), known(105), known(105)},
		{"an error is known", "look", result(schema.ResultError), tick(2, 130), nil, nil},
		{"nothing comes with its result", "send", tick(2, 130), tick(3, 131), nil, nil},
	} {
		cfg := config(bundle(t, 1))
		l, j := newLog(t, cfg), New(3, cfg)
		l.give(activation(1, cfg.Bundle), j)
		l.give(tick(1, 105), j)
		l.give(record(schema.KindCall, "s", "c", tc.tool, `{"name":"x"}`), j)
		l.give(l.resolution("s", "c", schema.SettledPermit), j)
		id, before := protocol.TraceID{Tenant: "acme", Trace: "s"}, j.StateHash()
		l.give(tc.lost, j)
		if got := again(t, j, cfg).doubts[id].list(); !slices.Equal(got, tc.want) {
			t.Errorf("%s: uncertain is %v, want %v", tc.name, got, tc.want)
		}
		if tc.want != nil && j.StateHash() == before {
			t.Errorf("%s: the state has the same hash", tc.name)
		}
		l.give(tc.late, j)
		if got := again(t, j, cfg).doubts[id].list(); !slices.Equal(got, tc.then) {
			t.Errorf("%s: later uncertain is %v, want %v", tc.name, got, tc.then)
		}
	}
}

// TestDoubtsOfBothKinds: of each relation the latest unknown fact is kept, and the latest
// degraded one if that is later, whatever the order in which they are noted; a formula is as
// incomplete as the worst of those within its reach.
func TestDoubtsOfBothKinds(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 300 {
		var noted []aspects.Uncertain
		for range r.IntN(8) {
			noted = append(noted, aspects.Uncertain{Relation: []string{"p", "q"}[r.IntN(2)], At: r.Int64N(6), Degraded: r.IntN(2) == 0})
		}
		var d, shuffled doubts
		for _, u := range noted {
			d.add(u)
		}
		for _, i := range r.Perm(len(noted)) {
			shuffled.add(noted[i])
		}
		facts, _ := d.records()
		if got := restoreDoubts(facts, nil).list(); !slices.Equal(d.list(), shuffled.list()) || !slices.Equal(got, d.list()) {
			t.Fatalf("seed %d, round %d: %v is kept as %v, %v, and %v after restoring", seed, round, noted, d.list(), shuffled.list(), got)
		}
		in := aspects.Input{Timestamp: 6, Uncertain: d.list()}
		for reach := range int64(7) {
			want := verdict.Sound
			for _, u := range noted {
				if u.Relation == "p" && 6-u.At <= reach {
					want = verdict.Worse(want, u.Completeness())
				}
			}
			if got := in.Completeness(reach, []string{"o", "p"}); got != want {
				t.Fatalf("seed %d, round %d: %v within %d is %s, want %s", seed, round, noted, reach, got, want)
			}
		}
	}
}

// TestManyOpenOutcomes: beyond the limit the doubt stays, but no late result lifts it.
func TestManyOpenOutcomes(t *testing.T) {
	for _, n := range []int{maxOpenOutcomes, maxOpenOutcomes + 1} {
		cfg := config(bundle(t, 1))
		l, j := newLog(t, cfg), New(3, cfg)
		l.give(activation(1, cfg.Bundle), j)
		post := func(call int, status schema.ResultStatus) {
			ev := record(schema.KindResult, "s", fmt.Sprint(call), "look", `{"address":"x"}`)
			ev.Status = status
			l.give(ev, j)
		}
		for i := range n {
			l.give(record(schema.KindCall, "s", fmt.Sprint(i), "look", `{"name":"x"}`), j)
			l.give(l.resolution("s", fmt.Sprint(i), schema.SettledPermit), j)
			post(i, schema.ResultUnknown)
		}
		j = again(t, j, cfg)
		for i := range n {
			post(i, schema.ResultOK)
		}
		got := j.doubts[protocol.TraceID{Tenant: "acme", Trace: "s"}].list()
		if want := n > maxOpenOutcomes; (len(got) > 0) != want {
			t.Errorf("after %d late results uncertain is %v", n, got)
		}
	}
}
