package diag

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func at(line, col int) Pos { return Pos{Line: line, Col: col} }

func span(line, col, endCol int) Span { return Span{Start: at(line, col), End: at(line, endCol)} }

func TestRenderGolden(t *testing.T) {
	src := Sources{
		"p.yaml":   "clauses:\n  T1:\n\tforbid: 'lanch(m)'\n",
		"wide.txt": "表(x) AND e\u0301(x) AND zz(x)\n",
		"evil.txt": "a(\u202Ex\x1b[31m) AND b()",
		"long.txt": strings.Repeat("aaaa() AND ", 60) + "zz() AND " + strings.Repeat("bbbb() OR ", 60),
	}
	col := strings.Index(src["long.txt"], "zz") + 1
	list := List{
		{Code: "C001", File: "p.yaml", Span: span(3, 11, 16), Message: `there is no relation "lanch"`, Hint: `did you mean "launch"?`},
		{Code: "C001", File: "wide.txt", Span: span(1, 19, 21), Message: "after wide and combining runes"},
		{Code: "C001", File: "wide.txt", Span: span(1, 1, 2), Message: "under a wide rune"},
		{Code: "P001", File: "evil.txt", Span: span(1, 3, 4), Message: "control characters are not printed"},
		{Code: "P002", File: "evil.txt", Span: span(1, 18, 18), Severity: Warning, Message: "an empty span at the end of the text"},
		{Code: "P003", File: "p.yaml", Span: Span{Start: at(2, 3), End: at(3, 4)}, Severity: Info, Message: "a span over two lines", Hint: "first line\nsecond line"},
		{Code: "C001", File: "long.txt", Span: span(1, col, col+2), Message: "a window around the caret"},
		{Code: "B001", File: "nosuch.yaml", Message: "no source, no position"},
		{Code: "B002", Message: "no file either"},
	}
	golden(t, "render.txt", list.Render(src))
}

// The caret line must point at the same terminal column as the source.
func TestUnderlineEmptySpanInside(t *testing.T) {
	text, caret := underline("a AND b", span(1, 3, 3))
	if text != "a AND b" || caret != "  ^" {
		t.Errorf("got %q over %q", text, caret)
	}
}

func TestListSortsDeduplicatesAndCounts(t *testing.T) {
	l := List{
		{Code: "C2", File: "b", Span: span(1, 1, 2), Message: "m"},
		{Code: "C1", File: "a", Span: span(2, 1, 2), Message: "m", Severity: Warning},
		{Code: "C3", File: "a", Span: span(2, 1, 2), Message: "m"},
		{Code: "C1", File: "a", Span: span(1, 9, 9), Message: "m", Severity: Info},
		{Code: "C3", File: "a", Span: span(2, 1, 2), Message: "m"},
	}
	var got []string
	for _, d := range l.Sorted() {
		got = append(got, fmt.Sprint(d.File, d.Span.Start.Line, d.Code))
	}
	if s := strings.Join(got, " "); s != "a1C1 a2C3 a2C1 b1C2" {
		t.Errorf("sorted: %s", s)
	}
	if s := l.Error(); !strings.HasSuffix(s, "error[C2]: m (and 2 more)") {
		t.Errorf("Error() = %q", s)
	}
}

func TestListIsAnErrorOnlyWithErrors(t *testing.T) {
	l := List{{Code: "C1", Severity: Warning, Message: "careful"}}
	if err := l.Err(); err != nil {
		t.Fatalf("warnings alone are an error: %v", err)
	}
	l = append(l, Diagnostic{Code: "C2", Message: "wrong"})
	err := fmt.Errorf("loading: %w", l.Err())
	var d Diagnostic
	if !errors.As(err, &d) || d.Code != "C2" {
		t.Errorf("errors.As found %v", d)
	}
	var back List
	if !errors.As(err, &back) || len(back) != 2 {
		t.Errorf("errors.As found list %v", back)
	}
}

func TestCappedKeepsErrors(t *testing.T) {
	l := List{
		{Code: "W1", Severity: Warning}, {Code: "W2", Severity: Warning}, {Code: "E1"}, {Code: "E2"},
	}
	if got := l.Capped(4); len(got) != 4 {
		t.Errorf("at the limit: %d diagnostics", len(got))
	}
	got := l.Capped(3)
	if len(got) != 4 || got[0].Code != "E1" || got[1].Code != "E2" || got[3].Code != CodeOmitted {
		t.Fatalf("above the limit: %v", got)
	}
	if got[3].Message != "1 more diagnostics are not shown" {
		t.Errorf("message %q", got[3].Message)
	}
	if l[0].Code != "W1" {
		t.Error("the receiver was reordered")
	}
}

func TestJSON(t *testing.T) {
	d := Diagnostic{Code: "C1", Severity: Warning, File: "p.yaml", Span: span(3, 7, 9), Message: "m", Hint: "h"}
	b, err := json.Marshal(List{d})
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"code":"C1","severity":"warning","file":"p.yaml","line":3,"column":7,"message":"m","hint":"h"}]`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

func TestClosest(t *testing.T) {
	names := []string{"launch", "land", "grant_release", "own", "x", "Marked", "twin_a", "twin_b"}
	for _, c := range []struct{ name, want string }{
		{"lanch", "launch"},
		{"lauhcn", "launch"},
		{"luanch", "launch"},
		{"grant_relaese", "grant_release"},
		{"marked", "Marked"},
		{"owm", "own"},
		{"y", ""},
		{"", ""},
		{"launch", ""},
		{"completely", ""},
		{"gran", "grant_release"},
		{"gra", ""},
		{"twin", ""}, // begins two
		{strings.Repeat("a", maxNameRunes+1), ""},
	} {
		if got := Closest(c.name, names); got != c.want {
			t.Errorf("Closest(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

// A name of the longest length that is compared is compared.
func TestClosestLimit(t *testing.T) {
	long := strings.Repeat("a", maxNameRunes-1)
	if got := Closest(long+"b", []string{long + "c"}); got == "" {
		t.Errorf("a name of %d runes was not compared", maxNameRunes)
	}
}

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files") //nolint:gochecknoglobals // a flag of the test binary

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with -rewrite if it should.\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}
