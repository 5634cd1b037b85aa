package world_test

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The oracle: the definition of a world, executed. The state is a list of writes per cell; a
// value is the last write that was not taken back. Every relation is computed from the
// values each time it is asked for.

type place struct{ kind, a, b string }

type value struct {
	there bool
	open  bool
	n     int64
	s     string
	mark  verdict.Strength
}

type write struct {
	val    value
	origin uint64
	call   string // "" once final
}

type oracle struct {
	spec  *world.Spec
	cells map[place][]write
	kinds map[string]map[place]bool  // the cells of a kind
	names map[string]map[string]bool // of calls in flight
	doubt map[string]bool
	order map[string]uint64

	// Answers, once the oracle is not written to any more.
	tables map[string][]string
	occur  []string
}

func newOracle(spec *world.Spec) *oracle {
	o := &oracle{spec: spec, cells: map[place][]write{}, names: map[string]map[string]bool{}, doubt: map[string]bool{}, order: map[string]uint64{}, kinds: map[string]map[place]bool{}, tables: map[string][]string{}}
	init := func(p place, v value) {
		v.there = true
		o.store(p, []write{{val: v}})
	}
	for _, x := range spec.Vertices {
		init(place{"vertex", x.Name, ""}, value{n: int64(x.Sort)})
		if x.Domain != "" {
			init(place{"domain", x.Name, ""}, value{s: x.Domain})
		}
		for _, l := range x.Labels {
			init(place{"label", x.Name, l}, value{})
		}
	}
	for _, e := range spec.Edges {
		init(edgePlace(e.From, e.To), value{n: e.Distance})
	}
	for _, c := range spec.Channels {
		init(place{"channel", c.From, c.To}, value{n: c.Weight, open: c.Open})
	}
	for _, x := range spec.Objects {
		init(place{"exists", x.Name, ""}, value{})
		for _, at := range x.At {
			init(place{"replica", x.Name, at}, value{})
		}
	}
	for _, e := range spec.Entities {
		for _, a := range e.Attributes {
			for _, v := range a.Values {
				init(place{a.Name, e.Name, v.Str}, value{})
			}
		}
	}
	return o
}

func (o *oracle) store(p place, list []write) {
	o.cells[p] = list
	if o.kinds[p.kind] == nil {
		o.kinds[p.kind] = map[place]bool{}
	}
	o.kinds[p.kind][p] = true
}

func (o *oracle) clone() *oracle {
	c := newOracle(&world.Spec{})
	c.spec = o.spec
	for k, v := range o.cells {
		c.store(k, slices.Clone(v))
	}
	for k, v := range o.names {
		c.names[k] = map[string]bool{}
		for n := range v {
			c.names[k][n] = true
		}
		c.order[k] = o.order[k]
	}
	for k := range o.doubt {
		c.doubt[k] = true
	}
	return c
}

func (o *oracle) get(p place) value {
	list := o.cells[p]
	if len(list) == 0 {
		return value{}
	}
	v := list[len(list)-1].val
	if o.isState(p) {
		v.mark = strongest(list)
	}
	return v
}

// isState tells whether a cell is a tuple of a state: it is as strong as the strongest of its
// writes that stand.
func (o *oracle) isState(p place) bool {
	return slices.ContainsFunc(o.spec.States, func(s world.StateSpec) bool { return s.Name == p.kind })
}

func strongest(list []write) verdict.Strength {
	out := verdict.Presumptive
	for _, w := range list {
		out = min(out, w.val.mark)
	}
	return out
}

// mark writes a tuple of a state.
func (s *step) mark(p place, own verdict.Strength) {
	list := s.cells[p]
	w := write{val: value{there: true, mark: own}, call: s.from.Call, origin: s.from.Offset}
	last := write{}
	if len(list) > 0 {
		last = list[len(list)-1]
	}
	switch {
	case len(list) == 0:
	case last.call == "" && strongest(list) <= own:
		return
	case last.call != "" && s.from.Call == "" && strongest(list) < own:
		if list[0].call != "" {
			s.store(p, append([]write{w}, list...))
		}
		return
	case last.call != "" && last.call == s.from.Call && last.val.mark <= own:
		return
	}
	s.wrote = true
	s.store(p, append(list, w))
}

func (o *oracle) origin(p place) uint64 {
	if list := o.cells[p]; len(list) > 0 {
		return list[len(list)-1].origin
	}
	return 0
}

// flying tells whether a call in flight wrote a cell last, or something was taken back to it.
func (o *oracle) flying(p place) bool {
	list := o.cells[p]
	return len(list) > 0 && list[len(list)-1].call != ""
}

func edgePlace(a, b string) place {
	if b < a {
		a, b = b, a
	}
	return place{"edge", a, b}
}

// step is one edit of one event.
type step struct {
	*oracle
	from  world.Origin
	wrote bool
}

func (s *step) set(p place, v value) {
	old := s.get(p)
	top := ""
	if s.flying(p) {
		top = s.cells[p][len(s.cells[p])-1].call
	}
	if old == v && (top == "" || top == s.from.Call) {
		return
	}
	s.wrote = true
	w := write{val: v, call: s.from.Call, origin: s.from.Offset}
	if !v.there {
		w.origin = 0
	}
	s.store(p, append(s.cells[p], w))
}

func (s *step) drop(p place) { s.set(p, value{}) }

// all lists the cells of a kind, whether or not there is something in them.
func (o *oracle) all(kind, a string) []place {
	var list []place
	for p := range o.kinds[kind] {
		if a == "" || p.a == a {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(x, y place) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	return list
}

func (o *oracle) sort(v string) world.Sort { return world.Sort(o.get(place{"vertex", v, ""}).n) }

func (o *oracle) domain(v string) string {
	if o.sort(v) == world.Unknown {
		return ""
	}
	return o.get(place{"domain", v, ""}).s
}

func (o *oracle) hasLabel(v, l string) bool {
	return o.sort(v) != world.Unknown && o.get(place{"label", v, l}).there
}

func (o *oracle) domains() map[string]bool {
	known := map[string]bool{}
	for _, d := range o.spec.Domains {
		if !slices.ContainsFunc(o.spec.Vertices, func(x world.VertexSpec) bool { return x.Name == d }) {
			known[d] = true
		}
	}
	for _, x := range o.spec.Vertices {
		if x.Domain != "" {
			known[x.Domain] = true
		}
	}
	for p := range o.kinds["domain"] {
		if d := o.domain(p.a); d != "" {
			known[d] = true
		}
	}
	return known
}

func (o *oracle) labels() map[string]bool {
	known := map[string]bool{}
	for _, l := range o.spec.Labels {
		known[l] = true
	}
	for _, x := range o.spec.Vertices {
		for _, l := range x.Labels {
			known[l] = true
		}
	}
	for p := range o.kinds["label"] {
		if o.hasLabel(p.a, p.b) {
			known[p.b] = true
		}
	}
	return known
}

func (o *oracle) apply(edits []world.Edit, from world.Origin) {
	for i := range edits {
		s := &step{oracle: o, from: from}
		e := &edits[i]
		s.edit(e)
		if !s.wrote || from.Call == "" {
			continue
		}
		if o.names[from.Call] == nil {
			o.names[from.Call] = map[string]bool{}
			o.order[from.Call] = from.Offset
		}
		for _, name := range named(e) {
			o.names[from.Call][name] = true
		}
	}
}

// named lists the entities, objects and vertices that an edit names.
func named(e *world.Edit) []string {
	if e.Op == world.Mark {
		var names []string
		for _, v := range e.Values {
			names = append(names, v.Str)
		}
		return names
	}
	if slices.Contains([]world.Op{world.AddEdge, world.RemoveEdge, world.OpenChannel, world.CloseChannel, world.Place, world.Remove, world.Move, world.Derive}, e.Op) {
		return []string{e.A, e.B}
	}
	return []string{e.A}
}

func (s *step) unknown(v string) {
	s.drop(place{"vertex", v, ""})
	s.drop(place{"domain", v, ""})
	for _, p := range s.all("label", v) {
		s.drop(p)
	}
}

func (s *step) edit(e *world.Edit) {
	there := value{there: true}
	switch e.Op {
	case world.AddVertex:
		if e.Sort == world.Unknown || e.A == "?" || s.domains()[e.A] || e.B == "?" || e.B == e.A || e.B != "" && s.sort(e.B) != world.Unknown {
			s.unknown(e.A)
			return
		}
		s.set(place{"vertex", e.A, ""}, value{there: true, n: int64(e.Sort)})
		s.set(place{"domain", e.A, ""}, value{there: e.B != "", s: e.B})
		for _, p := range s.all("label", e.A) {
			if !slices.Contains(e.Names, p.b) {
				s.drop(p)
			}
		}
		for _, l := range e.Names {
			s.set(place{"label", e.A, l}, there)
		}
	case world.RemoveVertex:
		s.unknown(e.A)
		for _, kind := range []string{"edge", "channel"} {
			for _, p := range s.all(kind, "") {
				if p.a == e.A || p.b == e.A {
					s.drop(p)
				}
			}
		}
	case world.AddLabel, world.RemoveLabel:
		if s.sort(e.A) != world.Unknown {
			s.set(place{"label", e.A, e.B}, value{there: e.Op == world.AddLabel})
		}
	case world.SetDomain:
		switch {
		case s.sort(e.A) == world.Unknown:
		case e.B == "?" || e.B == e.A || e.B != "" && s.sort(e.B) != world.Unknown:
			s.unknown(e.A)
		default:
			s.set(place{"domain", e.A, ""}, value{there: e.B != "", s: e.B})
		}
	case world.AddEdge:
		s.set(edgePlace(e.A, e.B), value{there: true, n: max(e.N, 0)})
	case world.RemoveEdge:
		s.drop(edgePlace(e.A, e.B))
	case world.OpenChannel, world.CloseChannel:
		s.channel(e)
	case world.Place, world.Remove, world.Move, world.Purge, world.Destroy:
		s.objects(e)
	case world.Derive, world.Set, world.Append, world.Mark:
		s.tables(e)
	}
}

func (s *step) channel(e *world.Edit) {
	p := place{"channel", e.A, e.B}
	v := s.get(p)
	if e.Op == world.CloseChannel {
		if v.there {
			v.open = false
			s.set(p, v)
		}
		return
	}
	if e.N >= 0 || !v.there {
		v.n = max(e.N, world.WeightByDomain)
	}
	v.there, v.open = true, true
	s.set(p, v)
}

func (o *oracle) replicas(object string) []string {
	var at []string
	for _, p := range o.all("replica", object) {
		if o.get(p).there {
			at = append(at, p.b)
		}
	}
	return at
}

func (s *step) objects(e *world.Edit) {
	there := value{there: true}
	if e.Op == world.Place || e.Op == world.Move {
		s.set(place{"replica", e.A, e.B}, there)
		s.set(place{"exists", e.A, ""}, there)
		s.drop(place{"emptied", e.A, ""})
	}
	s.lose(e.A, func(at string) bool {
		return e.Op == world.Move && at != e.B || e.Op == world.Remove && at == e.B ||
			e.Op == world.Purge && s.hasLabel(at, e.B) || e.Op == world.Destroy
	})
}

func (s *step) tables(e *world.Edit) {
	there := value{there: true}
	if e.Op == world.Derive {
		s.set(place{"link", e.A, e.B}, there)
		s.set(place{"exists", e.A, ""}, there)
		return
	}
	if e.Op == world.Mark {
		p := place{e.Name, e.Values[0].Str, e.Values[1].Str}
		s.mark(p, e.Strength)
		return
	}
	for _, p := range s.all(e.Name, e.A) {
		if e.Op == world.Set && !slices.Contains(e.Values, schema.StringValue(p.b)) {
			s.drop(p)
		}
	}
	for _, v := range e.Values {
		s.set(place{e.Name, e.A, v.Str}, there)
	}
}

// lose removes the replicas of an object at some vertices.
func (s *step) lose(object string, which func(string) bool) {
	had := len(s.replicas(object)) > 0
	for _, p := range s.all("replica", object) {
		if which(p.b) {
			s.drop(p)
		}
	}
	if had && len(s.replicas(object)) == 0 {
		s.set(place{"emptied", object, ""}, value{there: true})
	}
}

func (o *oracle) end(call string, back bool) {
	for p, list := range o.cells {
		if o.isState(p) && !back {
			list = settled(list, call)
		}
		var kept []write
		for _, w := range list {
			if w.call == call {
				if back {
					continue
				}
				w.call = ""
			}
			kept = append(kept, w)
		}
		// What is below a final write can no longer come up again.
		for i := len(kept) - 1; i > 0; i-- {
			if kept[i].call == "" {
				kept = kept[i:]
				break
			}
		}
		o.cells[p] = kept
	}
	delete(o.names, call)
	delete(o.doubt, call)
	delete(o.order, call)
}

// settled is what is left of the writes of a tuple when a call stays. A presumptive write above
// definite ones that may be taken back goes below all of them; another one is as strong as
// all up to it, and those are final with it.
func settled(list []write, call string) []write {
	top, own := -1, verdict.Presumptive
	for i, w := range list {
		if w.call == call {
			top, own = i, min(own, w.val.mark)
		}
	}
	if top < 0 {
		return list
	}
	up := strongest(list[:top+1])
	if own <= up {
		list = slices.Clone(list)
		list[top].val.mark = up
		return list
	}
	base := list[top]
	base.call = ""
	rest := slices.DeleteFunc(slices.Clone(list), func(w write) bool { return w.call == call })
	if rest[0].call == "" {
		return rest
	}
	return append([]write{base}, rest...)
}

// release forgets the calls in doubt of which no write is left that may still come up or go.
func (o *oracle) release() {
	for call := range o.doubt {
		left := false
		for _, list := range o.cells {
			for i := len(list) - 1; i >= 0 && !left && list[i].call != ""; i-- {
				left = list[i].call == call
			}
		}
		if !left {
			delete(o.names, call)
			delete(o.doubt, call)
			delete(o.order, call)
		}
	}
}

// canonical is the state as a text.
func (o *oracle) canonical() string {
	var lines []string
	for p, list := range o.cells {
		for i := len(list) - 1; i > 0; i-- {
			if list[i].call == "" {
				list = list[i:]
				break
			}
		}
		if len(list) > 0 && (len(list) > 1 || list[0].val.there || list[0].call != "") {
			if list[0].call != "" {
				list = append([]write{{}}, list...)
			}
			lines = append(lines, fmt.Sprint(p, list))
		}
	}
	for call, names := range o.names {
		lines = append(lines, fmt.Sprint(call, o.order[call], o.doubt[call], names))
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}
