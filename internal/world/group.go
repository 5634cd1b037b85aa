package world

// groups are the labels or the domains of a world: names with the vertices that have them.
type groups struct {
	ids     index[uint32]
	list    vec[*group]
	changed bool // whether since the last draft began one became known or ceased to be
}

// group is a label or a domain. It is known while a vertex has it, and for ever if the spec
// names it.
type group struct {
	owner   *owner
	name    string
	named   bool // by the spec
	members index[V]
}

func (g *group) known() bool { return g.named || g.members.len() > 0 }

func (gs *groups) name(id uint32) string { return gs.list.get(id).name }

// lookup returns the group of a name that was met.
func (gs *groups) lookup(name string) (uint32, bool) { return gs.ids.get(name) }

// knows tells whether a name is that of a known group.
func (gs *groups) knows(name string) bool {
	id, ok := gs.ids.get(name)
	return ok && gs.list.get(id).known()
}

// known calls yield for the known groups by name.
func (gs *groups) known(yield func(id uint32, name string) bool) bool {
	return gs.ids.scan(func(name string, id uint32) bool {
		return !gs.list.get(id).known() || yield(id, name)
	})
}

// intern returns the group of a name.
func (gs *groups) intern(name string, o *owner) uint32 {
	if id, ok := gs.ids.get(name); ok {
		return id
	}
	id := uint32(gs.ids.len())
	gs.ids.set(name, id, o)
	*gs.list.at(id, o) = &group{owner: o, name: name}
	return id
}

// own returns a group for o to write.
func (gs *groups) own(id uint32, o *owner) *group {
	g := gs.list.get(id)
	if g.owner != o {
		c := *g
		c.owner = o
		g = &c
		*gs.list.at(id, o) = g
	}
	return g
}

// join makes a vertex a member, or no longer.
func (gs *groups) join(id uint32, vertex string, v V, in bool, o *owner) {
	g := gs.own(id, o)
	was := g.known()
	if in {
		g.members.set(vertex, v, o)
	} else {
		g.members.delete(vertex, o)
	}
	if g.known() != was {
		gs.changed = true
	}
}
