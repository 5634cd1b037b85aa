package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/pkg/policy/internal/expr"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// prepare checks the arguments of a call against the entry. It reports false when
// the event is invalid.
func (r *typer) prepare(e *toolEntry, args schema.Payload) bool {
	if !e.declares && e.refuse == nil {
		return true
	}
	in := r.input(args)
	if e.declares && in.Args != nil {
		checked, problem := e.check(in.Args)
		if problem != "" && !r.atResult {
			r.out.Invalid = problem
			return false
		}
		in.Args = checked
	} else if e.declares && args.Status != schema.PayloadWithheld && !r.atResult {
		r.out.Invalid = "the arguments are not a readable object"
		return false
	}
	if e.refuse == nil || r.atResult {
		return true
	}
	contradicts, err := e.refuse.Truth(in)
	switch {
	case err != nil && args.Status == schema.PayloadWithheld:
		return true // nothing is known of the arguments; their facts are uncertain
	case err != nil:
		r.out.Invalid = fmt.Sprintf("whether the call contradicts itself (%s) cannot be told: %v", e.why, err)
	case contradicts:
		r.out.Invalid = "the call contradicts itself: " + e.why
	}
	return r.out.Invalid == ""
}

// check coerces arguments to their declared types and fills in defaults. The text
// names every problem, sorted by argument.
func (e *toolEntry) check(args *expr.Object) (*expr.Object, string) {
	var problems []string
	out := args
	for _, p := range e.params {
		v, given := args.Lookup(p.name)
		if given && expr.IsNull(v) && p.fallback != nil {
			given = false // null for an argument with a default says the default
		}
		switch {
		case !given && p.fallback == nil:
			problems = append(problems, fmt.Sprintf("argument %q is missing", p.name))
			continue
		case !given:
			out = out.With(p.name, p.fallback)
			continue
		}
		coerced, problem := p.typ.Coerce(v)
		if problem != "" {
			problems = append(problems, fmt.Sprintf("argument %q %s", p.name, problem))
			continue
		}
		out = out.With(p.name, coerced)
	}
	for _, key := range args.Keys() {
		if !slices.ContainsFunc(e.params, func(p param) bool { return p.name == key }) {
			problems = append(problems, fmt.Sprintf("argument %q is not declared", key))
		}
	}
	return out, strings.Join(problems, "; ")
}

// input decodes what expressions read, once.
func (r *typer) input(args schema.Payload) *expr.Input {
	if r.in != nil {
		return r.in
	}
	r.in = &expr.Input{Event: r.ev}
	switch args.Status {
	case schema.PayloadOK:
		if v, err := expr.Decode(args.Canon); err == nil {
			r.in.Args, _ = v.(*expr.Object)
		}
	case schema.PayloadAbsent:
		if !r.atResult {
			r.in.Args = &expr.Object{}
		}
	case schema.PayloadWithheld, schema.PayloadMalformed:
	}
	if r.atResult {
		r.in.Result = r.resultValue()
	}
	return r.in
}
