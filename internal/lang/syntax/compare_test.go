package syntax

import "testing"

// TestComparisons holds the operators against those of Go, mirrored ones too.
func TestComparisons(t *testing.T) {
	for a := range 3 {
		for b := range 3 {
			order := max(-1, min(1, a-b))
			for op, want := range map[CmpOp]bool{Eq: a == b, Less: a < b, LessEq: a <= b, Greater: a > b, GreaterEq: a >= b} {
				if op.Holds(order) != want || op.Mirrored().Holds(-order) != want || op.Mirrored().Mirrored() != op {
					t.Errorf("%d %v %d is not %v", a, op, b, want)
				}
			}
		}
	}
}
