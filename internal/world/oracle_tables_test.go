package world_test

import (
	"fmt"
	"slices"

	"github.com/aspis-rv/aspis/internal/world"
)

// vertices lists the names that occur: declared, holding an object, or at an end.
func (o *oracle) vertices() []string {
	if o.occur != nil {
		return o.occur
	}
	seen := map[string]bool{}
	for p := range o.cells {
		if !o.get(p).there {
			continue
		}
		switch p.kind {
		case "vertex":
			seen[p.a] = true
		case "edge", "channel":
			seen[p.a], seen[p.b] = true, true
		case "replica":
			seen[p.b] = true
		default:
		}
	}
	o.occur = keys(seen)
	return o.occur
}

func keys(m map[string]bool) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func (o *oracle) objectNames() []string {
	seen := map[string]bool{}
	for p := range o.cells {
		if p.kind == "exists" || p.kind == "replica" || p.kind == "link" {
			seen[p.a] = true
		}
		if p.kind == "link" {
			seen[p.b] = true
		}
	}
	return keys(seen)
}

// walk lists what is reached from vertices, by depth-first search.
func (o *oracle) walk(from []string) map[string]bool {
	seen := map[string]bool{}
	var visit func(v string)
	visit = func(v string) {
		if seen[v] {
			return
		}
		seen[v] = true
		for _, p := range o.all("channel", v) {
			if o.get(p).open {
				visit(p.b)
			}
		}
	}
	for _, v := range from {
		visit(v)
	}
	return seen
}

// reached lists the domains and vertices that what is at vertices comes to.
func (o *oracle) reached(from []string, sense world.Sense, full bool) []string {
	known := o.domains()
	out := map[string]bool{}
	unknown := false
	for v := range o.walk(from) {
		if d := o.domain(v); d != "" {
			out[d] = true
		}
		if full && !known[v] && v != "?" {
			out[v] = true
		}
		unknown = unknown || o.sort(v) == world.Unknown
	}
	if unknown && sense == world.Unsafe {
		out["?"] = true
		for d := range known {
			out[d] = true
		}
		for _, v := range o.vertices() {
			if full && o.sort(v) != world.Unknown && !known[v] && v != "?" {
				out[v] = true
			}
		}
	}
	return keys(out)
}

// sensitive tells whether a relation depends on the sense.
func sensitive(rel world.Rel) bool {
	return slices.Contains([]world.RelKind{
		world.Reaches, world.ReachesDomain, world.Connects, world.ConnectsDomain, world.HasLabel, world.InDomain,
	}, rel.Kind)
}

// table lists the tuples of a relation as line prints them, sorted.
func (o *oracle) table(rel world.Rel, sense world.Sense) []string {
	if !sensitive(rel) {
		sense = world.Safe
	}
	key := fmt.Sprint(rel, sense)
	if _, ok := o.tables[key]; !ok {
		o.tables[key] = o.compute(rel, sense)
	}
	return o.tables[key]
}

func (o *oracle) compute(rel world.Rel, sense world.Sense) []string {
	var out []string
	add := func(origin uint64, names string) {
		if origin != 0 {
			names += fmt.Sprintf("@%d", origin)
		}
		out = append(out, names)
	}
	cells := func(kind string, swap bool) {
		for _, p := range o.all(kind, "") {
			v := o.get(p)
			name := p.a + "," + p.b
			if swap {
				name = p.b + "," + p.a
			}
			if v.mark != 0 {
				name += ":Fp"
			}
			if v.there && (kind != "channel" || v.open) {
				add(o.origin(p), name)
			}
		}
	}
	switch rel.Kind {
	case world.Holds:
		cells("replica", true)
	case world.Opened:
		cells("channel", false)
	case world.AttributeOf, world.StateOf:
		cells(rel.Name, false)
	case world.Reaches, world.ReachesDomain:
		for _, x := range o.objectNames() {
			for _, d := range o.reached(o.replicas(x), sense, rel.Kind == world.Reaches) {
				add(0, x+","+d)
			}
		}
	case world.Connects, world.ConnectsDomain:
		for _, v := range o.vertices() {
			for _, d := range o.reached([]string{v}, sense, rel.Kind == world.Connects) {
				add(0, v+","+d)
			}
		}
	case world.HasLabel, world.InDomain:
		for _, v := range o.vertices() {
			o.described(rel.Kind == world.InDomain, v, sense, add)
		}
	case world.Exists, world.Gone:
		for _, x := range o.objectNames() {
			p, q := place{"exists", x, ""}, place{"emptied", x, ""}
			switch {
			case !o.get(p).there:
			case rel.Kind == world.Exists:
				add(o.origin(p), x)
			case o.get(q).there && len(o.replicas(x)) == 0:
				add(o.origin(q), x)
			}
		}
	case world.DeclaredVertex:
		for _, v := range o.vertices() {
			if o.sort(v) != world.Unknown {
				add(o.origin(place{"vertex", v, ""}), v)
			}
		}
	case world.Derived:
		for _, x := range o.objectNames() {
			for s := range o.sources(x) {
				add(0, x+","+s)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (o *oracle) sources(x string) map[string]bool {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(y string) {
		for _, p := range o.all("link", y) {
			if o.get(p).there && !seen[p.b] {
				seen[p.b] = true
				visit(p.b)
			}
		}
	}
	visit(x)
	return seen
}

// described adds the labels or the domains of a vertex.
func (o *oracle) described(domains bool, v string, sense world.Sense, add func(uint64, string)) {
	switch {
	case o.sort(v) == world.Unknown && sense == world.Safe:
	case o.sort(v) == world.Unknown && domains:
		for d := range o.domains() {
			add(0, v+","+d)
		}
		add(0, v+",?")
	case o.sort(v) == world.Unknown:
		for l := range o.labels() {
			add(0, v+","+l)
		}
	case domains:
		if d := o.domain(v); d != "" {
			add(o.origin(place{"domain", v, ""}), v+","+d)
		}
	default:
		for _, p := range o.all("label", v) {
			if o.get(p).there {
				add(o.origin(p), v+","+p.b)
			}
		}
	}
}

// bestPath enumerates all walks without repetition and returns the least: by weight, by steps,
// by names.
func (o *oracle) bestPath(from []string, goal func(string) bool) (weight int64, names []string) {
	var path []string
	on := map[string]bool{}
	var visit func(v string, w int64)
	visit = func(v string, w int64) {
		if on[v] {
			return
		}
		on[v] = true
		path = append(path, v)
		if goal(v) && (names == nil || w < weight || w == weight && (len(path) < len(names) || len(path) == len(names) && slices.Compare(path, names) < 0)) {
			weight, names = w, slices.Clone(path)
		}
		for _, p := range o.all("channel", v) {
			if c := o.get(p); c.open {
				visit(p.b, w+o.weight(p, c))
			}
		}
		path = path[:len(path)-1]
		on[v] = false
	}
	for _, v := range from {
		visit(v, 0)
	}
	return weight, names
}

func (o *oracle) weight(p place, c value) int64 {
	if c.n >= 0 {
		return c.n
	}
	if d := o.domain(p.a); d != "" && d == o.domain(p.b) {
		return 0
	}
	return 1
}
