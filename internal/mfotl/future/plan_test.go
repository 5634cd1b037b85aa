package future_test

import "testing"

// TestPlanShape fixes what is evaluated together, what once, and what under guard.
func TestPlanShape(t *testing.T) {
	for formula, want := range map[string]string{
		"p(x) AND NOT ONCE q(x)":                                                   "[ verdict ]",
		"p(x) AND NOT EVENTUALLY[0,3] q(x)":                                        "[ 0 ]0![ verdict ]",
		"EVENTUALLY[0,3] q(x)":                                                     "[ 0 ]0[ verdict ]",
		"p(x) AND ONCE EVENTUALLY[0,3] q(x)":                                       "[ 0 ]0[ verdict ]",
		"ONCE (p(x) AND EVENTUALLY[0,3] q(x))":                                     "[ 0 ]0![ verdict ]",
		"p(x) AND NEXT q(x)":                                                       "[ 0 ]0[ verdict ]",
		"p(x) AND (q(x) UNTIL[0,3] q(x)) AND (q(x) UNTIL[0,3] q(x))":               "[ 0 0left ]0![ verdict ]",
		"(p(x) AND EVENTUALLY[0,3] q(x)) OR EVENTUALLY[0,3] q(x)":                  "[ 0 ]0[ verdict ]",
		"p(x) AND (EVENTUALLY[0,3] (q(x) AND NEXT p(x))) AND EVENTUALLY[0,3] q(x)": "[ 0 2 ]0[ 1 ]1!2![ verdict ]",
		"(EVENTUALLY[0,3] q(x)) UNTIL[0,9] (p(x) AND NOT EVENTUALLY[0,3] q(x))":    "[ 0 ]0[ 1 1left ]1[ verdict ]",
		"p(x) AND NOT ((NOT EVENTUALLY[0,3] q(x)) AND NOT EVENTUALLY[1,3] q(x))":   "[ 0 1 ]0!1![ verdict ]",
		"(EXISTS y. r(x,y)) AND (EXISTS y. ((EVENTUALLY[0,3] q(y)) AND q(x)))":     "[ 0 ]0[ verdict ]",
		"(EXISTS y. r(x,y)) AND (EXISTS z. ((EVENTUALLY[0,3] r(x,z)) AND q(z)))":   "[ 0 ]0![ verdict ]",
		"EVENTUALLY[0,3] EVENTUALLY[0,3] q(x)":                                     "[ 0 ]0[ 1 ]1[ verdict ]",
		"tp(x) AND EVENTUALLY[0,3] q(x)":                                           "[ 0 ]0[ verdict ]",
	} {
		if got := compile(t, core(t, formula, "x")).Shape(); got != want {
			t.Errorf("%s:\n got %s\nwant %s", formula, got, want)
		}
	}
}
