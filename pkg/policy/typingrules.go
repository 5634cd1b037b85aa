package policy

import (
	"slices"
	"strconv"

	"github.com/aspis-rv/aspis/pkg/policy/internal/expr"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// rule is a typing rule: what the values of a call say of the world, whatever the tool is.
// Tools apply it to expressions of their own.
type rule struct {
	params []string
	key    *source.Node
	made   []emitter // the fact or mark, over the parameters; empty when it is faulty
	// kinds are those of the parameters that are arguments as they are.
	kinds map[string]schema.ValueKind
	used  bool
}

// typingSection reads `phi(o, marking): {sets: 'marked(o, "PHI")', definite: 'marking == "PHI"'}`.
func (l *loader) typingSection(n *source.Node) {
	for _, f := range l.mapOf(n, "typing") {
		text := f.Key.Value
		name, parts, ok := splitCall(text)
		if !ok || len(parts) == 0 {
			l.report(f.Key, badName("a typing rule", text, "write name(parameter, …)"))
			continue
		}
		r := &rule{key: f.Key, kinds: map[string]schema.ValueKind{}}
		id := text[name.start:name.end]
		if l.rules[id] != nil {
			l.report(f.Key, nameTaken(id, "another typing rule"))
			continue
		}
		l.rules[id] = r
		var vars []expr.Variable
		for _, p := range parts {
			param := text[p.start:p.end]
			if !expr.Usable(param) || slices.Contains(r.params, param) {
				l.report(f.Key, badName("a parameter", param, nameRule+", no word of the expression language, and no two are alike"))
			}
			r.params = append(r.params, param)
			vars = append(vars, expr.Variable{Name: param, Type: expr.Any()})
		}
		env, err := l.env.With(vars...)
		if err != nil {
			l.report(f.Key, unreadable("the parameters", err))
			continue
		}
		l.rule(f, r, env)
	}
}

// rule reads what a rule makes, and when.
func (l *loader) rule(f source.Field, r *rule, env *expr.Env) {
	where := "the typing rule " + f.Key.Value
	if f.Value.Kind != source.Map {
		l.report(f.Value, wrongType(where, "a map with sets or emits, and definite", f.Value.Describe()))
		return
	}
	l.keys(f.Value, where, []string{"sets", "emits", "definite"}, []string{"cues", "in"})
	sets, emits, definite := f.Value.Get("sets"), f.Value.Get("emits"), f.Value.Get("definite")
	made := sets
	switch {
	case sets != nil && emits != nil:
		l.report(f.Key, fault(CodeTwice, "make two rules", "%s has both sets and emits", where))
		return
	case emits != nil:
		made = emits
	case sets == nil:
		l.report(f.Key, missingKey("sets", where, "name the state that it sets, or the fact that it emits under emits"))
		return
	}
	if definite == nil {
		l.report(f.Key, missingKey("definite", where, "write the condition under which there is no doubt"))
		return
	}
	e := emitter{typed: true, origin: where, when: l.condition(definite, env, "definite")}
	r.made = l.factText(made, env, e)
	for i := range r.made {
		m := &r.made[i]
		if m.state != (sets != nil) {
			l.report(made, wrongMaker(m.rel, m.state))
		}
		l.paramKinds(r, m)
	}
}

func wrongMaker(rel string, state bool) finding {
	if state {
		return fault(CodeFact, "write sets", "%s is a state, and emits makes facts", rel)
	}
	return fault(CodeFact, "write emits", "%s is a fact, and sets sets states", rel)
}

// paramKinds notes the types of parameters that are arguments as they are.
func (l *loader) paramKinds(r *rule, e *emitter) {
	for i, p := range e.args {
		if name, ok := p.Variable(); ok && slices.Contains(r.params, name) {
			r.kinds[name] = e.kinds[i]
		}
	}
}

// applied reads one entry of `types:`, `phi(record, text, marking)`, and returns the rule's
// facts over the given expressions.
func (l *loader) applied(n *source.Node, env *expr.Env, where string) []emitter {
	if _, ok := l.text(n, "a typing"); !ok {
		return nil
	}
	text := n.Text()
	name, parts, ok := splitCall(text.Value)
	if !ok {
		l.report(n, fault(CodeFact, "write rule(expression, …), for example 'phi(record, text)'", "%q applies no typing rule", text.Value))
		return nil
	}
	id := text.Value[name.start:name.end]
	r := l.rules[id]
	if r == nil {
		l.reportText(text, name.start, name.end, undeclared("typing rule", id, l.ruleNames()))
		return nil
	}
	r.used = true
	if len(parts) != len(r.params) {
		l.reportText(text, name.start, len(text.Value), fault(CodeFact, "", "the typing rule %s has %s, and this gives it %d",
			id, count(len(r.params), "parameter"), len(parts)))
		return nil
	}
	bound := make([]*expr.Program, len(parts))
	good := true
	for i, p := range parts {
		bound[i] = l.expression(text.Sub(p.start, p.end), env)
		kind, fixed := r.kinds[r.params[i]]
		switch {
		case bound[i] == nil:
			good = false
		case fixed && !bound[i].Gives(kind):
			l.reportText(text, p.start, p.end, factKind(id, i+1, kind.String(), bound[i].Out()))
			good = false
		}
	}
	if !good {
		return nil
	}
	out := slices.Clone(r.made)
	for i := range out {
		out[i].params, out[i].bound = r.params, bound
		out[i].origin, out[i].node = where, n
		out[i].place += ", applied at " + place(n)
	}
	return out
}

func (l *loader) ruleNames() []string {
	var out []string
	for name := range l.rules {
		out = append(out, name)
	}
	return unique(out)
}

// bind evaluates the expressions that the parameters of a rule stand for. One that fails
// leaves its parameter without a value, so that only what reads it fails.
func (e *emitter) bind(in *expr.Input) *expr.Input {
	inner := *in
	inner.Bound = map[string]expr.Value{}
	for i, p := range e.bound {
		if v, err := p.Eval(in); err == nil {
			inner.Bound[e.params[i]] = v
		} else {
			inner.Bound[e.params[i]] = expr.Failed(strconv.Quote(e.params[i]), err)
		}
	}
	return &inner
}

// WithoutTyping returns the bundle without what its typing rules make: the same policy, with
// the same digest, whose semantic aspect is off. It shares everything else with b.
func (b *Bundle) WithoutTyping() *Bundle {
	out := *b
	out.typing.untyped = true
	return &out
}
