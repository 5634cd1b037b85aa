package policy

import (
	"regexp"
	"strings"

	"github.com/aspis-rv/aspis/pkg/policy/internal/expr"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// emitter makes facts of one relation from an event, marks of one state, or edits of one
// operation on the world.
type emitter struct {
	rel       string
	kinds     []schema.ValueKind
	args      []*expr.Program
	name      string        // the variable of each; empty without
	each      *expr.Program // a list
	when      *expr.Program
	authority bool   // counts only when an authority caused the event
	atResult  bool   // at the call's ok result instead of at the call
	place     string // file:line:column, for explanations
	origin    string // the tool or class, for messages
	node      *source.Node

	state bool            // of a state: what it makes is a mark
	rule  *rule           // the typing rule that makes it, nil: none does
	bound []*expr.Program // what the parameters of the typing rule stand for

	discharges bool // its facts can make a violation go away

	operation *operation // of the world; nil: this makes facts or marks
	attribute string     // that the operation sets
	writes    []string   // relations that the operation may change
}

// relations are those of which tuples are unknown when an expression fails.
func (e *emitter) relations() []string {
	if e.operation != nil {
		return e.writes
	}
	return []string{e.rel}
}

// what names what is made, for explanations.
func (e *emitter) what() string {
	switch {
	case e.operation == nil:
		return e.rel
	case e.attribute != "":
		return e.operation.op.String() + " " + e.attribute
	}
	return e.operation.op.String()
}

// eventOnly reports whether the emitter reads neither arguments nor a result.
func (e *emitter) eventOnly() bool {
	if e.each != nil || e.bound != nil || (e.when != nil && !e.when.EventOnly()) {
		return false
	}
	for _, a := range e.args {
		if !a.EventOnly() {
			return false
		}
	}
	return true
}

// factEntry reads one entry of a tool's facts: a text, or a map with emit.
func (l *loader) factEntry(n *source.Node, env *expr.Env, defaults emitter) []emitter {
	if n.Kind != source.Map {
		return l.factText(n, env, defaults)
	}
	l.keys(n, "a fact entry", []string{"emit", "each", "when", "authority", "at"}, []string{"carried_by", "definite", "cues", "trust_reported", "sets"})
	emit := n.Get("emit")
	if emit == nil {
		l.report(n, missingKey("emit", "a fact entry", "write {emit: 'name(expression, …)', …}"))
		return nil
	}
	env, ok := l.circumstances(n, env, &defaults)
	if !ok {
		return nil
	}
	return l.factText(emit, env, defaults)
}

// circumstances reads under what circumstances an entry counts, and returns the environment
// of its expressions.
func (l *loader) circumstances(n *source.Node, env *expr.Env, e *emitter) (*expr.Env, bool) {
	if a := n.Get("authority"); a != nil {
		e.authority = l.boolean(a, "authority")
	}
	if at := n.Get("at"); at != nil {
		e.atResult = l.moment(at)
	}
	if each := n.Get("each"); each != nil {
		if env = l.each(each, env, e); env == nil {
			return nil, false
		}
	}
	if when := n.Get("when"); when != nil {
		e.when = l.condition(when, env, "when")
	}
	return env, true
}

func eachForm() *regexp.Regexp { return regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_]*)\s+in\s+`) }

// each reads `x in EXPR` and returns the environment in which x stands for one
// element; nil when it cannot be read.
func (l *loader) each(n *source.Node, env *expr.Env, e *emitter) *expr.Env {
	if _, ok := l.text(n, "each"); !ok {
		return nil
	}
	text := n.Text()
	m := eachForm().FindStringSubmatchIndex(text.Value)
	if m == nil {
		l.report(n, badValue("each", text.Value, "is not of the form `x in LIST`", "for example each: 'a in args.recipients'"))
		return nil
	}
	name := text.Value[m[2]:m[3]]
	if !expr.Usable(name) {
		l.reportText(text, m[2], m[3], badName("a variable", name, "choose another one: it is a fixed name or a word of the expression language"))
		return nil
	}
	e.name = name
	e.each = l.expression(text.Sub(m[1], len(text.Value)), env)
	if e.each == nil {
		return nil
	}
	if !e.each.IsList() {
		l.reportText(text, m[1], len(text.Value), fault(CodeExpression, "", "each runs over a list, and this is %s", e.each.Out()))
		return nil
	}
	inner, err := env.With(expr.Variable{Name: name, Type: e.each.Element()})
	if err != nil {
		l.reportText(text, m[2], m[3], badName("a variable", name, "choose another one: an argument has it"))
		return nil
	}
	return inner
}

// condition reads an expression that is true or false.
func (l *loader) condition(n *source.Node, env *expr.Env, what string) *expr.Program {
	if _, ok := l.text(n, what); !ok {
		return nil
	}
	p := l.expression(n.Text(), env)
	if p != nil && !p.IsCondition() {
		l.report(n, fault(CodeExpression, "", "%s is a condition, and this is %s", what, p.Out()))
	}
	return p
}

// expression compiles a text; nil when it cannot.
func (l *loader) expression(t source.Text, env *expr.Env) *expr.Program {
	p, problems := env.Compile(t.Value)
	for _, pr := range problems {
		l.reportText(t, pr.Start, pr.End, fault(CodeExpression, pr.Hint, "%s", pr.Message))
	}
	return p
}

// factText reads `name(expression, …)`.
func (l *loader) factText(n *source.Node, env *expr.Env, e emitter) []emitter {
	if _, ok := l.text(n, "a fact"); !ok {
		return nil
	}
	text := n.Text()
	name, parts, ok := splitCall(text.Value)
	if !ok {
		l.report(n, shapeOfFact(text.Value))
		return nil
	}
	e.rel = text.Value[name.start:name.end]
	e.node = n
	e.place = place(n)
	if !l.emittable(text, name, e.rel) {
		return nil
	}
	e.kinds = l.b.Signature[e.rel]
	e.state = l.names[e.rel].kind == declState
	if len(parts) != len(e.kinds) {
		l.reportText(text, name.start, len(text.Value), factArity(e.rel, len(e.kinds), len(parts)))
		return nil
	}
	good := true
	for i, p := range parts {
		prg := l.expression(text.Sub(p.start, p.end), env)
		switch {
		case prg == nil:
			good = false
		case !prg.Gives(e.kinds[i]):
			l.reportText(text, p.start, p.end, factKind(e.rel, i+1, e.kinds[i].String(), prg.Out()))
			good = false
		}
		e.args = append(e.args, prg)
	}
	if !good {
		return nil
	}
	return []emitter{e}
}

// emittable reports whether a relation is a declared fact or state.
func (l *loader) emittable(text source.Text, at stretch, rel string) bool {
	d := l.names[rel]
	switch {
	case d == nil && operationNamed(rel) != nil:
		l.reportText(text, at.start, at.end, fault(CodeUndeclared, "write it under world: world: ['"+operationNamed(rel).usage()+"']",
			"%s is an effect on the world and no fact", rel))
		return false
	case d == nil:
		l.reportText(text, at.start, at.end, undeclared("fact", rel, l.namesOf(declFact, declState)))
		return false
	case d.kind == declWorld || d.kind == declAttribute:
		l.reportText(text, at.start, at.end, fault(CodeFact, "write an effect under world, for example world: ['place(record, dest)']",
			"%s is %s; only effects change it", rel, d.kind))
		return false
	case d.kind != declFact && d.kind != declState:
		l.reportText(text, at.start, at.end, notEmittable(rel, d.kind.String()))
		return false
	}
	d.emitted, d.changed = true, true
	return true
}

// stretch is a part of a text, in bytes.
type stretch struct{ start, end int }

// splitCall finds the name and the arguments of `name(a, b)`. Commas inside
// brackets and quotes separate nothing.
func splitCall(s string) (name stretch, args []stretch, ok bool) {
	open := strings.IndexByte(s, '(')
	if open < 0 {
		return name, nil, false
	}
	name = trim(s, stretch{0, open})
	if !isName(s[name.start:name.end]) {
		return name, nil, false
	}
	depth, from := 0, open+1
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '"', '\'':
			i = endOfQuote(s, i)
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				if last := trim(s, stretch{from, i}); last.start < last.end || len(args) > 0 {
					args = append(args, last)
				}
				return name, args, strings.TrimSpace(s[i+1:]) == ""
			}
		case ',':
			if depth == 1 {
				args = append(args, trim(s, stretch{from, i}))
				from = i + 1
			}
		}
	}
	return name, nil, false
}

// endOfQuote returns the offset of the quote that ends the text starting at i.
func endOfQuote(s string, i int) int {
	quote := s[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s[i:], triple) {
		if end := strings.Index(s[i+3:], triple); end >= 0 {
			return i + 3 + end + 2
		}
		return len(s)
	}
	for j := i + 1; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case quote[0]:
			return j
		}
	}
	return len(s)
}

func trim(s string, at stretch) stretch {
	for at.start < at.end && strings.IndexByte(" \t\n\r", s[at.start]) >= 0 {
		at.start++
	}
	for at.end > at.start && strings.IndexByte(" \t\n\r", s[at.end-1]) >= 0 {
		at.end--
	}
	return at
}
