package check

import (
	"math"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestReach: the nested upper bounds add up; what has none reaches back for ever.
func TestReach(t *testing.T) {
	sig := Signature{"p": {schema.KindString}, "q": {schema.KindString}}
	const h = int64(time.Hour)
	for src, want := range map[string]int64{
		`p(x)`:                             0,
		`p(x) AND NOT ONCE[0,2h] q(x)`:     2 * h,
		`p(x) AND NOT ONCE q(x)`:           math.MaxInt64,
		`p(x) AND NOT PREVIOUS[0,3h] q(x)`: 3 * h,
		`p(x) AND (ONCE[1h,2h] (PREVIOUS[0,1h] q(x))) AND ONCE[0,1h] q(x)`: 3 * h,
		`(ONCE[0,4h] p(x)) SINCE[0,1h] q(x)`:                               5 * h,
		`p(x) AND ONCE[0,1h] ONCE q(x)`:                                    math.MaxInt64,
		`p(x) AND tp(i) AND i > 3`:                                         math.MaxInt64,
		`p(x) AND ts(i) AND i > 3`:                                         0,
	} {
		c, diags := Check(parse(t, src, syntax.Bundle), sig, Options{BuiltIn: true})
		if c == nil {
			t.Errorf("%s: %v", src, diags)
			continue
		}
		if got := c.Reach(); got != want {
			t.Errorf("%s reaches back %d ns, want %d", src, got, want)
		}
	}
}

// TestHorizon: the nested upper bounds of the future operators add up.
func TestHorizon(t *testing.T) {
	sig := Signature{"p": {schema.KindString}, "q": {schema.KindString}}
	const h = int64(time.Hour)
	for _, c := range []struct {
		src            string
		reach, horizon int64
		bounded        bool
	}{
		{`p(x) AND NOT (ONCE[0,2h] q(x))`, 2 * h, 0, true},
		{`EVENTUALLY[1h,2h] p(x)`, 0, 2 * h, true},
		{`NEXT p(x)`, 0, math.MaxInt64, false},
		{`NEXT[0,3h] (EVENTUALLY[0,1h] p(x))`, 0, 4 * h, true},
		{`ONCE[0,3h] (EVENTUALLY[0,1h] p(x))`, 3 * h, h, true},
		{`(EVENTUALLY[0,4h] p(x)) UNTIL[0,1h] q(x)`, 0, 5 * h, true},
		{`n <- CNT x (p(x) AND (ALWAYS[0,1h] q(x)))`, h, h, true}, // the guard looks back
	} {
		got, diags := Check(parse(t, c.src, syntax.Bundle), sig, Options{Future: true})
		if got == nil {
			t.Errorf("%s: %v", c.src, diags)
			continue
		}
		n, bounded := got.Horizon()
		if n != c.horizon || bounded != c.bounded || got.Reach() != c.reach || got.Future() != (c.horizon > 0) {
			t.Errorf("%s: reach %d, horizon %d, %v, future %v; want %d, %d, %v", c.src, got.Reach(), n, bounded, got.Future(), c.reach, c.horizon, c.bounded)
		}
	}
}

func TestTriggered(t *testing.T) {
	for _, c := range []struct {
		src                              string
		nothing, fact, change, otherFact bool
	}{
		{"s(m) AND lz(m, v)", false, true, false, false},
		{"NEW (lz(m, v))", false, false, true, false},
		{"s(m) AND NEW (lz(m, v))", false, true, false, false},
		{"(EXISTS v. NEW (lz(m, v))) OR s(m)", false, true, true, false},
		{"lz(m, v)", true, true, true, true},
		{"ONCE s(m)", true, true, true, true},
	} {
		f, diags := Check(parse(t, c.src, syntax.Bundle), testSignature(), Options{World: testWorld(true)})
		if f == nil {
			t.Errorf("%s: %v", c.src, diags)
			continue
		}
		fact, other := []schema.Fact{{Name: "s"}}, []schema.Fact{{Name: "f"}}
		got := [4]bool{f.TriggeredBy(nil, false), f.TriggeredBy(fact, false), f.TriggeredBy(nil, true), f.TriggeredBy(other, false)}
		if want := [4]bool{c.nothing, c.fact, c.change, c.otherFact}; got != want {
			t.Errorf("%s: nothing, a fact, a change, another fact: %v, want %v", c.src, got, want)
		}
		if f.Triggered(fact) != f.TriggeredBy(fact, true) || f.Triggered(nil) != f.TriggeredBy(nil, true) {
			t.Errorf("%s: a change is not taken for granted", c.src)
		}
	}
}
