package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// trouble is the kind of weather and mishap that a run meets.
type trouble uint8

const (
	none    trouble = iota
	twice           // records are written and read twice: no decision may change
	slow            // records are late
	failing         // appends fail or lose their acknowledgement
	mortal          // roles die and come back
	sleepy          // roles are paused
	skewed          // gates' clocks jump
	everything
)

func (k trouble) String() string {
	return [...]string{"none", "twice", "slow", "failing", "mortal", "sleepy", "skewed", "everything"}[k]
}

// rulesFor draws the fault rules of a run.
func rulesFor(r *rand.Rand, k trouble) []string {
	p := func(most float64) string { return fmt.Sprintf(" p=%.2f", 0.02+r.Float64()*most) }
	d := func(most int) string { return (time.Duration(1+r.IntN(most)) * time.Millisecond).String() }
	all := k == everything
	var out []string
	if k == twice || all {
		out = append(out, "double"+p(0.4), "repeat"+p(0.4))
	}
	if k == slow || all {
		out = append(
			out, "delay="+d(60)+p(0.6), "delay="+d(400)+p(0.1), "delay="+d(3000)+" of=resolution"+p(0.04),
			"lag="+d(60)+p(0.3), "lag="+d(2500)+" from="+pick(r, "gate", "aspect", "composer")+p(0.02),
			"delay="+d(2500)+" of=tick"+p(0.05),
		)
	}
	if k == failing || all {
		out = append(
			out, "fail"+p(0.1), "lose-ack"+p(0.1), "fail of="+pick(r, "call", "resolution", "verdict", "snapshot", "tick", "expired", "withdrawn")+p(0.5),
			"lose-ack of="+pick(r, "call", "result", "resolution", "grant", "tick", "session")+p(0.5), "full"+p(0.05),
		)
	}
	return out
}

// disturb breaks and mends roles until stop is closed.
func (w *world) disturb(r *rand.Rand, k trouble, stop <-chan struct{}) {
	if k != mortal && k != sleepy && k != skewed && k != everything {
		return
	}
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(50+r.IntN(2500)) * time.Millisecond):
		}
		role := w.order[r.IntN(len(w.order))]
		down := time.Duration(r.IntN(2500)) * time.Millisecond
		if r.IntN(6) == 0 {
			down *= 4
		}
		do := k
		if k == everything {
			do = pick(r, mortal, sleepy, skewed)
		}
		switch {
		case do == mortal:
			if r.IntN(3) == 0 {
				w.stop(role)
			} else {
				w.crash(role)
			}
			time.Sleep(down)
			w.start(role)
		case do == sleepy:
			in := w.get(role)
			in.link.pause()
			time.Sleep(down)
			in.link.resume()
		case do == skewed && strings.HasPrefix(role, "gate"):
			w.get(role).link.setSkew(time.Duration(r.IntN(6000)-3000) * time.Millisecond)
			time.Sleep(down)
			if r.IntN(2) == 0 {
				w.get(role).link.setSkew(0)
			}
		}
	}
}
