package source

import (
	"fmt"
	"strings"
	"testing"
)

func parse(t *testing.T, text string) *Node {
	t.Helper()
	n, found := Parse(NewFile("x.yaml", []byte(text)))
	if len(found) > 0 {
		t.Fatalf("unexpected findings: %+v", found)
	}
	return n
}

// Every style must map "launch" in the value to "launch" in the file.
func TestTextMapsToFile(t *testing.T) {
	tests := []struct {
		name, yaml, word string
		line, col        int
	}{
		{"plain", "k: ONCE launch(m)\n", "launch", 1, 9},
		{"plain in flow", "k: {a: ONCE launch(m), b: 1}\n", "launch", 1, 13},
		{"plain folded", "k: ONCE\n  launch(m)\n\n  x\n", "launch", 2, 3},
		{"single", "k: 'ONCE launch(m)'\n", "launch", 1, 10},
		{"single with quote", "k: 'it''s ''a'' launch'\n", "launch", 1, 17},
		{"single folded", "k: 'ONCE\n   a\n\n   launch(m)'\n", "launch", 4, 4},
		{"double", `k: "say \"x\" \u00e9 launch"` + "\n", "launch", 1, 22},
		{"double folded", "k: \"a\n  launch\"\n", "launch", 2, 3},
		{"literal", "k: |\n  ONCE\n\n    launch(m)\n  x\n", "launch", 4, 5},
		{"literal indented first line", "k: |2\n      a\n  launch\n", "launch", 3, 3},
		{"literal strip", "k: |-\n  # no comment\n  launch", "launch", 3, 3},
		{"folded", "k: >\n  ONCE\n  launch(m)\n\n  x\n", "launch", 3, 3},
		{"folded paragraphs", "k: >-\n  a\n\n\n  b\n    c\n  launch\n", "launch", 7, 3},
		{"wide runes", "k: 'é漢 launch'\n", "launch", 1, 8},
		{"crlf", "k: |\r\n  a\r\n  launch\r\n", "launch", 3, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := parse(t, tt.yaml)
			n := root.Get("k")
			if n.Kind == Map {
				n = n.Get("a")
			}
			text := n.Text()
			if !text.Exact() {
				t.Fatalf("no exact positions for %q", n.Value)
			}
			i := strings.Index(text.Value, tt.word)
			span := text.Span(i, i+len(tt.word))
			if span.Start.Line != tt.line || span.Start.Col != tt.col {
				t.Errorf("start %d:%d, want %d:%d", span.Start.Line, span.Start.Col, tt.line, tt.col)
			}
			if got := string(n.File().Data[span.Start.Offset:span.End.Offset]); got != tt.word {
				t.Errorf("span covers %q, want %q", got, tt.word)
			}
			if sub := text.Sub(i, i+len(tt.word)); sub.Span(0, 1).Start != span.Start {
				t.Errorf("Sub starts at %v, want %v", sub.Span(0, 1).Start, span.Start)
			}
		})
	}
}

func TestTextFallsBackToScalar(t *testing.T) {
	n := parse(t, "k: \"a\\\n  b\"\n").Get("k")
	text := n.Text()
	if text.Exact() {
		t.Fatal("a continued double-quoted line should not be exact")
	}
	if got := text.Span(1, 2); got.Start.Line != 1 || got.Start.Col != 4 {
		t.Errorf("fallback at %v, want the start of the scalar", got.Start)
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name, yaml, code string
		line             int
	}{
		{"anchor", "a: &x 1\n", "Y003", 1},
		{"alias", "a: &x 1\nb: *x\n", "Y003", 1},
		{"unknown alias", "a: 1\nb: *x\n", "Y003", 2},
		{"merge", "a: {b: 1}\nc:\n  <<: {d: 1}\n", "Y003", 3},
		{"tag", "a: !!str 1\n", "Y004", 1},
		{"local tag", "a: 1\nb: !x 1\n", "Y004", 2},
		{"duplicate", "a: 1\nb: 2\na: 3\n", "Y005", 3},
		{"second document", "a: 1\n---\nb: 1\n", "Y006", 2},
		{"map key", "? {a: 1}\n: 2\n", "Y007", 1},
		{"null key", "a: 1\n~: 2\n", "Y007", 2},
		{"syntax", "a: 1\nb: [1\n", "Y001", 2},
		{"flow default", "a: 1\n\nb: {cc: [string] = []}\n", "Y001", 3},
		{"tab", "a:\n\tb: 1\n", "Y001", 2},
		{"byte order mark", "\ufeffa: 1\n", "Y002", 1},
		{"not UTF-8", "a: 1\nb: \xff\n", "Y002", 2},
		{"bidi control", "a: 1\nb: x\u202ey\n", "Y002", 2},
		{"line separator", "a: 1\nb: x\u2028y\n", "Y002", 2},
		{"empty", "# nothing\n", "Y009", 1},
		{"no bytes", "", "Y009", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, found := Parse(NewFile("x.yaml", []byte(tt.yaml)))
			if len(found) == 0 {
				t.Fatal("nothing found")
			}
			if got := found[0]; string(got.Code) != tt.code || got.Span.Start.Line != tt.line {
				t.Errorf("got %s on line %d (%s), want %s on line %d", got.Code, got.Span.Start.Line, got.Message, tt.code, tt.line)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	nest := func(n int) string { return "a: " + strings.Repeat("[", n) + strings.Repeat("]", n) }
	if _, found := Parse(NewFile("x", []byte(nest(MaxDepth)))); len(found) != 0 {
		t.Errorf("depth %d refused: %+v", MaxDepth, found)
	}
	if _, found := Parse(NewFile("x", []byte(nest(MaxDepth+1)))); len(found) != 1 || found[0].Code != CodeLimit {
		t.Errorf("depth %d: %+v", MaxDepth+1, found)
	}
	list := func(n int) []byte { return fmt.Appendf(nil, "[%s]", strings.Repeat("1,", n-1)) }
	if _, found := Parse(NewFile("x", list(MaxNodes))); len(found) != 0 {
		t.Errorf("%d nodes refused: %+v", MaxNodes, found[:1])
	}
	if _, found := Parse(NewFile("x", list(MaxNodes+1))); len(found) != 1 || found[0].Code != CodeLimit {
		t.Errorf("%d nodes: %+v", MaxNodes+1, found)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a: 1", "a: |\n  x\n", "a: 'b''c'", "- >-\n  a\n\n  b", "a: \"\\u00e9\\n\"", "{a: [b, c]}", "? a\n: b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, found := Parse(NewFile("x", data))
		if root == nil && len(found) == 0 {
			t.Fatal("neither a tree nor a finding")
		}
		for _, d := range found {
			if d.Span.Start.Line < 1 || d.Span.Start.Col < 1 || d.Message == "" {
				t.Fatalf("finding without place or message: %+v", d)
			}
		}
		if root != nil {
			visit(t, root)
		}
	})
}

func visit(t *testing.T, n *Node) {
	t.Helper()
	if n.Kind == Scalar {
		text := n.Text()
		for i := range n.Value {
			if s := text.Span(i, i+1); s.Start.Line < 1 || s.End.Offset > len(n.File().Data) {
				t.Fatalf("bad span %+v in %q", s, n.Value)
			}
		}
	}
	for _, item := range n.Items {
		visit(t, item)
	}
	for _, field := range n.Fields {
		visit(t, field.Key)
		visit(t, field.Value)
	}
}
