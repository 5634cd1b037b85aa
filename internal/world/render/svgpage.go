package render

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/world"
)

// title is what a reader gets who points at a vertex: all of what its box shows a part of.
func (n *Node) title(held []string) string {
	text := Name(n.Name) + ": " + n.Sort
	if n.Domain != "" {
		text += ", domain " + Name(n.Domain)
	}
	if len(n.Labels) > 0 {
		text += ", labels " + names(n.Labels)
	}
	if len(held) > 0 {
		text += ", holds " + names(held)
	}
	return text
}

// legend draws what lines and colours mean at y, and returns its height.
func (p *picture) legend(y int) int {
	l := legend{p: p, x: margin, y: y}
	if len(p.g.Channels) > 0 {
		l.stroke("channel open", ` marker-end="url(#arrow)"`, "open channel, weight")
		l.stroke("channel closed", ` marker-end="url(#arrow)"`, "closed channel")
	}
	if len(p.g.Edges) > 0 {
		l.stroke("edge", "", "edge, distance")
	}
	domains := make([]string, len(p.domains))
	for d, i := range p.domains {
		domains[i] = d
	}
	for i, d := range domains {
		l.patch(fmt.Sprintf("box d%d", i%len(palette())), clip(Name(d)))
	}
	if slices.ContainsFunc(p.g.Nodes, func(n Node) bool { return n.Sort == world.Unknown.String() }) {
		l.patch("box plain unknown", "unknown vertex")
	}
	return l.y - y + 20
}

// legend is where the next entry of a legend goes.
type legend struct {
	p    *picture
	x, y int
}

// stroke explains a kind of line.
func (l *legend) stroke(class, end, text string) {
	fmt.Fprintf(&l.p.over, "<path class=\"%s\" d=\"M%d,%d h34\"%s/>", class, l.x, l.y-4, end)
	l.entry(34, text)
}

// patch explains how a kind of box is filled.
func (l *legend) patch(class, text string) {
	fmt.Fprintf(&l.p.over, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"14\" height=\"10\" rx=\"2\"/>", class, l.x, l.y-9)
	l.entry(14, text)
}

func (l *legend) entry(width int, text string) {
	fmt.Fprintf(&l.p.over, "<text class=\"key\" x=\"%d\" y=\"%d\">%s</text>\n", l.x+width+6, l.y, html.EscapeString(text))
	l.x += width + 6 + textWidth(text) + 18
	l.p.legendWidth = max(l.p.legendWidth, l.x-margin)
	if l.x > gridWidth {
		l.x, l.y = margin, l.y+20
	}
}

// document puts the picture together.
func (p *picture) document(w, h int) string {
	var s strings.Builder
	fmt.Fprintf(&s, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n", w, h, w, h)
	head := html.EscapeString(p.g.headline())
	fmt.Fprintf(&s, "<title>%s</title>\n<style>\n%s</style>\n", head, style())
	s.WriteString("<defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto-start-reverse\">" +
		"<path class=\"tip\" d=\"M0,0 L10,5 L0,10 z\"/></marker></defs>\n")
	fmt.Fprintf(&s, "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n", w, h)
	fmt.Fprintf(&s, "<text class=\"head\" x=\"%d\" y=\"%d\">%s</text>\n", margin, margin+6, head)
	s.WriteString(p.lines.String())
	s.WriteString(p.over.String())
	s.WriteString("</svg>\n")
	return s.String()
}

// style is the style sheet. Lines have a contrast of 4.5 and more with the ground, texts of
// 7 and more.
func style() string {
	var s, dark strings.Builder
	s.WriteString(`.ground{fill:#ffffff}
text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1a1a1a;text-anchor:middle}
.name{font-weight:bold}
.head{font-weight:bold;text-anchor:start}
.key{text-anchor:start}
.label{font-size:11px;paint-order:stroke;stroke:#ffffff;stroke-width:4px;stroke-linejoin:round}
.channel,.edge{fill:none;stroke:#5c5c5c;stroke-width:1.4}
.closed{stroke-dasharray:6 4}
.edge{stroke-width:2.2}
.tip{fill:#5c5c5c}
.box{stroke:#5c5c5c;stroke-width:1}
.unknown{stroke-dasharray:3 3;stroke-width:2}
.plain{fill:#f0f0f0}
`)
	for i, c := range palette() {
		fmt.Fprintf(&s, ".d%d{fill:%s}\n", i, c.light)
		fmt.Fprintf(&dark, ".d%d{fill:%s}\n", i, c.dark)
	}
	s.WriteString(`@media (prefers-color-scheme:dark){
.ground{fill:#161616}
text{fill:#f0f0f0}
.label{stroke:#161616}
.channel,.edge,.box{stroke:#a8a8a8}
.tip{fill:#a8a8a8}
.plain{fill:#303030}
` + dark.String() + "}\n")
	return s.String()
}
