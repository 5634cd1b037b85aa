package policy

import (
	"sync"
	"unicode/utf8"

	"github.com/aspis-rv/aspis/internal/text"
)

// cues are the cue lists of a bundle. They are safe for concurrent use.
type cues struct {
	lists     []text.List
	automaton *text.Automaton // nil without lists
	sights    sync.Pool       // of *sight
}

// take returns an empty sight, and give takes it back.
func (c *cues) take() *sight {
	if s, ok := c.sights.Get().(*sight); ok {
		return s
	}
	return &sight{}
}

func (c *cues) give(s *sight) {
	clear(s.looked) // keep no texts
	s.looked, s.index, s.readings = s.looked[:0], nil, s.readings[:0]
	c.sights.Put(s)
}

// scan looks for the lists wanted in a text, if that was not done yet.
func (t *looked) scan(c *cues, s *text.Scanner, wanted uint64) {
	if t.scanned {
		return
	}
	t.scanned = true
	c.automaton.Scan(s, t.text, func(h text.Hit) bool {
		t.lists |= 1 << h.List
		return t.lists&wanted != wanted
	})
}

// cued says whether a cue of the rule is in one of the texts it looks at.
func (r *typer) cued(u *rule) bool {
	if u.cues == 0 {
		return false
	}
	for _, at := range r.sight.readings {
		t := &r.sight.looked[at.text]
		t.scan(r.b.typing.cues, &r.sight.scanner, r.wanted)
		if t.lists&u.cues != 0 {
			return true
		}
	}
	return false
}

// becauseOfCues adds the cues of the rule that are in its texts. It reports whether there are any.
func (r *typer) becauseOfCues(u *rule, why Evidence) bool {
	if u.cues == 0 {
		return false
	}
	why.Source = FromCue
	hits := 0
	for _, at := range r.sight.readings {
		t := &r.sight.looked[at.text]
		why.Param, why.Item = u.params[at.param], at.item
		r.b.typing.cues.automaton.Scan(&r.sight.scanner, t.text, func(h text.Hit) bool {
			if u.cues&(1<<h.List) == 0 {
				return true
			}
			list := &r.b.typing.cues.lists[h.List]
			why.List, why.Cue = list.Name, list.Cues[h.Cue].Text
			why.Start, why.End, why.Excerpt = h.Start, h.End, excerpt(t.text, h.Start, h.End)
			r.give(why)
			hits++
			return hits < maxHits
		})
		if hits == maxHits {
			break
		}
	}
	return hits > 0
}

// excerpt is what stands at a place in a text, with as much on both sides as there is room for.
func excerpt(s string, start, end int) string {
	end = min(end, start+MaxExcerpt)
	room := MaxExcerpt - (end - start)
	from := max(0, start-room/2)
	to := min(len(s), from+MaxExcerpt)
	for from < to && !utf8.RuneStart(s[from]) {
		from++
	}
	for to < len(s) && to > from && !utf8.RuneStart(s[to]) {
		to--
	}
	return s[from:to]
}
