package text

import (
	"strings"
	"unicode/utf8"
)

// Hit is a cue found in a text.
type Hit struct {
	List, Cue  int // by number, as the lists were given
	Start, End int // in the text as it was given, in bytes
}

// Scanner is the scratch memory of one goroutine that scans texts. The zero value is ready.
type Scanner struct {
	scan scan
}

// Scan calls visit for every cue in a text, until visit says no, in the order in which they end.
//
// A text with characters without width or with capitals inside words is read a second time, with a
// word break at each of them: pa·tient (with a joiner) is patient, and so is the one in
// PatientRecord. Runs of four single letters or more are read once more as words: p a t i e n t. A
// cue may then be visited twice. Time is linear in the text and in the length of what is visited;
// nothing is allocated.
func (a *Automaton) Scan(s *Scanner, text string, visit func(Hit) bool) {
	if len(a.ends) == 0 {
		return
	}
	c := &s.scan
	*c = scan{a: a, text: text, visit: visit}
	c.words()
	if c.inner && !c.stopped {
		c.parts()
	}
	if c.letters && !c.stopped {
		c.spelled()
	}
	*c = scan{}
}

// scan is one scan.
type scan struct {
	a       *Automaton
	text    string
	visit   func(Hit) bool
	state   uint32
	stopped bool
	inner   bool // there are breaks inside words
	letters bool // there is a run of single letters
	unread  int  // letters of the character at hand that come after what has been read
	only    bool // visit only what has a break inside a word at an end or inside
}

// alternates are four single letters with one sign between them, as the last eight of a history
// of letters (1) and signs (0).
const alternates, eight = 0b01010101, 0xff

// words reads the text as it stands.
func (c *scan) words() {
	a, text := c.a, c.text
	next, state := a.next, a.start
	var before uint8 // the trait of the letter before
	var history, inner uint32
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b >= utf8.RuneSelf {
			c.state = state
			size, sign := c.character(i)
			if c.stopped {
				return
			}
			switch sign {
			case noSign:
			case betweenSign:
				history <<= 1
			case letterSign:
				history = history<<1 | 1
			}
			state, before = c.state, 0
			c.letters = c.letters || history&eight == alternates
			i += size - 1
			continue
		}
		t := traits[b]
		inner |= uint32(before & lower & (t >> 1))
		before = t
		history <<= 1
		if t != 0 {
			history |= 1
			if history&eight == alternates {
				c.letters = true
			}
		}
		to := next[state+uint32(a.ascii[b])]
		if to >= a.accepting && to != state {
			end := i
			if t != 0 {
				end++
			}
			if c.visitAll(to, end); c.stopped {
				return
			}
		}
		state = to
	}
	c.inner = c.inner || inner != 0
	c.state = state
	c.step(breaks, len(text))
}

// traits holds trait of every ASCII character.
var traits = func() (t [utf8.RuneSelf]uint8) { //nolint:gochecknoglobals // read only
	for b := range t {
		t[b] = trait(byte(b))
	}
	return t
}()

// character reads the character at i, beyond ASCII. It returns its length and what it is.
func (c *scan) character(i int) (size int, is sign) {
	r, size := utf8.DecodeRuneInString(c.text[i:])
	end := i + size
	switch e := look(r); e.kind() {
	case separates:
		c.step(breaks, i)
		return size, betweenSign
	case hidden:
		c.inner = true
		return size, noSign
	case mark:
		return size, noSign
	case itself:
		c.word(c.text[i:end], end)
	case alone:
		c.step(breaks, i)
		c.word(c.text[i:end], end)
		c.step(breaks, end)
	case stands:
		c.standsFor(e.text(), i, end)
	}
	return size, letterSign
}

// standsFor reads the text that a character stands for.
func (c *scan) standsFor(s string, from, end int) {
	c.unread = count(s)
	for k := range len(s) {
		if s[k] != ' ' {
			c.unread--
		}
		if k == 0 && s[k] == ' ' {
			unread := c.unread
			c.unread = 0
			c.step(breaks, from)
			c.unread = unread
			continue
		}
		c.step(c.a.class[s[k]], end)
	}
}

// word reads the bytes of a letter that ends at end.
func (c *scan) word(letter string, end int) {
	for k := range len(letter) {
		c.step(c.a.class[letter[k]], end)
	}
}

// step reads one byte of the matching form. What has been read ends at end.
func (c *scan) step(class uint8, end int) {
	to := c.a.next[c.state+uint32(class)]
	from := c.state
	c.state = to
	if to >= c.a.accepting && to != from && !c.stopped {
		c.visitAll(to, end)
	}
}

// visitAll visits the cues that end in a state and, in the text, at end.
func (c *scan) visitAll(state uint32, end int) {
	for _, e := range c.a.ends[(state-c.a.accepting)/c.a.width] {
		start := c.begin(end, e.letters+c.unread)
		if c.only && !c.broken(start, end) {
			continue
		}
		if !c.visit(Hit{List: e.list, Cue: e.cue, Start: start, End: end}) {
			c.stopped = true
			return
		}
	}
}

// begin is where the letters begin that end before end.
func (c *scan) begin(end, letters int) int {
	for end > 0 && letters > 0 {
		r, size := utf8.DecodeLastRuneInString(c.text[:end])
		end -= size
		switch {
		case r < utf8.RuneSelf:
			if traits[r] != 0 {
				letters--
			}
		default:
			letters -= lettersOf(r, size)
		}
	}
	return end
}

// lettersOf counts the bytes of the matching form of a character beyond ASCII.
func lettersOf(r rune, size int) int {
	switch e := look(r); e.kind() {
	case separates, hidden, mark:
	case itself, alone:
		return size
	case stands:
		return count(e.text())
	}
	return 0
}

// count counts the bytes that are no blanks.
func count(s string) int { return len(s) - strings.Count(s, " ") }
