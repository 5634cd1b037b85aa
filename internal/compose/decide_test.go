package compose

import (
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

const (
	temporal = aspects.Temporal
	spatial  = aspects.Spatial
	semantic = aspects.Semantic
)

// TestGuardsJoin: a guard arms the firings with which it agrees on the variables
// that they share.
func TestGuardsJoin(t *testing.T) {
	f, g := forbid(temporal, ""), guard(spatial, "")
	for _, tc := range []struct {
		name            string
		firings, guards []string
		want            string
		fired           int
	}{
		{"the same binding", []string{"x=1:F"}, []string{"x=1:F"}, "refuse violation C", 1},
		{"another binding", []string{"x=1:F"}, []string{"x=2:F"}, "permit", 0},
		{"one of two", []string{"x=1:F", "x=2:F"}, []string{"x=2:F"}, "refuse violation C", 1},
		{"no variable in common", []string{"x=1:F"}, []string{"y=2:F"}, "refuse violation C", 1},
		{"a closed guard", []string{"x=1:F"}, []string{":F"}, "refuse violation C", 1},
		{"a closed formula", []string{":F"}, []string{"x=1:F"}, "refuse violation C", 1},
		{"some in common", []string{"x=1,y=2:F"}, []string{"y=2,z=3:F"}, "refuse violation C", 1},
		{"all of them must agree", []string{"x=1,y=2:F"}, []string{"x=1,y=3:F", "x=2,y=2:F"}, "permit", 0},
		{"the strongest row that agrees", []string{"x=1:F"}, []string{"x=1,z=1:Fp", "x=1,z=2:F", "x=2,z=3:F"}, "refuse violation C", 1},
		{"no row", []string{"x=1:F"}, nil, "permit", 0},
	} {
		d := decide(bundle(clause("C", f, g)), answer(temporal, says("C", f, tc.firings...)), answer(spatial, says("C", g, tc.guards...)))
		fired := 0
		for i := range d.Clauses {
			fired += len(d.Clauses[i].Firings)
		}
		if short(&d) != tc.want || fired != tc.fired {
			t.Errorf("%s: %s with %d firings, want %s with %d", tc.name, short(&d), fired, tc.want, tc.fired)
		}
	}
}

// TestFourValuedGuards goes through every mark of a firing and of two guards. Only a
// guard that definitely does not hold disarms; doubt either way makes a definite
// firing presumptive.
func TestFourValuedGuards(t *testing.T) {
	f, g, h := forbid(temporal, ""), guard(spatial, "g"), guard(semantic, "h")
	b := bundle(clause("C", f, g, h))
	row := func(p policy.Formula, m verdict.Value) schema.Part {
		if m == verdict.T {
			return says("C", p)
		}
		return says("C", p, ":"+m.String())
	}
	for _, firing := range verdict.Values() {
		for _, first := range verdict.Values() {
			for _, second := range verdict.Values() {
				want := firing
				switch {
				case first == verdict.T || second == verdict.T:
					want = verdict.T
				case first != verdict.F || second != verdict.F:
					want = min(firing, verdict.Fp)
				}
				d := decide(b, answer(temporal, row(f, firing)), answer(spatial, row(g, first)), answer(semantic, row(h, second)))
				if d.Value != want {
					t.Errorf("firing %s under guards %s and %s: %s, want %s", firing, first, second, d.Value, want)
				}
				if refuses := d.Outcome == verdict.Refuse; refuses != (want == verdict.F) || d.Flagged != (want == verdict.Fp) {
					t.Errorf("firing %s under guards %s and %s: %s", firing, first, second, short(&d))
				}
			}
		}
	}
}

// TestOffReadings: a guard whose aspect is switched off is evaluated all the same,
// arms presumptively, or disarms. The forbid parts of that aspect are not there.
func TestOffReadings(t *testing.T) {
	f, own, g := forbid(temporal, ""), forbid(spatial, "own"), guard(spatial, "")
	b := bundle(clause("C", f, own, g))
	fires := answer(temporal, says("C", f, "x=1:F"))
	holds := answer(spatial, says("C", g, "x=1:F"), says("C", own, "x=9:F"))
	fails := answer(spatial, says("C", own, "x=9:F"))
	for _, tc := range []struct {
		reading  verdict.OffReading
		verdicts []*schema.Verdict
		want     string
	}{
		{verdict.LooseGuard, []*schema.Verdict{fires, holds}, "refuse violation C"},
		{verdict.LooseGuard, []*schema.Verdict{fires, fails}, "permit"},
		{verdict.LooseGuard, []*schema.Verdict{fires}, "refuse unavailable C"},
		{verdict.UnknownGuard, []*schema.Verdict{fires}, "permit flagged"},
		{verdict.UnknownGuard, []*schema.Verdict{fires, fails}, "permit flagged"},
		{verdict.StrictReference, []*schema.Verdict{fires}, "permit"},
		{verdict.StrictReference, []*schema.Verdict{fires, holds}, "permit"},
	} {
		o := Options{Off: []aspects.Kind{spatial}, Guards: tc.reading}
		d := Decide(&Input{Bundle: b, Typing: policy.Typing{Mapped: true}, Verdicts: tc.verdicts, Options: o})
		if short(&d) != tc.want {
			t.Errorf("reading %s with %d verdicts: %s, want %s", tc.reading, len(tc.verdicts), short(&d), tc.want)
		}
		if loose := tc.reading == verdict.LooseGuard; (len(Aspects(b, o)) == 2) != loose {
			t.Errorf("reading %s needs the verdicts of %v", tc.reading, Aspects(b, o))
		}
	}
	d := Decide(&Input{Bundle: bundle(clause("C", own)), Typing: policy.Typing{Mapped: true}, Options: Options{Off: []aspects.Kind{spatial}}})
	if short(&d) != "permit" || len(d.Missing) != 0 {
		t.Errorf("a clause of an aspect that is off: %s, missing %v", short(&d), d.Missing)
	}
}

// TestMissingParts: a part that did not come refuses as unavailable, where it could
// matter.
func TestMissingParts(t *testing.T) {
	f, g := forbid(temporal, ""), guard(spatial, "")
	b := bundle(clause("C", f, g))
	for _, tc := range []struct {
		name     string
		verdicts []*schema.Verdict
		want     string
	}{
		{"both", nil, "refuse unavailable C"},
		{"the guard of a firing", []*schema.Verdict{answer(temporal, says("C", f, ":F"))}, "refuse unavailable C"},
		{"the guard of no firing", []*schema.Verdict{answer(temporal)}, "permit"},
		{"the part under a guard that holds", []*schema.Verdict{answer(spatial, says("C", g, ":F"))}, "refuse unavailable C"},
		{"the part under a guard that does not", []*schema.Verdict{answer(spatial)}, "permit"},
		{"the part under a guard that may not", []*schema.Verdict{answer(spatial, weak(says("C", g), verdict.Degraded, true))}, "refuse unavailable C"},
	} {
		if d := decide(b, tc.verdicts...); short(&d) != tc.want {
			t.Errorf("missing: %s: %s, want %s", tc.name, short(&d), tc.want)
		}
	}
	d := decide(b)
	if len(d.Missing) != 2 || d.Completeness != verdict.Unavailable {
		t.Errorf("missing are %v, completeness %s", d.Missing, d.Completeness)
	}
}

// TestIncompleteEvidence: what rests on missing evidence refuses as unknown under
// every blocking set, unless the clause flags it; what is proven stands as it is.
func TestIncompleteEvidence(t *testing.T) {
	f, g := forbid(temporal, ""), guard(spatial, "")
	quiet := weak(says("C", f), verdict.Degraded, true)
	hint := weak(says("C", f, "x=1:Fp"), verdict.Degraded, false)
	absent := weak(says("C", f, "x=1:F"), verdict.Incomplete, true)
	proven := weak(says("C", f, "x=1:F"), verdict.Incomplete, false)
	holds := says("C", g, ":F")
	for _, tc := range []struct {
		name  string
		part  schema.Part
		guard schema.Part
		want  string
		flags string // with on_incomplete: flag
	}{
		{"nothing fires", quiet, holds, "refuse unknown C", "permit flagged"},
		{"a hint", hint, holds, "refuse unknown C", "permit flagged"},
		{"a firing for want of a fact", absent, holds, "refuse unknown C", "permit flagged"},
		{"a firing from facts", proven, holds, "refuse violation C", "refuse violation C"},
		{"a firing under a guard for want of a fact", says("C", f, "x=1:F"), weak(holds, verdict.Degraded, true), "refuse unknown C", "permit flagged"},
		{"a firing under a guard from facts", says("C", f, "x=1:F"), weak(holds, verdict.Degraded, false), "refuse violation C", "refuse violation C"},
		{"a firing under a guard that seems not to hold", says("C", f, "x=1:F"), weak(says("C", g), verdict.Degraded, true), "refuse unknown C", "permit flagged"},
		{"anything under a guard that does not hold", absent, says("C", g), "permit", "permit"},
	} {
		for _, flag := range []bool{false, true} {
			c := clause("C", f, g)
			c.FlagIncomplete = flag
			want := tc.want
			if flag {
				want = tc.flags
			}
			for _, set := range []verdict.BlockingSet{verdict.DefaultSet, verdict.PrecautionarySet} {
				if set == verdict.PrecautionarySet && tc.name == "a hint" {
					continue // it takes effect as it is
				}
				b := bundle(c)
				b.Blocking = set
				d := decide(b, answer(temporal, tc.part), answer(spatial, tc.guard))
				if got := short(&d); got != want {
					t.Errorf("%s, flag %t, %s: %s, want %s", tc.name, flag, set, got, want)
				}
			}
		}
	}
}

// TestDoubtBesideProof: in a clause with a proven firing, doubt elsewhere does not
// replace what the clause asks for.
func TestDoubtBesideProof(t *testing.T) {
	f, other := forbid(temporal, "seen"), forbid(temporal, "unseen")
	for strategy, want := range map[verdict.Strategy]string{
		verdict.Block: "refuse violation C", verdict.AskHuman: "escalate violation C", verdict.Divert: "redirect violation C", verdict.FlagOnly: "permit flagged",
	} {
		c := clause("C", f, other)
		c.Strategy = strategy
		d := decide(bundle(c), answer(temporal, says("C", f, ":F"), weak(says("C", other), verdict.Incomplete, true)))
		if short(&d) != want {
			t.Errorf("strategy %s: %s, want %s", strategy, short(&d), want)
		}
	}
}

// TestUncertainFacts: a formula that reads a fact whose expression failed is unknown.
func TestUncertainFacts(t *testing.T) {
	f, g := forbid(temporal, ""), guard(spatial, "")
	for _, tc := range []struct {
		uncertain string
		part      schema.Part
		want      string
	}{
		{"rel_other", says("C", f), "permit"},
		{"rel_temporal", says("C", f), "refuse unknown C"},
		{"rel_temporal", says("C", f, ":F"), "refuse violation C"},
		{"rel_temporal", weak(says("C", f, ":F"), verdict.Sound, true), "refuse unknown C"}, // the fact may be the one that is absent
		{"rel_spatial", says("C", f), "permit"},
		{"rel_spatial", says("C", f, ":F"), "refuse unknown C"},
	} {
		d := Decide(&Input{
			Bundle: bundle(clause("C", f, g)), Typing: policy.Typing{Mapped: true, Uncertain: []string{tc.uncertain}},
			Verdicts: []*schema.Verdict{answer(temporal, tc.part), answer(spatial, says("C", g, ":F"))},
		})
		if short(&d) != tc.want {
			t.Errorf("%s is unknown, %d rows: %s, want %s", tc.uncertain, len(tc.part.Rows), short(&d), tc.want)
		}
	}
}

// TestDegradedFacts: of a fact whose text was looked at in part, what fires stands; what is
// satisfied is no all-clear but unknown, and refuses.
func TestDegradedFacts(t *testing.T) {
	f, g := forbid(temporal, ""), guard(spatial, "")
	holds := says("C", g, ":F")
	for _, tc := range []struct {
		degraded, uncertain []string
		part                schema.Part
		want                string
		completeness        verdict.Completeness
	}{
		{[]string{"rel_other"}, nil, says("C", f), "permit", verdict.Sound},
		{[]string{"rel_temporal"}, nil, says("C", f), "refuse unknown C", verdict.Degraded},
		{[]string{"rel_temporal"}, nil, says("C", f, ":Fp"), "refuse unknown C", verdict.Degraded},
		{[]string{"rel_temporal"}, nil, says("C", f, ":F"), "refuse violation C", verdict.Degraded},
		{[]string{"rel_temporal"}, nil, weak(says("C", f, ":F"), verdict.Sound, true), "refuse unknown C", verdict.Degraded},
		{[]string{"rel_spatial"}, nil, says("C", f), "permit", verdict.Sound},
		{[]string{"rel_spatial"}, nil, says("C", f, ":F"), "refuse unknown C", verdict.Degraded},
		{[]string{"rel_temporal"}, []string{"rel_spatial"}, says("C", f, ":F"), "refuse unknown C", verdict.Incomplete},
	} {
		d := Decide(&Input{
			Bundle: bundle(clause("C", f, g)), Typing: policy.Typing{Mapped: true, Degraded: tc.degraded, Uncertain: tc.uncertain},
			Verdicts: []*schema.Verdict{answer(temporal, tc.part), answer(spatial, holds)},
		})
		if short(&d) != tc.want || d.Completeness != tc.completeness {
			t.Errorf("%v is degraded, %d rows: %s, %s, want %s, %s", tc.degraded, len(tc.part.Rows), short(&d), d.Completeness, tc.want, tc.completeness)
		}
	}
}

// TestUncertainGraph: a formula at a location reads all of the graph, without naming it.
func TestUncertainGraph(t *testing.T) {
	f := forbid(spatial, "")
	f.Checked.Relations = []string{check.Graph, "lz"}
	for rel, want := range map[string]string{
		"lz": "refuse unknown C", "vertex": "refuse unknown C", "label": "refuse unknown C", "domain": "refuse unknown C",
		"opened": "refuse unknown C", "holds": "permit", "route": "permit",
	} {
		d := Decide(&Input{
			Bundle: bundle(clause("C", f)), Typing: policy.Typing{Mapped: true, Uncertain: []string{rel}},
			Verdicts: []*schema.Verdict{answer(spatial, says("C", f))},
		})
		if short(&d) != want {
			t.Errorf("%s is unknown: %s, want %s", rel, short(&d), want)
		}
	}
}

// TestDocuments: a firing on an object that a documenting tool brings into being is flagged; another of
// the same clause refuses all the same, and missing evidence too.
func TestDocuments(t *testing.T) {
	f := forbid(aspects.Spatial, "")
	b := bundle(clause("C", f))
	documented := func(p schema.Part, rows ...int) schema.Part {
		for _, i := range rows {
			p.Rows[i].Documents = true
		}
		return p
	}
	for _, tc := range []struct {
		part schema.Part
		want string
	}{
		{documented(says("C", f, "x=1:F"), 0), "permit flagged"},
		{documented(says("C", f, "x=1:Tp"), 0), "permit"},
		{documented(says("C", f, "x=1:F", "x=2:F"), 0), "refuse violation C"},
		{documented(says("C", f, "x=1:F", "x=2:Fp"), 0, 1), "permit flagged"},
		{weak(documented(says("C", f, "x=1:F"), 0), verdict.Incomplete, false), "refuse unknown C"},
	} {
		d := decide(b, answer(aspects.Spatial, tc.part))
		if got := short(&d); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.part.Rows, got, tc.want)
		}
	}
	d := decide(b, answer(aspects.Spatial, documented(says("C", f, "x=1:F"), 0)))
	if d.Value != verdict.F || !d.Clauses[0].Firings[0].Documents {
		t.Errorf("the firing is not on record: %+v", d)
	}
}

// TestAdmission: what refuses a call whatever the clauses say.
func TestAdmission(t *testing.T) {
	f := forbid(temporal, "")
	quiet, fires := answer(temporal), answer(temporal, says("C", f, ":F"))
	for _, tc := range []struct {
		name       string
		typing     policy.Typing
		unmapped   policy.UnmappedRule
		distrusted bool
		verdict    *schema.Verdict
		want       string
	}{
		{"mapped", policy.Typing{Mapped: true}, policy.UnmappedRefuse, false, quiet, "permit"},
		{"unmapped", policy.Typing{}, policy.UnmappedRefuse, false, quiet, "refuse unmapped"},
		{"unmapped, permitted", policy.Typing{}, policy.UnmappedPermit, false, quiet, "permit"},
		{"unmapped, flagged", policy.Typing{}, policy.UnmappedFlag, false, quiet, "permit flagged"},
		{"unmapped, escalated", policy.Typing{}, policy.UnmappedEscalate, false, quiet, "escalate unmapped"},
		{"unmapped by no rule", policy.Typing{}, "", false, quiet, "refuse unmapped"},
		{"unmapped and violating", policy.Typing{}, policy.UnmappedEscalate, false, fires, "refuse violation C"},
		{"invalid", policy.Typing{Mapped: true, Invalid: "it contradicts itself"}, policy.UnmappedRefuse, false, quiet, "refuse invalid"},
		{"invalid and violating", policy.Typing{Mapped: true, Invalid: "it contradicts itself"}, policy.UnmappedRefuse, false, fires, "refuse violation C"},
		{"distrusted", policy.Typing{Mapped: true}, policy.UnmappedRefuse, true, quiet, "refuse violation"},
		{"distrusted, unmapped", policy.Typing{}, policy.UnmappedPermit, true, quiet, "refuse violation"},
	} {
		b := bundle(clause("C", f))
		b.Unmapped = tc.unmapped
		d := Decide(&Input{Bundle: b, Typing: tc.typing, Distrusted: tc.distrusted, Verdicts: []*schema.Verdict{tc.verdict}})
		if short(&d) != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, short(&d), tc.want)
		}
		if d.Outcome == verdict.Refuse && d.Clause == "" && d.Detail == "" {
			t.Errorf("%s: refused without a clause or a detail", tc.name)
		}
	}
}

// TestEmptyPolicy: no clause, nothing to say.
func TestEmptyPolicy(t *testing.T) {
	d := decide(bundle())
	if short(&d) != "permit" || d.Value != verdict.T || len(d.Clauses) != 0 || !d.Final() {
		t.Errorf("the empty policy: %s, value %s, %d clauses", short(&d), d.Value, len(d.Clauses))
	}
}

// TestPrecedence: over several clauses the strictest outcome wins, and its clause is
// the one named.
func TestPrecedence(t *testing.T) {
	f := forbid(temporal, "")
	with := func(id string, s verdict.Strategy) policy.Clause {
		c := clause(id, f)
		c.Strategy = s
		return c
	}
	b := bundle(with("flag", verdict.FlagOnly), with("divert", verdict.Divert), with("ask", verdict.AskHuman), with("block", verdict.Block))
	order := []string{"flag", "divert", "ask", "block"}
	want := []string{"permit flagged", "redirect violation divert", "escalate violation ask", "refuse violation block"}
	for n := range order {
		var parts []schema.Part
		for _, id := range order[:n+1] {
			parts = append(parts, says(id, f, ":F"))
		}
		d := decide(b, answer(temporal, parts...))
		if got := short(&d); got != want[n] {
			t.Errorf("violating %v: %s, want %s", order[:n+1], got, want[n])
		}
		if len(d.Flags) != 1 || d.Flags[0] != "flag" {
			t.Errorf("violating %v: flags %v", order[:n+1], d.Flags)
		}
	}
}
