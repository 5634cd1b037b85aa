package policy

import (
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
)

// vertices reads `alpha: {sort: physical, labels: [masking]}`.
func (l *loader) vertices(n *source.Node) {
	for _, f := range l.mapOf(n, "vertices") {
		where := "the vertex " + f.Key.Value
		if f.Value.Kind != source.Map {
			l.report(f.Value, wrongType(where, "a map with its sort", f.Value.Describe()))
			continue
		}
		l.keys(f.Value, where, []string{"sort", "domain", "labels"}, nil)
		v := world.VertexSpec{Name: f.Key.Value}
		if n := f.Value.Get("sort"); n == nil {
			l.report(f.Key, missingKey("sort", where, "write sort: physical or sort: informational"))
		} else if sort, ok := l.choice(n, "the sort of a vertex", world.Physical.String(), world.Informational.String()); ok {
			v.Sort = sortNamed(sort)
		}
		v.Domain, _ = l.text(f.Value.Get("domain"), "a release domain")
		v.Labels = l.textsOf(f.Value.Get("labels"), "a label")
		l.addVertex(v, spotOf(f.Key))
	}
}

func sortNamed(s string) world.Sort {
	for _, sort := range []world.Sort{world.Physical, world.Informational} {
		if s == sort.String() {
			return sort
		}
	}
	return world.Unknown
}

// textsOf reads a list of texts, none twice.
func (l *loader) textsOf(n *source.Node, what string) []string {
	var out []string
	seen := map[string]bool{}
	for _, item := range l.listOf(n) {
		s, ok := l.text(item, what)
		switch {
		case !ok:
		case seen[s]:
			l.report(item, nameTaken(s, "another one of this list"))
		default:
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// addVertex enters a vertex, of the bundle's own or of an imported graph.
func (l *loader) addVertex(v world.VertexSpec, at spot) {
	prev, taken := l.world.vertices[v.Name]
	switch {
	case taken:
		l.reportAt(at, nameTaken(v.Name, "the vertex on "+prev.at.String()))
		return
	case len(v.Name) > MaxWorldName:
		l.reportAt(at, overLimit("the name of the vertex has too many bytes", MaxWorldName, ""))
		return
	case v.Sort == world.Physical && v.Domain != "":
		l.reportAt(at, contradiction("delete the domain, or write sort: informational",
			"the vertex %s is physical and has the domain %s; places where information is have domains", v.Name, v.Domain))
	case v.Sort == world.Informational && v.Domain == "":
		l.reportAt(at, missingKey("domain", "the informational vertex "+v.Name, "say which release domain it is in"))
	case v.Domain == world.UnknownDomain:
		l.reportAt(at, contradiction("rename it", "the domain %q is that of unknown vertices", v.Domain))
	}
	v.Labels = unique(v.Labels)
	l.world.vertices[v.Name] = declaredVertex{v, at}
}

// distinctDomains reports vertices that are called like a domain: reaches(o, d) would mean
// two things.
func (l *loader) distinctDomains() {
	domains := map[string]bool{}
	for _, d := range l.world.domainNames() {
		domains[d] = true
	}
	for _, name := range l.world.vertexNames() {
		if domains[name] {
			l.reportAt(l.world.vertices[name].at, contradiction("rename one of the two",
				"%s is a vertex and a domain, so that reaches(o, %q) would mean two things", name, name))
		}
	}
}

// edges reads `{from: alpha, to: ridge, distance: 1000}`.
func (l *loader) edges(n *source.Node) {
	for _, item := range l.items(n, "edges") {
		if !l.link(item, "an edge", []string{"from", "to", "distance"}, []string{"open", "weight"}) {
			continue
		}
		e := world.EdgeSpec{From: item.Get("from").Value, To: item.Get("to").Value}
		d := item.Get("distance")
		if d == nil {
			l.report(item, missingKey("distance", "the edge from "+e.From+" to "+e.To, "give it in the unit of the graph, for example distance: 1000"))
			continue
		}
		var ok bool
		if e.Distance, ok = l.amount(d, "a distance"); ok {
			l.addEdge(e, spotOf(item))
		}
	}
}

// channels reads `{from: med_fwd, to: partner_med, open: false}`.
func (l *loader) channels(n *source.Node) {
	for _, item := range l.items(n, "channels") {
		if !l.link(item, "a channel", []string{"from", "to", "open", "weight"}, []string{"distance"}) {
			continue
		}
		c := world.ChannelSpec{From: item.Get("from").Value, To: item.Get("to").Value, Weight: world.WeightByDomain}
		if item.Get("open") == nil {
			l.report(item, missingKey("open", "the channel from "+c.From+" to "+c.To, "write open: true or open: false"))
			continue
		}
		c.Open = l.boolean(item.Get("open"), "open")
		ok := true
		if w := item.Get("weight"); w != nil {
			c.Weight, ok = l.amount(w, "a weight")
		}
		if ok {
			l.addChannel(c, spotOf(item))
		}
	}
}

// items returns the items of a list, none when n is absent or something else.
func (l *loader) items(n *source.Node, what string) []*source.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind != source.List:
		l.report(n, wrongType(what, "a list", n.Describe()))
		return nil
	}
	return n.Items
}

// link checks the keys of an edge or channel; foreign are those of the other.
func (l *loader) link(n *source.Node, what string, keys, foreign []string) bool {
	if n.Kind != source.Map {
		l.report(n, wrongType(what, "a map with from and to", n.Describe()))
		return false
	}
	good := true
	for _, key := range foreign {
		if v := n.Get(key); v != nil {
			l.report(v, contradiction("an edge has a distance and no direction; a channel has a direction, weight and open", "%s has no %s", what, key))
			good = false
		}
	}
	l.keys(n, what, append(keys, foreign...), nil)
	for _, key := range []string{"from", "to"} {
		if n.Get(key) == nil {
			l.report(n, missingKey(key, what, "name the vertex"))
			good = false
		} else if _, ok := l.text(n.Get(key), key); !ok {
			good = false
		}
	}
	return good
}

// amount reads a whole number that is not negative.
func (l *loader) amount(n *source.Node, what string) (int64, bool) {
	if n.Kind != source.Scalar || n.Type != source.Int {
		f := wrongType(what, "an integer", n.Describe())
		f.hint = "write a whole number from 0, without a unit; units: {physical: m} names the unit of all distances"
		l.report(n, f)
		return 0, false
	}
	i, ok := l.integer(n, what)
	if ok && i < 0 {
		l.report(n, fault(CodeValue, "write a whole number from 0", "%s is never negative, and this is %s", what, n.Value))
		return 0, false
	}
	return i, ok
}

// addEdge enters an edge once both its ends are known.
func (l *loader) addEdge(e world.EdgeSpec, at spot) {
	if !l.ends(e.From, e.To, at) {
		return
	}
	if e.From > e.To {
		e.From, e.To = e.To, e.From
	}
	ends := [2]string{e.From, e.To}
	if _, taken := l.world.edges[ends]; taken {
		l.reportAt(at, contradiction("delete one of the two; edges have no direction", "there are two edges between %s and %s", e.From, e.To))
		return
	}
	l.world.edges[ends] = e
}

// addChannel enters a channel once both its ends are known.
func (l *loader) addChannel(c world.ChannelSpec, at spot) {
	if !l.ends(c.From, c.To, at) {
		return
	}
	ends := [2]string{c.From, c.To}
	if _, taken := l.world.channels[ends]; taken {
		l.reportAt(at, contradiction("delete one of the two", "there are two channels from %s to %s", c.From, c.To))
		return
	}
	l.world.channels[ends] = c
}

// nearVertices lists the vertices that a misspelt name may have meant; none once there are
// many findings, because a graph is large and the first few show what is wrong.
func (l *loader) nearVertices() []string {
	if len(l.diags) > maxFindings/10 {
		return nil
	}
	return l.world.vertexNames()
}

func (l *loader) ends(from, to string, at spot) bool {
	good := true
	for _, name := range []string{from, to} {
		if _, ok := l.world.vertices[name]; !ok {
			l.reportAt(at, undeclared("vertex", name, l.nearVertices()))
			good = false
		}
	}
	if good && from == to {
		l.reportAt(at, contradiction("delete it", "this joins %s with itself", from))
		return false
	}
	return good
}
