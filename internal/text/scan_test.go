package text

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/aspis-rv/aspis/internal/diag"
)

var seed = flag.Uint64("seed", 1, "seed of the random tests") //nolint:gochecknoglobals // flags of a test binary are global

// TestScan is a transcript: texts with the cues that are found in them.
func TestScan(t *testing.T) {
	cues, found := ParseList("cues.txt", []byte("# words\npatient | service number|svc no\n~casualt\nphi # a comment\n5.56\nврач | ΝΟΣΟΣ\n患者\n환자\nünit\n"))
	if len(found) > 0 {
		t.Fatal(found)
	}
	a, err := Compile([]List{{Name: "phi", Cues: cues}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"a patient.", `patient="patient"`},
		{"PATIENT", `patient="PATIENT"`},
		{"outpatients", ""},
		{"patients", ""},
		{"graphics of phi", `phi="phi"`},
		{"service number", `service number="service number"`},
		{"Service-Number: 7", `service number="Service-Number"`},
		{"service_number.txt", `service number="service_number"`},
		{"service\r\n\t number", "service number=\"service\\r\\n\\t number\""},
		{"servicenumber", ""},
		{"svc. no", `svc no="svc. no"`},
		{"casualty, Casualties", `casualt="casualt" casualt="Casualt"`},
		{"noncasualty", ""},
		{"5.56 mm, 5 56", `5.56="5.56" 5.56="5 56"`},
		{"15.56", ""},
		// hidden and disguised
		{"pa\u200btient", "patient=\"pa\u200btient\""},
		{"a patient\u200brecord", `patient="patient"`},
		{"pa\u202etient", `patient="pa\u202etient"`},
		{"ｐａｔｉｅｎｔ", `patient="ｐａｔｉｅｎｔ"`},
		{"𝐩𝐚𝐭𝐢𝐞𝐧𝐭", `patient="𝐩𝐚𝐭𝐢𝐞𝐧𝐭"`},
		{"раtіеnт", `patient="раtіеnт"`},
		{"PАTІENT", `patient="PАTІENT"`},
		{"pátïent", `patient="pátïent"`},
		{"p\u0301\u0302\u0303atient", `patient="p\u0301\u0302\u0303atient"`},
		{"\U000e0070\U000e0061\U000e0074\U000e0069\U000e0065\U000e006e\U000e0074", `patient="` + strings.Trim(fmt.Sprintf("%+q", "\U000e0070\U000e0061\U000e0074\U000e0069\U000e0065\U000e006e\U000e0074"), `"`) + `"`},
		{"ᴘᴀᴛɪᴇɴᴛ pǝtient pɐtiǝnt", `patient="ᴘᴀᴛɪᴇɴᴛ" patient="pɐtiǝnt"`},
		{"🅟🅐🅣🅘🅔🅝🅣", `patient="🅟🅐🅣🅘🅔🅝🅣"`},
		{"PatientRecord", `patient="Patient"`},
		{"thePatient", `patient="Patient"`},
		{"p a t i e n t", `patient="p a t i e n t"`},
		{"a P-A-T-I-E-N-T.", ""}, // the run begins with the article
		{"say: s.e.r.v.i.c.e  n.u.m.b.e.r", `service number="s.e.r.v.i.c.e  n.u.m.b.e.r"`},
		{"p a t", ""},
		{"５．５６", `5.56="５．５６"`},
		{"٥.٥٦", `5.56="٥.٥٦"`},
		{"\xffpatient\xc3", `patient="patient"`},
		// other scripts
		{"Врач ВРАЧ врач", `врач="Врач" врач="ВРАЧ" врач="врач"`},
		{"νοσος", `ΝΟΣΟΣ="νοσος"`},
		{"今患者様", `患者="患者"`},
		{"환자는", `환자="환자"`},
		{"unit Unit ÜNIT", `ünit="unit" ünit="Unit" ünit="ÜNIT"`},
	} {
		var got []string
		a.Scan(&Scanner{}, c.text, func(h Hit) bool {
			got = append(got, fmt.Sprintf("%s=%q", cues[h.Cue].Text, c.text[h.Start:h.End]))
			return true
		})
		if s := strings.Join(got, " "); unquote(s) != unquote(c.want) {
			t.Errorf("%q: %s, want %s", c.text, s, c.want)
		}
	}
}

// unquote writes escapes out, so that the table above may have them or not.
func unquote(s string) string {
	out := fmt.Sprintf("%+q", s)
	return strings.ReplaceAll(out, `\\`, `\`)
}

// naive finds cues by their definition: it makes a list of the words of a text and looks for each cue at each
// of them.
type naive struct {
	f     *former
	lists []List
}

type naiveWord struct {
	text       string
	start, end int
}

// mode is one of the readings of a text.
type mode int

const (
	written mode = iota
	inParts
	spelledOut
)

func (n naive) words(text string, m mode) []naiveWord {
	var out []naiveWord
	open := false
	put := func(s string, start, end int) {
		for _, r := range s {
			if r == ' ' {
				open = false
				continue
			}
			if !open {
				out = append(out, naiveWord{start: start})
			}
			open = true
			w := &out[len(out)-1]
			w.text, w.end = w.text+string(r), end
		}
	}
	before := ' '
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		if r < utf8.RuneSelf {
			if m == inParts && before >= 'a' && before <= 'z' && r >= 'A' && r <= 'Z' {
				open = false
			}
			if trait(byte(r)) == 0 {
				open = false
			} else {
				put(strings.ToLower(string(r)), i, i+size)
			}
			before = r
			continue
		}
		before = ' '
		switch k, s := n.f.form(r); k {
		case separates:
			open = false
		case hidden:
			if m == inParts {
				open = false
			}
		case mark:
		case itself:
			put(string(r), i, i+size)
		case alone:
			put(" "+string(r)+" ", i, i+size)
		case stands:
			put(s, i, i+size)
		}
	}
	return out
}

// find lists the distinct hits of the readings of a text, without the one of single letters.
func (n naive) find(text string) []string {
	var out []string
	for _, m := range []mode{written, inParts} {
		words := n.words(text, m)
		for l, list := range n.lists {
			for c, cue := range list.Cues {
				for _, variant := range []string{cue.Text, strings.ToLower(cue.Text), strings.ToUpper(cue.Text)} {
					want := n.words(variant, written)
					for i := range words {
						if len(want) == 0 || i+len(want) > len(words) || !begins(words[i:], want, cue.Stem) {
							continue
						}
						out = append(out, fmt.Sprint(l, c, words[i].start))
					}
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func begins(words, want []naiveWord, stem bool) bool {
	for i := range want {
		if stem && i == len(want)-1 {
			return strings.HasPrefix(words[i].text, want[i].text)
		}
		if words[i].text != want[i].text {
			return false
		}
	}
	return true
}

// TestAgainstNaive compares the automaton with the definition on random lists and texts over an alphabet in which
// everything that is special occurs often.
func TestAgainstNaive(t *testing.T) {
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 0))
	f := newFormer()
	hits, found := 0, 0
	for range 12_000 {
		lists := randomLists(rng)
		a, err := Compile(lists)
		if err != nil {
			t.Fatal(err)
		}
		text := randomText(rng, 1+rng.IntN(40))
		if rng.IntN(2) == 0 { // with a cue in it
			l := lists[rng.IntN(len(lists))]
			text += "." + l.Cues[rng.IntN(len(l.Cues))].Text + randomText(rng, rng.IntN(3))
		}
		want := naive{f, lists}.find(text)
		var got []string
		visit := func(h Hit) bool {
			if h.Start < 0 || h.End > len(text) || h.Start >= h.End {
				t.Fatalf("%q: hit at %d–%d", text, h.Start, h.End)
			}
			got = append(got, fmt.Sprint(h.List, h.Cue, h.Start))
			return true
		}
		a.Scan(&Scanner{}, text, visit)
		got = got[:0]
		c := scan{a: a, text: text, visit: visit} // without the reading of single letters
		if c.words(); c.inner {
			c.parts()
		}
		slices.Sort(got)
		got = slices.Compact(got)
		if !slices.Equal(got, want) {
			t.Fatalf("lists %+v\ntext %+q: hits (list, cue, start)\n%q, want\n%q", lists, text, got, want)
		}
		hits += len(got)
		if len(got) > 0 {
			found++
		}
	}
	t.Logf("%d hits in %d texts", hits, found)
	if found < 4000 {
		t.Errorf("only %d texts had a hit", found)
	}
}

func randomLists(rng *rand.Rand) []List {
	lists := make([]List, 1+rng.IntN(3))
	for l := range lists {
		for range 1 + rng.IntN(4) {
			var words []string
			for range 1 + rng.IntN(3) {
				words = append(words, randomText(rng, 1+rng.IntN(3)))
			}
			lists[l].Cues = append(lists[l].Cues, Cue{Text: strings.Join(words, " "), Stem: rng.IntN(4) == 0})
		}
	}
	return lists
}

func randomText(rng *rand.Rand, n int) string {
	letters := []string{
		"a", "b", "A", "B", "ab", "aB", "1", " ", " ", "-", "a b", "é", "e\u0301", "\u200b", "\u202e", "а", "В", "в", "ß", "ﬁ", "患", "환", "ㅎ",
		"½", "①", "\xff", "\u0e01\u0e34", "ǆ", "æ", "٣", "\U000e0061", "𝐚", "ﷺ", "İ", "ς",
	}
	var out strings.Builder
	for range n {
		out.WriteString(letters[rng.IntN(len(letters))])
	}
	return out.String()
}

// TestSpelled compares the reading of single letters with its definition: the letters joined.
func TestSpelled(t *testing.T) {
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 1))
	for range 5_000 {
		n := minSpelled + rng.IntN(5)
		word := make([]byte, n)
		for i := range word {
			word[i] = byte('a' + rng.IntN(3))
		}
		from := rng.IntN(n - 1)
		stem := from == 0 && rng.IntN(2) == 0
		cue := string(word)
		if stem {
			cue = cue[:1+rng.IntN(n)]
		}
		a, err := Compile([]List{{Cues: []Cue{{Text: cue, Stem: stem}}}})
		if err != nil {
			t.Fatal(err)
		}
		text := "xyz, " + strings.Join(strings.Split(string(word), ""), string(" .-_/"[rng.IntN(5)])) + " uvw"
		var got []Hit
		a.Scan(&Scanner{}, text, func(h Hit) bool { got = append(got, h); return true })
		if len(got) == 0 || got[len(got)-1].Start != 5 {
			t.Fatalf("%q in %q: %v", cue, text, got)
		}
	}
}

// TestScanStops: a visitor that says no is not asked again.
func TestScanStops(t *testing.T) {
	a, err := Compile([]List{{Cues: []Cue{{Text: "a"}, {Text: "患"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a a a", "患患", "x a\u200b a", "thisIs a a", "a a a a a"} {
		for stop := 1; stop < 3; stop++ {
			n := 0
			a.Scan(&Scanner{}, text, func(Hit) bool { n++; return n < stop })
			if n != stop {
				t.Errorf("%q: visited %d, want %d", text, n, stop)
			}
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	var cues []Cue
	for i := range 200_000 {
		cues = append(cues, Cue{Text: fmt.Sprintf("%x cue of many letters %d", i*7919, i)})
	}
	if _, err := Compile([]List{{Cues: cues}}); err == nil {
		t.Error("no error")
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"a patient", "pa\u200btient", "p a t i e n t", "PatientRecord \xff", "환자", "ﷺ"} {
		f.Add(s, "patient", false)
		f.Add(s, s, true)
	}
	forms := newFormer()
	f.Fuzz(func(t *testing.T, text, cue string, stem bool) {
		if len(text) > 2000 || len(cue) > 100 {
			return
		}
		lists := []List{{Cues: []Cue{{Text: cue, Stem: stem}, {Text: "patient"}}}}
		a, err := Compile(lists)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		a.Scan(&Scanner{}, text, func(h Hit) bool {
			got = append(got, fmt.Sprint(h.List, h.Cue, h.Start))
			return true
		})
		// What the definition finds is found; the automaton also reads runs of single letters, and
		// cues with each word in title case.
		for _, w := range (naive{forms, lists}).find(text) {
			if !slices.Contains(got, w) {
				t.Errorf("%+q in %+q (stem %t): %q, want %s", cue, text, stem, got, w)
			}
		}
	})
}

// TestListFile: what is wrong with a cue file, and where.
func TestListFile(t *testing.T) {
	data := "# comment\n\npatient | ~casualt|svc no # more\n | x\n...\nbad \xff\n" + strings.Repeat("y", MaxCue+1) + "\n~\n"
	cues, found := ParseList("cues/phi.txt", []byte(data))
	want := []Cue{{"patient", false, 3}, {"casualt", true, 3}, {"svc no", false, 3}, {"x", false, 4}}
	if !slices.Equal(cues, want) {
		t.Errorf("%+v, want %+v", cues, want)
	}
	var got []string
	for _, d := range found {
		got = append(got, d.Error())
	}
	if len(got) != 5 {
		t.Fatalf("%d findings: %q", len(got), got)
	}
	for i, at := range []string{":4:1:", ":5:1:", ":6:1:", ":7:1:", ":8:1:"} {
		if !strings.Contains(got[i], at) || found[i].Code != [...]diag.Code{CodeCueEmpty, CodeCueEmpty, CodeCueText, CodeCueLimit, CodeCueEmpty}[i] {
			t.Errorf("finding %d is %s, want it at %s", i, got[i], at)
		}
	}
}

func FuzzParseList(f *testing.F) {
	f.Add([]byte("a|b\n~c # d\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		cues, found := ParseList("f", data)
		if len(cues) == 0 && len(found) == 0 {
			return
		}
		for _, c := range cues {
			if form(c.Text) == "" || c.Line < 1 || len(c.Text) > MaxCue {
				t.Errorf("cue %+q at line %d", c.Text, c.Line)
			}
		}
		if !slices.IsSortedFunc(cues, func(a, b Cue) int { return cmp.Compare(a.Line, b.Line) }) {
			t.Error("not in the order of the file")
		}
	})
}

// TestForms: what is dropped and what is not, by property over all characters: a letter or digit of any script
// leaves something.
func TestForms(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		k := look(r).kind()
		onlyMarks := strings.IndexFunc(norm.NFKD.String(string(r)), func(x rune) bool { return !unicode.In(x, unicode.Mn, unicode.Z) }) < 0
		if !onlyMarks && unicode.In(r, unicode.L, unicode.Nd) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Mn) && (k == separates || k == mark || k == hidden) {
			t.Errorf("%U %c is nothing (%d)", r, r, k)
		}
		if unicode.In(r, unicode.Z) && k != separates {
			t.Errorf("%U separates no words", r)
		}
	}
}
