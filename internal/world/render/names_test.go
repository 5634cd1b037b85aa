package render

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// hostile are names that would do harm if they were printed as they are.
func hostile() []string {
	return []string{
		"", " ", "plain", "a b", `"`, `\`, `a\`, `\"`, "a\nb", "\x00", "\x1b[31m", "\u202eevil", "\u200b", "\xff\xfe", "é", "e\u0301",
		"</text><script>alert(1)</script>", "&lt;", "&#10;", "<!-- -->", "]]>", "--", "n0", "];}", `\N`, `\G`, "<b>", "%d%s", "日本",
		strings.Repeat("x", 500), "a→b", "?", "(1)", ", ",
	}
}

func world1(name, other string) *Graph {
	n := 1
	ev := &Event{Event: name, Call: other, Tool: name, Actor: other}
	g := &Graph{
		Unit: name, At: At{Policy: name, Tenant: other, Trace: name, Event: &n},
		Nodes: []Node{
			{Name: name, Sort: "informational", Domain: other, Labels: []string{name, other}},
			{Name: other, Sort: "physical", Domain: name, Labels: []string{name}},
		},
		Channels:   []Channel{{From: name, To: other, Since: ev}, {From: name, To: name, Open: true}},
		Edges:      []Edge{{From: name, To: other, Since: ev}, {From: other, To: other, Distance: 3}},
		Objects:    []Object{{Name: name, Replicas: []Replica{{Vertex: other}}, DerivedFrom: []string{other}, Reaches: []string{name}}},
		Attributes: []Attribute{{Name: name, Entity: other, Value: name}},
		States:     []State{{Name: name, Args: []any{other, int64(1), 0.5}}},
	}
	if name == other {
		g.Nodes = g.Nodes[:1]
	}
	return g
}

// FuzzNames: no name breaks a format, sends a control character, or is lost.
func FuzzNames(f *testing.F) {
	for i, name := range hostile() {
		f.Add(name, hostile()[(i+7)%len(hostile())])
	}
	f.Fuzz(func(t *testing.T, name, other string) {
		g := world1(name, other)
		for what, text := range map[string]string{
			"text": Text(g), "dot": DOT(g), "svg": SVG(g), "diff": Diff(&Graph{}, g).Text(), "undone": Diff(g, &Graph{}).Text(),
		} {
			if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) || unicode.Is(unicode.Bidi_Control, r) }); i >= 0 {
				t.Errorf("%s: %q is not printable", what, text[i:min(i+8, len(text))])
			}
		}
		if (Name(name) == Name(other)) != (name == other) {
			t.Errorf("%q and %q print as %s and %s", name, other, Name(name), Name(other))
		}
		checkDOT(t, DOT(g))
		checkSVG(t, SVG(g), name)
	})
}

// dotLine is a line of the output of DOT: words, and quoted strings in which a backslash
// escapes the next character.
var dotLine = regexp.MustCompile(`^(?:[\w ={}\[\],;>#-]|"(?:[^"\\&]|\\.|&amp;)*")*$`)

func checkDOT(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if !dotLine.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("dot: line %q", line)
		}
	}
	if n := strings.Count(text, "\n"); n > 25 {
		t.Errorf("dot: %d lines: a name made one", n)
	}
}

// checkSVG parses the picture: only our elements are in it, and the title has the name.
func checkSVG(t *testing.T, text, name string) {
	t.Helper()
	allowed := map[string]bool{
		"svg": true, "title": true, "style": true, "defs": true, "marker": true, "path": true, "rect": true, "text": true, "g": true,
	}
	d := xml.NewDecoder(strings.NewReader(text))
	in, found := "", false
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("svg: %v", err)
		}
		switch x := tok.(type) {
		case xml.StartElement:
			in = x.Name.Local
			if !allowed[in] {
				t.Errorf("svg: element %s", in)
			}
			for _, a := range x.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" {
					t.Errorf("svg: attribute %s", a.Name.Local)
				}
			}
		case xml.CharData:
			found = found || in == "title" && strings.HasPrefix(string(x), Name(name)+": ")
		case xml.Comment, xml.Directive, xml.ProcInst:
			t.Errorf("svg: %T", x)
		}
	}
	if !found {
		t.Errorf("svg: no vertex has the title %s", Name(name))
	}
}
