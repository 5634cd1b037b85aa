package monpoly

import (
	"strings"
	"testing"
)

// TestReasons has every form of an outcome once.
func TestReasons(t *testing.T) {
	for _, tc := range []struct{ formula, log, want string }{
		{"p(x) AND (HISTORICALLY[0,5] p(x))", "@1 @9 p(1) @9 p(1)", "HISTORICALLY[0,5] p(x) with x = 1: holds everywhere in [4,9], by @9 (time point 1), @9 (time point 2)"},
		{"p(x) AND NOT (HISTORICALLY[0,5] p(x))", "@8 @9 p(1)", "HISTORICALLY[0,5] p(x): fails within [4,8]"},
		{"p(x) AND (HISTORICALLY[1,5] p(x))", "@9 p(1)", "HISTORICALLY[1,5] p(x) with x = 1: holds, as no time point is in [4,8]"},
		{"e() AND (ONCE[1,5] (NOT (EXISTS x. p(x))))", "@7 e @9 e", "ONCE[1,5] (NOT (EXISTS x. p(x))): holds, at @7"},
		{"p(x) AND (ONCE p(2))", "@7 p(2) @9 p(1)", "ONCE[0,*) p(2): holds, by @7 (time point 0)"},
		{"p(x) AND NOT (ONCE[2,*) p(2))", "@7 p(1)", "ONCE[2,*) p(2): holds at no time point in [*,5]"},
		{"p(x) AND NOT (e() SINCE[2,3] p(2))", "@7 p(1)", "e() SINCE[2,3] p(2): holds since no time point in [4,5]"},
		{"p(x) AND NOT (PREVIOUS e())", "@7 p(1)", "PREVIOUS[0,*) e(): there is no time point before"},
		{"p(x) AND NOT (PREVIOUS[0,1] e())", "@7 e @9 p(1)", "PREVIOUS[0,1] e(): the time point before, @7 (time point 0), is not in [8,9]"},
		{"p(x) AND NOT (PREVIOUS e())", "@7 @9 p(1)", "e() at @7 (time point 0): no such fact at @7 (time point 0)"},
		{"p(x) AND NOT (x = 2)", "@7 p(1)", "x = 2: does not hold"},
		{"p(x) AND (x = 1 OR e())", "@7 p(1)", "x = 1 with x = 1: holds"},
		{"p(x) AND NOT (EXISTS y. (p(y) AND NOT (y = x)))", "@7 p(1)", "NOT (y = x) with y = 1: does not hold, because"},
		{"p(x) AND (EVENTUALLY[0,2] e())", "@7 p(1) @8 e", "EVENTUALLY[0,2] e(): holds (the future is not explained)"},
	} {
		got, err := monitored(newEvaluatorOf(t, tc.formula, NewExplainer), tc.log, false)
		if !strings.Contains(got, "  "+tc.want+"\n") || err != nil {
			t.Errorf("%s on %s: got %v and\n%swant %s", tc.formula, tc.log, err, got, tc.want)
		}
	}
}
