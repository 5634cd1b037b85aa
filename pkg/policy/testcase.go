package policy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Test is one test of a bundle: events and the decisions they must get.
type Test struct {
	Name string
	File string
	Pos  diag.Pos
	// Events have the tenant, session, ids, call ids and vantage (observed) that the
	// file leaves out filled in, and Timestamp set to ClaimedTS, so that times start
	// at 0. A result without a call belongs to the last call before it, of its tool if
	// it names one.
	Events []*schema.Event
	Expect []Expectation
}

// Copies returns copies of the events that a run may change at their top level.
func (t *Test) Copies() []*schema.Event {
	out := make([]*schema.Event, len(t.Events))
	for i, ev := range t.Events {
		fresh := *ev
		out[i] = &fresh
	}
	return out
}

// Expectation is what one event of a test must get. Fields left out of the file
// are not checked.
type Expectation struct {
	At       int    // index of a call among the events, from 0
	Decision string // permit, flag, refuse, redirect or escalate
	Reason   verdict.Reason
	Clause   string
	Value    *verdict.Value
	Binding  map[string]schema.Value
	Pos      diag.Pos
}

// Outcome is what a call got, in the terms of an expectation.
type Outcome struct {
	Decision verdict.Outcome
	Flagged  bool
	Reason   verdict.Reason
	// Value is the fused value over the enforced clauses.
	Value   verdict.Value
	Clauses []ClauseOutcome
}

// ClauseOutcome is what one clause made of a call.
type ClauseOutcome struct {
	ID    string
	Value verdict.Value
	// Completeness is that of the clause's evidence; one below sound may be why a call is refused.
	Completeness verdict.Completeness
	// Bindings holds, for each firing, the values of the free variables by name.
	Bindings []map[string]schema.Value
}

// Word is the outcome as a test writes it: "flag" for a permit that was flagged.
func (o Outcome) Word() string {
	if o.Decision == verdict.Permit && o.Flagged {
		return "flag"
	}
	return o.Decision.String()
}

// Match compares an outcome with the expectation and lists the differences, none
// when it is met. An expected permit is met by a flagged one only if the test says
// flag. An expected clause fires, or could not be checked where the reason is unknown. An expected binding is met by a firing that has at least its values.
func (e Expectation) Match(o Outcome) []string {
	var out []string
	differ := func(what string, got, want any) { out = append(out, fmt.Sprintf("%s is %v, want %v", what, got, want)) }
	if e.Decision != "" && e.Decision != o.Word() {
		differ("the decision", o.Word(), e.Decision)
	}
	if e.Reason != "" && e.Reason != o.Reason {
		differ("the reason", strconv.Quote(string(o.Reason)), strconv.Quote(string(e.Reason)))
	}
	value, bindings := o.Value, []map[string]schema.Value(nil)
	if e.Clause != "" {
		i := slices.IndexFunc(o.Clauses, func(c ClauseOutcome) bool { return c.ID == e.Clause })
		value = verdict.T // a clause that says nothing is satisfied
		unchecked := false
		if i >= 0 {
			c := &o.Clauses[i]
			value, bindings = c.Value, c.Bindings
			unchecked = o.Reason == verdict.Unknown && c.Completeness != verdict.Sound
		}
		if e.Value == nil && value < verdict.Fp && !unchecked {
			out = append(out, "the clause "+e.Clause+" does not fire")
		}
	} else {
		for _, c := range o.Clauses {
			bindings = append(bindings, c.Bindings...)
		}
	}
	if e.Value != nil && *e.Value != value {
		differ("the value", value, *e.Value)
	}
	if len(e.Binding) > 0 && !slices.ContainsFunc(bindings, e.meets) {
		differ("the binding", showBindings(bindings), showBinding(e.Binding))
	}
	return out
}

// meets reports whether a binding has the expected values. Values are compared as
// people write them: 5 and "5" are alike.
func (e Expectation) meets(got map[string]schema.Value) bool {
	for name, want := range e.Binding {
		v, ok := got[name]
		if !ok || plain(v) != plain(want) {
			return false
		}
	}
	return true
}

func plain(v schema.Value) string {
	if v.Kind == schema.KindString {
		return v.Str
	}
	return v.String()
}

func showBindings(bs []map[string]schema.Value) string {
	if len(bs) == 0 {
		return "nothing"
	}
	var out []string
	for _, b := range bs {
		out = append(out, showBinding(b))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func showBinding(b map[string]schema.Value) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(b)) {
		out = append(out, name+": "+b[name].String())
	}
	return "{" + strings.Join(out, ", ") + "}"
}
