package check

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

// seeds calls run with generators of many seeds, or with that of ASPIS_SEED alone.
func seeds(t *testing.T, n int, run func(g generator)) {
	t.Helper()
	if s := os.Getenv("ASPIS_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		run(generator{Rand: rand.New(rand.NewPCG(seed, 0))})
		return
	}
	for seed := range uint64(n) {
		run(generator{Rand: rand.New(rand.NewPCG(seed, 0))})
		if t.Failed() {
			t.Fatalf("repeat with: ASPIS_SEED=%d go test ./internal/lang/check -run '^%s$'", seed, t.Name())
		}
	}
}

// The core means what the source means, is built as promised, and the facts about it
// are true.
func TestCoreIsEquivalent(t *testing.T) {
	accepted, tuples, guarded, satisfied := 0, 0, 0, map[string]int{}
	seeds(t, 20_000, func(g generator) {
		g.world = true
		f := g.formula(2 + g.IntN(4))
		if g.IntN(4) == 0 {
			f = g.aboutWorld(2 + g.IntN(4))
		}
		c, diags := Check(f, testSignature(), everything())
		if c == nil {
			checkRefusal(t, f, diags)
			return
		}
		accepted++
		if err := promised(c); err != nil {
			t.Errorf("%s\ncore %s\n%v", f, c.Core, err)
			return
		}
		if strings.Contains(c.Core.String(), "HISTORICALLY") {
			guarded++
		}
		for range 3 {
			m := model{trace: g.trace()}
			for i := range m.trace {
				got, want := m.satisfying(c.Core, i, c.Free), m.satisfying(f, i, c.Free)
				if !slices.Equal(got, want) {
					t.Errorf("%s\ncore %s\nat %d of %v:\ngot  %v\nwant %v", f, c.Core, i, m.trace, got, want)
					return
				}
				tuples += len(want)
				if len(want) > 0 {
					countOperators(c.Source, satisfied)
				}
				checkFacts(t, g, c, m, i, want)
				checkHorizon(t, g, c, m, i, want)
			}
		}
	})
	t.Logf("%d formulas accepted, %d with guarded HISTORICALLY, %d tuples; satisfied: %v", accepted, guarded, tuples, satisfied)
	if os.Getenv("ASPIS_SEED") != "" {
		return
	}
	if accepted < 5_000 || guarded < 50 || tuples < 10_000 {
		t.Error("too little was tested")
	}
	for _, op := range []string{
		"Next", "Eventually", "Always", "Until", "Match", "Agg", "Let", "New", "Historically", "Since",
		"At", "Label", "Somewhere", "Everywhere", "Escape", "Reach", "Surround",
	} {
		if satisfied["*syntax."+op] < 100 {
			t.Errorf("%s was satisfied %d times only", op, satisfied["*syntax."+op])
		}
	}
}

// everything admits every operator.
func everything() Options { return Options{Future: true, World: testWorld(true)} }

// checkRefusal looks for refusals that are none of the formula's fault.
func checkRefusal(t *testing.T, f syntax.Formula, diags diag.List) {
	t.Helper()
	fair := []diag.Code{
		CodeUnused, CodeNegation, CodeComparison, CodeOr, CodeSince, CodeNever, CodeTooComplex, CodeUnusedLet,
		CodeLocation, CodePastWorld, CodeNew, CodeAt, CodeEveryPoint,
	}
	for _, d := range diags {
		if !slices.Contains(fair, d.Code) {
			t.Errorf("%s: %v\n%s", f, d, d.Hint)
		}
	}
}

// countOperators counts a formula for each kind of node in it.
func countOperators(f syntax.Formula, counts map[string]int) {
	seen := map[string]bool{}
	syntax.Walk(f, func(g syntax.Formula) bool {
		seen[fmt.Sprintf("%T", g)] = true
		return true
	})
	for op := range seen {
		counts[op]++
	}
}

// checkHorizon changes what lies beyond the horizon.
func checkHorizon(t *testing.T, g generator, c *Checked, m model, i int, satisfied []string) {
	t.Helper()
	n, bounded := c.Horizon()
	ahead := false
	syntax.Walk(c.Source, func(f syntax.Formula) bool {
		ahead = ahead || future(f)
		return true
	})
	if c.Future() && !ahead {
		t.Errorf("%s is about the past, its core %s is not", c.Source, c.Core)
	}
	if !bounded {
		return
	}
	end := i
	for end < len(m.trace) && m.trace[end].ts <= m.trace[i].ts+n {
		end++
	}
	if !c.Future() && n != 0 {
		t.Errorf("%s is about the past and has horizon %d", c.Source, n)
	}
	ts := m.trace[i].ts + n
	changed := slices.Clone(m.trace[:end])
	for range g.IntN(3) {
		ts += int64(1 + g.IntN(3))
		changed = append(changed, g.point(ts))
	}
	if now := (model{trace: changed}).satisfying(c.Core, i, c.Free); !slices.Equal(now, satisfied) {
		t.Errorf("%s has horizon %d, but yields at %d\n%v in %v\n%v in %v", c.Source, n, i, satisfied, m.trace, now, changed)
	}
}

// checkFacts compares the facts about a formula with what it does on a trace where
// it is satisfied at i by the given valuations.
func checkFacts(t *testing.T, g generator, c *Checked, m model, i int, satisfied []string) {
	t.Helper()
	if len(satisfied) == 0 {
		return
	}
	if p := m.trace[i]; !triggered(c, p) {
		t.Errorf("%s holds at %d of %v without its anchors %v, effects %v", c.Source, i, m.trace, c.Anchors, c.Effects)
	}
	if !c.Historic {
		alone := model{trace: m.trace[i:]}
		if now := alone.satisfying(c.Source, 0, c.Free); !slices.Equal(now, satisfied) {
			t.Errorf("%s is not historic, but yields %v alone and %v in %v", c.Source, now, satisfied, m.trace)
		}
	}
	if c.Absence {
		return
	}
	// Nothing rests on absence: more facts and more time points take nothing away.
	more := trace{}
	at := 0
	for j, p := range m.trace {
		if g.IntN(3) == 0 && j > 0 {
			more = append(more, g.point(p.ts))
		}
		q := g.point(p.ts)
		for fact := range p.facts {
			q.facts[fact] = true
		}
		if j == i {
			at = len(more)
		}
		more = append(more, q)
	}
	after := model{trace: more}.satisfying(c.Source, at, c.Free)
	for _, s := range satisfied {
		if !slices.Contains(after, s) {
			t.Errorf("%s rests on absence: %s is lost from %v to %v", c.Source, s, m.trace, more)
		}
	}
}

// triggered tells whether there is what must be there for the formula to hold.
func triggered(c *Checked, p point) bool {
	if len(c.Anchors) == 0 && len(c.Effects) == 0 {
		return true
	}
	for fact := range p.facts {
		if name, _, _ := strings.Cut(fact, "("); slices.Contains(c.Anchors, name) {
			return true
		}
	}
	for _, pair := range [][2]map[string]bool{{p.facts, p.before}, {p.before, p.facts}} {
		for fact := range pair[0] {
			name, _, _ := strings.Cut(fact, "(")
			ofGraph := slices.Contains(c.Effects, Graph) && (name == "label" || name == "opened")
			if !pair[1][fact] && (ofGraph || slices.Contains(c.Effects, name)) {
				return true
			}
		}
	}
	return false
}

// The order of conjuncts does not matter.
func TestOrderOfConjunctsDoesNotMatter(t *testing.T) {
	accepted, refused := 0, 0
	seeds(t, 8_000, func(g generator) {
		g.world = true
		f := g.formula(3 + g.IntN(3))
		h := g.shuffled(f)
		c, diags := Check(f, testSignature(), everything())
		d, diags2 := Check(h, testSignature(), everything())
		if (c == nil) != (d == nil) {
			t.Errorf("%s\nand\n%s\nare judged differently:\n%v\n%v", f, h, diags, diags2)
		}
		if c == nil {
			refused++
		} else {
			accepted++
		}
	})
	t.Logf("%d accepted, %d refused", accepted, refused)
	if os.Getenv("ASPIS_SEED") == "" && (accepted < 1_000 || refused < 1_000) {
		t.Error("too little was tested")
	}
}

// Hints that propose a formula were checked; here they are put in place by their text.
func TestProposedRepairsAreAccepted(t *testing.T) {
	n := 0
	seeds(t, 5_000, func(g generator) {
		src := syntax.Format(g.formula(2+g.IntN(3)), syntax.MonPoly)
		f, diags := syntax.Parse(src, syntax.Options{Mode: syntax.MonPoly})
		if f == nil {
			t.Errorf("%s: %v", src, diags)
			return
		}
		opts := Options{Mode: syntax.MonPoly, Future: true}
		_, diags = Check(f, testSignature(), opts)
		for _, d := range diags {
			what, proposal, ok := strings.Cut(d.Hint, ": `")
			if d.Severity != diag.Error || !ok || !strings.HasPrefix(what, "if it") || strings.HasSuffix(proposal, "…`") {
				continue
			}
			proposal = strings.TrimSuffix(proposal, "`")
			sp := d.Span
			repaired := src[:sp.Start.Offset] + "(" + proposal + ")" + src[sp.End.Offset:]
			if strings.Contains(what, "hold for all") {
				repaired = proposal
			}
			g, diags := syntax.Parse(repaired, syntax.Options{Mode: syntax.MonPoly})
			if g == nil {
				t.Errorf("%s\nrepaired as %s: %v", src, repaired, diags)
				return
			}
			if _, diags := Check(g, testSignature(), opts); diags.HasErrors() {
				t.Errorf("%s\nrepaired as %s: %v", src, repaired, diags)
			}
			n++
		}
	})
	t.Logf("%d repairs", n)
	if os.Getenv("ASPIS_SEED") == "" && n < 100 {
		t.Error("too few repairs were proposed")
	}
}

// promised compares the core with the promises of Checked.Core.
func promised(c *Checked) error {
	m := newMeasure()
	v := verifier{measure: m, bound: map[string]string{}}
	if err := v.generated(c.Core); err != nil {
		return err
	}
	free := vset{}
	for _, col := range c.Free {
		free = free.union(m.single(col.Name))
		if _, ok := v.bound[col.Name]; ok {
			return fmt.Errorf("%s is free and bound", col.Name)
		}
	}
	if !free.equal(m.free(c.Core)) {
		return fmt.Errorf("free variables %v, in the core %v", c.Free, m.list(m.free(c.Core)))
	}
	for name := range m.numbers {
		if _, ok := c.Kinds[name]; !ok {
			return fmt.Errorf("%s has no type", name)
		}
	}
	return nil
}

// verifier is an independent reading of the promises.
type verifier struct {
	*measure
	bound map[string]string // bound name → its quantifier, printed
}

func (v verifier) generated(f syntax.Formula) error {
	switch f := f.(type) {
	case *syntax.Bool, *syntax.Pred:
		return nil
	case *syntax.Cmp:
		if v.gives(f, nil) {
			return nil
		}
		return fmt.Errorf("%s is not generated", f)
	case *syntax.Not:
		if !v.free(f).empty() {
			return fmt.Errorf("%s is open", f)
		}
		return v.generated(f.F)
	case *syntax.And:
		if err := v.generated(f.Left); err != nil {
			return err
		}
		return v.conjunct(f.Right, v.free(f.Left))
	case *syntax.Or:
		if !v.free(f.Left).equal(v.free(f.Right)) {
			return fmt.Errorf("%s has different variables", f)
		}
		return first(v.generated(f.Left), v.generated(f.Right))
	case *syntax.Exists:
		return first(v.binds(f, f.F, f.Vars), v.generated(f.F))
	case *syntax.Agg:
		return v.agg(f)
	case *syntax.Prev:
		return first(nonEmpty(f.I), v.generated(f.F))
	case *syntax.Once:
		return first(nonEmpty(f.I), v.generated(f.F))
	case *syntax.Next:
		return first(nonEmpty(f.I), v.generated(f.F))
	case *syntax.Eventually:
		return first(nonEmpty(f.I), v.generated(f.F))
	case *syntax.New:
		return v.generated(f.F)
	case *syntax.Label:
		return nil
	case *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		if !v.free(f).empty() {
			return fmt.Errorf("%s is open", f)
		}
		return v.located(f)
	case *syntax.Since:
		return v.last(f.I, f.Left, f.Right)
	case *syntax.Until:
		return v.last(f.I, f.Left, f.Right)
	case *syntax.Historically, *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Match, *syntax.Let, *syntax.Always,
		*syntax.At:
	}
	return fmt.Errorf("%s is not of the core", f)
}

// binds notes the variables that f binds in its formula.
func (v verifier) binds(f, inner syntax.Formula, vars []syntax.Var) error {
	for _, x := range vars {
		if !v.free(inner).has(v.number(x.Name)) {
			return fmt.Errorf("%s does not occur in %s", x, f)
		}
		if other, ok := v.bound[x.Name]; ok && other != f.String() {
			return fmt.Errorf("%s is bound by %s and by %s", x, f, other)
		}
		v.bound[x.Name] = f.String()
	}
	return nil
}

func (v verifier) agg(f *syntax.Agg) error {
	inner := v.free(f.F)
	if !v.terms(f.Over).within(inner) || !v.variables(f.Groups).within(inner) {
		return fmt.Errorf("%s aggregates what does not occur", f)
	}
	if v.terms(f.Result).within(inner) {
		return fmt.Errorf("the result of %s occurs in its formula", f)
	}
	var own []syntax.Var
	for _, name := range v.list(inner.minus(v.variables(f.Groups))) {
		own = append(own, syntax.Var{Name: name})
	}
	return first(v.binds(f, f.F, own), v.generated(f.F))
}

func (v verifier) last(i syntax.Interval, left, right syntax.Formula) error {
	if !v.free(left).within(v.free(right)) {
		return fmt.Errorf("%s has variables that %s has not", left, right)
	}
	if not, ok := left.(*syntax.Not); ok {
		left = not.F
	}
	return first(nonEmpty(i), v.generated(left), v.generated(right))
}

// gives tells whether a comparison gives a variable a value.
func (v verifier) gives(f *syntax.Cmp, bound vset) bool {
	_, left := f.Left.(syntax.Var)
	_, right := f.Right.(syntax.Var)
	return f.Op == syntax.Eq && (left && v.terms(f.Right).within(bound) || right && v.terms(f.Left).within(bound))
}

// conjunct checks the right operand of And.
func (v verifier) conjunct(f syntax.Formula, bound vset) error {
	inner := f
	if not, ok := f.(*syntax.Not); ok {
		inner = not.F
	}
	within := v.free(f).within(bound)
	open := fmt.Errorf("nothing binds the variables of %s", f)
	switch inner := inner.(type) {
	case *syntax.Cmp:
		if within || inner == f && v.gives(inner, bound) {
			return nil
		}
		return open
	case *syntax.Match:
		if within || inner == f && v.terms(inner.Left, inner.Right).within(bound) {
			return nil
		}
		return open
	case *syntax.At, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		if !within {
			return open
		}
		return v.located(inner)
	case *syntax.Historically:
		if !within {
			return open
		}
		return first(nonEmpty(inner.I), v.generated(inner.F))
	case *syntax.Bool, *syntax.Pred, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv,
		*syntax.Exists, *syntax.Forall, *syntax.Agg, *syntax.Let, *syntax.New, *syntax.Prev, *syntax.Once, *syntax.Since,
		*syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until, *syntax.Label:
	}
	if inner != f && !within {
		return open
	}
	return v.generated(inner)
}

// located checks the operands of AT or of a spatial operator, in which its variables are
// constants.
func (v verifier) located(f syntax.Formula) error {
	for _, g := range syntax.Children(f) {
		m := newMeasure()
		m.constants = map[string]bool{}
		for _, h := range syntax.Children(f) {
			for _, name := range syntax.FreeVars(h) {
				m.constants[name] = true
			}
		}
		if err := (verifier{measure: m, bound: v.bound}).generated(g); err != nil {
			return fmt.Errorf("in %s: %w", f, err)
		}
	}
	return nil
}

func nonEmpty(i syntax.Interval) error {
	if i.Empty() {
		return fmt.Errorf("the interval %v is empty", i)
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
