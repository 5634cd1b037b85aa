package monpoly

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// loop repeats a text without end.
type loop struct {
	text string
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], l.text[l.at:])
		l.at = (l.at + k) % len(l.text)
		n += k
	}
	return n, nil
}

func benchSignature() check.Signature {
	i, s := schema.KindInt, schema.KindString
	return check.Signature{"export": {i}, "consent": {i}, "use": {i, i}, "doc": {s}, "Turn": {i, s, s}, "Clock": {i, s, i}, "Note": {i, s, s}}
}

// shapes are logs in the shapes of the reference workloads.
func shapes() map[string]string {
	var ints, pairs, strs, facts strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&ints, "@%d export(%d)\n", i/10, 1000+7919*i%9000)
		fmt.Fprintf(&pairs, "@%d use(%d,%d)\n", i/10, 7919*i%200, 104729*i%200)
		fmt.Fprintf(&strs, "@%d doc(\"obj-%d\")\n", i/10, 7919*i%10000)
		fmt.Fprintf(&facts, "@%d Turn(%d,\"rid-%d\",\"s\")", i, i, i)
		for j := range 20 {
			fmt.Fprintf(&facts, " Note(%d,\"call_%d\",\"a somewhat longer text of a tool's answer\")", i, j)
		}
		facts.WriteString("\n")
	}
	return map[string]string{"ints": ints.String(), "pairs": pairs.String(), "strings": strs.String(), "facts": facts.String()}
}

func BenchmarkReader(b *testing.B) {
	for name, text := range shapes() {
		for _, reads := range []bool{true, false} {
			label := name
			if !reads {
				label += "-unread"
			}
			b.Run(label, func(b *testing.B) {
				r := NewReader(&loop{text: text}, "log", benchSignature(), func(string) bool { return reads })
				points := strings.Count(text, "\n")
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				var p Point
				for b.Loop() {
					for range points {
						if err := r.Next(&p); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// TestReaderDoesNotAllocate holds that in the steady state a time point costs nothing.
func TestReaderDoesNotAllocate(t *testing.T) {
	for name, text := range shapes() {
		r := NewReader(&loop{text: text}, "log", benchSignature(), func(string) bool { return true })
		var p Point
		some := func() {
			for range 2000 {
				if err := r.Next(&p); err != nil {
					t.Fatal(err)
				}
			}
		}
		some()
		if n := testing.AllocsPerRun(20, some); n > 0 {
			t.Errorf("%s: %v allocations in 2,000 time points", name, n)
		}
	}
}

func BenchmarkAnswer(b *testing.B) {
	v := Verdict{Index: 12345, TS: 678, Rows: []schema.Row{
		{Values: []schema.Value{schema.IntValue(12345), schema.StringValue("obj-12345")}},
		{Values: []schema.Value{schema.IntValue(54321), schema.StringValue("obj-54321")}},
	}}
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = Style{}.Append(line[:0], &v)
	}
	_, _ = io.Discard.Write(line)
}
