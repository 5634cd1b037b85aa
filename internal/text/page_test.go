package text

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPage runs the tables of docs/text.md.
func TestPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/text.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	_, file, _ := strings.Cut(page, "```cues\n")
	file, _, _ = strings.Cut(file, "```")
	cues, found := ParseList("docs/text.md", []byte(file))
	if len(found) > 0 {
		t.Fatal(found)
	}
	a, err := Compile([]List{{Cues: cues}})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		text := quoted(cells[0])[0]
		var got [][]string
		if len(cells) == 2 {
			got = append(got, hitTexts(a, cues, text))
		} else {
			tokens, _ := Tokens(text, 100)
			identifiers, _ := Identifiers(text, 100)
			got = append(got, tokens, identifiers)
		}
		for i := range got {
			if want := quoted(cells[i+1]); !slices.Equal(got[i], want) {
				t.Errorf("%s: column %d: got %q, want %q", cells[0], i+2, got[i], want)
			}
		}
	}
	if rows < 25 {
		t.Errorf("only %d rows", rows)
	}
}

// quoted lists what stands in backquotes.
func quoted(cell string) []string {
	var out []string
	for _, m := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

// hitTexts lists the distinct cues that are found in a text.
func hitTexts(a *Automaton, cues []Cue, text string) []string {
	var out []string
	a.Scan(&Scanner{}, text, func(h Hit) bool {
		if !slices.Contains(out, cues[h.Cue].Text) {
			out = append(out, cues[h.Cue].Text)
		}
		return true
	})
	return out
}
