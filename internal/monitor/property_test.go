package monitor_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/monitor"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// fleet is a small world: home may send to a gateway, which has a closed channel to a partner.
func fleet() *world.Spec {
	info := func(name, domain string, labels ...string) world.VertexSpec {
		return world.VertexSpec{Name: name, Sort: world.Informational, Domain: domain, Labels: labels}
	}
	return &world.Spec{
		PhysicalUnit: "m",
		Vertices: []world.VertexSpec{
			info("gateway", "OWN"), info("home", "OWN", "home"), info("partner", "PARTNER", "foreign"),
		},
		Channels: []world.ChannelSpec{
			{From: "gateway", To: "partner", Weight: world.WeightByDomain}, {From: "home", To: "gateway", Weight: world.WeightByDomain, Open: true},
		},
		States:  []world.StateSpec{{Name: "marked", Kinds: []schema.ValueKind{schema.KindString, schema.KindString}}},
		Domains: []string{"OWN", "PARTNER"}, Labels: []string{"foreign", "home"}, Attributes: []string{"lz"},
	}
}

// exposure is the clause of the tests that follow.
const exposure = `NEW (reaches(r, d) AND marked(r, "PHI")) AND NOT ours(d) AND NOT (ONCE[0s,10s] grant(r, d))`

func place(object, vertex string) world.Edit {
	return world.Edit{Op: world.Place, A: object, B: vertex}
}

func open(from, to string) world.Edit {
	return world.Edit{Op: world.OpenChannel, A: from, B: to, N: world.WeightByDomain}
}

func phi(object string) world.Edit {
	return world.Edit{Op: world.Mark, Name: "marked", Values: []schema.Value{schema.StringValue(object), schema.StringValue("PHI")}}
}

// story is a trace that is told event by event.
type story struct {
	tb testing.TB
	m  aspects.Monitor
	n  uint64
}

func tell(tb testing.TB, spec *world.Spec, formulas ...string) *story {
	tb.Helper()
	b, _ := bundle(tb, spec, formulas...)
	engine, err := monitor.New(b, aspects.Spatial)
	if err != nil {
		tb.Fatal(err)
	}
	return &story{tb: tb, m: engine.New()}
}

func (s *story) input(edits []world.Edit, facts ...schema.Fact) aspects.Input {
	s.n++
	facts = append(facts, schema.Fact{Name: "ours", Args: []schema.Value{schema.StringValue("OWN")}})
	return aspects.Input{
		Timestamp: int64(s.n) * 1e9, Offset: s.n, Call: fmt.Sprint(s.n), Edits: edits, Facts: facts, Evidence: verdict.Sound,
	}
}

// calls judges a call, adopts it unless it fires, and checks what is said of it.
func (s *story) calls(want string, edits ...world.Edit) {
	s.tb.Helper()
	in := s.input(edits)
	parts := s.m.Judge(in)
	if got := show(parts); got != want {
		s.tb.Errorf("event %d: got %s, want %s", s.n, got, want)
	}
	if len(parts) == 0 {
		s.m.Adopt(in)
	}
}

// happens adopts an event without asking.
func (s *story) happens(edits ...world.Edit) { s.m.Adopt(s.input(edits)) }

// show prints parts as `00(A,PARTNER)F@[3] home>gateway`.
func show(parts []schema.Part) string {
	var out []string
	for _, p := range parts {
		text := p.Clause
		if p.Completeness != verdict.Sound {
			text += " " + p.Completeness.String()
		}
		for _, r := range p.Rows {
			var values []string
			for _, v := range r.Values {
				values = append(values, v.Str)
			}
			text += fmt.Sprintf("(%s)%v@%v", strings.Join(values, ","), r.Mark, r.Witness)
			for _, path := range r.Paths {
				text += " " + path.Of + ": " + strings.Join(path.Vertices, ">")
			}
			if r.Documents {
				text += " documents"
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// TestEffectsNotNames: whichever event completes the exposure is the one that fires.
func TestEffectsNotNames(t *testing.T) {
	for _, last := range []int{0, 1, 2} {
		effects := [][]world.Edit{{place("A", "home")}, {phi("A")}, {open("gateway", "partner")}}
		order := slices.Concat(effects[:last], effects[last+1:])
		s := tell(t, fleet(), exposure)
		s.calls("", order[0]...)
		s.calls("", order[1]...)
		s.calls(`00(A,PARTNER)F@[1 2 3] reaches("A", "PARTNER"): home>gateway>partner`, effects[last]...)
	}
}

// TestStandingViolation: one that is there refuses nobody else's call, nor one that adds
// nothing; a second one is not hidden, a repair passes, and what was repaired can be
// violated again.
func TestStandingViolation(t *testing.T) {
	s := tell(t, fleet(), exposure)
	s.happens(place("A", "home"), phi("A"), open("gateway", "partner"))
	s.calls("", place("B", "home"))
	s.calls("", place("A", "gateway"))
	s.calls("", world.Edit{Op: world.AddLabel, A: "gateway", B: "foreign"})
	s.calls(`00(C,PARTNER)F@[1 5] reaches("C", "PARTNER"): gateway>partner`, place("C", "gateway"), phi("C"))
	s.calls("", world.Edit{Op: world.CloseChannel, A: "gateway", B: "partner"})
	s.calls(`00(A,PARTNER)F@[1 3 7] reaches("A", "PARTNER"): gateway>partner`, open("gateway", "partner"))
}

// TestTimeFiresNothing: a grant that runs out refuses nothing that does not do anything.
func TestTimeFiresNothing(t *testing.T) {
	s := tell(t, fleet(), exposure)
	s.happens(place("A", "gateway"), phi("A"))
	grant := schema.Fact{Name: "grant", Args: []schema.Value{schema.StringValue("A"), schema.StringValue("PARTNER")}}
	s.m.Adopt(s.input(nil, grant))
	s.calls("", open("gateway", "partner"))
	for range 20 {
		s.calls("")
		s.m.Advance(1 << 60)
		s.calls("", place("B", "home"))
	}
}

// TestInnerPath: a path from or to a vertex that the formula quantifies.
func TestInnerPath(t *testing.T) {
	s := tell(t, fleet(), `NEW (EXISTS l. (holds(l, r) AND AT l (SOMEWHERE[0,1] foreign)))`, `NEW (EXISTS l. (holds(l, r) AND connects(l, "PARTNER")))`)
	s.happens(open("gateway", "partner"))
	s.calls(`00(A)F@[1 2] AT "gateway" (SOMEWHERE[0,1] foreign): gateway>partner; 01(A)F@[1 2] connects("gateway", "PARTNER"): gateway>partner`, place("A", "gateway"))
}

// TestUnknownVertex: what is not declared is no excuse.
func TestUnknownVertex(t *testing.T) {
	s := tell(t, fleet(), exposure, `NEW (EXISTS l. (holds(l, r) AND NOT label(l, "home")))`)
	s.happens(phi("A"), place("A", "home"))
	parts := s.m.Judge(s.input([]world.Edit{place("A", "nowhere")}))
	if got := show(parts); !strings.Contains(got, "(A,PARTNER)F") || !strings.Contains(got, "01(A)F") {
		t.Errorf("at an unknown vertex: %s", got)
	}
}

// TestResult: an error takes the effects back; nothing is as if the call had never been.
func TestResult(t *testing.T) {
	s := tell(t, fleet(), exposure, `NEW (gone(r))`)
	s.happens(place("A", "gateway"), phi("A"))
	s.happens(open("gateway", "partner"))
	in := s.input(nil)
	in.Call, in.Ended = "", aspects.Ended{Call: "2", Outcome: aspects.EffectsGo}
	s.m.Adopt(in)
	s.calls("", place("B", "gateway"))
	s.calls(`00(A,PARTNER)F@[1 5] reaches("A", "PARTNER"): gateway>partner`, open("gateway", "partner"))
}

// TestDocuments: a row about an object that the event makes says so, if the tool documents,
// unless the event itself put it where it must not be.
func TestDocuments(t *testing.T) {
	s := tell(t, fleet(), exposure)
	s.happens(open("gateway", "partner"), place("B", "home"))
	in := s.input([]world.Edit{place("A", "home"), phi("A"), phi("B")})
	in.Documents = true
	want := `00(A,PARTNER)F@[1 2] reaches("A", "PARTNER"): home>gateway>partner documents(B,PARTNER)F@[1 2] reaches("B", "PARTNER"): home>gateway>partner`
	if got := show(s.m.Judge(in)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	in = s.input([]world.Edit{place("A", "partner"), phi("A")})
	in.Documents = true
	if got, want := show(s.m.Judge(in)), `00(A,PARTNER)F@[3] reaches("A", "PARTNER"): partner`; got != want {
		t.Errorf("put there by the event: got %s, want %s", got, want)
	}
}

// TestDoubt: what a call in doubt touched is uncertain, and nothing else is.
func TestDoubt(t *testing.T) {
	s := tell(t, fleet(), exposure)
	s.happens(phi("A"), phi("B"))
	s.happens(place("A", "gateway"))
	s.m.(aspects.Settler).Settle(aspects.Ended{Call: "2", Outcome: aspects.EffectsDoubt})
	s.calls("", place("B", "home"))
	s.calls("00 incomplete", place("A", "home"))
	s.m.(aspects.Settler).Settle(aspects.Ended{Call: "2", Outcome: aspects.EffectsStay})
	s.calls("", place("A", "home"))
	s.happens(open("gateway", "partner"))
	s.m.(aspects.Settler).Settle(aspects.Ended{Call: "6", Outcome: aspects.EffectsDoubt})
	if got := show(s.m.Judge(s.input([]world.Edit{place("C", "gateway"), phi("C")}))); !strings.Contains(got, "incomplete(C,PARTNER)F") {
		t.Errorf("through a channel in doubt: %s", got)
	}
}

// TestManyRows: one channel lets out every record; paths are looked for up to a limit, and a row
// beyond it is no documentation.
func TestManyRows(t *testing.T) {
	s := tell(t, fleet(), exposure)
	s.happens(open("gateway", "partner"))
	var edits []world.Edit
	for i := range 300 {
		name := fmt.Sprintf("r%03d", i)
		edits = append(edits, place(name, "home"), phi(name))
	}
	in := s.input(edits)
	in.Documents = true
	rows := s.m.Judge(in)[0].Rows
	if len(rows) != 300 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		if shown := i < 16; (len(row.Paths) == 1) != shown || row.Documents != shown {
			t.Fatalf("row %d: paths %v, documents %v", i, row.Paths, row.Documents)
		}
	}
}

// TestOverflow: no event makes the world overflow unnoticed, for after that no answer about it
// is sound again; a call that would is refused by what reads the world, and leaves it as it was.
func TestOverflow(t *testing.T) {
	s := tell(t, fleet(), exposure)
	long := strings.Repeat("x", 5000)
	s.calls("00 incomplete", world.Edit{Op: world.Append, Name: "lz", A: long, Values: []schema.Value{schema.StringValue("home")}})
	s.calls("00 incomplete", place(long, "home"))
	s.calls("", place("A", "home"))
}

// TestUncertainEffect: an effect that could not be evaluated makes what reads its relation
// incomplete for ever.
func TestUncertainEffect(t *testing.T) {
	s := tell(t, fleet(), exposure, `NEW (EXISTS l. (lz("m", l) AND AT l (foreign)))`)
	in := s.input([]world.Edit{place("B", "home")})
	in.Timestamp, in.Uncertain = 1<<60, []aspects.Uncertain{{Relation: "holds", At: 5}}
	if got, want := show(s.m.Judge(in)), "00 incomplete"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	in.Edits = nil
	if got := show(s.m.Judge(in)); got != "" {
		t.Errorf("without effects: %s", got)
	}
}

// TestRefusedLeavesNothing: the state after a refused call is that before, and the world too.
func TestRefusedLeavesNothing(t *testing.T) {
	s := tell(t, fleet(), exposure)
	s.happens(place("A", "home"), phi("A"))
	m := s.m.(*monitor.Monitor)
	hash, state := m.World().Hash(), m.AppendState(nil)
	s.calls(`00(A,PARTNER)F@[1 2] reaches("A", "PARTNER"): home>gateway>partner`, open("gateway", "partner"))
	if m.World().Hash() != hash || !bytes.Equal(state, m.AppendState(nil)) {
		t.Error("a refused call changed the state")
	}
}

// TestWorldAlone: an engine without formulas folds the world all the same.
func TestWorldAlone(t *testing.T) {
	b, _ := bundle(t, fleet(), exposure)
	alone, err := monitor.NewWorld(b)
	if err != nil {
		t.Fatal(err)
	}
	s := tell(t, fleet(), exposure)
	m := alone.New().(*monitor.Monitor)
	for _, edits := range [][]world.Edit{{place("A", "home")}, {phi("A")}, {open("gateway", "partner")}} {
		in := s.input(edits)
		if parts := m.Judge(in); len(parts) > 0 {
			t.Errorf("it says %s", show(parts))
		}
		m.Adopt(in)
		s.m.Adopt(in)
	}
	if m.World().Hash() != s.m.(*monitor.Monitor).World().Hash() {
		t.Error("it folds another world")
	}
	b.World = nil
	if _, err := monitor.NewWorld(b); err == nil || !strings.Contains(err.Error(), "world:") {
		t.Errorf("without a world: %v", err)
	}
}

// TestRestoreRefuses: bytes that AppendState did not write.
func TestRestoreRefuses(t *testing.T) {
	b, _ := bundle(t, fleet(), exposure)
	engine, err := monitor.New(b, aspects.Spatial)
	if err != nil {
		t.Fatal(err)
	}
	m := engine.New()
	s := &story{tb: t, m: m}
	s.happens(place("A", "home"), phi("A"))
	good := m.AppendState(nil)
	for i := range good {
		if _, err := engine.Restore(good[:i]); !errors.Is(err, monitor.ErrState) {
			t.Fatalf("the first %d of %d bytes: %v", i, len(good), err)
		}
		bad := bytes.Clone(good)
		bad[i] ^= 1
		other, err := engine.Restore(bad)
		if err == nil && !bytes.Equal(other.AppendState(nil), bad) {
			t.Fatalf("byte %d changed is accepted and encodes otherwise", i)
		}
		if err != nil && !errors.Is(err, monitor.ErrState) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	if _, err := engine.Restore(append(bytes.Clone(good), 0)); !errors.Is(err, monitor.ErrState) {
		t.Errorf("a byte too many: %v", err)
	}
}

// TestDoubtIsOverwritten: what a call in doubt wrote is certain again once an event that stays
// has written it, as an authority's event does.
func TestDoubtIsOverwritten(t *testing.T) {
	s := tell(t, fleet(), exposure)
	s.happens(open("gateway", "partner"))
	s.m.(aspects.Settler).Settle(aspects.Ended{Call: "1", Outcome: aspects.EffectsDoubt})
	s.calls("00 incomplete(C,PARTNER)F@[1 2] reaches(\"C\", \"PARTNER\"): gateway>partner", place("C", "gateway"), phi("C"))
	in := s.input([]world.Edit{{Op: world.CloseChannel, A: "gateway", B: "partner"}})
	in.Call = ""
	s.m.Adopt(in)
	s.calls("", place("C", "gateway"), phi("C"))
	if s.m.(*monitor.Monitor).World().HasDoubts() {
		t.Error("there is a doubt about nothing")
	}
}
