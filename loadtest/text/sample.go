// Package text measures how fast texts are read for cues and values.
package text

import (
	"math/rand/v2"
	"strings"

	reader "github.com/aspis-rv/aspis/internal/text"
)

// cuesOf draws n distinct cues of one or two words.
func cuesOf(rng *rand.Rand, n int) []reader.Cue {
	known := map[string]bool{}
	var out []reader.Cue
	for len(out) < n {
		cue := wordOf(rng)
		if len(out)%3 == 0 {
			cue += " " + wordOf(rng)
		}
		if !known[cue] {
			known[cue] = true
			out = append(out, reader.Cue{Text: cue})
		}
	}
	return out
}

func wordOf(rng *rand.Rand) string {
	b := make([]byte, 4+rng.IntN(6))
	for i := range b {
		b[i] = byte('a' + rng.IntN(26))
	}
	return string(b)
}

// plainWords draws a text of about size bytes, a cue among some thirty words.
func plainWords(rng *rand.Rand, cues []reader.Cue, size int) []string {
	var out []string
	for n := 0; n < size; {
		word := wordOf(rng)
		if rng.IntN(30) == 0 {
			word = cues[rng.IntN(len(cues))].Text
		}
		n += len(word) + 1
		out = append(out, strings.Fields(word)...)
	}
	return out
}

// naive counts the cues in a row of words, word by word.
func naive(cues []reader.Cue, words []string) int {
	known := map[string]bool{}
	for _, c := range cues {
		known[c.Text] = true
	}
	hits := 0
	for i, w := range words {
		if known[w] {
			hits++
		}
		if i > 0 && known[words[i-1]+" "+w] {
			hits++
		}
	}
	return hits
}

// tails counts the words that are cues without their first letter. In a hostile text, a character without width stands
// there, which is read as the end of a word too.
func tails(cues []reader.Cue, words []string) int {
	known := map[string]bool{}
	for _, c := range cues {
		known[c.Text] = true
	}
	hits := 0
	for _, w := range words {
		if known[w[1:]] {
			hits++
		}
	}
	return hits
}

// dress writes words as a text of a kind. All kinds have the same cues.
func dress(kind Kind, words []string) string {
	foreign := []string{"Übergabe", "déjà", "срочная доставка", "患者の記録", "🚑🚁", "naïveté", "l'hôpital", "груза"}
	var b strings.Builder
	for i, w := range words {
		switch kind {
		case Normalised, Values:
			b.WriteString(w + " ")
		case ASCII:
			b.WriteString(strings.ToUpper(w[:1]) + w[1:] + []string{" ", "-", "\n", " (", "_"}[i%5])
		case Mixed:
			b.WriteString(strings.Replace(w, "e", "é", 1))
			b.WriteString(" ")
			if i%8 == 0 {
				b.WriteString("\u200b")
			}
		case Hostile:
			b.WriteString(w[:1] + "\u200b" + strings.NewReplacer("a", "а", "e", "е", "o", "о", "i", "i\u0301\u0302\u0303").Replace(w[1:]) + "\u202e \u2066")
		}
	}
	if kind == Mixed {
		text := b.String()
		b.Grow(len(text))
		for b.Len() < 2*len(text) {
			b.WriteString(strings.Join(foreign, " ") + " ")
		}
	}
	return b.String()
}
