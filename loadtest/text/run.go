package text

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	reader "github.com/aspis-rv/aspis/internal/text"
)

// Kind is a kind of text.
type Kind uint8

// The kinds of text, and the reading of values instead of cues.
const (
	Normalised Kind = iota // lower case, blanks
	ASCII
	Mixed   // half of it accents, Cyrillic, Han, emoji
	Hostile // every word disguised
	Values  // tokens
)

func (k Kind) String() string {
	return [...]string{"normalised", "ascii", "mixed", "hostile", "tokens"}[k]
}

// bar is the throughput to reach with up to a thousand cues, in MB/s; 0: none.
func (k Kind) bar() float64 { return [...]float64{150, 120, 25, 0, 0}[k] }

// ErrWrong is returned if a cue was missed or invented.
var ErrWrong = errors.New("wrong hits")

// Options are what to measure.
type Options struct {
	Cues  []int
	Bytes int // of the plain text
	Runs  int // readings of each text
	Seed  uint64
}

// Row is one measurement.
type Row struct {
	Text string  `json:"text"`
	Cues int     `json:"cues"`
	Size int     `json:"bytes"`
	Hits int     `json:"hits"`
	Rate float64 `json:"mb_per_s"`      // median of the runs
	Best float64 `json:"best_mb_per_s"` // the fastest run
	Bar  float64 `json:"bar,omitempty"`
}

// Run measures all kinds with all numbers of cues. It fails with ErrWrong.
func Run(o Options) ([]Row, error) {
	var rows []Row
	for _, n := range o.Cues {
		rng := rand.New(rand.NewPCG(o.Seed, uint64(n)))
		cues := cuesOf(rng, n)
		a, err := reader.Compile([]reader.List{{Cues: cues}})
		if err != nil {
			return nil, err
		}
		words := plainWords(rng, cues, o.Bytes)
		want := naive(cues, words)
		for kind := Normalised; kind <= Hostile; kind++ {
			text, want := dress(kind, words), want
			if kind == Hostile {
				want += tails(cues, words)
			}
			if got := hits(a, text); got != want {
				return nil, fmt.Errorf("%w: %s, %d cues, seed %d: %d, want %d", ErrWrong, kind, n, o.Seed, got, want)
			}
			s := &reader.Scanner{}
			row := measure(o.Runs, text, func() { a.Scan(s, text, func(reader.Hit) bool { return true }) })
			row.Text, row.Cues, row.Hits = kind.String(), n, want
			if n <= 1_000 {
				row.Bar = kind.bar()
			}
			rows = append(rows, row)
		}
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	text := dress(Values, plainWords(rng, cuesOf(rng, 1), o.Bytes))
	row := measure(o.Runs, text, func() { reader.Tokens(text, 10_000) })
	row.Text = Values.String()
	return append(rows, row), nil
}

// hits counts the distinct hits: a disguised cue may be visited twice.
func hits(a *reader.Automaton, text string) int {
	seen := map[[2]int]bool{}
	a.Scan(&reader.Scanner{}, text, func(h reader.Hit) bool {
		seen[[2]int{h.Cue, h.Start}] = true
		return true
	})
	return len(seen)
}

// measure reads a text some times, after a first time that does not count.
func measure(runs int, text string, read func()) Row {
	read()
	rates := make([]float64, max(runs, 1))
	for i := range rates {
		begin := time.Now()
		read()
		rates[i] = float64(len(text)) / 1e6 / max(time.Since(begin).Seconds(), 1e-9)
	}
	slices.Sort(rates)
	return Row{Size: len(text), Rate: rates[len(rates)/2], Best: rates[len(rates)-1]}
}

// WriteText writes rows for people.
func WriteText(w io.Writer, rows []Row) error {
	_, err := fmt.Fprintf(w, "%-12s %7s %10s %8s %8s %8s  %s\n", "text", "cues", "bytes", "hits", "MB/s", "best", "bar")
	for i := range rows {
		if err != nil {
			return err
		}
		r, bar := &rows[i], "-"
		switch {
		case r.Bar > 0 && r.Rate >= r.Bar:
			bar = fmt.Sprintf("%.0f: met", r.Bar)
		case r.Bar > 0:
			bar = fmt.Sprintf("%.0f: missed", r.Bar)
		}
		_, err = fmt.Fprintf(w, "%-12s %7d %10d %8d %8.1f %8.1f  %s\n", r.Text, r.Cues, r.Size, r.Hits, r.Rate, r.Best, bar)
	}
	return err
}
