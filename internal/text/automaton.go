package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// MaxTable bounds the transitions of an automaton, four bytes each: some 100,000 cues.
const MaxTable = 1 << 24

// ErrTooLarge is returned for lists whose automaton would have more than MaxTable transitions.
var ErrTooLarge = errors.New("text: the cue lists are too large for one automaton; shorten them")

// Automaton finds all cues of some lists in one pass over a text. It is the automaton of Aho and
// Corasick (CACM 18(6), 1975) with all transitions written out, over the characters that occur in
// cues. Each cue is a string that begins with a word break, and ends with one unless it is a stem;
// word breaks in a row are one. It is immutable and safe for concurrent use.
type Automaton struct {
	class [256]uint8 // of a byte of a matching form: its column
	ascii [128]uint8 // of an ASCII character as it stands in a text
	width uint32
	// next holds, at state + class, the state that follows. States are multiples of width.
	next      []uint32
	start     uint32
	accepting uint32     // from here on states are ends of cues
	ends      [][]ending // of the states from accepting on
}

// ending is a cue that ends in a state.
type ending struct {
	list, cue int
	letters   int // bytes of its matching form without word breaks
}

// breaks is the class of whatever ends a word.
const breaks = 0

// Compile builds the automaton of some lists. Time and memory are linear in the letters of all
// cues times the number of different ones. A cue without a letter or digit is never found. It
// fails with ErrTooLarge.
func Compile(lists []List) (*Automaton, error) {
	b := builder{a: &Automaton{}}
	patterns := patternsOf(lists)
	b.classes(patterns)
	b.node(0, 0)
	for _, p := range patterns {
		if err := b.add(p); err != nil {
			return nil, err
		}
	}
	b.link()
	b.renumber()
	return b.a, nil
}

// pattern is one way in which a cue may stand in a text.
type pattern struct {
	text string // with a blank for a word break
	ending
}

func patternsOf(lists []List) []pattern {
	var out []pattern
	for l := range lists {
		for c := range lists[l].Cues {
			cue := &lists[l].Cues[c]
			for _, words := range formsOf(cue.Text) {
				p := pattern{text: " " + words, ending: ending{list: l, cue: c, letters: len(words) - strings.Count(words, " ")}}
				if !cue.Stem {
					p.text += " "
				}
				out = append(out, p)
			}
		}
	}
	return out
}

// formsOf lists the matching forms of a cue in each case: what a letter looks like may depend on
// it (В looks like B, and в like nothing).
func formsOf(cue string) []string {
	title := strings.Map(func() func(r rune) rune {
		begins := true
		return func(r rune) rune {
			first := begins
			begins = !unicode.IsLetter(r)
			if first {
				return unicode.ToTitle(r)
			}
			return unicode.ToLower(r)
		}
	}(), cue)
	var out []string
	for _, s := range []string{cue, strings.ToLower(cue), strings.ToUpper(cue), title} {
		if f := form(s); f != "" && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// builder builds an automaton. Its states are numbers of nodes until they are renumbered.
type builder struct {
	a     *Automaton
	last  []uint8 // by node: the class that leads to it
	depth []uint32
	fail  []uint32
	ends  [][]ending
}

// classes gives each byte that occurs in a cue a class of its own, and the others one together.
func (b *builder) classes(patterns []pattern) {
	var used [256]bool
	for _, p := range patterns {
		for i := range len(p.text) {
			used[p.text[i]] = true
		}
	}
	const others = breaks + 1
	class := uint8(others)
	for c := range used {
		switch {
		case c == ' ':
			b.a.class[c] = breaks
		case used[c]:
			class++
			b.a.class[c] = class
		default:
			b.a.class[c] = others
		}
	}
	b.a.width = uint32(class) + 1
	for c := range b.a.ascii {
		if trait(byte(c)) != 0 {
			b.a.ascii[c] = b.a.class[lowered(byte(c))]
		}
	}
}

// node adds a node that a class leads to.
func (b *builder) node(class uint8, depth uint32) uint32 {
	n := uint32(len(b.last))
	b.last, b.depth, b.fail, b.ends = append(b.last, class), append(b.depth, depth), append(b.fail, 0), append(b.ends, nil)
	b.a.next = append(b.a.next, make([]uint32, b.a.width)...)
	return n
}

func (b *builder) add(p pattern) error {
	at := uint32(0)
	for i := range len(p.text) {
		class := b.a.class[p.text[i]]
		to := b.a.next[at*b.a.width+uint32(class)]
		if to == 0 {
			if len(b.a.next)+int(b.a.width) > MaxTable {
				return fmt.Errorf("%w: at list %d, cue %d", ErrTooLarge, p.list+1, p.cue+1)
			}
			to = b.node(class, b.depth[at]+1)
			b.a.next[at*b.a.width+uint32(class)] = to
		}
		at = to
	}
	if !slices.ContainsFunc(b.ends[at], func(e ending) bool { return e.list == p.list && e.cue == p.cue }) {
		b.ends[at] = append(b.ends[at], p.ending)
	}
	return nil
}

// link writes all transitions out, by depth.
func (b *builder) link() {
	w := b.a.width
	queue := make([]uint32, 1, len(b.last))
	for i := 0; i < len(queue); i++ {
		n := queue[i]
		row, fallback := b.a.next[n*w:(n+1)*w], b.a.next[b.fail[n]*w:(b.fail[n]+1)*w]
		for c := range row {
			child := row[c]
			switch {
			case child != 0:
				if n != 0 {
					b.fail[child] = fallback[c]
				}
				b.ends[child] = append(b.ends[child], b.ends[b.fail[child]]...)
				queue = append(queue, child)
			case n != 0:
				row[c] = fallback[c]
			}
		}
		if n != 0 && b.last[n] == breaks {
			row[breaks] = n // word breaks in a row are one
		}
	}
}

// renumber puts the states in which cues end last, and multiplies states by the width.
func (b *builder) renumber() {
	w, order := b.a.width, make([]uint32, 0, len(b.last))
	for _, ending := range []bool{false, true} {
		if ending {
			b.a.accepting = uint32(len(order)) * w
		}
		for n := range b.last {
			if (len(b.ends[n]) > 0) == ending {
				order = append(order, uint32(n))
			}
		}
	}
	number := make([]uint32, len(order))
	for i, n := range order {
		number[n] = uint32(i) * w
	}
	next := make([]uint32, 0, len(b.a.next))
	for _, n := range order {
		for _, to := range b.a.next[n*w : (n+1)*w] {
			next = append(next, number[to])
		}
		if len(b.ends[n]) > 0 {
			b.a.ends = append(b.a.ends, b.ends[n])
		}
	}
	b.a.next = next
	b.a.start = next[number[0]+breaks] // a text begins with a word
}
