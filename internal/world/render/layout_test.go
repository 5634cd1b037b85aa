package render

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// drawn is a random graph, laid out.
func drawn(rng *rand.Rand) ([]box, []arc, int, int) {
	boxes := make([]box, 1+rng.IntN(MaxDrawn))
	for i := range boxes {
		boxes[i] = box{w: 30 + rng.IntN(200), h: 30 + rng.IntN(60)}
	}
	arcs := make([]arc, rng.IntN(2*len(boxes)))
	for i := range arcs {
		arcs[i] = arc{from: rng.IntN(len(boxes)), to: rng.IntN(len(boxes))}
	}
	w, h := layout(boxes, arcs)
	return boxes, arcs, w, h
}

// TestLayout: boxes are in the picture and do not overlap, lines go from the side of one box
// to the side of another, and the same graph is laid out in the same way.
func TestLayout(t *testing.T) {
	for seed := range uint64(2000) {
		boxes, arcs, w, h := drawn(rand.New(rand.NewPCG(seed, 1)))
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d: %s", seed, fmt.Sprintf(format, args...))
		}
		for i, b := range boxes {
			if b.at.x-b.w/2 < 0 || b.at.y-b.h/2 < 0 || b.at.x+b.w/2 > w || b.at.y+b.h/2 > h {
				fail("box %d %+v is outside of %dx%d", i, b, w, h)
			}
			for j, c := range boxes[:i] {
				if abs(b.at.x-c.at.x) < (b.w+c.w)/2 && abs(b.at.y-c.at.y) < (b.h+c.h)/2 {
					fail("boxes %d %+v and %d %+v overlap", i, b, j, c)
				}
			}
		}
		for i, a := range arcs {
			if a.from == a.to {
				if len(a.way) != 0 {
					fail("loop %d has a way", i)
				}
				continue
			}
			if len(a.way) < 2 || !onSide(a.way[0], boxes[a.from]) || !onSide(a.way[len(a.way)-1], boxes[a.to]) {
				fail("line %d %+v does not join %+v and %+v", i, a, boxes[a.from], boxes[a.to])
			}
		}
		again, lines, _, _ := drawn(rand.New(rand.NewPCG(seed, 1)))
		if !slices.Equal(boxes, again) || !reflect.DeepEqual(arcs, lines) {
			fail("two layouts differ")
		}
	}
}

func onSide(p point, b box) bool {
	return abs(p.x-b.at.x) == b.w/2 && abs(p.y-b.at.y) <= b.h/2
}

func abs(n int) int { return max(n, -n) }

// TestLayoutFollowsLines: without cycles, lines lead from left to right, and a tree has no
// crossings.
func TestLayoutFollowsLines(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		boxes := make([]box, 2+rng.IntN(40))
		var arcs []arc
		for i := range boxes {
			boxes[i] = box{w: 60, h: 40}
			if i > 0 {
				arcs = append(arcs, arc{from: rng.IntN(i), to: i})
			}
		}
		layout(boxes, arcs)
		for i, a := range arcs {
			if boxes[a.from].at.x >= boxes[a.to].at.x {
				t.Fatalf("seed %d: line %d leads to the left", seed, i)
			}
			for j, b := range arcs[:i] {
				if cross(a, b, boxes) {
					t.Fatalf("seed %d: lines %d and %d cross in a tree", seed, i, j)
				}
			}
		}
	}
}

// cross tells whether two lines between the same layers cross.
func cross(a, b arc, boxes []box) bool {
	if boxes[a.from].at.x != boxes[b.from].at.x || a.from == b.from {
		return false
	}
	return (boxes[a.from].at.y < boxes[b.from].at.y) != (boxes[a.to].at.y < boxes[b.to].at.y)
}
