package policy

import (
	"slices"
	"strconv"

	"github.com/aspis-rv/aspis/pkg/policy/internal/expr"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// rule is a typing rule: what the values of a call say of the world, whatever the tool is.
// Tools apply it to expressions of their own. Its fact is definite when a condition holds, and
// else presumptive when something is found in a text.
type rule struct {
	name      string
	params    []string
	condition string // the text of definite; empty without
	in        []int  // the parameters whose texts are looked at, by number
	cues      uint64 // lists, as bits
	ask       []int  // classifiers, by number, in the order of the bundle

	key  *source.Node
	made []emitter // the fact or mark, over the parameters; empty when it is faulty
	// kinds are those of the parameters that are arguments as they are.
	kinds map[string]schema.ValueKind
	used  bool
}

// typingSections reads the typing rules, and before them what they look for in texts.
func (l *loader) typingSections(root *source.Node) {
	l.cueSection(root.Get("cues"))
	l.classifierSection(root.Get("classifiers"))
	l.typingSection(root.Get("typing"))
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
		id := text[name.start:name.end]
		r := &rule{name: id, key: f.Key, kinds: map[string]schema.ValueKind{}}
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
	l.keys(f.Value, where, []string{"sets", "emits", "definite", "cues", "classifiers", "in"}, nil)
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
	suspects := l.suspicion(f, r, where)
	e := emitter{rule: r, origin: where}
	if definite != nil {
		e.when, r.condition = l.condition(definite, env, "definite"), definite.Value
	} else if !suspects {
		l.report(f.Key, missingKey("definite", where, "write the condition under which there is no doubt, or cues or classifiers"))
		return
	}
	r.made = l.factText(made, env, e)
	for i := range r.made {
		m := &r.made[i]
		if m.state != (sets != nil) {
			l.report(made, wrongMaker(m.rel, m.state))
		}
		l.paramKinds(r, m)
	}
}

// suspicion reads what makes the fact of a rule presumptive, and reports whether anything does.
func (l *loader) suspicion(f source.Field, r *rule, where string) bool {
	for _, item := range l.listOf(f.Value.Get("cues")) {
		if i, ok := l.named(item, "cue list", l.cueNames()); ok {
			r.cues |= 1 << i
			l.cueFiles[i].used = true
		}
	}
	for _, item := range l.listOf(f.Value.Get("classifiers")) {
		if i, ok := l.named(item, "classifier", l.classifierNames()); ok {
			r.ask = append(r.ask, i)
			l.asked[i] = true
		}
	}
	slices.Sort(r.ask)
	r.ask = slices.Compact(r.ask)
	in := f.Value.Get("in")
	for _, item := range l.listOf(in) {
		if i, ok := l.named(item, "parameter", r.params); ok && !slices.Contains(r.in, i) {
			r.in = append(r.in, i)
		}
	}
	looks := f.Value.Get("cues") != nil || f.Value.Get("classifiers") != nil
	switch {
	case looks && in == nil:
		l.report(f.Key, missingKey("in", where, "name the parameters whose texts are looked at, for example in: [text]"))
	case !looks && in != nil:
		l.report(in, fault(CodeKey, "delete it, or name cues or classifiers", "%s looks for nothing in its texts", where))
	}
	return looks
}

// named reads a name and returns its number among those that there are.
func (l *loader) named(n *source.Node, what string, names []string) (int, bool) {
	s, ok := l.text(n, "a "+what)
	if !ok {
		return 0, false
	}
	i := slices.Index(names, s)
	if i < 0 {
		l.report(n, undeclared(what, s, names))
	}
	return i, i >= 0
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

// typesEntry reads one entry of `types:`, a text, or a map with apply.
func (l *loader) typesEntry(n *source.Node, env *expr.Env, where string) []emitter {
	if n.Kind != source.Map {
		return l.applied(n, env, emitter{origin: where})
	}
	l.keys(n, "a typing", []string{"apply", "each", "at", "authority"}, nil)
	apply := n.Get("apply")
	if apply == nil {
		l.report(n, missingKey("apply", "a typing", "write {apply: 'rule(expression, …)', …}"))
		return nil
	}
	e := emitter{origin: where}
	env, ok := l.circumstances(n, env, &e)
	if !ok {
		return nil
	}
	return l.applied(apply, env, e)
}

// applied reads `phi(record, text, marking)` and returns the rule's facts over the given
// expressions, under the circumstances given.
func (l *loader) applied(n *source.Node, env *expr.Env, under emitter) []emitter {
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
		case slices.Contains(r.in, i) && !bound[i].Gives(schema.KindString) && !bound[i].IsList():
			l.reportText(text, p.start, p.end, noText(id, r.params[i], bound[i].Out()))
			good = false
		}
	}
	if !good {
		return nil
	}
	out := slices.Clone(r.made)
	for i := range out {
		out[i].bound = bound
		out[i].origin, out[i].node = under.origin, n
		out[i].name, out[i].each, out[i].atResult = under.name, under.each, under.atResult
		out[i].authority = under.authority
		out[i].place += ", applied at " + place(n)
	}
	return out
}

func noText(rule, param, got string) finding {
	return fault(CodeFact, "give it a text or a list of texts", "the typing rule %s looks at %s as a text, and this is %s", rule, param, got)
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
	inner.Name, inner.Element = "", nil // a parameter may be called as the variable of each is
	inner.Bound = map[string]expr.Value{}
	for i, p := range e.bound {
		if v, err := p.Eval(in); err == nil {
			inner.Bound[e.rule.params[i]] = v
		} else {
			inner.Bound[e.rule.params[i]] = expr.Failed(strconv.Quote(e.rule.params[i]), err)
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
