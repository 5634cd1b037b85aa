package policy

import (
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/policy/internal/expr"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// slot is what an argument of an effect is.
type slot uint8

const (
	slotObject slot = iota
	slotVertex
	slotLabel
	slotDomain
	slotSort
	slotDistance
	slotWeight
	slotEntity
	slotAttribute // a name, not an expression
	slotValues    // texts or lists of texts; any number of arguments
	slotLabels    // likewise
)

// String names the argument, with an article.
func (s slot) String() string {
	switch s {
	case slotObject:
		return "the object"
	case slotVertex:
		return "the vertex"
	case slotLabel:
		return "the label"
	case slotDomain:
		return "the domain"
	case slotSort:
		return "the sort"
	case slotDistance:
		return "the distance"
	case slotWeight:
		return "the weight"
	case slotEntity:
		return "the entity"
	case slotAttribute:
		return "the attribute"
	case slotValues:
		return "a value"
	case slotLabels:
		return "a label"
	}
	return "?"
}

// kind says what an expression must give for the argument.
func (s slot) kind() string {
	switch s {
	case slotDistance, slotWeight:
		return "an int"
	case slotValues, slotLabels:
		return "a string or a list of strings"
	case slotAttribute:
		return "a name"
	case slotObject, slotVertex, slotLabel, slotDomain, slotSort, slotEntity:
	}
	return "a string"
}

func (s slot) repeats() bool { return s == slotValues || s == slotLabels }

// fits reports whether an expression can give the argument.
func (s slot) fits(p *expr.Program) bool {
	switch s {
	case slotDistance, slotWeight:
		return p.Gives(schema.KindInt)
	case slotValues, slotLabels:
		return p.Gives(schema.KindString) || p.IsList()
	case slotAttribute, slotObject, slotVertex, slotLabel, slotDomain, slotSort, slotEntity:
	}
	return p.Gives(schema.KindString)
}

// operation is how policies write an operation of the world.
type operation struct {
	op    world.Op
	slots []slot
	least int // how many arguments there are at least
	// writes are the relations of which the operation may change tuples; set and append
	// write their attribute.
	writes []string
	how    string
}

// usage shows how the operation is written.
func (o *operation) usage() string { return o.op.String() + "(" + o.how + ")" }

// slot returns what the i-th argument is; ok is false when there is none.
func (o *operation) slot(i int) (s slot, ok bool) {
	if i < len(o.slots) {
		return o.slots[max(i, 0)], true
	}
	last := o.slots[len(o.slots)-1]
	return last, last.repeats()
}

// operations lists what a policy may write.
func operations() []*operation {
	replicas := []string{"holds", "reaches", "exists", "gone"}
	walks := []string{"opened", "connects", "reaches"}
	vertex := []string{"vertex", "label", "domain", "opened", "connects", "reaches"}
	label := []string{"label"}
	domain := []string{"domain", "connects", "reaches"}
	distance := []string{"vertex"} // no relation has edges; formulas at a location read all of the graph's
	ops := []*operation{
		{world.AddVertex, []slot{slotVertex, slotSort, slotDomain, slotLabels}, 2, vertex, "name, sort, domain, label, …"},
		{world.RemoveVertex, []slot{slotVertex}, 1, vertex, "vertex"},
		{world.AddLabel, []slot{slotVertex, slotLabel}, 2, label, "vertex, label"},
		{world.RemoveLabel, []slot{slotVertex, slotLabel}, 2, label, "vertex, label"},
		{world.SetDomain, []slot{slotVertex, slotDomain}, 2, domain, "vertex, domain"},
		{world.AddEdge, []slot{slotVertex, slotVertex, slotDistance}, 3, distance, "from, to, distance"},
		{world.RemoveEdge, []slot{slotVertex, slotVertex}, 2, distance, "from, to"},
		{world.OpenChannel, []slot{slotVertex, slotVertex, slotWeight}, 2, walks, "from, to) or open(from, to, weight"},
		{world.CloseChannel, []slot{slotVertex, slotVertex}, 2, walks, "from, to"},
		{world.Place, []slot{slotObject, slotVertex}, 2, replicas, "object, vertex"},
		{world.Remove, []slot{slotObject, slotVertex}, 2, replicas, "object, vertex"},
		{world.Move, []slot{slotObject, slotVertex}, 2, replicas, "object, vertex"},
		{world.Purge, []slot{slotObject, slotLabel}, 2, replicas, "object, label"},
		{world.Destroy, []slot{slotObject}, 1, replicas, "object"},
		{world.Derive, []slot{slotObject, slotObject}, 2, append([]string{"derived"}, replicas...), "output, source"},
		{world.Set, []slot{slotAttribute, slotEntity, slotValues}, 3, nil, "attribute, entity, value, …"},
		{world.Append, []slot{slotAttribute, slotEntity, slotValues}, 3, nil, "attribute, entity, value, …"},
	}
	return ops
}

func operationNames() []string {
	var out []string
	for _, o := range operations() {
		out = append(out, o.op.String())
	}
	return out
}

func operationNamed(name string) *operation {
	for _, o := range operations() {
		if o.op.String() == name {
			return o
		}
	}
	return nil
}

// effectEntry reads one entry of `world:`, a text or a map with do.
func (l *loader) effectEntry(n *source.Node, env *expr.Env, defaults emitter) []emitter {
	if !l.world.declared() {
		l.report(n, noWorld("this is an effect on the world"))
		return nil
	}
	if n.Kind != source.Map {
		return l.effectText(n, env, defaults)
	}
	l.keys(n, "an effect", []string{"do", "each", "when", "authority", "at"}, nil)
	do := n.Get("do")
	if do == nil {
		l.report(n, missingKey("do", "an effect", "write {do: 'place(record, dest)', …}"))
		return nil
	}
	env, ok := l.circumstances(n, env, &defaults)
	if !ok {
		return nil
	}
	return l.effectText(do, env, defaults)
}

// effectText reads `operation(expression, …)`.
func (l *loader) effectText(n *source.Node, env *expr.Env, e emitter) []emitter {
	if _, ok := l.text(n, "an effect"); !ok {
		return nil
	}
	text := n.Text()
	name, parts, ok := splitCall(text.Value)
	if !ok {
		l.report(n, shapeOfEffect(text.Value))
		return nil
	}
	o := operationNamed(text.Value[name.start:name.end])
	if o == nil {
		l.reportText(text, name.start, name.end, unknownOperation(text.Value[name.start:name.end], operationNames()))
		return nil
	}
	if _, more := o.slot(len(parts) - 1); len(parts) < o.least || !more {
		l.reportText(text, name.start, len(text.Value), effectArity(o, len(parts)))
		return nil
	}
	e.operation, e.writes = o, o.writes
	e.node, e.place = n, place(n)
	if o.slots[0] == slotAttribute {
		if e.attribute, ok = l.writtenAttribute(n, text, parts[0]); !ok {
			return nil
		}
		e.writes = []string{e.attribute}
		parts = parts[1:]
	}
	if !l.effectArguments(&e, text, parts, env) {
		return nil
	}
	l.changes(e.writes)
	return []emitter{e}
}

// changes notes that events may change relations.
func (l *loader) changes(relations []string) {
	for _, name := range relations {
		if d := l.names[name]; d != nil {
			d.emitted, d.changed = true, true
		}
	}
}

// writtenAttribute reads the name of the attribute that an effect sets, in quotes or not.
func (l *loader) writtenAttribute(n *source.Node, text source.Text, at stretch) (string, bool) {
	name := strings.Trim(text.Value[at.start:at.end], `"'`)
	if !isName(name) {
		l.reportText(text, at.start, at.end, badName("an attribute", name, nameRule))
		return "", false
	}
	return name, l.attribute(n, name) != nil
}

// effectArguments compiles the arguments of an effect.
func (l *loader) effectArguments(e *emitter, text source.Text, parts []stretch, env *expr.Env) bool {
	good := true
	for i, p := range parts {
		s, _ := e.operation.slot(i + e.skipped())
		part := text.Sub(p.start, p.end)
		if s == slotSort && sortNamed(part.Value) != world.Unknown {
			e.args = append(e.args, env.Literal(part.Value))
			continue
		}
		prg := l.expression(part, env)
		switch {
		case prg == nil:
			good = false
		case !s.fits(prg):
			l.reportText(text, p.start, p.end, effectKind(e.operation, s, prg.Out()))
			good = false
		default:
			good = l.literal(e.operation, s, prg, text, p) && good
		}
		e.args = append(e.args, prg)
	}
	return good
}

// literal checks an argument that is a literal.
func (l *loader) literal(o *operation, s slot, prg *expr.Program, text source.Text, at stretch) bool {
	v, ok := prg.Constant()
	if !ok {
		return true
	}
	problem := ""
	switch s {
	case slotSort:
		if sortNamed(v.Str) == world.Unknown {
			problem = "is neither physical nor informational"
		}
	case slotDistance, slotWeight:
		if v.Int < 0 {
			problem = "is negative"
		}
	case slotDomain: // that of a physical vertex is empty
		if v.Str == "" && o.op != world.AddVertex {
			problem = "is empty"
		}
	case slotObject, slotVertex, slotLabel, slotEntity, slotValues, slotLabels:
		if v.Kind == schema.KindString && v.Str == "" {
			problem = "is empty"
		}
	case slotAttribute:
	}
	if problem != "" {
		l.reportText(text, at.start, at.end, badValue(s.String(), text.Value[at.start:at.end], problem, "write "+o.usage()))
	}
	return problem == ""
}

// skipped is how many arguments of the operation are no expressions.
func (e *emitter) skipped() int {
	if e.operation.slots[0] == slotAttribute {
		return 1
	}
	return 0
}

// effects reads the entries of `world:`.
func (l *loader) effects(n *source.Node, env *expr.Env, defaults emitter) []emitter {
	var out []emitter
	for _, item := range l.listOf(n) {
		out = append(out, l.effectEntry(item, env, defaults)...)
	}
	return slices.Clip(out)
}
