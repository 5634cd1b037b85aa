package world

// parse returns the cell of a key whose names were all met; see key.
func (w *World) parse(key string) (cell, bool) {
	if key == "" {
		return cell{}, false
	}
	c := cell{kind: cellKind(key[0])}
	if c.kind == tupleCell {
		c.tuple = key
		return c, true
	}
	a, b, ok := cutPair(key[1:], c.kind.pairs())
	if !ok {
		return cell{}, false
	}
	var first, second bool
	switch c.kind {
	case vertexCell, domainCell:
		c.x, first = w.vertexID(a)
		second = true
	case labelCell:
		c.x, first = w.vertexID(a)
		c.y, second = w.graph.labels.lookup(b)
	case edgeCell, channelCell:
		c.x, first = w.vertexID(a)
		c.y, second = w.vertexID(b)
	case replicaCell:
		c.x, first = w.lookupObject(a)
		c.y, second = w.vertexID(b)
	case existsCell, emptiedCell:
		c.x, first = w.lookupObject(a)
		second = true
	case linkCell:
		c.x, first = w.lookupObject(a)
		c.y, second = w.lookupObject(b)
	case tupleCell:
	}
	return c, first && second
}

// pairs tells whether the cells of a kind are about two names.
func (k cellKind) pairs() bool {
	switch k {
	case labelCell, edgeCell, channelCell, replicaCell, linkCell:
		return true
	case vertexCell, domainCell, existsCell, emptiedCell, tupleCell:
	}
	return false
}

// cutPair reads one name or two, and nothing after them.
func cutPair(s string, two bool) (a, b string, ok bool) {
	a, s, ok = cutName(s)
	if ok && two {
		b, s, ok = cutName(s)
	}
	return a, b, ok && s == ""
}

func (w *World) vertexID(name string) (uint32, bool) {
	v, ok := w.Vertex(name)
	return uint32(v), ok
}
