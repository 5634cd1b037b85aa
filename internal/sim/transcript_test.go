package sim

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

var rewrite = flag.Bool("rewrite", false, "write what the transcripts print into testdata") //nolint:gochecknoglobals // flags of a test binary are global

// TestTranscripts plays testdata/*.txt: blocks of a script, a line "----", and what
// it prints. testdata/README.md describes the language. Every transcript ends with an
// audit of the whole log.
func TestTranscripts(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) < 10 {
		t.Fatalf("found %d transcripts: %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(want), "# ") || !strings.Contains(string(want), "\ncheck\n") {
				t.Fatalf("%s does not say what it shows, or is never checked", name)
			}
			var got string
			var wrong []string
			synctest.Test(t, func(t *testing.T) { got, wrong = playFile(t, string(want)) })
			for _, w := range wrong {
				t.Error(w)
			}
			if *rewrite {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil { //nolint:gosec // test data is for everyone
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("%s differs from what the script prints (-rewrite accepts it): %s", name, firstDifference(string(want), got))
			}
		})
	}
}

// playFile returns the text with the output of every block replaced.
func playFile(t *testing.T, text string) (out string, wrong []string) {
	t.Helper()
	p := &player{t: t, waiting: map[string]chan *said{}, shown: map[uint32]uint64{}, states: map[string]string{}}
	defer func() {
		if p.w != nil {
			p.w.close()
		}
	}()
	var b strings.Builder
	for i, block := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		script, _, _ := strings.Cut(block+"\n", "----\n")
		b.WriteString(script)
		p.out.Reset()
		for line := range strings.Lines(script) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				p.line(line)
			}
		}
		if p.out.Len() > 0 {
			b.WriteString("----\n" + p.out.String())
		}
	}
	return b.String(), p.wrong
}
