package policy

import (
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// entities reads `m1: {kind: mission, attributes: {lz: [], route: [wp_1, wp_3]}}`.
func (l *loader) entities(n *source.Node) {
	for _, f := range l.mapOf(n, "entities") {
		where := "the entity " + f.Key.Value
		if f.Value.Kind != source.Map {
			l.report(f.Value, wrongType(where, "a map with its kind", f.Value.Describe()))
			continue
		}
		l.keys(f.Value, where, []string{"kind", "attributes"}, nil)
		if len(f.Key.Value) > MaxWorldName {
			l.report(f.Key, overLimit("the name of the entity has too many bytes", MaxWorldName, ""))
			continue
		}
		e := world.EntitySpec{Name: f.Key.Value}
		if k := f.Value.Get("kind"); k == nil {
			l.report(f.Key, missingKey("kind", where, "say what it is, for example kind: mission"))
		} else {
			e.Kind, _ = l.text(k, "the kind of an entity")
		}
		for _, a := range l.mapOf(f.Value.Get("attributes"), "attributes") {
			if spec, ok := l.attributeValues(a); ok {
				e.Attributes = append(e.Attributes, spec)
			}
		}
		slices.SortFunc(e.Attributes, func(a, b world.AttributeSpec) int { return strings.Compare(a.Name, b.Name) })
		l.world.entities[e.Name] = e
	}
}

func (l *loader) attributeValues(f source.Field) (world.AttributeSpec, bool) {
	d := l.attribute(f.Key, f.Key.Value)
	if d == nil {
		return world.AttributeSpec{}, false
	}
	spec := world.AttributeSpec{Name: f.Key.Value}
	for _, s := range l.textsOf(f.Value, "a value of an attribute") {
		spec.Values = append(spec.Values, schema.StringValue(s))
	}
	slices.SortFunc(spec.Values, schema.Compare)
	d.emitted = d.emitted || len(spec.Values) > 0
	return spec, true
}

// objects reads `A: [med_fwd]`: what there is before the first event, and where.
func (l *loader) objects(n *source.Node) {
	for _, f := range l.mapOf(n, "objects") {
		o := world.ObjectSpec{Name: f.Key.Value}
		if len(o.Name) > MaxWorldName {
			l.report(f.Key, overLimit("the name of the object has too many bytes", MaxWorldName, ""))
			continue
		}
		for _, item := range l.listOf(f.Value) {
			name, ok := l.text(item, "a vertex")
			_, known := l.world.vertices[name]
			switch {
			case !ok:
			case !known:
				l.report(item, undeclared("vertex", name, l.nearVertices()))
			case slices.Contains(o.At, name):
				l.report(item, nameTaken(name, "another one of this list"))
			default:
				o.At = append(o.At, name)
			}
		}
		if f.Value.Kind == source.List && len(f.Value.Items) == 0 {
			l.report(f.Value, contradiction("name the vertices that hold it, or delete it", "the object %s is nowhere", o.Name))
		}
		slices.Sort(o.At)
		l.world.objects[o.Name] = o
	}
}
