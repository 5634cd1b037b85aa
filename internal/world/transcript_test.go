package world_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// medevac is the informational graph of the medical evacuation domain.
func medevac() *world.Spec {
	return &world.Spec{
		Vertices: []world.VertexSpec{
			{Name: "med_fwd", Sort: world.Informational, Domain: "MED", Labels: []string{"home", "medical_enclave"}},
			{Name: "med_rear", Sort: world.Informational, Domain: "MED", Labels: []string{"medical_enclave"}},
			{Name: "c2_cop", Sort: world.Informational, Domain: "MED", Labels: []string{"cop"}},
			{Name: "partner_med", Sort: world.Informational, Domain: "MED_COALITION", Labels: []string{"medical_enclave"}},
			{Name: "coalition_cop", Sort: world.Informational, Domain: "PARTNER", Labels: []string{"cop"}},
		},
		Channels: []world.ChannelSpec{
			{From: "med_fwd", To: "med_rear", Weight: world.WeightByDomain, Open: true},
			{From: "med_fwd", To: "c2_cop", Weight: world.WeightByDomain, Open: true},
			{From: "med_fwd", To: "partner_med", Weight: world.WeightByDomain},
			{From: "c2_cop", To: "coalition_cop", Weight: world.WeightByDomain},
		},
		Attributes: []string{"lz"},
		States:     []world.StateSpec{{Name: "marked", Kinds: []schema.ValueKind{schema.KindString, schema.KindString}}},
	}
}

// show lists the tuples of a relation, each with what is remarkable about it.
func show(w *world.World, name string, sense world.Sense) string {
	rel, ok := w.Spec().Lookup(name)
	if !ok {
		return "no relation " + name
	}
	arity := len(w.Spec().Signature()[name])
	var lines []string
	w.Scan(rel, make([]schema.Value, arity), 0, sense, func(t world.Tuple) bool {
		lines = append(lines, line(t))
		return true
	})
	return strings.Join(lines, " ")
}

func line(t world.Tuple) string {
	var b strings.Builder
	for i, a := range t.Args {
		if i > 0 {
			b.WriteByte(',')
		}
		if a.Kind == schema.KindString {
			b.WriteString(a.Str)
		} else {
			b.WriteString(a.String())
		}
	}
	if t.Mark != verdict.F {
		fmt.Fprintf(&b, ":%v", t.Mark)
	}
	if t.Origin != 0 {
		fmt.Fprintf(&b, "@%d", t.Origin)
	}
	return b.String()
}

func strs(values ...string) []schema.Value {
	var out []schema.Value
	for _, v := range values {
		out = append(out, schema.StringValue(v))
	}
	return out
}

func newWorld(tb testing.TB, spec *world.Spec) *world.World {
	tb.Helper()
	w, err := world.New(spec)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func expect(t *testing.T, w *world.World, name string, sense world.Sense, want string) {
	t.Helper()
	if got := show(w, name, sense); got != want {
		t.Errorf("%s:\n got %s\nwant %s", name, got, want)
	}
}

// touched lists what a delta says about a relation.
func touched(d *world.Delta, rel world.Rel) string {
	var lines []string
	d.Touched(rel, func(args []schema.Value) bool {
		lines = append(lines, line(world.Tuple{Args: args, Mark: verdict.F}))
		return true
	})
	return strings.Join(lines, " ")
}

func TestRecordComesToPartner(t *testing.T) {
	w := newWorld(t, medevac())
	w, d := w.Apply([]world.Edit{{Op: world.Place, A: "A", B: "med_fwd"}}, world.Origin{Offset: 1, Call: "c1"})
	expect(t, w, "holds", world.Safe, "med_fwd,A@1")
	expect(t, w, "reaches", world.Unsafe, "A,MED A,c2_cop A,med_fwd A,med_rear")
	if got := touched(d, world.Rel{Kind: world.ReachesDomain}); got != "A" || !d.Created("A") {
		t.Errorf("touched %q", got)
	}
	w, d = w.Apply([]world.Edit{{Op: world.OpenChannel, A: "c2_cop", B: "coalition_cop", N: world.WeightByDomain}}, world.Origin{Offset: 2, Call: "c2"})
	if got := touched(d, world.Rel{Kind: world.ReachesDomain}); got != "A" {
		t.Errorf("touched %q", got)
	}
	expect(t, w, "opened", world.Safe, "c2_cop,coalition_cop@2 med_fwd,c2_cop med_fwd,med_rear")
	path, ok := w.ObjectPath("A", "PARTNER")
	if want := "[{med_fwd 0 1} {c2_cop 0 0} {coalition_cop 1 2}]"; !ok || fmt.Sprint(path) != want {
		t.Errorf("path %v, want %s", path, want)
	}
	back, d := w.Revert("c2", world.Origin{Offset: 3})
	if got := touched(d, world.Rel{Kind: world.ReachesDomain}); got != "A" {
		t.Errorf("touched %q", got)
	}
	expect(t, back, "reaches", world.Unsafe, "A,MED A,c2_cop A,med_fwd A,med_rear")
	expect(t, w, "reaches", world.Unsafe, "A,MED A,PARTNER A,c2_cop A,coalition_cop A,med_fwd A,med_rear")
}

func TestUnknownVertexIsUnsafe(t *testing.T) {
	w := newWorld(t, medevac())
	w, _ = w.Apply([]world.Edit{{Op: world.Place, A: "A", B: "nowhere"}}, world.Origin{Offset: 1})
	expect(t, w, "reaches", world.Safe, "A,nowhere")
	expect(t, w, "reaches", world.Unsafe, "A,? A,MED A,MED_COALITION A,PARTNER A,c2_cop A,coalition_cop A,med_fwd A,med_rear A,nowhere A,partner_med")
	w, _ = w.Apply([]world.Edit{{Op: world.AddVertex, A: "nowhere", Sort: world.Informational, B: "MED"}}, world.Origin{Offset: 2})
	expect(t, w, "reaches", world.Unsafe, "A,MED A,nowhere")
}

func TestLastReplica(t *testing.T) {
	w := newWorld(t, medevac())
	w, _ = w.Apply([]world.Edit{{Op: world.Place, A: "A", B: "med_fwd"}, {Op: world.Place, A: "A", B: "c2_cop"}}, world.Origin{Offset: 1})
	w, _ = w.Apply([]world.Edit{{Op: world.Purge, A: "A", B: "medical_enclave"}}, world.Origin{Offset: 2})
	expect(t, w, "gone", world.Safe, "")
	w, _ = w.Apply([]world.Edit{{Op: world.Destroy, A: "A"}}, world.Origin{Offset: 3})
	expect(t, w, "gone", world.Safe, "A@3")
	expect(t, w, "exists", world.Safe, "A@1")
}

func TestMarksOnlyRise(t *testing.T) {
	w := newWorld(t, medevac())
	mark := func(s verdict.Strength) []world.Edit {
		return []world.Edit{{Op: world.Mark, Name: "marked", Values: strs("A", "PHI"), Strength: s}}
	}
	w, _ = w.Apply(mark(verdict.Presumptive), world.Origin{Offset: 1})
	expect(t, w, "marked", world.Safe, "A,PHI:Fp@1")
	w, _ = w.Apply(mark(verdict.Definite), world.Origin{Offset: 2})
	expect(t, w, "marked", world.Safe, "A,PHI@2")
	next, d := w.Apply(mark(verdict.Presumptive), world.Origin{Offset: 3})
	if next != w || !d.Empty() {
		t.Error("a weaker mark changed the world")
	}
}

// TestMarksOfCalls: a mark is as strong as what stands of it. One that a call made definite falls
// back to what others have guessed, before or since, when the call is taken back.
func TestMarksOfCalls(t *testing.T) {
	mark := func(w *world.World, offset uint64, call string, s verdict.Strength) *world.World {
		w, _ = w.Apply([]world.Edit{{Op: world.Mark, Name: "marked", Values: strs("A", "PHI"), Strength: s}}, world.Origin{Offset: offset, Call: call})
		return w
	}
	for _, later := range []string{"p", ""} { // a call, and an event that stays
		for _, kept := range []bool{false, true} {
			w := mark(newWorld(t, medevac()), 1, "d", verdict.Definite)
			w = mark(w, 2, later, verdict.Presumptive)
			if kept && later != "" {
				w = w.Keep(later)
			}
			w, d := w.Revert("d", world.Origin{Offset: 3})
			expect(t, w, "marked", world.Safe, "A,PHI:Fp@2")
			if d.Empty() {
				t.Error("the delta says nothing of the strength")
			}
		}
		w := mark(newWorld(t, medevac()), 1, "d", verdict.Definite)
		w = mark(w, 2, later, verdict.Presumptive).Keep("d")
		w, _ = w.Revert(later, world.Origin{Offset: 3})
		if got := show(w, "marked", world.Safe); !strings.HasPrefix(got, "A,PHI@") {
			t.Errorf("kept, the mark is %s", got)
		}
	}
}

func TestDerivedIsClosed(t *testing.T) {
	w := newWorld(t, medevac())
	w, _ = w.Apply([]world.Edit{{Op: world.Derive, A: "B", B: "A"}}, world.Origin{Offset: 1})
	w, d := w.Apply([]world.Edit{{Op: world.Derive, A: "C", B: "B"}, {Op: world.Derive, A: "C", B: "X"}}, world.Origin{Offset: 2})
	expect(t, w, "derived", world.Safe, "B,A C,A C,B C,X")
	if got := touched(d, world.Rel{Kind: world.Derived}); got != "C,A C,B C,X" {
		t.Errorf("touched %q", got)
	}
	expect(t, w, "exists", world.Safe, "B@1 C@2")
}

func TestDoubt(t *testing.T) {
	w := newWorld(t, medevac())
	w, _ = w.Apply([]world.Edit{{Op: world.Set, Name: "lz", A: "m1", Values: strs("x", "y")}}, world.Origin{Offset: 1, Call: "c"})
	w = w.Doubt("c")
	if !w.HasDoubts() || !w.Doubtful("m1") || w.Doubtful("m2") {
		t.Error("the wrong names are in doubt")
	}
	w, _ = w.Apply([]world.Edit{{Op: world.Append, Name: "lz", A: "m1", Values: strs("y")}}, world.Origin{Offset: 2})
	w, _ = w.Revert("c", world.Origin{Offset: 3})
	expect(t, w, "lz", world.Safe, "m1,y@2")
	if w.HasDoubts() {
		t.Error("a doubt is left")
	}
}

func TestSpecErrors(t *testing.T) {
	for _, c := range []struct {
		spoil func(*world.Spec)
		want  string
	}{
		{func(s *world.Spec) { s.Vertices = append(s.Vertices, s.Vertices[0]) }, "twice"},
		{func(s *world.Spec) { s.Vertices[0].Domain = "c2_cop" }, "both a vertex and the domain"},
		{func(s *world.Spec) { s.Vertices[0].Name = "?" }, "reserved"},
		{func(s *world.Spec) { s.Vertices[0].Sort = 0 }, "no sort"},
		{func(s *world.Spec) { s.Channels[0].To = "x" }, "not declared"},
		{func(s *world.Spec) { s.Channels = append(s.Channels, s.Channels[0]) }, "twice"},
		{func(s *world.Spec) { s.Edges = []world.EdgeSpec{{From: "med_fwd", To: "c2_cop", Distance: -1}} }, "negative"},
		{func(s *world.Spec) { s.Objects = []world.ObjectSpec{{Name: "A", At: []string{"x"}}} }, "not declared"},
		{func(s *world.Spec) { s.Attributes = append(s.Attributes, "holds") }, "relation"},
	} {
		spec := medevac()
		spec.Vertices, spec.Channels = slices.Clone(spec.Vertices), slices.Clone(spec.Channels)
		c.spoil(spec)
		if _, err := world.New(spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}
