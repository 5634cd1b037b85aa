package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// declKind is what a name of the formula language stands for.
type declKind uint8

const (
	declFact declKind = iota
	declSet
	declGlob
	declDefine
)

func (k declKind) String() string {
	switch k {
	case declFact:
		return "a fact"
	case declSet:
		return "a set"
	case declGlob:
		return "a glob"
	case declDefine:
		return "a named formula"
	}
	return "?"
}

// declaration is a name of the formula language.
type declaration struct {
	kind    declKind
	key     *source.Node
	members []schema.Value // of a set
	globs   []glob         // of a glob
	read    bool           // some formula of a clause uses it
	emitted bool           // something emits it
}

// declare enters a name; it reports one that is malformed or taken.
func (l *loader) declare(key *source.Node, name string, kind declKind) *declaration {
	switch prev := l.names[name]; {
	case !isName(name):
		l.report(key, badName(kind.String(), name, nameRule))
		return nil
	case isKeyword(name):
		l.report(key, badName(kind.String(), name, "it is a word of the formula language"))
		return nil
	case prev != nil:
		l.report(key, nameTaken(name, prev.kind.String()))
		return nil
	case len(l.names) == MaxRelations:
		l.report(key, overLimit("the bundle has too many facts, sets, globs and named formulas", MaxRelations, ""))
		return nil
	case len(l.names) > MaxRelations:
		return nil
	}
	d := &declaration{kind: kind, key: key}
	l.names[name] = d
	return d
}

// relationNames lists the declared names, for suggestions.
func (l *loader) relationNames() []string { return slices.Sorted(maps.Keys(l.names)) }

// facts reads the signature: `launch: [mission, at:int]`.
func (l *loader) facts(n *source.Node) {
	l.b.Signature = check.Signature{}
	for _, f := range l.mapOf(n, "facts") {
		if f.Value.Kind == source.Map {
			l.report(f.Value, notYet("a fact declared by a map"))
			continue
		}
		if f.Value.Kind == source.Scalar && f.Value.Type != source.Null {
			l.report(f.Value, wrongType("the arguments of a fact", "a list such as [record, at:int]", f.Value.Describe()))
			continue
		}
		kinds := []schema.ValueKind{}
		seen := map[string]bool{}
		for _, item := range f.Value.Items {
			if s, ok := l.text(item, "an argument of a fact"); ok {
				kinds = append(kinds, l.argument(item, s, seen))
			}
		}
		if l.declare(f.Key, f.Key.Value, declFact) != nil {
			l.b.Signature[f.Key.Value] = kinds
		}
	}
}

// argument reads `name`, `name:type` or `type`.
func (l *loader) argument(n *source.Node, s string, seen map[string]bool) schema.ValueKind {
	name, typ, typed := strings.Cut(s, ":")
	name, typ = strings.TrimSpace(name), strings.TrimSpace(typ)
	if kind, ok := kindNamed(name); ok && !typed {
		return kind
	}
	switch {
	case !isName(name):
		l.report(n, badName("an argument", name, "write name, name:type or type; a type is int, string or float"))
	case seen[name]:
		l.report(n, nameTaken(name, "another argument of this fact"))
	}
	seen[name] = true
	if !typed {
		return schema.KindString
	}
	kind, ok := kindNamed(typ)
	if !ok {
		l.report(n, notAllowed("the type of an argument", typ, []string{"int", "string", "float"}))
	}
	return kind
}

func kindNamed(s string) (schema.ValueKind, bool) {
	for k := schema.KindInt; k <= schema.KindFloat; k++ {
		if k.String() == s {
			return k, true
		}
	}
	return schema.KindString, false
}

// sets reads the constant sets: `own: [MED]`.
func (l *loader) sets(n *source.Node) {
	for _, f := range l.mapOf(n, "sets") {
		d := l.declare(f.Key, f.Key.Value, declSet)
		if f.Value.Kind != source.List {
			l.report(f.Value, wrongType("a set", "a list of values", f.Value.Describe()))
			continue
		}
		if d == nil {
			continue
		}
		d.members = l.members(f.Value)
		switch {
		case len(d.members) == 0 && len(f.Value.Items) == 0:
			l.report(f.Value, badValue("the set "+f.Key.Value, "[]", "has no member", "delete the set, or write FALSE where a formula uses it"))
		case len(d.members) > MaxSet:
			l.report(f.Value, overLimit("the set "+f.Key.Value+" has too many members", MaxSet, "emit a fact instead"))
		}
	}
}

// members reads the values of a set: all texts or all integers, none twice.
func (l *loader) members(n *source.Node) []schema.Value {
	var out []schema.Value
	seen := map[schema.Value]bool{}
	for _, item := range n.Items {
		v, ok := l.constant(item)
		switch {
		case !ok:
			continue
		case len(out) > 0 && out[0].Kind != v.Kind:
			l.report(item, wrongType("a member of this set", out[0].Kind.String()+" like the first", v.Kind.String()))
		case seen[v]:
			l.report(item, nameTaken(item.Value, "another member of this set"))
		default:
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// constant reads a scalar of the formula language: a text or an integer.
func (l *loader) constant(n *source.Node) (schema.Value, bool) {
	if n.Kind == source.Scalar && n.Type == source.Int && !n.Quoted() {
		i, ok := l.integer(n, "a value")
		return schema.IntValue(i), ok
	}
	s, ok := l.text(n, "a value")
	return schema.StringValue(s), ok
}

// domainPrefix marks the sets that say which places, parties and addresses belong
// to a domain: `domain_MED: [med_fwd, clinic]`.
const domainPrefix = "domain_"

// domains returns what domain_of knows: the members of each set `domain_D`, and D
// itself. A member of two of them is reported.
func (l *loader) domains() map[string]string {
	out := map[string]string{}
	for _, name := range l.relationNames() {
		d := l.names[name]
		domain, ok := strings.CutPrefix(name, domainPrefix)
		if d.kind != declSet || !ok || domain == "" {
			continue
		}
		d.read = true
		for _, v := range append([]schema.Value{schema.StringValue(domain)}, d.members...) {
			if other, taken := out[v.Str]; taken && other != domain {
				l.report(d.key, nameTaken(v.Str, "the set "+domainPrefix+other))
			}
			out[v.Str] = domain
		}
	}
	return out
}
