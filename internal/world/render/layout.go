package render

import (
	"cmp"
	"slices"
)

// The distances of a layout, in pixels.
const (
	gapX = 96 // between layers: room for a bend and the label of a line
	gapY = 22 // between boxes of a layer
	// laneY is the height of a line that passes a layer between boxes.
	laneY = 12
	// gridWidth is how wide a grid of vertices without lines becomes.
	gridWidth = 1000
)

// point is a place in a picture; y grows downwards.
type point struct{ x, y int }

// box is the size of a vertex's box, and after a layout its centre.
type box struct {
	w, h int
	at   point
}

// arc is a line between two boxes, by their indices, and after a layout its way: from the
// side of one box to the side of the other, through the layers between them.
type arc struct {
	from, to int
	way      []point
}

// layout places boxes in layers from left to right, each line leading from one layer to a
// later one where no cycle forbids it, with few crossings (Sugiyama's method: break cycles,
// layer by longest path, order by barycentres, place by least squares). Parts that no line
// joins stand below each other, boxes without lines in a grid. It sets the places of boxes
// and the ways of arcs, and returns the size of the picture. It computes with integers and
// in the order given, so that the same graph looks the same everywhere. Loops have no way.
func layout(boxes []box, arcs []arc) (w, h int) {
	var single []int
	for _, part := range components(len(boxes), arcs) {
		if len(part) == 1 {
			single = append(single, part[0])
			continue
		}
		pw, ph := layoutPart(boxes, arcs, part, h)
		w, h = max(w, pw), h+ph+gapY
	}
	gw, gh := grid(boxes, single, h, max(w, gridWidth))
	return max(w, gw), max(0, h+gh-gapY)
}

// components lists the parts of a graph, the larger first, among equals by index.
func components(n int, arcs []arc) [][]int {
	root := make([]int, n)
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	for _, a := range arcs {
		p, q := find(a.from), find(a.to)
		root[max(p, q)] = min(p, q)
	}
	parts := map[int][]int{}
	for i := range n {
		parts[find(i)] = append(parts[find(i)], i)
	}
	out := make([][]int, 0, len(parts))
	for _, p := range parts {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b []int) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0], b[0])) })
	return out
}

// grid places boxes in rows below y, each cell of the size of the greatest box.
func grid(boxes []box, list []int, y, width int) (w, h int) {
	cw, ch := 0, 0
	for _, i := range list {
		cw, ch = max(cw, boxes[i].w), max(ch, boxes[i].h)
	}
	if len(list) == 0 {
		return 0, 0
	}
	columns := max(1, (width+gapY)/(cw+gapY))
	for k, i := range list {
		col, row := k%columns, k/columns
		boxes[i].at = point{col*(cw+gapY) + cw/2, y + row*(ch+gapY) + ch/2}
	}
	rows := (len(list) + columns - 1) / columns
	return min(columns, len(list))*(cw+gapY) - gapY, rows * (ch + gapY)
}

// drawing is the layout of one connected part. Its nodes are the boxes of the part and, after
// them, a lane for each layer that a line passes.
type drawing struct {
	nodes  []node
	chains [][]int // of each line, the nodes on it from the lower layer to the higher
	layers [][]int
}

// node is a box or a lane of a drawing.
type node struct {
	w, h    int
	lane    bool
	layer   int
	x, y    int // centre
	in, out []int
}

func layoutPart(boxes []box, arcs []arc, part []int, top int) (w, h int) {
	index := map[int]int{}
	d := &drawing{}
	for k, i := range part {
		index[i] = k
		d.nodes = append(d.nodes, node{w: boxes[i].w, h: boxes[i].h})
	}
	var mine []int // indices of arcs
	var lines [][2]int
	for i, a := range arcs {
		if from, ok := index[a.from]; ok && a.from != a.to {
			mine = append(mine, i)
			lines = append(lines, [2]int{from, index[a.to]})
		}
	}
	flipped := d.layer(lines)
	d.chain(lines, flipped)
	d.order()
	w, h = d.place(top)
	for k, i := range part {
		boxes[i].at = point{d.nodes[k].x, d.nodes[k].y}
	}
	for k, way := range d.ways() {
		if flipped[k] {
			slices.Reverse(way)
		}
		arcs[mine[k]].way = way
	}
	return w, h
}

// layer gives each box a layer so that lines lead to higher ones, and says which lines had to
// be turned round for that.
func (d *drawing) layer(lines [][2]int) (flipped []bool) {
	flipped = againstOrder(len(d.nodes), lines)
	succ, pred := make([][]int, len(d.nodes)), make([]int, len(d.nodes))
	for k, l := range lines {
		if flipped[k] {
			l[0], l[1] = l[1], l[0]
		}
		succ[l[0]] = append(succ[l[0]], l[1])
		pred[l[1]]++
	}
	first := make([]bool, len(d.nodes))
	var order []int
	for i, n := range pred {
		if first[i] = n == 0; first[i] {
			order = append(order, i)
		}
	}
	for k := 0; k < len(order); k++ {
		i := order[k]
		for _, j := range succ[i] {
			d.nodes[j].layer = max(d.nodes[j].layer, d.nodes[i].layer+1)
			if pred[j]--; pred[j] == 0 {
				order = append(order, j)
			}
		}
	}
	for i, is := range first { // what nothing leads to stands next to what it leads to
		if !is {
			continue
		}
		near := len(d.nodes)
		for _, j := range succ[i] {
			near = min(near, d.nodes[j].layer-1)
		}
		d.nodes[i].layer = near
	}
	return flipped
}

// againstOrder marks the lines that close a cycle in a depth-first search, which starts where
// no line leads to.
func againstOrder(n int, lines [][2]int) []bool {
	out := make([][]int, n) // lines by start
	in := make([]int, n)
	for k, l := range lines {
		out[l[0]] = append(out[l[0]], k)
		in[l[1]]++
	}
	against := make([]bool, len(lines))
	state := make([]int, n) // 1: on the way, 2: done
	var visit func(i int)
	visit = func(i int) {
		state[i] = 1
		for _, k := range out[i] {
			switch j := lines[k][1]; state[j] {
			case 0:
				visit(j)
			case 1:
				against[k] = true
			}
		}
		state[i] = 2
	}
	for _, sources := range []bool{true, false} {
		for i := range n {
			if state[i] == 0 && (in[i] == 0) == sources {
				visit(i)
			}
		}
	}
	return against
}

// chain gives each line a lane in each layer that it passes.
func (d *drawing) chain(lines [][2]int, flipped []bool) {
	for k, l := range lines {
		from, to := l[0], l[1]
		if flipped[k] {
			from, to = to, from
		}
		chain := []int{from}
		for layer := d.nodes[from].layer + 1; layer < d.nodes[to].layer; layer++ {
			chain = append(chain, len(d.nodes))
			d.nodes = append(d.nodes, node{h: laneY, lane: true, layer: layer})
		}
		chain = append(chain, to)
		for i := 1; i < len(chain); i++ {
			d.nodes[chain[i-1]].out = append(d.nodes[chain[i-1]].out, chain[i])
			d.nodes[chain[i]].in = append(d.nodes[chain[i]].in, chain[i-1])
		}
		d.chains = append(d.chains, chain)
	}
}
