package compose

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aspis-rv/aspis/pkg/policy"
)

// TestLifting: what may lift a violation is what stands below a negation, and
// nothing else that the formula reads.
func TestLifting(t *testing.T) {
	for formula, want := range map[string]string{
		"out(s) AND NOT (ONCE ok(s))":                       "ok",
		"out(s) AND ONCE bad(s)":                            "",
		"out(s) AND ((NOT ok(s)) SINCE bad(s))":             "ok",
		"out(s) AND NOT ((NOT bad(s)) SINCE ok(s))":         "ok",
		"out(s) AND NOT (PREVIOUS (ONCE ok(s)))":            "ok",
		"out(s) AND NOT (ONCE (ok(s) AND NOT ONCE bad(s)))": "ok",
		"out(s) AND ((ONCE ok(s)) IMPLIES (ONCE bad(s)))":   "ok",
		"out(s) AND PREVIOUS bad(s)":                        "",
		"out(s) AND (n <- CNT x (ONCE ok(x))) AND n < 2":    "ok",
	} {
		b, found := policy.LoadFS(fstest.MapFS{"policy.yaml": {Data: []byte(`policy: lifts
revision: 1
unmapped: permit
facts: {out: [s], ok: [s], bad: [s]}
tools:
  o: {facts: [out(event.session)]}
  k: {facts: [{emit: ok(event.session), at: result}]}
  b: {facts: [{emit: bad(event.session), at: result}]}
  u: {facts: [ok(event.session), bad(event.session)]}
clauses:
  C: {text: Text., forbid: {temporal: '` + formula + `'}}
`)}})
		if b == nil {
			t.Fatalf("%s: %v", formula, found)
		}
		got := strings.Join(slices.Sorted(maps.Keys(lifting(b.Clauses[0].Formulas[0].Checked))), " ")
		if got != want {
			t.Errorf("%s: lifted by %q, want %q", formula, got, want)
		}
	}
}

// TestNoHoldForMoreOfTheSame: a violation because of a fact that is there is not held
// for a call in flight that can only bring more of them.
func TestNoHoldForMoreOfTheSame(t *testing.T) {
	r := newRig(t)
	b, found := policy.LoadFS(fstest.MapFS{"policy.yaml": {Data: []byte(`policy: order
revision: 1
facts: {sent: [to], read: [s], checked: [s]}
tools:
  send: {args: {to: string}, facts: [sent(to)]}
  look: {args: {name: string}, facts: [{emit: read(event.session), at: result}]}
  check: {facts: [checked(event.session)]}
clauses:
  C: {text: Text., forbid: {temporal: 'sent(a) AND (EXISTS s. ((NOT checked(s)) SINCE read(s)))'}}
`)}})
	if b == nil {
		t.Fatal(found)
	}
	r.b, r.offset = b, 0
	r.j = NewJoiner(3, config(b))
	r.event(activation(b))
	r.call("look", "look", `{"name":"X"}`)
	r.resolve(r.says("look", temporal)[0])
	r.call("c1", "send", sendX)
	expect(t, "the violation", r.says("c1", temporal, r.violation("C", 0)), "refuse violation")
}
