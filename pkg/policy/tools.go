package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/records"
	"github.com/aspis-rv/aspis/pkg/policy/internal/expr"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// toolEntry is what a bundle says of one tool.
type toolEntry struct {
	name     string
	declares bool // it has args: the list is complete
	params   []param
	emitters []emitter
	effects  []emitter
	// documents: the tool documents what there is.
	documents bool
	wanted    uint64 // the cue lists that its typing rules look for, as bits
	// returns is how the text of results is read; 0: a result is the JSON value that it is.
	returns    records.Format
	provenance []provenance
	// trustReported is why results count that only the agent's account says; empty: they do
	// not discharge.
	trustReported string
	refuse        *expr.Program
	why           string // the text of refuse
}

// param is a declared argument.
type param struct {
	name     string
	typ      *expr.Type
	fallback expr.Value // nil: required
}

// alias is a same_as that waits for its target.
type alias struct {
	name   string
	target *source.Node
}

// tools reads the entries of tools.
func (l *loader) tools(n *source.Node) {
	fields := l.mapOf(n, "tools")
	if len(fields) > MaxTools {
		l.report(fields[MaxTools].Key, overLimit("the bundle has too many tools", MaxTools, "split the policy"))
		return
	}
	for _, f := range fields {
		l.tool(f)
	}
	for _, a := range l.aliases {
		l.resolve(a)
	}
}

func (l *loader) tool(f source.Field) {
	name := f.Key.Value
	where := "the tool " + name
	if strings.ContainsAny(name, "*?/ ") {
		l.report(f.Key, badName("a tool", name, "write the bare name of one tool; patterns and servers are not supported by this version yet"))
		return
	}
	if f.Value.Kind == source.Scalar && f.Value.Type == source.Null { // `get_time:` covers a tool without effects
		l.b.typing.entries[name] = &toolEntry{name: name}
		return
	}
	if f.Value.Kind != source.Map {
		l.report(f.Value, wrongType(where, "a map", f.Value.Describe()))
		return
	}
	l.keys(f.Value, where, []string{"args", "facts", "types", "world", "documents", "refuse", "authority", "same_as", "returns", "trust_reported"},
		[]string{"provenance", "server", "typing"})
	if target := f.Value.Get("same_as"); target != nil {
		if _, ok := l.text(target, "same_as"); ok {
			l.aliases = append(l.aliases, alias{name, target})
		}
		for _, other := range f.Value.Fields {
			if other.Key.Value != "same_as" {
				l.report(other.Key, fault(CodeTwice, "delete it, or delete same_as", "%s is the same as another tool and cannot have its own %q", where, other.Key.Value))
			}
		}
		return
	}
	e := &toolEntry{name: name, declares: f.Value.Get("args") != nil}
	env := l.params(f.Value.Get("args"), e)
	defaults := emitter{authority: l.boolean(f.Value.Get("authority"), "authority"), origin: where}
	for _, item := range l.listOf(f.Value.Get("facts")) {
		e.emitters = append(e.emitters, l.factEntry(item, env, defaults)...)
	}
	for _, item := range l.listOf(f.Value.Get("types")) {
		for _, made := range l.typesEntry(item, env, where) {
			e.emitters = append(e.emitters, made)
			e.wanted |= made.rule.cues
		}
	}
	e.effects = l.effects(f.Value.Get("world"), env, emitter{origin: where})
	e.returns = l.returns(f.Value.Get("returns"))
	e.trustReported = l.trustReported(f.Value.Get("trust_reported"), where)
	e.documents = l.boolean(f.Value.Get("documents"), "documents")
	if r := f.Value.Get("refuse"); r != nil {
		e.refuse, e.why = l.condition(r, env, "refuse"), r.Value
	}
	l.b.typing.entries[name] = e
}

// params reads `{record: string, marking: string = ""}` and returns the
// environment with the arguments as variables.
func (l *loader) params(n *source.Node, e *toolEntry) *expr.Env {
	var vars []expr.Variable
	for _, f := range l.mapOf(n, "args") {
		p, ok := l.param(f)
		if !ok {
			continue
		}
		e.params = append(e.params, p)
		vars = append(vars, expr.Variable{Name: p.name, Type: p.typ})
	}
	slices.SortFunc(e.params, func(a, b param) int { return strings.Compare(a.name, b.name) })
	if len(vars) == 0 {
		return l.env
	}
	env, err := l.env.With(vars...)
	if err != nil {
		l.report(n, unreadable("the arguments", err))
		return l.env
	}
	return env
}

func (l *loader) param(f source.Field) (param, bool) {
	text, what := f.Value.Value, "the type of "+f.Key.Value
	if f.Value.Kind == source.List { // recipients: [string]
		if len(f.Value.Items) != 1 || f.Value.Items[0].Kind != source.Scalar {
			l.report(f.Value, wrongType(what, "a type such as [string]", f.Value.Describe()))
			return param{}, false
		}
		text = "[" + f.Value.Items[0].Value + "]"
	} else if _, ok := l.text(f.Value, what); !ok {
		return param{}, false
	}
	name, fallback, hasDefault := strings.Cut(text, "=")
	typ, ok := expr.ParseType(name)
	if !ok {
		l.report(f.Value, notAllowed(what, strings.TrimSpace(name), append(expr.BaseNames(), "[string]")))
		return param{}, false
	}
	p := param{name: f.Key.Value, typ: typ}
	if hasDefault {
		p.fallback = l.fallback(f.Value, typ, strings.TrimSpace(fallback))
	}
	return p, true
}

// fallback reads a default value, written as JSON or as a bare word.
func (l *loader) fallback(n *source.Node, typ *expr.Type, text string) expr.Value {
	canon, err := schema.Canonical([]byte(text))
	if err != nil && typ.Base == expr.BaseString && isID(text) {
		canon, err = []byte(`"`+text+`"`), nil
	}
	if err != nil {
		l.report(n, badValue("the default", text, "is not JSON", `write it as in JSON, for example string = "x" or "[string] = []"`))
		return nil
	}
	v, err := expr.Decode(canon)
	if err != nil {
		l.report(n, badValue("the default", text, "cannot be used: "+err.Error(), ""))
		return nil
	}
	v, problem := typ.Coerce(v)
	if problem != "" {
		l.report(n, badValue("the default", text, problem, ""))
		return nil
	}
	return v
}

// resolve gives an alias the entry of its target, through other aliases if need be.
func (l *loader) resolve(a alias) {
	entries := l.b.typing.entries
	target, seen := a.target.Value, map[string]bool{a.name: true}
	for entries[target] == nil {
		i := slices.IndexFunc(l.aliases, func(o alias) bool { return o.name == target })
		if i < 0 {
			l.report(a.target, undeclared("tool", target, slices.Sorted(maps.Keys(entries))))
			return
		}
		if seen[target] {
			l.report(a.target, fault(CodeDefine, "let one of them have effects of its own", "%s is the same as itself", a.name))
			return
		}
		seen[target] = true
		target = l.aliases[i].target.Value
	}
	entries[a.name] = entries[target]
}

// fallbackText returns the default of an argument that is a text.
func (p *param) fallbackText() (string, bool) {
	if p.fallback == nil {
		return "", false
	}
	return expr.TextOf(p.fallback)
}
