package monpoly

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/schema"
)

func testSignature() check.Signature {
	return check.Signature{
		"e": {}, "p": {schema.KindInt}, "s": {schema.KindString}, "f": {schema.KindFloat},
		"m": {schema.KindInt, schema.KindString, schema.KindFloat}, "unread": {schema.KindInt},
	}
}

func testReads(name string) bool { return name != "unread" }

// readAll reads a log in buffers of the given size. The time points are copied.
func readAll(in io.Reader, size int) ([]Point, error) {
	r := newReader(newScanner(in, "log", size), testSignature(), testReads)
	var out []Point
	for {
		var p Point
		err := r.Next(&p)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, p.Clone())
	}
}

func pointsText(points []Point) string {
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "@%d line %d:", p.TS, p.Line)
		for _, f := range p.Facts {
			fmt.Fprintf(&b, " %s%v", f.Name, f.Args)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestReaderReadsFacts(t *testing.T) {
	log := "# a log\n@1 e p(1)(-2) ; @2\ts(a-b)(\"c d\")(\"\")(r\"x\\.y\")\n" +
		"@2 m ( 0x1F , \"\\\"q\\\"\" , 1.5 ) unread(what, \"ever\") # and so on\n@3"
	got, err := readAll(strings.NewReader(log), bufferSize)
	if err != nil {
		t.Fatal(err)
	}
	want := `@1 line 2: e[] p[1] p[-2]
@2 line 2: s["a-b"] s["c d"] s[""] s["x\\.y"]
@2 line 3: m[31 "\\\"q\\\"" 1.5]
@3 line 4:
`
	if pointsText(got) != want {
		t.Errorf("got\n%swant\n%s", pointsText(got), want)
	}
}

func TestReaderSaysWhatIsWrong(t *testing.T) {
	for _, tc := range []struct{ log, want string }{
		{"p(1)", `log:1:1: expected "@", found "p"`},
		{"@", `log:1:2: expected a time stamp, found the end`},
		{"@abc", `log:1:2: "abc" is no time stamp`},
		{`@""`, `log:1:2: "" is no time stamp`},
		{"@99999999999999999999", `log:1:2: "99999999999999999999" is no time stamp: it needs more than 64 bits`},
		{"@1 p(1) %% p(9)", `log:1:9: expected a fact, "@" or ";", found "%"`},
		{"@1 p(1); p(2)", `log:1:10: expected "@", found "p"`},
		{"@1\n@2 p(\n", `log:3:1: expected an argument, found the end`},
		{"@1 p(1 2)", `log:1:8: expected "," or ")", found "2"`},
		{"@1 p(,)", `log:1:6: expected an argument, found ","`},
		{"@1 pp(1)", `log:1:4: the relation "pp" is not declared`},
		{"@1 tp(1)", `log:1:4: facts of the built-in relation "tp" cannot be given`},
		{"@1 p(1.0)", `log:1:6: argument 1 of "p": "1.0" is no int`},
		{"@1 p(1)(9223372036854775808)", `log:1:9: argument 1 of "p": "9223372036854775808" is no int: it needs more than 64 bits`},
		{"@1 f(abc)", `log:1:6: argument 1 of "f": "abc" is no float`},
		{"@1 p(1,2)", `log:1:4: the relation "p" has 1 columns, this fact has 2 arguments`},
		{"@1 p", `log:1:4: the relation "p" has 1 columns, this fact has 0 arguments`},
		{"@1 s(\"é\nü\") %", `log:2:5: expected a fact, "@" or ";", found "%"`},
		{"@1 s(\"abc", `log:1:6: expected an argument, found a quote that is never closed`},
		{"@1\n> save_state x <", `log:2:1: commands in a log are not supported`},
		{"@1 unread(1, )", `log:1:14: expected an argument, found ")"`},
	} {
		_, err := readAll(strings.NewReader(tc.log), bufferSize)
		if err == nil || err.Error() != tc.want {
			t.Errorf("%q: got %v, want %s", tc.log, err, tc.want)
		}
	}
}

func TestReaderReportsItsInput(t *testing.T) {
	broken := errors.New("the cable is out")
	points, err := readAll(io.MultiReader(strings.NewReader("@1 p(1)\n@2 p(2)"), iotest.ErrReader(broken)), bufferSize)
	if err == nil || !strings.Contains(err.Error(), broken.Error()) || len(points) != 1 {
		t.Errorf("got %d time points and %v, want 1 and the input's error", len(points), err)
	}
}

func TestReaderBoundsWords(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`@1 s("`), iotest.DataErrReader(io.LimitReader(zeros{}, 1<<30)))
	if _, err := readAll(endless, bufferSize); err == nil || !strings.Contains(err.Error(), "a word of more than 16 MiB") {
		t.Errorf("got %v, want an error about the word's length", err)
	}
	long := `@1 s("` + strings.Repeat("x", maxWord-1) + `")`
	if points, err := readAll(strings.NewReader(long), bufferSize); err != nil || len(points) != 1 {
		t.Errorf("a word of less than the limit: %d time points, %v", len(points), err)
	}
}

func TestReaderBoundsTimePoints(t *testing.T) {
	for _, tc := range []struct{ log, want string }{
		{`@1 p(1)(2)(3) unread(4) @2 p(1)(2) s("ab") @3 s("abcd")`, ""},
		{`@1 p(1)(2) @2 p(3)(4) e s("")`, `log:1:25: the time point has more than 3 facts`},
		{`@1 s("abc") @2 s("ab")("abc")`, `log:1:24: the strings of the time point have more than 4 bytes`},
	} {
		r := newReader(newScanner(strings.NewReader(tc.log), "log", bufferSize), testSignature(), testReads)
		r.most = limits{facts: 3, texts: 4}
		var err error
		for p := (Point{}); err == nil; {
			err = r.Next(&p)
		}
		if got := err.Error(); got != tc.want && (tc.want != "" || !errors.Is(err, io.EOF)) {
			t.Errorf("%s: %s, want %s", tc.log, got, tc.want)
		}
	}
}

// zeros is an endless run of the digit 0.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// TestReaderStopsAtTheEndOfAPoint holds that a time point is there before more is read.
func TestReaderStopsAtTheEndOfAPoint(t *testing.T) {
	in, out := io.Pipe()
	defer func() { _ = in.Close() }()
	r := NewReader(in, "log", testSignature(), testReads)
	steps := []string{"@1 p(1);", "\n@2 p(2)\n@"}
	go func() {
		for _, s := range steps {
			if _, err := io.WriteString(out, s); err != nil {
				return
			}
		}
	}()
	for i := range steps {
		var p Point
		if err := r.Next(&p); err != nil || p.TS != int64(i+1) || len(p.Facts) != 1 {
			t.Fatalf("step %d: %+v, %v", i, p, err)
		}
	}
}

func compareWithSlow(t *testing.T, log string) {
	t.Helper()
	want, line, col := slowRead(log, testSignature(), testReads)
	for _, size := range []int{bufferSize, 7} {
		for name, in := range map[string]io.Reader{"whole": strings.NewReader(log), "byte by byte": iotest.OneByteReader(strings.NewReader(log))} {
			got, err := readAll(in, size)
			var at Error
			if e, ok := errors.AsType[*Error](err); ok {
				at = *e
			} else if err != nil {
				t.Fatalf("%q: %v", log, err)
			}
			if at.Line != line || at.Col != col || pointsText(got) != pointsText(want) {
				t.Fatalf("%q (%s, buffers of %d): got\n%sthen %v, want\n%sthen a mistake at %d:%d", log, name, size, pointsText(got), err, pointsText(want), line, col)
			}
		}
	}
}

// pieces are what random logs are made of.
func pieces() []string {
	return []string{
		"@1", "@2 ", "@ -3", ";", "\n", "\r\n", "\r", " ", "\t", "e", "e()", "p(1)", "p (2)(3)", "p(0x1f)", "p(-0)", "p(+1)", `p("")`, `p("+7")`,
		"p(123456789012345678901)", "p(9223372036854775807)", "s(a)", `s("b c")`, `s("\"q\"")`, "s(\"é\nü\")", `s(r"[a-z]*")`, "f(1.5)(inf)", "f(1e999)",
		"m(1,b,2.0)", "m(1,b)", "unread(x,y)", "unread(", "nobody(1)", "ts(1)", "#c é\n", "%", `"`, "(", ")", ",", ">", "r", "é", "\\", "\x00", `r"`, "0b12", "_[]/:.!",
	}
}

func TestReaderAgreesWithSlowReader(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	all := pieces()
	for range 5000 {
		var b strings.Builder
		for range 1 + rng.IntN(14) {
			b.WriteString(all[rng.IntN(len(all))])
			if rng.IntN(3) > 0 {
				b.WriteByte(' ')
			}
			if rng.IntN(4) == 0 {
				b.WriteString("\n@5 ")
			}
		}
		compareWithSlow(t, b.String())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add("@1 p(1)(2) q(3)\n@2 s(\"a\");\n@3 m(1,b,2.5)")
	f.Add("@1 s(\"é\nü\\\"\") # x\r\n@2 e")
	for _, p := range pieces() {
		f.Add("@1 " + p)
	}
	f.Fuzz(func(t *testing.T, log string) {
		compareWithSlow(t, log)
	})
}

func TestNumbers(t *testing.T) {
	for _, tc := range []struct {
		text string
		want int64
		err  error
	}{
		{"0", 0, nil},
		{"-1", -1, nil},
		{"999999999999999999", 999999999999999999, nil},
		{"9223372036854775807", math.MaxInt64, nil},
		{"-9223372036854775808", math.MinInt64, nil},
		{"9223372036854775808", 0, errTooLarge},
		{"-0x10", -16, nil},
		{"0o17", 15, nil},
		{"0b101", 5, nil},
		{"", 0, nil},
		{"-", 0, errNoNumber},
		{"0x", 0, errNoNumber},
		{"0x-1", 0, errNoNumber},
		{"+-1", 0, errNoNumber},
		{"1_0", 0, errNoNumber},
		{" 1", 0, errNoNumber},
	} {
		if got, err := parseInt([]byte(tc.text)); got != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%q: got %d, %v, want %d, %v", tc.text, got, err, tc.want, tc.err)
		}
	}
}
