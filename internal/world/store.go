package world

import "github.com/aspis-rv/aspis/pkg/schema"

// get returns the image of a cell.
func (w *World) get(c cell) image {
	switch c.kind {
	case vertexCell:
		if x := w.vertex(V(c.x)); x.sort != Unknown {
			return image{present: true, n: int64(x.sort), origin: x.origin}
		}
	case domainCell:
		if x := w.vertex(V(c.x)); x.domain != "" {
			return image{present: true, s: x.domain, origin: x.domainAt}
		}
	case labelCell:
		return w.vertex(V(c.x)).mark(c.y)
	case edgeCell:
		if edges := w.Edges(V(c.x)); len(edges) > 0 {
			if i, ok := w.findEdge(edges, V(c.y)); ok {
				return image{present: true, n: edges[i].Distance, origin: edges[i].Origin}
			}
		}
	case channelCell:
		if out := w.Out(V(c.x)); len(out) > 0 {
			if i, ok := w.findChannel(out, V(c.y)); ok {
				return out[i].image()
			}
		}
	case replicaCell:
		at := w.object(c.x).at
		if i, ok := w.findReplica(at, V(c.y)); ok {
			return image{present: true, origin: at[i].origin}
		}
	case existsCell:
		return w.object(c.x).exists
	case emptiedCell:
		return w.object(c.x).emptied
	case linkCell:
		parents := w.object(c.x).parents
		if i, ok := w.findParent(parents, c.y); ok {
			return image{present: true, origin: parents[i].origin}
		}
	case tupleCell:
		t, _ := w.things.tuples.get(c.tuple)
		return t.image
	}
	return image{}
}

func (c Channel) image() image {
	im := image{present: true, open: c.Open, n: c.Weight, origin: c.Origin}
	if c.byDomain {
		im.n = WeightByDomain
	}
	return im
}

// put sets the image of a cell, of which key is the name, and what is computed from it, but for what the next flush
// repairs. The order in which the cells of one state are put does not matter.
func (d *draft) put(key string, c cell, im image) {
	d.changed = true
	if d.base.initialImage(c) == im {
		d.diff.delete(key, d.owner)
	} else if _, ok := d.diff.get(key); !ok {
		d.diff.set(key, struct{}{}, d.owner)
	}
	switch c.kind {
	case vertexCell:
		d.putVertex(V(c.x), im)
	case domainCell:
		d.putDomain(V(c.x), im)
	case labelCell:
		d.putLabel(V(c.x), c.y, im)
	case edgeCell:
		d.putEdge(V(c.x), V(c.y), im)
	case channelCell:
		d.putChannel(V(c.x), V(c.y), im)
	case replicaCell:
		d.putReplica(c.x, V(c.y), im)
	case existsCell:
		d.putExists(c.x, im)
	case emptiedCell:
		d.putEmptied(c.x, im)
	case linkCell:
		d.putLink(c.x, c.y, im)
	case tupleCell:
		d.putTuple(c.tuple, im)
	}
}

// initialImage is the image of a cell in the world of the spec. Ids of that world are kept
// in those made from it; later ones are not of it.
func (f *foundation) initialImage(c cell) image {
	i := f.initial
	vertices, objects := uint32(i.Vertices()), uint32(i.things.names.len())
	switch c.kind {
	case vertexCell, domainCell, labelCell:
		if c.x >= vertices {
			return image{}
		}
	case edgeCell, channelCell:
		if c.x >= vertices || c.y >= vertices {
			return image{}
		}
	case replicaCell:
		if c.x >= objects || c.y >= vertices {
			return image{}
		}
	case existsCell, emptiedCell, linkCell:
		if c.x >= objects || c.kind == linkCell && c.y >= objects {
			return image{}
		}
	case tupleCell:
	}
	return i.get(c)
}

// putVertex declares a vertex or makes it unknown. What was put about its labels and its
// domain stays, unseen.
func (d *draft) putVertex(v V, im image) {
	x := *d.vertex(v)
	was := d.ownBit(v)
	x.sort, x.origin = Sort(im.n), im.origin
	d.setVertex(v, &x)
	if im.present {
		d.graph.strangers.delete(x.name, d.owner)
	} else {
		d.graph.strangers.set(x.name, v, d.owner)
	}
	for _, l := range x.marks {
		d.graph.labels.join(l.id, x.name, v, im.present, d.owner)
	}
	if x.domain != "" {
		d.graph.domains.join(x.domainID, x.name, v, im.present, d.owner)
	}
	d.delta.vertices = append(d.delta.vertices, v)
	d.ownBitChanged(v, was)
	d.weigh(v)
}

// setVertex stores a vertex after its labels or sort changed.
func (d *draft) setVertex(v V, x *vertex) {
	x.labels = nil
	if x.sort != Unknown {
		for _, l := range x.marks {
			x.labels = append(x.labels, d.graph.labels.name(l.id))
		}
	}
	*d.graph.vertices.at(uint32(v), d.owner) = x
}

// putDomain sets the domain of a vertex; its name was interned.
func (d *draft) putDomain(v V, im image) {
	x := *d.vertex(v)
	was := d.ownBit(v)
	if x.domain != "" && x.sort != Unknown {
		d.graph.domains.join(x.domainID, x.name, v, false, d.owner)
	}
	x.domain, x.domainAt = im.s, im.origin
	if im.present {
		x.domainID, _ = d.graph.domains.lookup(im.s)
		if x.sort != Unknown {
			d.graph.domains.join(x.domainID, x.name, v, true, d.owner)
		}
	}
	*d.graph.vertices.at(uint32(v), d.owner) = &x
	d.delta.vertices = append(d.delta.vertices, v)
	d.ownBitChanged(v, was)
	d.weigh(v)
}

func (d *draft) putLabel(v V, label uint32, im image) {
	x := *d.vertex(v)
	name := d.graph.labels.name(label)
	i := 0
	for i < len(x.marks) && d.graph.labels.name(x.marks[i].id) < name {
		i++
	}
	found := i < len(x.marks) && x.marks[i].id == label
	if im.present {
		x.marks = with(x.marks, i, labelled{label, im.origin}, found)
	} else if found {
		x.marks = without(x.marks, i)
	}
	d.setVertex(v, &x)
	if x.sort != Unknown {
		d.graph.labels.join(label, x.name, v, im.present, d.owner)
	}
	d.delta.vertices = append(d.delta.vertices, v)
}

func (d *draft) putEdge(a, b V, im image) {
	d.putEdgeEnd(a, b, im)
	if a != b {
		d.putEdgeEnd(b, a, im)
	}
	d.delta.walked = append(d.delta.walked, a, b)
}

func (d *draft) putEdgeEnd(v, to V, im image) {
	edges := d.Edges(v)
	i, found := d.findEdge(edges, to)
	switch {
	case im.present:
		edges = with(edges, i, Edge{To: to, Distance: im.n, Origin: im.origin}, found)
	case found:
		edges = without(edges, i)
	}
	if v <= to {
		d.graph.lines += presence(im.present) - presence(found)
	}
	*d.graph.edges.at(uint32(v), d.owner) = edges
}

func presence(there bool) int {
	if there {
		return 1
	}
	return 0
}

func (d *draft) putChannel(a, b V, im image) {
	was := d.get(cell{kind: channelCell, x: uint32(a), y: uint32(b)})
	d.graph.lines += presence(im.present) - presence(was.present)
	c := Channel{Weight: im.n, Open: im.open, Origin: im.origin}
	if im.n < 0 {
		c.byDomain, c.Weight = true, d.weightByDomain(a, b)
	}
	d.putChannelEnd(&d.graph.out, a, b, c, im.present)
	d.putChannelEnd(&d.graph.in, b, a, c, im.present)
	d.delta.walked = append(d.delta.walked, a, b)
	switch {
	case im.open && !was.open:
		d.delta.channels = append(d.delta.channels, [2]V{a, b})
		d.opened(a, b)
	case was.open && !im.open:
		d.delta.channels = append(d.delta.channels, [2]V{a, b})
		d.closed(a, b)
	}
}

func (d *draft) putChannelEnd(list *vec[[]Channel], v, to V, c Channel, present bool) {
	channels := list.get(uint32(v))
	i, found := d.findChannel(channels, to)
	c.To = to
	switch {
	case present:
		channels = with(channels, i, c, found)
	case found:
		channels = without(channels, i)
	}
	*list.at(uint32(v), d.owner) = channels
}

// weightByDomain is 0 within a domain and 1 across, and to or from a vertex without one.
func (w *World) weightByDomain(a, b V) int64 {
	if from := w.Domain(a); from != "" && from == w.Domain(b) {
		return 0
	}
	return 1
}

// weigh resolves the weights of the channels at a vertex again.
func (d *draft) weigh(v V) {
	out, in := d.Out(v), d.In(v)
	for _, c := range out {
		d.weighOne(v, c)
	}
	for _, c := range in {
		for _, back := range d.Out(c.To) {
			if back.To == v {
				d.weighOne(c.To, back)
			}
		}
	}
}

func (d *draft) weighOne(a V, c Channel) {
	weight := d.weightByDomain(a, c.To)
	if !c.byDomain || c.Weight == weight {
		return
	}
	c.Weight = weight
	b := c.To
	d.putChannelEnd(&d.graph.out, a, b, c, true)
	d.putChannelEnd(&d.graph.in, b, a, c, true)
	d.delta.walked = append(d.delta.walked, a, b)
}

func (d *draft) putReplica(id uint32, v V, im image) {
	o := *d.object(id)
	i, found := d.findReplica(o.at, v)
	if im.present {
		o.at = with(o.at, i, replica{v, im.origin}, found)
	} else if found {
		o.at = without(o.at, i)
	}
	d.things.replicas += presence(im.present) - presence(found)
	*d.things.objects.at(id, d.owner) = &o
	if im.present != found {
		held := d.graph.holds.at(uint32(v), d.owner)
		if im.present {
			held.set(o.name, id, d.owner)
		} else {
			held.delete(o.name, d.owner)
		}
	}
	d.delta.replicas = append(d.delta.replicas, placed{id, v})
}

func (d *draft) putExists(id uint32, im image) {
	o := *d.object(id)
	o.exists = im
	*d.things.objects.at(id, d.owner) = &o
	d.delta.objects = append(d.delta.objects, id)
}

func (d *draft) putEmptied(id uint32, im image) {
	o := *d.object(id)
	o.emptied = im
	*d.things.objects.at(id, d.owner) = &o
	d.delta.objects = append(d.delta.objects, id)
}

func (d *draft) putLink(id, source uint32, im image) {
	o := *d.object(id)
	i, found := d.findParent(o.parents, source)
	if im.present {
		o.parents = with(o.parents, i, link{source, im.origin}, found)
	} else if found {
		o.parents = without(o.parents, i)
	}
	d.things.links += presence(im.present) - presence(found)
	*d.things.objects.at(id, d.owner) = &o
	if im.present != found {
		s := *d.object(source)
		j, there := d.findMade(s.made, id)
		switch {
		case im.present:
			s.made = with(s.made, j, id, there)
		case there:
			s.made = without(s.made, j)
		}
		*d.things.objects.at(source, d.owner) = &s
	}
	d.delta.links = append(d.delta.links, [2]uint32{id, source})
}

func (d *draft) putTuple(key string, im image) {
	old, found := d.things.tuples.get(key)
	switch {
	case !im.present:
		d.things.tuples.delete(key, d.owner)
		d.things.reversed.delete(old.rev, d.owner)
	case found:
		d.things.tuples.set(key, tuple{im, old.rev}, d.owner)
	default:
		rev := reverse(key)
		d.things.tuples.set(key, tuple{im, rev}, d.owner)
		d.things.reversed.set(rev, struct{}{}, d.owner)
	}
	d.delta.tuples = append(d.delta.tuples, key)
}

// reverse is a tuple key with the arguments from last to first. It is its own inverse.
func reverse(key string) string {
	table, args, _ := cutTuple(key, make([]schema.Value, 0, 4))
	for i, j := 0, len(args)-1; i < j; i, j = i+1, j-1 {
		args[i], args[j] = args[j], args[i]
	}
	return string(tuplePrefix(table, args...))
}
