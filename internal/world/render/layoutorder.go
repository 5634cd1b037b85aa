package render

import (
	"cmp"
	"slices"
)

// The number of times that a drawing is improved. What more rounds would gain is not seen in
// graphs of the size that is drawn.
const (
	orderRounds = 12
	placeRounds = 8
)

// order arranges each layer so that few lines cross: layer by layer, forth and back, each node
// goes to the mean place of its neighbours, and the best arrangement seen is kept.
func (d *drawing) order() {
	depth := 0
	for i := range d.nodes {
		depth = max(depth, d.nodes[i].layer+1)
	}
	d.layers = make([][]int, depth)
	for i := range d.nodes {
		d.layers[d.nodes[i].layer] = append(d.layers[d.nodes[i].layer], i)
	}
	best, fewest := d.arrangement(), d.crossings()
	for round := 0; round < orderRounds && fewest > 0; round++ {
		if round%2 == 0 {
			for l := 1; l < depth; l++ {
				d.barycentre(l, func(n *node) []int { return n.in })
			}
		} else {
			for l := depth - 2; l >= 0; l-- {
				d.barycentre(l, func(n *node) []int { return n.out })
			}
		}
		if c := d.crossings(); c < fewest {
			best, fewest = d.arrangement(), c
		}
	}
	d.layers = best
}

func (d *drawing) arrangement() [][]int {
	out := make([][]int, len(d.layers))
	for i, l := range d.layers {
		out[i] = slices.Clone(l)
	}
	return out
}

// ranks is the place of each node within its layer.
func (d *drawing) ranks() []int {
	rank := make([]int, len(d.nodes))
	for _, l := range d.layers {
		for k, i := range l {
			rank[i] = k
		}
	}
	return rank
}

// barycentre sorts a layer by the mean rank of the neighbours on one side; what has none there
// keeps its place.
func (d *drawing) barycentre(layer int, side func(*node) []int) {
	rank := d.ranks()
	const scale = 1 << 10
	key := map[int]int{}
	for k, i := range d.layers[layer] {
		near := side(&d.nodes[i])
		if len(near) == 0 {
			key[i] = k * scale
			continue
		}
		sum := 0
		for _, j := range near {
			sum += rank[j]
		}
		key[i] = sum * scale / len(near)
	}
	slices.SortStableFunc(d.layers[layer], func(a, b int) int { return cmp.Compare(key[a], key[b]) })
}

// crossings counts the pairs of lines between adjacent layers that cross.
func (d *drawing) crossings() int {
	rank, total := d.ranks(), 0
	for _, l := range d.layers {
		var ends []int // the ends met so far, from the top of this layer
		for _, i := range l {
			n := len(ends)
			for _, j := range d.nodes[i].out {
				for _, e := range ends[:n] {
					if e > rank[j] {
						total++
					}
				}
				ends = append(ends, rank[j])
			}
		}
	}
	return total
}
