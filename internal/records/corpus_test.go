package records

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// archive visits the JSON files of a recorded corpus, or skips the test.
func archive(t *testing.T, name string, visit func(data []byte)) {
	t.Helper()
	dir := os.Getenv("ASPIS_SHARED")
	if dir == "" {
		t.Skip("ASPIS_SHARED is not set: the recorded corpora are not at hand")
	}
	f, err := os.Open(filepath.Join(dir, "data", "traces", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	packed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewReader(packed)
	for {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(head.Name, ".json") {
			continue
		}
		data, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		visit(data)
	}
}

// agentDojo visits the results of a corpus of AgentDojo. The tool is named with its suite.
func agentDojo(name string) func(*testing.T, func(tool, text string)) {
	return func(t *testing.T, visit func(tool, text string)) {
		t.Helper()
		archive(t, name, func(data []byte) {
			var run struct {
				Suite    string `json:"suite_name"`
				Messages []struct {
					Role    string          `json:"role"`
					Content json.RawMessage `json:"content"`
					Error   *string         `json:"error"`
					Call    struct {
						Function json.RawMessage `json:"function"`
					} `json:"tool_call"`
				} `json:"messages"`
			}
			if err := json.Unmarshal(data, &run); err != nil {
				t.Fatal(err)
			}
			for _, m := range run.Messages {
				if m.Role == "tool" && m.Error == nil {
					visit(run.Suite+"."+tool(m.Call.Function), content(m.Content))
				}
			}
		})
	}
}

// tool is a function's name: a string, or in older runs an object with one.
func tool(raw json.RawMessage) string {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return name
	}
	var object struct{ Name string }
	if json.Unmarshal(raw, &object) != nil {
		return string(raw)
	}
	return object.Name
}

// content is a message's text: a string, or a list of one part.
func content(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// sopBench visits the results of SOPBench. A result has no role, but a tool.
func sopBench(t *testing.T, visit func(tool, text string)) {
	t.Helper()
	archive(t, "sopbench.tar.gz", func(data []byte) {
		var tasks []struct {
			Domain       string
			Interactions []struct {
				Interaction []struct {
					Tool    string `json:"tool_name"`
					Content json.RawMessage
				}
			}
		}
		if err := json.Unmarshal(data, &tasks); err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			for _, i := range task.Interactions {
				for _, m := range i.Interaction {
					if m.Tool != "" {
						visit(task.Domain+"."+m.Tool, content(m.Content))
					}
				}
			}
		}
	})
}

// tauBench visits the results of τ-bench.
func tauBench(t *testing.T, visit func(tool, text string)) {
	t.Helper()
	archive(t, "tau-bench.tar.gz", func(data []byte) {
		var runs []struct {
			Traj []struct {
				Role, Name string
				Content    json.RawMessage
			}
		}
		if err := json.Unmarshal(data, &runs); err != nil {
			t.Fatal(err)
		}
		for _, run := range runs {
			for _, m := range run.Traj {
				if m.Role == "tool" {
					visit(m.Name, content(m.Content))
				}
			}
		}
	})
}

// tally counts the results of a tool.
type tally struct {
	results int
	empty   int            // without any text, where the harness lost the result
	read    map[Format]int // parsed, and not as a lone text
	same    map[Format]int // printed back byte by byte
}

// TestRecordedResults reads every recorded result in each format with a structure. How
// many of each tool's are read, and printed back byte by byte, is recorded.
func TestRecordedResults(t *testing.T) {
	for _, corpus := range []struct {
		name  string
		visit func(*testing.T, func(tool, text string))
	}{
		{"agentdojo-gpt-4o", agentDojo("agentdojo-gpt-4o-2024-05-13.tar.gz")},
		{"agentdojo", agentDojo("agentdojo.tar.gz")},
		{"sopbench", sopBench},
		{"tau-bench", tauBench},
	} {
		t.Run(corpus.name, func(t *testing.T) {
			tools := map[string]*tally{}
			corpus.visit(t, func(tool, text string) {
				if tools[tool] == nil {
					tools[tool] = &tally{read: map[Format]int{}, same: map[Format]int{}}
				}
				count(t, tools[tool], text)
			})
			golden(t, corpus.name+".txt", table(tools))
		})
	}
}

func count(t *testing.T, c *tally, text string) {
	t.Helper()
	c.results++
	if text == "" {
		c.empty++
		return
	}
	for _, f := range Formats() {
		v, err := Parse(f, text)
		if err != nil || f == YAML && v.Kind() == String {
			continue // any word is YAML
		}
		c.read[f]++
		printed, err := Print(f, v)
		if err != nil {
			t.Fatalf("%v: %.200q is read and not printed: %v", f, text, err)
		}
		if printed == text {
			c.same[f]++
		}
		if again, err := Parse(f, printed); err != nil || !again.Equal(v) {
			t.Fatalf("%v: %.200q is printed as %.200q, which is read as another value (%v)", f, text, printed, err)
		}
	}
}

// table lists the tools with their counts.
func table(tools map[string]*tally) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-52s %7s %6s %13s %13s %13s %13s\n", "read/printed back", "results", "empty", JSON, YAML, Python, Lines)
	names := make([]string, 0, len(tools))
	for name := range tools {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := tools[name]
		fmt.Fprintf(&b, "%-52s %7d %6d", name, c.results, c.empty)
		for _, f := range []Format{JSON, YAML, Python, Lines} {
			fmt.Fprintf(&b, " %13s", fmt.Sprintf("%d/%d", c.read[f], c.same[f]))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// golden compares with a recorded table, or records it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s differs (%v); if that is wanted, run with -update. Now:\n%s", path, err, got)
	}
}
