package policy

import (
	"slices"
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
	s := &sight{}
	s.note = func(h text.Hit) bool {
		s.found |= 1 << h.List
		return s.found&s.wanted != s.wanted
	}
	return s
}

func (c *cues) give(s *sight) {
	clear(s.looked) // keep no texts
	s.looked, s.index, s.readings = s.looked[:0], nil, s.readings[:0]
	c.sights.Put(s)
}

// lists returns, as bits, the lists wanted of which a cue is in a text; perhaps others too.
func (s *sight) lists(c *cues, t *looked, wanted uint64) uint64 {
	if !t.scanned {
		s.found, s.wanted = 0, wanted
		c.automaton.Scan(&s.scanner, t.text, s.note)
		t.scanned, t.lists = true, s.found
	}
	return t.lists
}

// hits returns the first cues of some lists in a text.
func (s *sight) hits(c *cues, in string, lists uint64, most int) []text.Hit {
	var out []text.Hit
	c.automaton.Scan(&s.scanner, in, func(h text.Hit) bool {
		if lists&(1<<h.List) != 0 && !slices.Contains(out, h) {
			out = append(out, h)
		}
		return len(out) < most
	})
	return out
}

// cued says whether a cue of the rule is in one of the texts it looks at.
func (r *typer) cued(u *rule) bool {
	if u.cues == 0 {
		return false
	}
	for _, at := range r.sight.readings {
		if r.sight.lists(r.b.typing.cues, &r.sight.looked[at.text], r.wanted)&u.cues != 0 {
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
	c, left := r.b.typing.cues, maxHits
	for _, at := range r.sight.readings {
		in := r.sight.looked[at.text].text
		why.Param, why.Item = u.params[at.param], at.item
		for _, h := range r.sight.hits(c, in, u.cues, left) {
			list := &c.lists[h.List]
			why.List, why.Cue = list.Name, list.Cues[h.Cue].Text
			why.Start, why.End, why.Excerpt = h.Start, h.End, excerpt(in, h.Start, h.End)
			r.give(why)
			left--
		}
		if left == 0 {
			break
		}
	}
	return left < maxHits
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
