package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// worldDecl gathers the world of a bundle while it is read.
type worldDecl struct {
	key      *source.Node // the value of the key world; nil without one
	stateKey *source.Node // likewise of the key state
	vertices map[string]declaredVertex
	edges    map[[2]string]world.EdgeSpec // by their ends, the lesser first
	channels map[[2]string]world.ChannelSpec
	entities map[string]world.EntitySpec
	objects  map[string]world.ObjectSpec
	states   []world.StateSpec
	unit     string
	// closed: the world lists its attributes, and there are no others.
	closed bool
}

// declaredVertex is a vertex and where it stands.
type declaredVertex struct {
	world.VertexSpec
	at spot
}

// spot is a place in a file of the bundle.
type spot struct {
	file string
	span diag.Span
}

func spotOf(n *source.Node) spot { return spot{n.File().Name, n.Span()} }

// reportAt adds a finding about a place.
func (l *loader) reportAt(at spot, f finding) { l.reportSpan(at.file, at.span, f) }

func newWorldDecl() worldDecl {
	return worldDecl{
		vertices: map[string]declaredVertex{}, edges: map[[2]string]world.EdgeSpec{}, channels: map[[2]string]world.ChannelSpec{},
		entities: map[string]world.EntitySpec{}, objects: map[string]world.ObjectSpec{}, unit: "m",
	}
}

// declared reports whether the bundle declares a world.
func (w *worldDecl) declared() bool { return w.key != nil }

// vertexNames, domainNames and labelNames list what the world declares, sorted.
func (w *worldDecl) vertexNames() []string {
	var out []string
	for name := range w.vertices {
		out = append(out, name)
	}
	return unique(out)
}

func (w *worldDecl) domainNames() []string {
	var out []string
	for _, v := range w.vertices {
		if v.Domain != "" {
			out = append(out, v.Domain)
		}
	}
	return unique(out)
}

func (w *worldDecl) labelNames() []string {
	var out []string
	for _, v := range w.vertices {
		out = append(out, v.Labels...)
	}
	return unique(out)
}

// worldNames takes the names of the relations that every world has, so that no fact or set
// has one of them. It runs before anything else is declared.
func (l *loader) worldNames(root *source.Node) {
	l.world = newWorldDecl()
	key := root.Get("world")
	if key == nil {
		if key = root.Get("state"); key == nil {
			return
		}
	}
	for _, name := range world.Names() {
		l.names[name] = &declaration{kind: declWorld, key: key, read: true}
	}
}

// worldSection reads `world: world.yaml`, or the world itself under that key.
func (l *loader) worldSection(n *source.Node) {
	if n == nil {
		return
	}
	l.world.key = n
	maps.Copy(l.b.Signature, (&world.Spec{}).Signature())
	if n.Kind == source.Scalar {
		if n = l.worldFile(n); n == nil {
			return
		}
	}
	if n.Kind != source.Map {
		l.report(n, wrongType("a world", "a map, or the name of a file in the bundle", n.Describe()))
		return
	}
	l.keys(n, "a world", []string{"units", "import", "vertices", "edges", "channels", "entities", "objects", "attributes"}, nil)
	l.units(n.Get("units"))
	l.attributeList(n.Get("attributes"))
	graphs := l.imports(n.Get("import"))
	for _, g := range graphs {
		g.vertices(l)
	}
	l.vertices(n.Get("vertices"))
	l.distinctDomains()
	for _, g := range graphs {
		g.links(l)
	}
	l.edges(n.Get("edges"))
	l.channels(n.Get("channels"))
	l.entities(n.Get("entities"))
	l.objects(n.Get("objects"))
}

// worldFile reads the file that a node names; nil when it cannot be read.
func (l *loader) worldFile(n *source.Node) *source.Node {
	f := l.fileOf(n, "world")
	if f == nil {
		return nil
	}
	root, found := source.Parse(f)
	l.diags = append(l.diags, found...)
	return root
}

// fileOf returns the file of the bundle that a node names; nil, and reported, when there is none.
func (l *loader) fileOf(n *source.Node, what string) *source.File {
	path, ok := l.text(n, what)
	switch {
	case !ok:
		return nil
	case !insidePath(path):
		l.report(n, badPath(path))
		return nil
	}
	f := l.open(path)
	if f == nil && !l.hasFile(path) {
		l.report(n, noFile(path, l.fileNames()))
	}
	return f
}

func (l *loader) hasFile(name string) bool {
	return slices.ContainsFunc(l.files, func(e entry) bool { return e.name == name })
}

func (l *loader) fileNames() []string {
	var out []string
	for _, e := range l.files {
		if e.name != policyFile {
			out = append(out, e.name)
		}
	}
	return out
}

// units reads `{physical: m}`.
func (l *loader) units(n *source.Node) {
	if l.mapOf(n, "units") == nil {
		return
	}
	l.keys(n, "units", []string{"physical"}, nil)
	if s, ok := l.text(n.Get("physical"), "the unit of physical distances"); ok {
		l.world.unit = s
	}
}

// attributeList reads the attributes that entities may have.
func (l *loader) attributeList(n *source.Node) {
	if n == nil {
		return
	}
	l.world.closed = true
	for _, item := range l.listOf(n) {
		if s, ok := l.text(item, "an attribute"); ok {
			l.declareAttribute(item, s)
		}
	}
}

func (l *loader) declareAttribute(n *source.Node, name string) *declaration {
	d := l.declare(n, name, declAttribute)
	if d != nil {
		l.b.Signature[name] = []schema.ValueKind{schema.KindString, schema.KindString}
	}
	return d
}

// attribute returns the declaration of an attribute that something writes, nil when there
// can be none. Where the world lists no attributes, writing one declares it.
func (l *loader) attribute(n *source.Node, name string) *declaration {
	d := l.names[name]
	switch {
	case d != nil && d.kind == declAttribute:
	case d == nil && l.world.closed:
		l.report(n, undeclared("attribute", name, l.namesOf(declAttribute)))
		return nil
	default:
		d = l.declareAttribute(n, name)
	}
	return d
}

// namesOf lists the declared names of a kind, sorted.
func (l *loader) namesOf(kinds ...declKind) []string {
	var out []string
	for _, name := range l.relationNames() {
		if slices.Contains(kinds, l.names[name].kind) {
			out = append(out, name)
		}
	}
	return out
}

// worldRelations is the set of relations that are state of the world, nil without one.
func (l *loader) worldRelations() map[string]bool {
	var names []string
	if l.world.declared() {
		names = world.Names()
	}
	names = append(names, l.namesOf(declAttribute, declState)...)
	if names == nil {
		return nil
	}
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}

// stateSection reads the state relations: `marked: [record, class]`.
func (l *loader) stateSection(n *source.Node) {
	l.world.stateKey = n
	for _, f := range l.mapOf(n, "state") {
		kinds, ok := l.arguments(f, "a state")
		if !ok || l.declare(f.Key, f.Key.Value, declState) == nil {
			continue
		}
		l.b.Signature[f.Key.Value] = kinds
		l.world.states = append(l.world.states, world.StateSpec{Name: f.Key.Value, Kinds: kinds})
	}
	slices.SortFunc(l.world.states, func(a, b world.StateSpec) int { return strings.Compare(a.Name, b.Name) })
}
