package text

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// benchCues are n distinct phrases of one or two words, one in eight of them a stem.
func benchCues(n int) List {
	rng := rand.New(rand.NewPCG(*seed, 3))
	list := List{Name: "bench"}
	for i := range n {
		cue := fmt.Sprintf("%s%c", benchWord(rng), 'a'+i%26)
		if i%3 == 0 {
			cue += " " + benchWord(rng)
		}
		list.Cues = append(list.Cues, Cue{Text: cue, Stem: i%8 == 0})
	}
	return list
}

func benchWord(rng *rand.Rand) string {
	b := make([]byte, 4+rng.IntN(6))
	for i := range b {
		b[i] = byte('a' + rng.IntN(26))
	}
	return string(b)
}

// benchText repeats a text that is like the results of tools.
func benchText(part string, size int) string {
	return strings.Repeat(part, size/len(part)+1)[:size]
}

const (
	plainPart = "The convoy leaves the depot at 06:30 with eleven vehicles; its manifest lists fuel, rations and spare parts. "
	mixedPart = "Der Arzt prüft die Übergabe: déjà vu à l'hôpital, срочная доставка груза, 患者の記録を確認する, 🚑🚁 done, zero\u200bwidth and naïve café. "
)

func BenchmarkScan(b *testing.B) {
	for _, n := range []int{10, 100, 1_000, 10_000} {
		a, err := Compile([]List{benchCues(n)})
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range []struct{ name, part string }{{"ascii", plainPart}, {"mixed", mixedPart}} {
			b.Run(fmt.Sprintf("%s/cues=%d", c.name, n), func(b *testing.B) {
				text := benchText(c.part, 1<<20)
				s := &Scanner{}
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					a.Scan(s, text, func(Hit) bool { return true })
				}
			})
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	text := benchText(plainPart, 64<<10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Tokens(text, 1<<20)
	}
}

// TestScanAllocates: a scan allocates nothing, whatever the text is.
func TestScanAllocates(t *testing.T) {
	a, err := Compile([]List{benchCues(100), {Cues: []Cue{{Text: "convoy"}, {Text: "患者"}, {Text: "width"}}}})
	if err != nil {
		t.Fatal(err)
	}
	s, n := &Scanner{}, 0
	visit := func(Hit) bool { n++; return true }
	for _, text := range []string{plainPart, mixedPart, "c o n v o y, theConvoy", "\xff\xfe"} {
		if got := testing.AllocsPerRun(100, func() { a.Scan(s, text, visit) }); got != 0 {
			t.Errorf("%q: %v allocations", text, got)
		}
	}
	if n == 0 {
		t.Error("nothing was found")
	}
}

// TestHostile: texts made to be expensive are read to their end, and the cue behind them is found where it stands.
func TestHostile(t *testing.T) {
	cues := benchCues(100)
	cues.Cues = append(cues.Cues, Cue{Text: "patient record"}, Cue{Text: "a a"}, Cue{Text: "a a a a"})
	a, err := Compile([]List{cues})
	if err != nil {
		t.Fatal(err)
	}
	const size, sizeOfTokens = 4 << 20, 64 << 10
	for _, part := range []string{"\u200b", "\u0301", "\u202e", "е", "\xff", "ﷺ", "z y ", "aB", " ", "a", "x\u0301\u0302", "\U000e0070", "患"} {
		gap := strings.Repeat(part, size/len(part))
		text := gap + " Patient rec\u200bord"
		var last Hit
		a.Scan(&Scanner{}, text, func(h Hit) bool {
			if h.Cue == 100 {
				last = h
			}
			return true
		})
		if want := len(gap) + 1; last.Start != want || last.End != len(text) {
			t.Errorf("after many %+q: hit at %d–%d, want %d–%d", part, last.Start, last.End, want, len(text))
		}
		if _, all := Tokens(text[len(text)-sizeOfTokens:], 1<<20); !all {
			t.Errorf("many %+q: not all tokens", part)
		}
		if _, all := Phrases(text[len(text)-sizeOfTokens:], 3, 1<<20); !all {
			t.Errorf("many %+q: not all phrases", part)
		}
	}
	between := "patient" + strings.Repeat("\u0301 ", size/3) + "record"
	n := 0
	a.Scan(&Scanner{}, between, func(Hit) bool { n++; return true })
	if n != 1 {
		t.Errorf("a phrase with %d bytes inside was found %d times", len(between), n)
	}
}
