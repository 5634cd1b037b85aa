package mfotl

import "github.com/aspis-rv/aspis/pkg/verdict"

// heldEntries reads the entries of a slot of a HISTORICALLY.
func (d *decoder) heldEntries(spec *storeSpec, clock moment) []uint64 {
	n := d.count(1)
	if n == 0 {
		d.fail("a tuple without entries")
	}
	var ents []uint64
	for i := range n {
		before := ents[max(0, len(ents)-spec.stride()):]
		if ents = d.heldEntry(spec, clock, ents, i == n-1); d.err != nil {
			return nil
		}
		if at := len(ents) - spec.stride(); len(before) > 0 && !spec.follows(before, ents[at:]) {
			d.fail("segments out of order")
			return nil
		}
	}
	return ents
}

// follows reports whether entry b may stand behind segment a.
func (p *storeSpec) follows(a, b []uint64) bool {
	if entryMark(b, 0) == verdict.F {
		return true
	}
	return lastOf(a, 0) <= firstOf(b, 0) && (p.bounded || entryMark(b, 0) < entryMark(a, 0))
}

func (d *decoder) heldEntry(spec *storeSpec, clock moment, ents []uint64, newest bool) []uint64 {
	m := verdict.Value(d.byte())
	switch m {
	case verdict.F:
		if !newest {
			d.fail("a run that is not the newest entry")
		}
		ents = append(ents, clock.index, uint64(m), 0)
	case verdict.T, verdict.Tp, verdict.Fp:
		if newest && (m != verdict.T || spec.lo == 0) || !newest && m == verdict.T && !spec.bounded {
			d.fail("a segment of mark %v is out of place", m)
		}
		from := d.varint()
		to := from
		if !newest {
			to = d.varint()
		}
		if from > to || to > clock.ts {
			d.fail("a segment from %d to %d at time %d", from, to, clock.ts)
		}
		ents = append(ents, uint64(to), uint64(m), uint64(from))
	default:
		d.fail("%d is not a mark", m)
	}
	if m == verdict.Tp || m == verdict.Fp {
		for range spec.wit {
			ents = append(ents, 0)
		}
		return ents
	}
	return d.witness(append(ents, d.uvarint()), spec.wit-1)
}

// gaps reads the gaps of a HISTORICALLY whose interval has a lower bound.
func (d *decoder) gaps(spec *storeSpec) []gap {
	clock, ok := d.st.clock(spec.delay)
	var gaps []gap
	for i := range d.count(2) {
		g := gap{}
		switch d.byte() {
		case 0:
			g.before = d.varint()
		case 1:
			g.first = true
		default:
			d.fail("bad flag")
		}
		g.after = d.varint()
		switch {
		case !ok || g.after > clock.ts || (g.first && i > 0):
			d.fail("a gap out of place")
		case !g.first && (!spec.bounded || g.before >= g.after || age(g.after, g.before) <= spec.hi-spec.lo):
			d.fail("a gap from %d to %d", g.before, g.after)
		case i > 0 && g.before < gaps[i-1].after:
			d.fail("gaps out of order")
		}
		if d.err != nil {
			return nil
		}
		gaps = append(gaps, g)
	}
	return gaps
}
