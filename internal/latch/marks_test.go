package latch

import "testing"

// TestMarksWakeThoseReached: whoever waits is woken once the number is reached, and not
// before.
func TestMarksWakeThoseReached(t *testing.T) {
	var m Marks
	waits := map[uint64]<-chan struct{}{3: m.Wait(3), 5: m.Wait(5), 9: m.Wait(9)}
	for _, at := range []uint64{2, 3, 7, 7, 9} {
		m.Reach(at)
		for next, reached := range waits {
			select {
			case <-reached:
				if next > at {
					t.Errorf("at %d: woken although it waits for %d", at, next)
				}
			default:
				if next <= at {
					t.Errorf("at %d: not woken although it waits for %d", at, next)
				}
			}
		}
	}
	if len(m.waiting) != 0 {
		t.Errorf("%d waiters are left", len(m.waiting))
	}
}
