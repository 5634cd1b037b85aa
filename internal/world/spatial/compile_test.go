package spatial

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

func quantify(name string, f syntax.Formula) syntax.Formula {
	return &syntax.Exists{Vars: []syntax.Var{variable(name)}, F: f}
}

func both(l, r syntax.Formula) syntax.Formula { return &syntax.And{Left: l, Right: r} }

func fact(name string, args ...syntax.Term) syntax.Formula {
	return &syntax.Pred{Name: name, Args: args}
}

func TestCompileRefuses(t *testing.T) {
	o, here, p := variable("o"), syntax.Here{}, &syntax.Label{Name: "p"}
	for _, c := range []struct {
		f    syntax.Formula
		want string
	}{
		{quantify("o", p), ""},
		{quantify("o", &syntax.Not{F: fact("alarm", o)}), "no predicate binds o"},
		{quantify("o", &syntax.Somewhere{F: fact("alarm", o)}), "outside of spatial operators"},
		{quantify("o", &syntax.Or{Left: fact("alarm", o), Right: p}), "no predicate binds o"},
		{fact("launch", here), "no relation of the world"},
		{fact("alarm", here, here), "2 arguments here and 1 in the world"},
		{&syntax.Once{F: p}, "not an operator of core location formulas"},
		{&syntax.Implies{Left: p, Right: p}, "checked core"},
		{&syntax.Cmp{Left: variable("x"), Right: syntax.Neg{T: variable("y")}}, "outside of AT"},
		{&syntax.Somewhere{D: syntax.Distance{Sort: "aerial"}, F: p}, "physical or informational"},
		{&syntax.Somewhere{D: syntax.Distance{Lo: -1}, F: p}, "negative"},
		{&syntax.Match{Op: syntax.Matches, Left: here, Right: text("a(b)"), Pattern: "a(b)", Groups: []syntax.Term{o}}, "groups"},
	} {
		_, err := Compile(at(c.f), modelSpec())
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.f, err)
		case c.want != "" && (!errors.Is(err, ErrFormula) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want an error with %q", c.f, err, c.want)
		}
	}
}

// TestRelations shows what is read; reaches ranges over vertices where its second argument is
// known.
func TestRelations(t *testing.T) {
	spec := modelSpec()
	spec.Domains = []string{"MED"}
	here, d, o := syntax.Here{}, variable("d"), text("a")
	for _, c := range []struct {
		f    syntax.Formula
		want world.RelKind
	}{
		{quantify("d", fact("reaches", o, d)), world.ReachesDomain},
		{quantify("d", both(fact("reaches", o, d), &syntax.Not{F: fact("hot", d)})), world.ReachesDomain},
		{quantify("d", both(fact("reaches", o, d), fact("holds", d, o))), world.Reaches},
		{quantify("d", both(fact("reaches", o, d), &syntax.Cmp{Left: d, Right: here})), world.Reaches},
		{fact("reaches", o, here), world.Reaches},
		{fact("reaches", o, variable("x")), world.Reaches},
		{fact("reaches", o, text("MED")), world.ReachesDomain},
		{fact("reaches", o, text("elsewhere")), world.Reaches},
		{fact("connects", here, text("MED")), world.ConnectsDomain},
		{fact("label", here, text("p")), world.HasLabel},
	} {
		f, err := Compile(at(c.f), spec)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, rel := range f.Relations() {
			found = found || rel.Kind == c.want
			other := rel.Kind == world.Reaches || rel.Kind == world.ReachesDomain
			if other && rel.Kind != c.want {
				t.Errorf("%s reads %v", c.f, rel)
			}
		}
		if !found {
			t.Errorf("%s reads %v, want %v", c.f, f.Relations(), c.want)
		}
	}
}

// TestTextTests evaluates SUBSTRING and MATCHES, also of a text that is too long to search.
func TestTextTests(t *testing.T) {
	m := line(1, 1)
	long := strings.Repeat("a", searchBudget)
	for _, c := range []struct {
		f         syntax.Formula
		x         string
		safe, not verdict.Value
	}{
		{&syntax.Match{Op: syntax.Substring, Left: text("0"), Right: syntax.Here{}}, "", verdict.F, verdict.T},
		{&syntax.Match{Op: syntax.Matches, Left: variable("x"), Right: text("^b+$"), Pattern: "^b+$"}, "bb", verdict.F, verdict.T},
		{&syntax.Match{Op: syntax.Matches, Left: variable("x"), Right: text("^b+$"), Pattern: "^b+$"}, long, verdict.T, verdict.T},
	} {
		f, not := mustCompile(t, c.f, modelSpec()), mustCompile(t, &syntax.Not{F: c.f}, modelSpec())
		if got := f.Value(m, "v0", argsOf(f, c.x), world.Safe); got != c.safe {
			t.Errorf("%s: %v, want %v", c.f, got, c.safe)
		}
		if got := not.Value(m, "v0", argsOf(f, c.x), world.Safe); got != c.not {
			t.Errorf("NOT %s: %v, want %v", c.f, got, c.not)
		}
	}
}

// TestLimit stands at the limit of steps and one beyond: a search over 10 vertices, which looks from
// them along 18 edges.
func TestLimit(t *testing.T) {
	m := line(10, 1)
	for _, c := range []struct {
		limit     int64
		exhausted bool
		safe      verdict.Value
		unsafe    verdict.Value
	}{
		{29, false, verdict.T, verdict.T},
		{28, true, verdict.T, verdict.F},
	} {
		f := mustCompile(t, reachFormula(0, 100), modelSpec())
		f.run.limit = c.limit
		for sense, want := range map[world.Sense]verdict.Value{world.Safe: c.safe, world.Unsafe: c.unsafe} {
			if got := f.Value(m, "v0", nil, sense); got != want || f.Exhausted() != c.exhausted {
				t.Errorf("limit %d, %v: %v, exhausted %v", c.limit, sense, got, f.Exhausted())
			}
			if path, ok := f.Witness(m, "v0", nil, sense); ok {
				t.Errorf("limit %d: %v", c.limit, path)
			}
		}
	}
}

// TestLimitOfTuples: what is looked at in a relation counts as well.
func TestLimitOfTuples(t *testing.T) {
	m := line(1, 1)
	m.tables["holds"], m.tables["alarm"] = map[string]verdict.Value{}, map[string]verdict.Value{}
	for _, o := range []string{"a", "b", "c", "d", "e"} {
		m.tables["holds"][tupleKey("v0", o)] = verdict.F
	}
	o := variable("o")
	f := mustCompile(t, quantify("o", both(fact("holds", syntax.Here{}, o), fact("alarm", o))), modelSpec())
	for limit, exhausted := range map[int64]bool{6: false, 5: true, 1: true} {
		f.run.limit = limit
		if f.Value(m, "v0", nil, world.Safe); f.Exhausted() != exhausted {
			t.Errorf("limit %d: exhausted %v", limit, f.Exhausted())
		}
	}
}

func ExampleFormula_Witness() {
	w, err := world.New(medevac())
	if err != nil {
		panic(err)
	}
	f, err := Compile(&syntax.At{Loc: text("bravo"), F: &syntax.Reach{
		D: syntax.Distance{Hi: 4000}, Left: &syntax.Not{F: &syntax.Label{Name: "masking"}}, Right: &syntax.Label{Name: "threat"},
	}}, w.Spec())
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Value(w, "bravo", nil, world.Unsafe))
	path, _ := f.Witness(w, "bravo", nil, world.Unsafe)
	for _, s := range path {
		fmt.Println(s.Vertex, s.Distance)
	}
	fmt.Println(f.Value(w, "charlie", []schema.Value{}, world.Unsafe))
	// Output:
	// F
	// bravo 0
	// open_2 1000
	// sam 3000
	// T
}
