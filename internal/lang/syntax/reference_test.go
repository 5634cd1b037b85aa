package syntax_test

import (
	"flag"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
)

var update = flag.Bool("update", false, "rewrite docs/language.md") //nolint:gochecknoglobals // a flag of the test binary

const (
	referencePage = "../../../docs/language.md"
	referenceHead = `# The formula language

This page is the documentation of package ` + "`internal/lang/syntax`" + `, written by
` + "`go test ./internal/lang/syntax -run TestLanguageReference -update`" + `. What a world is, and what AT and NEW say of it
in detail, stands in [world.md](world.md).

`
)

// reference reads the package documentation.
func reference(t *testing.T) *comment.Doc {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	if f.Doc == nil {
		t.Fatal("doc.go has no package comment")
	}
	return new(comment.Parser).Parse(f.Doc.Text())
}

// TestLanguageReference holds docs/language.md against the package documentation.
func TestLanguageReference(t *testing.T) {
	printer := comment.Printer{HeadingLevel: 2, HeadingID: func(*comment.Heading) string { return "" }}
	page := referenceHead + codeSpans(string(printer.Markdown(reference(t))))
	if *update {
		if err := os.WriteFile(referencePage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatalf("%v\nwrite it with: go test ./internal/lang/syntax -run TestLanguageReference -update", err)
	}
	if string(got) != page {
		t.Error("docs/language.md is not the package documentation; rewrite it with: " +
			"go test ./internal/lang/syntax -run TestLanguageReference -update")
	}
}

// codeSpans makes `…` in the documentation code in the page, which it is not yet
// because the printer escapes the quotes and what is between them.
func codeSpans(page string) string {
	escaped := regexp.MustCompile("\\\\`([^`\n]*)\\\\`")
	return escaped.ReplaceAllStringFunc(page, func(s string) string {
		return "`" + regexp.MustCompile(`\\(.)`).ReplaceAllString(s[2:len(s)-2], "$1") + "`"
	})
}

// codeLines are the lines of the code blocks of the reference.
func codeLines(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, b := range reference(t).Content {
		if c, ok := b.(*comment.Code); ok {
			lines = append(lines, strings.Split(strings.TrimSpace(c.Text), "\n")...)
		}
	}
	return lines
}

// TestReadingsOfTheReference parses both sides of the lines `… is …` and finds one
// tree.
func TestReadingsOfTheReference(t *testing.T) {
	n := 0
	for _, line := range codeLines(t) {
		left, right, ok := strings.Cut(line, "  is  ")
		if !ok {
			continue
		}
		n++
		f, diags := syntax.Parse(left, syntax.Options{Mode: syntax.MonPoly})
		if f == nil {
			t.Errorf("%s: %v", left, diags)
			continue
		}
		g, diags := syntax.Parse(right, syntax.Options{Mode: syntax.MonPoly})
		if g == nil {
			t.Errorf("%s: %v", right, diags)
			continue
		}
		if f.String() != g.String() {
			t.Errorf("%s reads %s, not %s", left, f, g)
		}
	}
	if n < 2 {
		t.Errorf("only %d readings were found", n)
	}
}

// TestReferenceNamesEveryWord looks for the reserved words of the language in its
// reference.
func TestReferenceNamesEveryWord(t *testing.T) {
	text := string(new(comment.Printer).Text(reference(t)))
	for _, word := range []string{
		"TRUE", "FALSE", "NOT", "AND", "OR", "IMPLIES", "EQUIV", "EXISTS", "FORALL", "PREV", "PREVIOUS", "ONCE",
		"HISTORICALLY", "PAST_ALWAYS", "SINCE", "NEXT", "EVENTUALLY", "SOMETIMES", "ALWAYS", "UNTIL", "LET",
		"SUBSTRING", "MATCHES", "NEW", "AT", "SOMEWHERE", "EVERYWHERE", "ESCAPE", "REACH", "SURROUND", "VIA",
	} {
		if !regexp.MustCompile(`\b` + word + `\b`).MatchString(text) {
			t.Errorf("the reference does not name %s", word)
		}
	}
}

// TestExamplesOfTheReference parses the examples that begin with p(x) or NEW as a bundle
// reads them.
func TestExamplesOfTheReference(t *testing.T) {
	n := 0
	for _, line := range codeLines(t) {
		if !strings.HasPrefix(line, "p(x)") && !strings.HasPrefix(line, "NEW (lz") {
			continue
		}
		n++
		src, _, _ := strings.Cut(line, "   ")
		if f, diags := syntax.Parse(src, syntax.Options{Mode: syntax.Bundle}); f == nil || len(diags) > 0 {
			t.Errorf("%s: %v", src, diags)
		}
	}
	if n < 5 {
		t.Errorf("only %d examples were found", n)
	}
}
