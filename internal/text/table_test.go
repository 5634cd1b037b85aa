package text

import (
	"encoding/binary"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mtibben/confusables"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/runenames"
)

var update = flag.Bool("update", false, "make tables.bin again") //nolint:gochecknoglobals // flags of a test binary are global

// TestTable compares the table of matching forms with the definition in this file, for every
// character.
func TestTable(t *testing.T) {
	if *update {
		if err := os.WriteFile("tables.bin", buildTables(newFormer()), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Skip("tables.bin is made again; run the test without -update")
	}
	if made := strings.TrimRight(tables[:versionSize], "\x00"); made != unicode.Version {
		t.Skipf("tables.bin is of Unicode %s, and this Go has Unicode %s: make it again with -update", made, unicode.Version)
	}
	f := newFormer()
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		wantKind, wantText := f.form(r)
		e := look(r)
		if e.kind() != wantKind || wantKind == stands && e.text() != wantText {
			t.Fatalf("%U: kind %d %q, want %d %q; make the table again with -update", r, e.kind(), e.text(), wantKind, wantText)
		}
	}
}

// former defines the matching form of a character.
type former struct {
	latin map[string]byte // what looks like a Latin letter, by its skeleton
	fold  cases.Caser
}

func newFormer() *former {
	f := &former{latin: map[string]byte{}, fold: cases.Fold()}
	for _, letters := range []string{"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"} {
		for i := range len(letters) {
			f.latin[confusables.Skeleton(letters[i:i+1])] = lowered(letters[i])
		}
	}
	return f
}

func (f *former) form(r rune) (kind, string) {
	if b, ok := disguised(r); ok {
		if trait(b) == 0 {
			return separates, ""
		}
		return stands, string(lowered(b))
	}
	switch {
	case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return hidden, ""
	case unicode.In(r, unicode.Mn, unicode.Me):
		return mark, ""
	}
	var out strings.Builder
	for _, x := range norm.NFKD.String(string(r)) {
		f.write(&out, x)
	}
	return classify(r, out.String())
}

// classify packs a form.
func classify(r rune, text string) (kind, string) {
	switch strings.TrimSpace(text) {
	case "":
		return separates, ""
	case string(r):
		if strings.HasPrefix(text, " ") {
			return alone, ""
		}
		return itself, ""
	}
	return stands, text
}

// disguised gives the ASCII character that a tag, a regional indicator or a letter on a dark
// ground stands for.
func disguised(r rune) (byte, bool) {
	for _, d := range []struct {
		from, to rune
		first    byte
	}{
		{0xE0020, 0xE007E, ' '}, {0x1F1E6, 0x1F1FF, 'a'}, {0x1F150, 0x1F169, 'a'}, {0x1F170, 0x1F189, 'a'},
	} {
		if r >= d.from && r <= d.to {
			return d.first + byte(r-d.from), true
		}
	}
	return 0, false
}

func withoutBlanks(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// write adds the form of a character that has no decomposition.
func (f *former) write(out *strings.Builder, x rune) {
	switch {
	case unicode.In(x, unicode.Mn, unicode.Me, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point):
	case x < utf8.RuneSelf && trait(byte(x)) == 0:
		out.WriteByte(' ')
	case x < utf8.RuneSelf:
		out.WriteByte(lowered(byte(x)))
	case unicode.Is(unicode.Nd, x):
		out.WriteByte(decimal(x))
	case !unicode.In(x, unicode.L, unicode.N, unicode.Mc):
		out.WriteByte(' ')
	case withoutBlanks(x):
		out.WriteString(" " + string(x) + " ")
	default:
		if s, ok := f.looksLike(x); ok {
			out.WriteString(s)
			return
		}
		for _, y := range f.fold.String(string(x)) {
			if s, ok := f.looksLike(y); ok {
				out.WriteString(s)
			} else if !unicode.In(y, unicode.Mn, unicode.Me) {
				out.WriteRune(y)
			}
		}
	}
}

// looksLike gives the Latin letters that a character looks like.
func (f *former) looksLike(x rune) (string, bool) {
	if x < utf8.RuneSelf {
		return string(lowered(byte(x))), true
	}
	skeleton := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			return -1
		}
		return r
	}, confusables.Skeleton(string(x)))
	b, ok := f.latin[skeleton]
	switch up := unicode.ToUpper(x); {
	case ok && b == 'l' && unicode.IsUpper(x): // a capital I has the skeleton of a small L
		return "i", true
	case ok:
		return string(b), true
	case up != x && up >= utf8.RuneSelf && !unicode.Is(unicode.Latin, x): // т is a small Т
		if s, ok := f.looksLike(up); ok {
			return s, true
		}
	}
	if !unicode.Is(unicode.Latin, x) {
		return "", false
	}
	if letter, ok := drawn(x); ok {
		return letter, true
	}
	var out strings.Builder
	for i := range len(skeleton) { // æ
		if trait(skeleton[i])&(lower|upper) == 0 {
			return "", false
		}
		out.WriteByte(lowered(skeleton[i]))
	}
	return out.String(), out.Len() > 0
}

// drawn gives the letter of which a character is a small capital, or that it is upside down.
func drawn(x rune) (string, bool) {
	name := runenames.Name(x)
	for _, prefix := range []string{"LATIN LETTER SMALL CAPITAL ", "LATIN SMALL LETTER TURNED "} {
		if letter, ok := strings.CutPrefix(name, prefix); ok && len(letter) == 1 {
			return strings.ToLower(letter), true
		}
	}
	return "", false
}

// decimal is the digit that a decimal number of any script is: they come in runs of ten.
func decimal(x rune) byte {
	for _, r := range unicode.Nd.R16 {
		if x >= rune(r.Lo) && x <= rune(r.Hi) {
			return '0' + byte((x-rune(r.Lo))%10)
		}
	}
	for _, r := range unicode.Nd.R32 {
		if x >= rune(r.Lo) && x <= rune(r.Hi) {
			return '0' + byte((x-rune(r.Lo))%10)
		}
	}
	return '0'
}

// buildTables packs the forms of all characters.
func buildTables(f *former) []byte {
	index, blocks, pool := []byte{}, []byte{}, ""
	numbers := map[string]int{}
	for first := rune(0); first <= unicode.MaxRune; first += blockSize {
		block := make([]byte, 0, 4*blockSize)
		for r := first; r < first+blockSize; r++ {
			var e uint32
			if r >= utf8.RuneSelf {
				k, s := f.form(r)
				e = uint32(k)
				if k == stands {
					at := strings.Index(pool, s)
					if at < 0 {
						at, pool = len(pool), pool+s
					}
					if len(s) > 31 {
						panic(s)
					}
					e |= uint32(len(s))<<3 | uint32(at)<<8
				}
			}
			block = binary.LittleEndian.AppendUint32(block, e)
		}
		n, known := numbers[string(block)]
		if !known {
			n = len(numbers)
			numbers[string(block)] = n
			blocks = append(blocks, block...)
		}
		index = binary.LittleEndian.AppendUint16(index, uint16(n))
	}
	out := make([]byte, versionSize)
	copy(out, unicode.Version)
	out = append(out, index...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(numbers)))
	return append(append(out, blocks...), pool...)
}
