package protocol

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

var rewrite = flag.Bool("rewrite", false, "write what the transcripts print into testdata") //nolint:gochecknoglobals // flags of a test binary are global

// TestTranscripts plays testdata/*.txt: blocks of a script, a line "----", and what
// it prints. testdata/README.md describes the language.
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
			got := playFile(t, string(want))
			if *rewrite {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil { //nolint:gosec // test data is for everyone
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("%s differs from what the script prints (-rewrite accepts it):\n%s", name, difference(string(want), got))
			}
		})
	}
}

func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range g {
		if i >= len(w) || w[i] != g[i] {
			have := "the end"
			if i < len(w) {
				have = w[i]
			}
			return fmt.Sprintf("line %d\n  file:  %s\n  print: %s", i+1, have, g[i])
		}
	}
	return fmt.Sprintf("line %d: the file goes on", len(g)+1)
}

// playFile returns the text with the output of every block replaced.
func playFile(t *testing.T, text string) string {
	t.Helper()
	p := newPlayer(t)
	var out strings.Builder
	for i, block := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		if i > 0 {
			out.WriteString("\n")
		}
		script, _, runs := strings.Cut(block+"\n", "----\n")
		out.WriteString(script)
		p.print.Reset()
		for line := range strings.Lines(script) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				p.line(line)
			}
		}
		if runs {
			out.WriteString("----\n" + p.print.String())
		}
	}
	return out.String()
}

// player runs a script against one partition.
type player struct {
	t      *testing.T
	part   *Partition
	rules  Rules
	offset uint64
	seqs   map[string]uint64
	last   *schema.Event
	print  strings.Builder
}

func newPlayer(t *testing.T) *player {
	t.Helper()
	p := &player{t: t, rules: DefaultRules(), seqs: map[string]uint64{}}
	p.part = New(7, p.rules)
	return p
}

func (p *player) line(line string) {
	p.t.Helper()
	words := strings.Fields(line)
	cmd := words[0]
	var names []string
	opts := map[string]string{}
	for _, w := range words[1:] {
		if k, v, ok := strings.Cut(w, "="); ok {
			opts[k] = v
		} else {
			names = append(names, w)
		}
	}
	switch cmd {
	case "rules":
		p.setRules(opts)
	case "restart":
		p.restart()
	case "calls":
		p.calls()
	case "skip":
		p.offset += uint64(number(p.t, names[0]))
	case "again":
		ev := *p.last
		p.step(line, &ev)
	default:
		p.step(line, p.event(cmd, names, opts))
	}
}

func (p *player) setRules(opts map[string]string) {
	for k, v := range opts {
		n := number(p.t, v)
		switch k {
		case "skew":
			p.rules.MaxSkew = n * second
		case "queue":
			p.rules.QueueLimit = int(n)
		case "ttl":
			p.rules.ResultTTL = n * second
		case "memory":
			p.rules.CallMemory = int(n)
		case "ended":
			p.rules.EndedTTL = n * second
		case "idle":
			p.rules.IdleTTL = n * second
		case "traces":
			p.rules.MaxTraces = int(n)
		case "incarnations":
			p.rules.Incarnations = int(n)
		case "missing":
			p.rules.MissingLimit = int(n)
		default:
			p.t.Fatalf("no rule %q", k)
		}
	}
	p.part.rules = p.rules
}

// restart replaces the partition by one restored from its state.
func (p *player) restart() {
	state, err := p.part.AppendState(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	part, err := Restore(state, p.rules)
	if err != nil {
		p.t.Fatal(err)
	}
	again, err := part.AppendState(nil)
	if err != nil || !bytes.Equal(state, again) {
		p.t.Fatalf("the restored state has other bytes: %v", err)
	}
	p.part = part
}

// calls prints what is known of every call.
func (p *player) calls() {
	for _, t := range p.part.sortedTraces() {
		fmt.Fprintf(&p.print, "%s: %s, next time point %d\n", t.id.Trace, t.evidence, t.next)
		for _, c := range sortedCalls(t) {
			fmt.Fprintf(&p.print, "  %s %s", c.CallID, c.Status)
			if !c.Status.Unresolved() {
				fmt.Fprintf(&p.print, " by %d", c.SettledAt)
			}
			p.print.WriteString("\n")
		}
	}
}

func (p *player) step(line string, ev *schema.Event) {
	p.t.Helper()
	p.offset++
	p.last = ev
	ev.Position = schema.Position{Partition: 7, Offset: p.offset}
	fmt.Fprintf(&p.print, "%d %s\n", p.offset, line)
	for _, e := range p.part.Step(p.offset, ev) {
		fmt.Fprintf(&p.print, "   %s\n", effectText(&e))
	}
	if err := p.part.invariants(); err != nil {
		p.t.Fatalf("after %q: %v", line, err)
	}
}
