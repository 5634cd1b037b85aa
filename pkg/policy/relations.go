package policy

import (
	"maps"
	"slices"
	"strings"

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
	declState
	declAttribute
	declWorld
	declProvenance
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
	case declState:
		return "a state"
	case declAttribute:
		return "an attribute"
	case declWorld:
		return "a relation of the world"
	case declProvenance:
		return "a relation of provenance"
	}
	return "?"
}

// noun is String without the article.
func (k declKind) noun() string {
	_, noun, _ := strings.Cut(k.String(), " ")
	return noun
}

// declaration is a name of the formula language.
type declaration struct {
	kind    declKind
	key     *source.Node
	members []schema.Value // of a set
	globs   []glob         // of a glob
	read    bool           // some formula of a clause uses it
	emitted bool           // something emits it
	changed bool           // of a relation of the world: events may change it
	trusted bool           // of provenance: its values can discharge
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
		l.report(key, overLimit("the bundle has too many facts, states, attributes, sets, globs and named formulas", MaxRelations, ""))
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
	for _, f := range l.mapOf(n, "facts") {
		kinds, ok := l.arguments(f, "a fact")
		if ok && l.declare(f.Key, f.Key.Value, declFact) != nil {
			l.b.Signature[f.Key.Value] = kinds
		}
	}
}

// arguments reads the arguments of a fact or a state.
func (l *loader) arguments(f source.Field, what string) ([]schema.ValueKind, bool) {
	if f.Value.Kind == source.Map {
		l.report(f.Value, notYet(what+" declared by a map"))
		return nil, false
	}
	if f.Value.Kind == source.Scalar && f.Value.Type != source.Null {
		l.report(f.Value, wrongType("the arguments of "+what, "a list such as [record, at:int]", f.Value.Describe()))
		return nil, false
	}
	kinds := []schema.ValueKind{}
	seen := map[string]bool{}
	for _, item := range f.Value.Items {
		if s, ok := l.text(item, "an argument of "+what); ok {
			kinds = append(kinds, l.argument(item, s, seen))
		}
	}
	return kinds, true
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
		l.report(n, nameTaken(name, "another argument of it"))
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

// setDomains lists the domains that sets declare, sorted.
func (l *loader) setDomains() []string {
	var out []string
	for _, name := range l.namesOf(declSet) {
		if domain, ok := strings.CutPrefix(name, domainPrefix); ok && domain != "" {
			out = append(out, domain)
		}
	}
	return out
}

// domains returns what domain_of knows: the members of each set `domain_D`, and D
// itself; and of a world the vertices that have a domain, and the domains. What has two
// domains is reported.
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
	bySets := maps.Clone(out) // a vertex that is called like a domain has been reported
	for _, v := range l.world.vertices {
		if v.Domain == "" {
			continue
		}
		for _, name := range []string{v.Name, v.Domain} {
			if other, taken := bySets[name]; taken && other != v.Domain {
				l.reportAt(v.at, nameTaken(name, "the set "+domainPrefix+other))
			}
			out[name] = v.Domain
		}
	}
	return out
}
