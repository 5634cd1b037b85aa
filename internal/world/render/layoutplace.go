package render

import (
	"cmp"
	"slices"
)

// place gives every node its centre, the layers from left to right, the part below top, and
// returns the size of the part.
func (d *drawing) place(top int) (w, h int) {
	for _, l := range d.layers {
		y := 0
		for _, i := range l {
			d.nodes[i].y = y + d.nodes[i].h/2
			y += d.nodes[i].h + gapY
		}
	}
	for round := range placeRounds {
		for k := range d.layers {
			switch {
			case round == placeRounds-1:
				d.settle(k, func(n *node) []int { return append(slices.Clone(n.in), n.out...) })
			case round%2 == 0:
				d.settle(k, func(n *node) []int { return n.in })
			default:
				d.settle(len(d.layers)-1-k, func(n *node) []int { return n.out })
			}
		}
	}
	low, high := d.nodes[0].y, d.nodes[0].y
	for i := range d.nodes {
		low, high = min(low, d.nodes[i].y-d.nodes[i].h/2), max(high, d.nodes[i].y+d.nodes[i].h/2)
	}
	for i := range d.nodes {
		d.nodes[i].y += top - low
	}
	for _, l := range d.layers {
		width := 0
		for _, i := range l {
			width = max(width, d.nodes[i].w)
		}
		for _, i := range l {
			d.nodes[i].x = w + width/2
			if d.nodes[i].lane {
				d.nodes[i].w = width // a line crosses the layer straight
			}
		}
		w += width + gapX
	}
	return w - gapX, high - low
}

// settle moves the nodes of a layer as near as it can to the mean height of their neighbours,
// in their order and without overlap: isotonic regression by pooling adjacent violators.
// Lanes weigh more than boxes, which keeps long lines straight.
func (d *drawing) settle(layer int, side func(*node) []int) {
	type block struct{ sum, weight, count int }
	var blocks []block
	offset, last := make([]int, len(d.layers[layer])), 0
	for k, i := range d.layers[layer] {
		n := &d.nodes[i]
		if k > 0 {
			last += (d.nodes[d.layers[layer][k-1]].h+n.h)/2 + gapY
		}
		offset[k] = last
		weight := 1
		if n.lane {
			weight = 3
		}
		b := block{sum: (d.wish(n, side(n)) - last) * weight, weight: weight, count: 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].sum*b.weight > b.sum*blocks[len(blocks)-1].weight {
			p := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			b = block{p.sum + b.sum, p.weight + b.weight, p.count + b.count}
		}
		blocks = append(blocks, b)
	}
	k := 0
	for _, b := range blocks {
		for range b.count {
			d.nodes[d.layers[layer][k]].y = floorDiv(b.sum, b.weight) + offset[k]
			k++
		}
	}
}

// wish is the mean height of neighbours; without any it is the node's own.
func (d *drawing) wish(n *node, near []int) int {
	if len(near) == 0 {
		return n.y
	}
	sum := 0
	for _, j := range near {
		sum += d.nodes[j].y
	}
	return floorDiv(sum, len(near))
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// ways returns the way of each line: the side of its first box, both sides of each lane, the
// side of its last box. At a box the lines of a side are spread over it in the order of
// where they lead, so that two lines between the same boxes stay apart.
func (d *drawing) ways() [][]point {
	starts, ends := d.ports(true), d.ports(false)
	out := make([][]point, len(d.chains))
	for k, chain := range d.chains {
		first, last := &d.nodes[chain[0]], &d.nodes[chain[len(chain)-1]]
		way := []point{{first.x + first.w/2, first.y + starts[k]}}
		for _, i := range chain[1 : len(chain)-1] {
			n := &d.nodes[i]
			way = append(way, point{n.x - n.w/2, n.y}, point{n.x + n.w/2, n.y})
		}
		out[k] = append(way, point{last.x - last.w/2, last.y + ends[k]})
	}
	return out
}

// ports gives each line its height, from the centre, at its first box or at its last one.
func (d *drawing) ports(first bool) []int {
	at := map[int][]int{} // lines by box
	next := make([]int, len(d.chains))
	for k, chain := range d.chains {
		end, near := chain[0], chain[1]
		if !first {
			end, near = chain[len(chain)-1], chain[len(chain)-2]
		}
		at[end], next[k] = append(at[end], k), d.nodes[near].y
	}
	out := make([]int, len(d.chains))
	for i, lines := range at {
		slices.SortStableFunc(lines, func(a, b int) int { return cmp.Compare(next[a], next[b]) })
		room := d.nodes[i].h - 12
		for k, line := range lines {
			out[line] = (2*k+1)*room/(2*len(lines)) - room/2
		}
	}
	return out
}
