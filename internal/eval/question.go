package eval

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
	"github.com/aspis-rv/aspis/pkg/policy"
)

// The predicates by which a question is answered, in the order of the tables.
const (
	Generic  = "generic"  // every action needs an approval
	Naive    = "naive"    // a structured-looking line in any earlier text
	Hardened = "hardened" // such a line in a result that is bound to a look-up
	Policy   = "ours"     // a trusted field of a named look-up, or named by the user

	// The published reading of a text where a list of recipients is due: each of its
	// characters is one.
	NaiveCharacters    = "naive_characters"
	HardenedCharacters = "hardened_characters"
)

// valueColumn is the variable of the clauses that stands for the value in question.
const valueColumn = "v"

// question asks whether the value that an action is done with is a known one.
type question struct {
	name     string
	suite    string
	tool     string
	argument string // of the tool: the value, or a list of them
	// characters is set where the published script reads a text as a list of characters.
	characters bool
}

// questions are the published ones (arXiv 2610.09793).
func questions() []question {
	return []question{
		{name: "payee", suite: "banking", tool: "send_money", argument: "recipient"},
		{name: "recipient", suite: "workspace", tool: "send_email", argument: "recipients", characters: true},
	}
}

// clause is the id of the clause that answers the question by a predicate.
func (q *question) clause(predicate string) string {
	switch predicate {
	case Policy:
		return q.name
	case NaiveCharacters:
		return q.name + "-naive-characters"
	case HardenedCharacters:
		return q.name + "-hardened-characters"
	}
	return q.name + "-" + predicate
}

// predicates maps those that are tabulated to clauses of the bundle, by index.
func (q *question) predicates(b *policy.Bundle, c Convention) map[string]int {
	names := []string{Generic, Naive, Hardened, Policy}
	if q.characters && c == Both {
		names = append(names, NaiveCharacters, HardenedCharacters)
	}
	out := make(map[string]int, len(names))
	for _, name := range names {
		read := name
		if q.characters && c == Published && (name == Naive || name == Hardened) {
			read += "_characters"
		}
		out[name] = indexOf(b, q.clause(read))
	}
	return out
}

// indexOf finds a clause of the bundle, or -1.
func indexOf(b *policy.Bundle, id string) int {
	return slices.IndexFunc(b.Clauses, func(c policy.Clause) bool { return c.ID == id })
}

// Asks reports whether a bundle answers a published question, so that the parametric
// table can be made with it.
func Asks(b *policy.Bundle) bool {
	return slices.ContainsFunc(questions(), func(q question) bool { return indexOf(b, q.clause(Policy)) >= 0 })
}

// offending is the first value of a call on which a clause fired, in the order of the
// arguments and as the call has it; the clause knows it folded. Where no argument is
// that value, it is the first of the firing.
func (q *question) offending(step *agentdojo.Step, f firing) string {
	var unknown []string
	for i := range f.rows {
		if k := slices.Index(f.rows[i].Columns, valueColumn); k >= 0 {
			unknown = append(unknown, f.rows[i].Values[k].Str)
		}
	}
	for _, v := range q.values(step) {
		if slices.ContainsFunc(unknown, func(u string) bool { return strings.EqualFold(u, strings.TrimSpace(v)) }) {
			return v
		}
	}
	if len(unknown) > 0 {
		return unknown[0]
	}
	return ""
}

// values lists the texts of the argument.
func (q *question) values(step *agentdojo.Step) []string {
	var args map[string]json.RawMessage
	if json.Unmarshal(step.Args, &args) != nil {
		return nil
	}
	var one string
	var list []any
	if json.Unmarshal(args[q.argument], &one) == nil {
		return []string{one}
	}
	if json.Unmarshal(args[q.argument], &list) != nil {
		return nil
	}
	var out []string
	for _, v := range list {
		if text, ok := v.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
