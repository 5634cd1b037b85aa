package text

import "unicode/utf8"

// parts reads the text with a word break at each character without width, and before each capital
// after a small letter.
func (c *scan) parts() {
	c.state, c.only = c.a.start, true
	var before uint8
	for i := 0; i < len(c.text) && !c.stopped; {
		b := c.text[i]
		if b >= utf8.RuneSelf {
			before = 0
			if r, size := utf8.DecodeRuneInString(c.text[i:]); look(r).kind() == hidden {
				c.step(breaks, i)
				i += size
				continue
			}
			size, _ := c.character(i)
			i += size
			continue
		}
		t := traits[b]
		if before&lower != 0 && t&upper != 0 {
			c.step(breaks, i)
		}
		before = t
		end := i
		if t != 0 {
			end++
		}
		c.step(c.a.ascii[b], end)
		i++
	}
	c.step(breaks, len(c.text))
	c.only = false
}

// broken tells whether there is a break inside a word between two places or at one of them.
func (c *scan) broken(start, end int) bool {
	at := start
	if at > 0 {
		_, size := utf8.DecodeLastRuneInString(c.text[:at])
		at -= size
	}
	var before uint8
	for at < len(c.text) && at <= end {
		b := c.text[at]
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(c.text[at:])
			if look(r).kind() == hidden {
				return true
			}
			before = 0
			at += size
			continue
		}
		t := traits[b]
		if before&lower != 0 && t&upper != 0 {
			return true
		}
		before = t
		at++
	}
	return false
}

// minSpelled is how many single letters in a row are read as a word.
const minSpelled = 4

// spelled reads the runs of single letters in the text as words: one sign between two letters is
// nothing, several are a word break.
func (c *scan) spelled() {
	r := letterReader{text: c.text}
	for !c.stopped {
		from, end, ok := r.run()
		if !ok {
			return
		}
		c.state = c.a.start
		c.spell(from, end)
		c.step(breaks, end)
	}
}

// spell reads one run.
func (c *scan) spell(from, end int) {
	gap := 0
	last := from // where the letter before ends
	for i := from; i < end && !c.stopped; {
		r, size := utf8.DecodeRuneInString(c.text[i:])
		switch classOf(r) {
		case letterSign:
			if gap > 1 {
				c.step(breaks, last)
			}
			gap = 0
			if r < utf8.RuneSelf {
				c.step(c.a.ascii[r], i+size)
			} else {
				c.character(i)
			}
			last = i + size
		case betweenSign:
			gap++
		case noSign:
		}
		i += size
	}
}

// sign is what a character is between single letters.
type sign uint8

const (
	noSign sign = iota
	betweenSign
	letterSign
)

func classOf(r rune) sign {
	if r < utf8.RuneSelf {
		if traits[r] != 0 {
			return letterSign
		}
		return betweenSign
	}
	switch look(r).kind() {
	case separates:
		return betweenSign
	case hidden, mark:
	case itself, alone, stands:
		return letterSign
	}
	return noSign
}

// letterReader finds runs of single letters.
type letterReader struct {
	text string
	at   int
}

// run finds the next run of at least minSpelled words of one letter. It reads each character once.
func (l *letterReader) run() (from, end int, ok bool) {
	count, length, wordAt := 0, 0, l.at
	flush := func(at int) bool { // a word ends at
		switch {
		case length == 1:
			if count == 0 {
				from = wordAt
			}
			count, end = count+1, at
		case length > 1:
			if count >= minSpelled {
				return true
			}
			count = 0
		}
		length = 0
		return false
	}
	for l.at < len(l.text) {
		r, size := utf8.DecodeRuneInString(l.text[l.at:])
		switch classOf(r) {
		case letterSign:
			if length == 0 {
				wordAt = l.at
			}
			length++
		case betweenSign:
			if flush(l.at) {
				return from, end, true
			}
		case noSign:
		}
		l.at += size
	}
	if flush(l.at) || count >= minSpelled {
		return from, end, true
	}
	return 0, 0, false
}
