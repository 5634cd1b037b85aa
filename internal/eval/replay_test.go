package eval

import (
	"errors"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// scripted is an engine whose monitors mark a call by its tool and check that they
// are driven in order: every event is adopted, and only calls are judged before.
type scripted struct {
	t *testing.T
	// marks maps a tool to the marks of clauses "A" and "B".
	marks map[string][2]verdict.Value
}

func (s *scripted) Kind() aspects.Kind                      { return aspects.Temporal }
func (s *scripted) New() aspects.Monitor                    { return &scriptedMonitor{scripted: s} }
func (s *scripted) Restore([]byte) (aspects.Monitor, error) { return nil, errors.ErrUnsupported }

type scriptedMonitor struct {
	*scripted
	adopted uint64
	judged  *schema.Event
}

func (m *scriptedMonitor) Judge(in aspects.Input) []schema.Part {
	if in.TimePoint != m.adopted || in.Event.Kind != schema.KindCall || in.Evidence != verdict.Sound {
		m.t.Errorf("judged %+v after %d time points", in, m.adopted)
	}
	m.judged = in.Event
	var parts []schema.Part
	for i, mark := range m.marks[in.Event.Tool] {
		if mark != verdict.T {
			parts = append(parts, schema.Part{Clause: string(rune('A' + i)), Rows: []schema.Row{{Mark: mark}}})
		}
	}
	return parts
}

func (m *scriptedMonitor) Adopt(in aspects.Input) {
	if in.TimePoint != m.adopted || (in.Event.Kind == schema.KindCall && in.Event != m.judged) {
		m.t.Errorf("adopted %+v after %d time points", in, m.adopted)
	}
	m.adopted++
}

func (m *scriptedMonitor) Advance(int64)                 {}
func (m *scriptedMonitor) AppendState(dst []byte) []byte { return dst }

// twoClauses is a bundle with clauses A and B, B in shadow mode.
func twoClauses(t *testing.T) *policy.Bundle {
	t.Helper()
	forbid := []policy.Formula{{Aspect: aspects.Temporal, Role: schema.RoleForbid}}
	b := *baseline(t)
	b.Name = "two"
	b.Clauses = []policy.Clause{{ID: "A", Formulas: forbid}, {ID: "B", Formulas: forbid, Shadow: true}}
	return &b
}

func TestReplayFiresFromPresumablyViolatedOn(t *testing.T) {
	engine := &scripted{t: t, marks: map[string][2]verdict.Value{
		"weak":     {verdict.Tp, verdict.Tp},
		"cue":      {verdict.Fp, verdict.T},
		"definite": {verdict.F, verdict.F},
	}}
	r, err := newReplayer(twoClauses(t), []aspects.Engine{engine})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tools []string
		first []int
	}{
		{nil, []int{-1, -1}},
		{[]string{"other", "weak"}, []int{-1, -1}},
		{[]string{"weak", "cue", "definite"}, []int{1, 2}},
		{[]string{"definite", "cue", "definite"}, []int{0, 0}},
	} {
		run := &agentdojo.Run{ID: "run", Calls: len(c.tools)}
		for _, tool := range c.tools {
			run.Steps = append(run.Steps,
				agentdojo.Step{Kind: agentdojo.StepMessage, Role: "assistant", Text: "x"},
				agentdojo.Step{Kind: agentdojo.StepCall, Role: "assistant", Tool: tool, CallID: "c"},
				agentdojo.Step{Kind: agentdojo.StepResult, Role: "tool", CallID: "c"})
		}
		got := r.run(run)
		if !slices.Equal(got.first, c.first) {
			t.Errorf("%v: first firings %v, want %v", c.tools, got.first, c.first)
		}
	}
}

// TestShadowClausesOnlyWatch: they are counted by themselves, and not as firings of the
// policy.
func TestShadowClausesOnlyWatch(t *testing.T) {
	o := outcome{first: []int{3, 1}, shadow: []bool{false, true}}
	if o.earliest() != 3 || o.only() != 0 {
		t.Errorf("earliest firing on %d, only clause %d; want 3 and 0", o.earliest(), o.only())
	}
	o.first[0] = -1
	if o.fired() || o.only() != -1 {
		t.Errorf("fired %v, only clause %d, although only a shadow clause fired", o.fired(), o.only())
	}
}

// TestUnknownFactsStayKnownAsSuch: the latest unknown and the latest degraded fact of each
// relation reach the monitors, and a list that was handed out stays as it was.
func TestUnknownFactsStayKnownAsSuch(t *testing.T) {
	h := history{calls: map[string]proposed{}}
	ev := &schema.Event{Kind: schema.KindMessage}
	h.remember(0, ev, policy.Typing{Uncertain: []string{"b", "c"}})
	before := h.uncertain
	h.remember(1, ev, policy.Typing{Uncertain: []string{"a", "b"}, Degraded: []string{"c"}})
	if want := []aspects.Uncertain{{Relation: "b"}, {Relation: "c"}}; !slices.Equal(before, want) {
		t.Errorf("the list handed out became %v, want %v", before, want)
	}
	want := []aspects.Uncertain{{Relation: "a", At: 1}, {Relation: "b", At: 1}, {Relation: "c"}, {Relation: "c", At: 1, Degraded: true}}
	if !slices.Equal(h.uncertain, want) {
		t.Errorf("unknown are %v, want %v", h.uncertain, want)
	}
}

// TestEffectsOfCallsEnd: in a world a call keeps its effects under a name, and the result
// says what becomes of them.
func TestEffectsOfCallsEnd(t *testing.T) {
	b := *twoClauses(t)
	b.World = &world.Spec{}
	r := &replayer{bundle: &b}
	h := history{calls: map[string]proposed{}}
	call := &schema.Event{Kind: schema.KindCall, CallID: "c", Tool: "t"}
	in, typing := r.input(&h, 4, call)
	h.remember(4, call, typing)
	if in.Call != "4" || in.Ended != (aspects.Ended{}) {
		t.Errorf("the call is %q and ends %+v", in.Call, in.Ended)
	}
	for status, outcome := range map[schema.ResultStatus]aspects.Outcome{
		schema.ResultOK: aspects.EffectsStay, schema.ResultError: aspects.EffectsGo, schema.ResultUnknown: aspects.EffectsDoubt,
	} {
		in, _ := r.input(&h, 5, &schema.Event{Kind: schema.KindResult, CallID: "c", Status: status})
		if want := (aspects.Ended{Call: "4", Outcome: outcome}); in.Ended != want || in.Call != "" {
			t.Errorf("%v: the call ends %+v, want %+v", status, in.Ended, want)
		}
	}
}

func TestAgentDojoRefusesWhatItCannotEvaluate(t *testing.T) {
	paths := []string{t.TempDir()}
	if _, err := AgentDojo(t.Context(), paths, &policy.Bundle{Name: "empty"}, Options{}); !errors.Is(err, ErrNoClauses) {
		t.Errorf("no clauses: %v", err)
	}
	if _, err := AgentDojo(t.Context(), paths, twoClauses(t), Options{}); !errors.Is(err, ErrNoEngine) {
		t.Errorf("no engine: %v", err)
	}
}
