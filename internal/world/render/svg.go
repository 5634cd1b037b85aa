package render

import (
	"fmt"
	"html"
	"strings"

	"github.com/aspis-rv/aspis/internal/world"
)

// The sizes of a picture, in pixels.
const (
	charWidth  = 7 // of a monospaced character of the size used, with a little air
	lineHeight = 15
	boxPadding = 9
	margin     = 24
	headHeight = 28 // of a headline
	panelGap   = 48
	legendGap  = 36
)

// SVG draws a graph: informational vertices with their channels above, physical ones with
// their edges below. It is one document without scripts or outside references, readable on a
// light and on a dark ground: it follows the reader's preference. Draw at most MaxDrawn
// vertices; see Neighbourhood.
func SVG(g *Graph) string {
	p := &picture{g: g, place: map[string]*vertexBox{}, domains: g.domains(), held: g.held()}
	y := margin + headHeight
	width := textWidth(g.headline())
	for _, sort := range []world.Sort{world.Informational, world.Physical} {
		w, h := p.panel(sort, y)
		if h == 0 {
			continue
		}
		width, y = max(width, w), y+headHeight+h+panelGap
	}
	p.across()
	y += legendGap - panelGap
	height := y + p.legend(y)
	return p.document(max(width, p.legendWidth)+2*margin, height)
}

// picture collects what is drawn: lines first, so that boxes lie above them.
type picture struct {
	g           *Graph
	place       map[string]*vertexBox
	domains     map[string]int
	held        map[string][]string
	lines, over strings.Builder
	legendWidth int
}

// vertexBox is a vertex and where it is drawn.
type vertexBox struct {
	node  *Node
	lines []string
	box   box
	sort  world.Sort // of the panel
}

// panel lays out and draws the vertices of a sort from y on, and returns its size.
func (p *picture) panel(sort world.Sort, y int) (w, h int) {
	list, index := p.members(sort), map[string]int{}
	if len(list) == 0 {
		return 0, 0
	}
	boxes := make([]box, len(list))
	for i, v := range list {
		boxes[i], index[v.node.Name] = v.box, i
	}
	var arcs []arc
	var draw []line
	add := func(l line) {
		from, ok := index[l.from]
		to, also := index[l.to]
		if ok && also {
			arcs, draw = append(arcs, arc{from: from, to: to}), append(draw, l)
		}
	}
	for _, l := range p.channels() {
		add(l)
	}
	first := len(arcs)
	for _, l := range p.edges() {
		add(l)
	}
	outward(len(list), arcs[first:])
	w, h = layout(boxes, arcs)
	fmt.Fprintf(&p.over, "<text class=\"head\" x=\"%d\" y=\"%d\">%s</text>\n", margin, y+14, html.EscapeString(sort.String()))
	shift := point{margin, y + headHeight}
	for i, v := range list {
		v.box = boxes[i]
		v.box.at = point{v.box.at.x + shift.x, v.box.at.y + shift.y}
		p.vertex(v)
	}
	for i, l := range draw {
		if len(arcs[i].way) == 0 {
			p.loop(list[arcs[i].from].box, l)
			continue
		}
		way := arcs[i].way
		for k := range way {
			way[k] = point{way[k].x + shift.x, way[k].y + shift.y}
		}
		p.path(way, l)
	}
	return w, h
}

// members are the vertices of a panel. An unknown vertex is drawn where its lines are:
// with the physical ones if it has edges and no channel.
func (p *picture) members(sort world.Sort) []*vertexBox {
	channel, edge := map[string]bool{}, map[string]bool{}
	for _, l := range p.channels() {
		channel[l.from], channel[l.to] = true, true
	}
	for _, l := range p.edges() {
		edge[l.from], edge[l.to] = true, true
	}
	var out []*vertexBox
	for i := range p.g.Nodes {
		n := &p.g.Nodes[i]
		in := world.Informational
		if n.Sort == world.Physical.String() || n.Sort == world.Unknown.String() && edge[n.Name] && !channel[n.Name] {
			in = world.Physical
		}
		if in != sort {
			continue
		}
		v := &vertexBox{node: n, lines: n.lines(p.held[n.Name]), sort: sort}
		for _, l := range v.lines {
			v.box.w = max(v.box.w, textWidth(l)+2*boxPadding)
		}
		v.box.h = len(v.lines)*lineHeight + 2*boxPadding
		out, p.place[n.Name] = append(out, v), v
	}
	return out
}

// line is an edge or channel to be drawn.
type line struct{ from, to, label, class string }

func (p *picture) channels() []line {
	out := make([]line, len(p.g.Channels))
	for i := range p.g.Channels {
		c := &p.g.Channels[i]
		out[i] = line{c.From, c.To, fmt.Sprint(c.Weight), "channel " + c.openness()}
	}
	return out
}

func (p *picture) edges() []line {
	out := make([]line, len(p.g.Edges))
	for i := range p.g.Edges {
		e := &p.g.Edges[i]
		out[i] = line{e.From, e.To, e.length(p.g.Unit), "edge"}
	}
	return out
}

// outward turns undirected lines so that they lead away from the first box of each part,
// which layers them by distance from it.
func outward(n int, arcs []arc) {
	next := make([][]int, n)
	for k, a := range arcs {
		next[a.from], next[a.to] = append(next[a.from], k), append(next[a.to], k)
	}
	met := make([]int, n) // when, from 1
	for start := range n {
		if met[start] > 0 {
			continue
		}
		met[start] = start + 1
		queue, time := []int{start}, start+1
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			for _, k := range next[i] {
				j := arcs[k].from + arcs[k].to - i
				if met[j] == 0 {
					time++
					met[j] = time
					queue = append(queue, j)
				}
			}
		}
	}
	for k, a := range arcs {
		if met[a.from] > met[a.to] {
			arcs[k].from, arcs[k].to = a.to, a.from
		}
	}
}

// across draws the lines between the panels.
func (p *picture) across() {
	for _, l := range append(p.channels(), p.edges()...) {
		a, b := p.place[l.from], p.place[l.to]
		if a == nil || b == nil || a.sort == b.sort {
			continue
		}
		from, to := a.box.at, b.box.at
		if from.y < to.y {
			from.y, to.y = from.y+a.box.h/2, to.y-b.box.h/2
		} else {
			from.y, to.y = from.y-a.box.h/2, to.y+b.box.h/2
		}
		mid := (from.y + to.y) / 2
		fmt.Fprintf(&p.lines, "<path class=\"%s\" d=\"M%d,%d C%d,%d %d,%d %d,%d\"%s/>\n",
			l.class, from.x, from.y, from.x, mid, to.x, mid, to.x, to.y, l.arrow())
		p.label(point{(from.x + to.x) / 2, mid}, l)
	}
}

func (l *line) arrow() string {
	if l.class == "edge" {
		return ""
	}
	return ` marker-end="url(#arrow)"`
}

// path draws a line along its way: bent between layers, straight through them.
func (p *picture) path(way []point, l line) {
	fmt.Fprintf(&p.lines, "<path class=\"%s\" d=\"M%d,%d", l.class, way[0].x, way[0].y)
	for i := 1; i < len(way); i++ {
		a, b := way[i-1], way[i]
		mid := (a.x + b.x) / 2
		fmt.Fprintf(&p.lines, " C%d,%d %d,%d %d,%d", mid, a.y, mid, b.y, b.x, b.y)
	}
	fmt.Fprintf(&p.lines, "\"%s/>\n", l.arrow())
	a, b := way[0], way[1]
	// Two fifths along the first bend: lines of opposite direction have their labels apart.
	p.label(point{a.x + (b.x-a.x)*384/1000, a.y + (b.y-a.y)*282/1000 - 3}, l)
}

func (p *picture) label(at point, l line) {
	fmt.Fprintf(&p.over, "<text class=\"label\" x=\"%d\" y=\"%d\">%s</text>\n", at.x, at.y, html.EscapeString(l.label))
}

// loop draws a line from a box to itself.
func (p *picture) loop(b box, l line) {
	x, y := b.at.x+b.w/2, b.at.y
	fmt.Fprintf(&p.lines, "<path class=\"%s\" d=\"M%d,%d C%d,%d %d,%d %d,%d\"%s/>\n",
		l.class, x, y-6, x+30, y-14, x+30, y+14, x, y+6, l.arrow())
	p.label(point{x + 30, y + 4}, l)
}

func (p *picture) vertex(v *vertexBox) {
	class := "box plain"
	if v.node.Domain != "" {
		class = fmt.Sprintf("box d%d", p.domains[v.node.Domain]%len(palette()))
	}
	if v.node.Sort == world.Unknown.String() {
		class += " unknown"
	}
	x, y := v.box.at.x-v.box.w/2, v.box.at.y-v.box.h/2
	fmt.Fprintf(&p.over, "<g><title>%s</title><rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>",
		html.EscapeString(v.node.title(p.held[v.node.Name])), class, x, y, v.box.w, v.box.h)
	for i, text := range v.lines {
		style := ""
		if i == 0 {
			style = " class=\"name\""
		}
		fmt.Fprintf(&p.over, "<text%s x=\"%d\" y=\"%d\">%s</text>",
			style, v.box.at.x, y+boxPadding+11+i*lineHeight, html.EscapeString(text))
	}
	p.over.WriteString("</g>\n")
}

func textWidth(s string) int {
	n := 0
	for _, r := range s {
		if n++; r >= 0x1100 { // from there on, many are twice as wide
			n++
		}
	}
	return n*charWidth + 2
}
