package monpoly

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/monpoly/reference"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestReferenceWords: of the recorded checks exactly those of monitorable formulas have
// a line that says so, and each of them one that names the variables.
func TestReferenceWords(t *testing.T) {
	n := map[string]int{}
	for name, content := range reference.Files(t, reference.Answers) {
		if path.Base(name) != "check.jsonl" {
			continue
		}
		for text := range strings.Lines(content) {
			var row struct{ Formula, Verdict, Stderr string }
			if err := json.Unmarshal([]byte(text), &row); err != nil {
				t.Fatal(err)
			}
			n[row.Verdict]++
			lines := strings.Split(row.Stderr, "\n")
			monitorable := row.Verdict == "monitorable"
			if slices.ContainsFunc(lines, affirms) != monitorable {
				t.Errorf("%s: %s, and it said %q", row.Formula, row.Verdict, row.Stderr)
			}
			named := slices.ContainsFunc(lines, func(line string) bool {
				list, ok := strings.CutPrefix(line, "The sequence of free variables is: (")
				if !ok {
					return false
				}
				var columns []check.Column
				for v := range strings.SplitSeq(strings.TrimSuffix(list, ")"), ",") {
					if v != "" {
						columns = append([]check.Column{{Name: v}}, columns...)
					}
				}
				order, ok := freeVariables(line, columns)
				return ok && len(order) == len(columns)
			})
			if monitorable && !named {
				t.Errorf("%s: no line names its variables: %q", row.Formula, row.Stderr)
			}
		}
	}
	if n["monitorable"] == 0 || n["not-monitorable"] == 0 {
		t.Errorf("seen: %v", n)
	}
	t.Log(n)
}

// TestReferenceVerbose reads a recorded verbose output, that of one variable. It ends
// with a time point that is not answered, since its formula was rewritten into one
// about the future: nothing of that is taken for an answer.
func TestReferenceVerbose(t *testing.T) {
	seen := false
	for name, content := range reference.Files(t, reference.Answers) {
		if path.Base(path.Dir(name)) != "probe-rw-prev-propagates" || path.Base(name) != "expected.stdout" {
			continue
		}
		seen = true
		q := &question{variables: []check.Column{{Name: "x", Kind: schema.KindInt}}, order: []int{0}}
		var got []string
		index := uint64(0)
		lines := strings.Split(strings.TrimSpace(content), "\n")
		for ; len(lines) >= 2; index++ {
			if lines[0] != header(index) {
				t.Fatalf("%q", lines[0])
			}
			rows, err := q.parseAnswer(lines[1], index, int64(index)+1)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(rows))
			lines = lines[2:]
		}
		if want := []string{"[]", "[[5]]", "[]"}; !slices.Equal(got, want) || len(lines) != 1 {
			t.Errorf("got %s and the rest %q", got, lines)
		}
	}
	if !seen {
		t.Error("the recorded output is not there")
	}
}
