package world

import (
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Apply returns the world after edits, made in order, and what changed. Without a change
// the world is w itself and the delta is empty. w stays as it was.
//
// The cost is that of the cells written, which does not depend on the size of the world, and
// of the vertices whose reachable domains change; closing a channel and removing a vertex
// may in addition look at all that comes to it. Where there seem to be too many names, it is
// that of making w anew, once for each w.
func (w *World) Apply(edits []Edit, from Origin) (*World, *Delta) {
	if len(edits) == 0 {
		return w, w.base.nothing
	}
	d := w.edited(edits, from)
	if d.crowded {
		d = w.renewed().edited(edits, from)
	}
	return d.finish()
}

// edited is a draft of w after edits.
func (w *World) edited(edits []Edit, from Origin) *draft {
	d := w.draft(from)
	for i := range edits {
		d.edit(&edits[i])
		d.flush()
	}
	return d
}

func (d *draft) edit(e *Edit) {
	d.wrote = false
	switch e.Op {
	case AddVertex:
		d.addVertex(e)
	case RemoveVertex:
		d.removeVertex(e.A)
	case AddLabel, RemoveLabel:
		d.label(e)
	case SetDomain:
		d.setDomain(e)
	case AddEdge, RemoveEdge:
		d.edge(e)
	case OpenChannel:
		d.openChannel(e)
	case CloseChannel:
		d.closeChannel(e)
	case Place, Move:
		d.place(e)
	case Remove:
		d.remove(e)
	case Purge:
		d.purge(e)
	case Destroy:
		d.destroy(e.A)
	case Derive:
		d.deriveFrom(e)
	case Set, Append:
		d.attribute(e)
	case Mark:
		d.mark(e)
	}
	if d.wrote {
		d.nameEdit(e)
	}
}

// nameEdit notes the entities, objects and vertices that an edit names.
func (d *draft) nameEdit(e *Edit) {
	switch e.Op {
	case AddEdge, RemoveEdge, OpenChannel, CloseChannel, Place, Remove, Move, Derive:
		d.name(e.A, e.B)
	case AddVertex, RemoveVertex, AddLabel, RemoveLabel, SetDomain, Purge, Destroy, Set, Append:
		d.name(e.A)
	case Mark:
		for _, v := range e.Values {
			if v.Kind == schema.KindString {
				d.name(v.Str)
			}
		}
	}
}

func (d *draft) addVertex(e *Edit) {
	v, ok := d.internVertex(e.A)
	if !ok {
		return
	}
	if e.Sort != Physical && e.Sort != Informational || d.isDomain(e.A) || e.B != "" && !d.mayBeDomain(e.B, e.A) {
		d.makeUnknown(v)
		return
	}
	domain := image{}
	if e.B != "" {
		if _, ok := d.internDomain(e.B); !ok {
			return
		}
		domain = image{present: true, s: e.B}
	}
	labels := make(map[uint32]bool, len(e.Names))
	for _, name := range e.Names {
		id, ok := d.internLabel(name)
		if !ok {
			return
		}
		labels[id] = true
	}
	d.write(cell{kind: vertexCell, x: uint32(v)}, image{present: true, n: int64(e.Sort)})
	d.write(cell{kind: domainCell, x: uint32(v)}, domain)
	d.dropLabels(v, labels)
	for _, name := range e.Names {
		id, _ := d.graph.labels.lookup(name)
		d.write(cell{kind: labelCell, x: uint32(v), y: id}, image{present: true})
	}
}

// isDomain tells whether a name means a domain, so that no vertex can have it.
func (w *World) isDomain(name string) bool {
	return name == UnknownDomain || w.graph.domains.knows(name)
}

// mayBeDomain tells whether a name can be the domain of a vertex: it is that of no declared
// vertex.
func (d *draft) mayBeDomain(name, vertex string) bool {
	if name == UnknownDomain || name == vertex {
		return false
	}
	v, ok := d.Vertex(name)
	return !ok || d.Sort(v) == Unknown
}

// makeUnknown takes from a vertex what it was declared to be. Its edges and channels stay.
func (d *draft) makeUnknown(v V) {
	d.erase(cell{kind: vertexCell, x: uint32(v)})
	d.erase(cell{kind: domainCell, x: uint32(v)})
	d.dropLabels(v, nil)
}

// dropLabels takes all labels from a vertex but those to keep.
func (d *draft) dropLabels(v V, keep map[uint32]bool) {
	for _, c := range d.pendingCells(labelCell, d.Name(v)) {
		if !keep[c.y] {
			d.erase(c)
		}
	}
	for _, l := range d.vertex(v).marks {
		if !keep[l.id] {
			d.erase(cell{kind: labelCell, x: uint32(v), y: l.id})
		}
	}
}

func (d *draft) removeVertex(name string) {
	v, ok := d.Vertex(name)
	if !ok {
		return
	}
	d.makeUnknown(v)
	for _, c := range d.pendingCells(edgeCell, "") {
		if V(c.x) == v || V(c.y) == v {
			d.erase(c)
		}
	}
	for _, c := range d.pendingCells(channelCell, "") {
		if V(c.x) == v || V(c.y) == v {
			d.erase(c)
		}
	}
	for _, e := range d.Edges(v) {
		d.erase(d.edgeCell(v, e.To))
	}
	for _, c := range d.Out(v) {
		d.erase(cell{kind: channelCell, x: uint32(v), y: uint32(c.To)})
	}
	for _, c := range d.In(v) {
		d.erase(cell{kind: channelCell, x: uint32(c.To), y: uint32(v)})
	}
}

// pendingCells lists the cells of a kind that a call in flight wrote and whose first name is
// the given one, or any if it is empty. An edit that says something about all cells of a
// kind writes those too, or the end of a call would put back what the edit took away.
func (d *draft) pendingCells(kind cellKind, first string) []cell {
	if d.flying.stacks.len() == 0 {
		return nil
	}
	prefix := []byte{byte(kind)}
	if first != "" {
		prefix = appendName(prefix, first)
	}
	var cells []cell
	d.flying.stacks.prefixed(string(prefix), func(key string, _ []entry) bool {
		if c, ok := d.parse(key); ok {
			cells = append(cells, c)
		}
		return true
	})
	return cells
}

func (d *draft) label(e *Edit) {
	v, ok := d.Vertex(e.A)
	if !ok || d.Sort(v) == Unknown {
		return // it stays unknown
	}
	if e.Op == AddLabel {
		if id, ok := d.internLabel(e.B); ok {
			d.write(cell{kind: labelCell, x: uint32(v), y: id}, image{present: true})
		}
		return
	}
	if id, ok := d.graph.labels.lookup(e.B); ok {
		d.erase(cell{kind: labelCell, x: uint32(v), y: id})
	}
}

func (d *draft) setDomain(e *Edit) {
	v, ok := d.Vertex(e.A)
	switch {
	case !ok || d.Sort(v) == Unknown:
		return // it stays unknown
	case e.B == "":
		d.erase(cell{kind: domainCell, x: uint32(v)})
		return
	case !d.mayBeDomain(e.B, e.A):
		d.makeUnknown(v)
		return
	}
	if _, ok := d.internDomain(e.B); ok {
		d.write(cell{kind: domainCell, x: uint32(v)}, image{present: true, s: e.B})
	}
}

// edgeCell is the cell of an edge, whichever way its ends are given.
func (w *World) edgeCell(a, b V) cell {
	if w.Name(b) < w.Name(a) {
		a, b = b, a
	}
	return cell{kind: edgeCell, x: uint32(a), y: uint32(b)}
}

func (d *draft) edge(e *Edit) {
	if e.Op == RemoveEdge {
		a, ok := d.Vertex(e.A)
		b, there := d.Vertex(e.B)
		if ok && there {
			d.erase(d.edgeCell(a, b))
		}
		return
	}
	if e.N > maxDistance {
		d.overflows()
		return
	}
	a, b, ok := d.internVertices(e.A, e.B)
	if !ok {
		return
	}
	c := d.edgeCell(a, b)
	if !d.get(c).present && d.graph.lines >= maxEdges {
		d.overflows()
		return
	}
	d.write(c, image{present: true, n: max(e.N, 0)})
}

func (d *draft) openChannel(e *Edit) {
	if e.N > maxDistance {
		d.overflows()
		return
	}
	a, b, ok := d.internVertices(e.A, e.B)
	if !ok {
		return
	}
	c := cell{kind: channelCell, x: uint32(a), y: uint32(b)}
	im := d.get(c)
	switch {
	case !im.present && d.graph.lines >= maxEdges:
		d.overflows()
		return
	case e.N >= 0:
		im.n = e.N
	case !im.present:
		im.n = WeightByDomain
	}
	im.present, im.open = true, true
	d.write(c, im)
}

func (d *draft) closeChannel(e *Edit) {
	a, ok := d.Vertex(e.A)
	b, there := d.Vertex(e.B)
	if !ok || !there {
		return
	}
	c := cell{kind: channelCell, x: uint32(a), y: uint32(b)}
	if im := d.get(c); im.present {
		im.open = false
		d.write(c, im)
	}
}

func (d *draft) place(e *Edit) {
	id, ok := d.internObject(e.A)
	if !ok {
		return
	}
	v, ok := d.internVertex(e.B)
	if !ok {
		return
	}
	c := cell{kind: replicaCell, x: id, y: uint32(v)}
	if !d.get(c).present && d.things.replicas >= maxReplicas {
		d.overflows()
		return
	}
	d.write(c, image{present: true})
	d.write(cell{kind: existsCell, x: id}, image{present: true})
	d.erase(cell{kind: emptiedCell, x: id})
	if e.Op == Move {
		d.clearReplicas(id, func(at V) bool { return at != v })
	}
}

func (d *draft) remove(e *Edit) {
	id, ok := d.lookupObject(e.A)
	v, there := d.Vertex(e.B)
	if ok && there {
		d.eraseReplica(cell{kind: replicaCell, x: id, y: uint32(v)})
	}
}

func (d *draft) purge(e *Edit) {
	id, ok := d.lookupObject(e.A)
	label, there := d.LabelID(e.B)
	if ok && there {
		d.clearReplicas(id, func(at V) bool { return d.HasLabel(at, label) })
	}
}

func (d *draft) destroy(name string) {
	if id, ok := d.lookupObject(name); ok {
		d.clearReplicas(id, func(V) bool { return true })
	}
}

// clearReplicas removes the replicas of an object at some vertices.
func (d *draft) clearReplicas(id uint32, which func(V) bool) {
	for _, c := range d.pendingCells(replicaCell, d.object(id).name) {
		if which(V(c.y)) {
			d.eraseReplica(c)
		}
	}
	for _, r := range d.object(id).at {
		if which(r.v) {
			d.eraseReplica(cell{kind: replicaCell, x: id, y: uint32(r.v)})
		}
	}
}

// eraseReplica removes a replica, and notes when it was the last.
func (d *draft) eraseReplica(c cell) {
	there := len(d.object(c.x).at) > 0
	d.erase(c)
	if there && len(d.object(c.x).at) == 0 {
		d.write(cell{kind: emptiedCell, x: c.x}, image{present: true})
	}
}

func (d *draft) deriveFrom(e *Edit) {
	output, ok := d.internObject(e.A)
	if !ok {
		return
	}
	source, ok := d.internObject(e.B)
	if !ok {
		return
	}
	c := cell{kind: linkCell, x: output, y: source}
	if !d.get(c).present && d.things.links >= maxTuples {
		d.overflows()
		return
	}
	d.write(c, image{present: true})
	d.write(cell{kind: existsCell, x: output}, image{present: true})
}

func (d *draft) attribute(e *Edit) {
	if !d.base.attribute(e.Name) {
		return
	}
	if !mayStore([]schema.Value{schema.StringValue(e.A)}) || !mayStore(e.Values) {
		d.overflows()
		return
	}
	entity := schema.StringValue(e.A)
	keep := make(map[string]bool, len(e.Values))
	for _, v := range e.Values {
		if v.Kind != schema.KindString {
			d.overflows()
			return
		}
		keep[string(tuplePrefix(e.Name, entity, v))] = true
	}
	if e.Op == Set {
		d.dropTuples(string(tuplePrefix(e.Name, entity)), keep)
	}
	for _, v := range e.Values {
		d.putInTable(string(tuplePrefix(e.Name, entity, v)), verdict.Definite)
	}
}

// dropTuples removes the tuples with a prefix but those to keep.
func (d *draft) dropTuples(prefix string, keep map[string]bool) {
	var keys []string
	d.things.tuples.prefixed(prefix, func(key string, _ tuple) bool {
		keys = append(keys, key)
		return true
	})
	d.flying.stacks.prefixed(prefix, func(key string, _ []entry) bool {
		keys = append(keys, key)
		return true
	})
	for _, key := range keys {
		if !keep[key] {
			d.erase(cell{kind: tupleCell, tuple: key})
		}
	}
}

func (d *draft) mark(e *Edit) {
	table, ok := d.base.tables[e.Name]
	if !ok || d.base.attribute(e.Name) {
		return
	}
	if !mayStore(e.Values) || !table.takes(e.Values) {
		d.overflows()
		return
	}
	d.putInTable(string(tuplePrefix(e.Name, e.Values...)), e.Strength)
}

// putInTable adds a tuple or raises its strength. A weaker write of a tuple that calls in
// flight have made stronger is what is left when they are taken back.
func (d *draft) putInTable(key string, own verdict.Strength) {
	c := cell{kind: tupleCell, tuple: key}
	im := d.get(c)
	if !im.present {
		if d.things.tuples.len() >= maxTuples {
			d.overflows()
			return
		}
		d.write(c, image{present: true, strength: own, own: own})
		return
	}
	name := d.key(c)
	stack, _ := d.flying.stacks.get(name)
	strength := min(im.strength, own)
	switch {
	case len(stack) == 0 && strength == im.strength: // all of it is final already
	case len(stack) > 0 && d.from.Call == "" && own > strength:
		d.underlay(name, stack, d.from.Offset)
	case len(stack) > 0 && stack[len(stack)-1].call == d.from.Call:
		d.write(c, image{present: true, strength: strength, own: min(im.own, own)})
	default:
		d.write(c, image{present: true, strength: strength, own: own})
	}
}

// underlay makes a tuple presumptive for good, below what calls in flight made of it.
func (d *draft) underlay(key string, stack []entry, origin uint64) {
	if stack[0].before.present {
		return
	}
	d.changed = true
	stack = slices.Clone(stack)
	stack[0].before = image{present: true, strength: verdict.Presumptive, own: verdict.Presumptive, origin: origin}
	d.setStack(key, stack)
}

// takes tells whether a tuple has the types of a table.
func (s StateSpec) takes(values []schema.Value) bool {
	if len(values) != len(s.Kinds) {
		return false
	}
	for i, v := range values {
		if v.Kind != s.Kinds[i] {
			return false
		}
	}
	return true
}

// mayStore tells whether no string in a tuple is too long.
func mayStore(values []schema.Value) bool {
	for _, v := range values {
		if len(v.Str) > maxName {
			return false
		}
	}
	return true
}
