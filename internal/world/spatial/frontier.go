package spatial

import "github.com/aspis-rv/aspis/internal/world"

// frontier is the queue of a search: what was pushed comes out by ascending distance, and no
// push is below the last pop. Steps of weight 0 and 1, which informational walks are made
// of, cost O(1), others O(log n) in a binary heap.
type frontier struct {
	at   int64     // the distance of the last pop
	now  []world.V // at distance at
	next []world.V // at distance at+1
	far  []reached // a heap of the others
}

// reached is a vertex at a distance.
type reached struct {
	v world.V
	d int64
}

func (q *frontier) reset() {
	q.at, q.now, q.next, q.far = 0, q.now[:0], q.next[:0], q.far[:0]
}

func (q *frontier) push(v world.V, d int64) {
	switch d - q.at {
	case 0:
		q.now = append(q.now, v)
	case 1:
		q.next = append(q.next, v)
	default:
		q.far = append(q.far, reached{v, d})
		q.up(len(q.far) - 1)
	}
}

// pop takes out a vertex at the least distance; false if there is none.
func (q *frontier) pop() (world.V, int64, bool) {
	for {
		switch {
		case len(q.now) > 0:
			v := q.now[len(q.now)-1]
			q.now = q.now[:len(q.now)-1]
			return v, q.at, true
		case len(q.far) > 0 && q.far[0].d == q.at:
			return q.popFar(), q.at, true
		case len(q.next) > 0:
			q.at++
			q.now, q.next = q.next, q.now
		case len(q.far) > 0:
			q.at = q.far[0].d
		default:
			return 0, 0, false
		}
	}
}

func (q *frontier) popFar() world.V {
	top, last := q.far[0].v, len(q.far)-1
	q.far[0] = q.far[last]
	q.far = q.far[:last]
	q.down(0)
	return top
}

func (q *frontier) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if q.far[parent].d <= q.far[i].d {
			return
		}
		q.far[parent], q.far[i] = q.far[i], q.far[parent]
		i = parent
	}
}

func (q *frontier) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(q.far); c++ {
			if q.far[c].d < q.far[least].d {
				least = c
			}
		}
		if least == i {
			return
		}
		q.far[least], q.far[i] = q.far[i], q.far[least]
		i = least
	}
}
