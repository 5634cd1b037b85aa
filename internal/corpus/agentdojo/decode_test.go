package agentdojo

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/corpus"
	"github.com/aspis-rv/aspis/pkg/schema"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the transcripts in testdata") //nolint:gochecknoglobals // flags of a test binary are global

// TestTranscript reads the synthetic corpus, in which each run shows some variants
// of the format, and compares what was understood of it with a transcript.
func TestTranscript(t *testing.T) {
	var got strings.Builder
	got.WriteString("# What the importer understands of the runs in testdata/runs.\n")
	got.WriteString("# Regenerate with: go test ./internal/corpus/agentdojo -run TestTranscript -rewrite\n")
	runs := 0
	for run, err := range Runs(t.Context(), []string{"testdata/runs"}, Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		describe(&got, run)
		runs++
	}
	if runs != 9 {
		t.Errorf("read %d runs, want 9", runs)
	}
	const file = "testdata/transcript.txt"
	if *rewrite {
		if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got.String())
	}
}

func describe(w *strings.Builder, r *Run) {
	fmt.Fprintf(w, "\n%s: %d messages, %d calls\n", r.ID, r.Messages, r.Calls)
	fmt.Fprintf(w, "  attacked %t, successful %t, benign %t, user task only %t, utility %t\n",
		r.Attacked(), r.Successful(), r.Benign(), r.UserTaskOnly(), r.Utility)
	if r.Failure != "" {
		fmt.Fprintf(w, "  failure %q\n", r.Failure)
	}
	for _, q := range slices.Sorted(maps.Keys(r.Quirks)) {
		fmt.Fprintf(w, "  quirk %s × %d\n", q, r.Quirks[q])
	}
	for _, s := range r.Steps {
		switch s.Kind {
		case StepMessage:
			fmt.Fprintf(w, "  %d %s: %q\n", s.Message, s.Role, s.Text)
		case StepCall:
			fmt.Fprintf(w, "  %d call %s %s%s", s.Message, s.CallID, s.Tool, strings.Join(strings.Fields(string(s.Args)), ""))
			if s.ArgsStatus == schema.PayloadMalformed {
				fmt.Fprintf(w, " unreadable: %s", s.Text)
			}
			w.WriteString("\n")
		case StepResult:
			fmt.Fprintf(w, "  %d result of %s %s: %q", s.Message, s.CallID, s.Tool, s.Text)
			if s.Error != "" {
				fmt.Fprintf(w, " error %q", s.Error)
			}
			w.WriteString("\n")
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"no JSON":             `{"messages": [`,
		"a list":              `[]`,
		"null":                `null`,
		"an empty object":     `{}`,
		"another format":      `{"task_id": 1, "traj": []}`,
		"a number for a role": `{"suite_name": "s", "messages": [{"role": 1}]}`,
	} {
		if _, err := Decode("x.json", []byte(data)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want ErrMalformed", name, err)
		} else if !strings.HasPrefix(err.Error(), "x.json: ") {
			t.Errorf("%s: the message does not name the file: %v", name, err)
		}
	}
}

func TestDecodeLimitsSteps(t *testing.T) {
	run := func(n int) []byte {
		return []byte(`{"messages": [` + strings.TrimSuffix(strings.Repeat(`{"role": "user", "content": "x"},`, n), ",") + `]}`)
	}
	if r, err := Decode("x.json", run(MaxSteps)); err != nil || len(r.Steps) != MaxSteps {
		t.Errorf("%d steps: %v", MaxSteps, err)
	}
	if _, err := Decode("x.json", run(MaxSteps+1)); !errors.Is(err, ErrTooManySteps) {
		t.Errorf("%d steps: %v, want ErrTooManySteps", MaxSteps+1, err)
	}
}

func TestDecodeLimitsIDs(t *testing.T) {
	for length, want := range map[int]bool{maxRecordedID: true, maxRecordedID + 1: false} {
		id := strings.Repeat("x", length)
		run, err := Decode("x.json", []byte(`{"messages": [{"role": "assistant", "tool_calls": [{"function": "f", "id": "`+id+`"}]},
			{"role": "tool", "tool_call_id": "`+id+`"}, {"role": "tool", "tool_call_id": "`+id+`"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		checkRun(t, run)
		if call := run.Steps[0].CallID; (call == id) != want || len(call) > schema.MaxID || run.Steps[1].CallID != call {
			t.Errorf("id of %d bytes: call %q with result of %q", length, call, run.Steps[1].CallID)
		}
		if orphan := run.Steps[2].CallID; len(orphan) > schema.MaxID {
			t.Errorf("id of %d bytes: orphan of %d bytes", length, len(orphan))
		}
	}
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		run                                  Run
		attacked, successful, benign, byUser bool
	}{
		{run: Run{UserTask: "user_task_1"}, benign: true, byUser: true},
		{run: Run{UserTask: "user_task_1", Attack: "none", Security: true}, benign: true, byUser: true},
		{run: Run{UserTask: "injection_task_1"}, benign: true},
		{run: Run{UserTask: "user_task_1", Attack: "direct", Injection: "injection_task_1"}, attacked: true},
		{run: Run{UserTask: "user_task_1", Attack: "direct", Injection: "injection_task_1", Security: true}, attacked: true, successful: true},
		{run: Run{UserTask: "user_task_1", Attack: "direct", Security: true}},
		{run: Run{UserTask: "user_task_1", Attack: "none", Injection: "injection_task_1", Security: true}},
	} {
		r := &c.run
		if r.Attacked() != c.attacked || r.Successful() != c.successful || r.Benign() != c.benign || r.UserTaskOnly() != c.byUser {
			t.Errorf("%+v: attacked %t, successful %t, benign %t, user task only %t", *r, r.Attacked(), r.Successful(), r.Benign(), r.UserTaskOnly())
		}
	}
}

func TestLayout(t *testing.T) {
	for name, want := range map[string]string{
		"agentdojo/runs/m/banking/user_task_1/direct/injection_task_2.json": "m/banking/user_task_1/direct/injection_task_2",
		"m/banking/injection_task_1/none/none.json":                         "m/banking/injection_task_1/none/none",
		"banking/user_task_1/none/none.json":                                "model/banking/user_task_1/none/none",
		"../banking/user_task_1/none/none.json":                             "model/banking/user_task_1/none/none",
		"user_task_1/none/none.json":                                        "",
		"m/banking/user_task_1/none/other.json":                             "",
		"m/banking/task_1/none/none.json":                                   "",
		"m/banking/user_task_1/none/none.jsonl":                             "",
		"none.json":                                                         "",
		"":                                                                  "",
	} {
		p, ok := placeOf(name)
		if ok != (want != "") || (ok && p.id() != want) {
			t.Errorf("%q: %q, %t; want %q", name, p.id(), ok, want)
		}
	}
}

// FuzzDecode checks what holds of every run, whatever the file.
func FuzzDecode(f *testing.F) {
	for file, err := range corpus.Files(f.Context(), []string{"testdata/runs"}, IsRunFile) {
		if err != nil {
			f.Fatal(err)
		}
		data, err := file.Bytes()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"messages":[{"role":"tool","tool_call_id":"a"},{"role":"assistant","tool_calls":[{"function":"f","id":"a"},{"function":"f","id":"call#0"},{"function":"f"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := Decode("m/s/user_task_1/none/none.json", data)
		if err != nil {
			return
		}
		checkRun(t, run)
	})
}

// checkRun checks the invariants of a decoded run.
func checkRun(t *testing.T, run *Run) {
	t.Helper()
	calls, answered := map[string]string{}, map[string]bool{}
	for _, s := range run.Steps {
		switch s.Kind {
		case StepMessage:
		case StepCall:
			if _, reused := calls[s.CallID]; reused || s.CallID == "" || s.Tool == "" {
				t.Fatalf("call %q of %q: id reused, or no id or tool", s.CallID, s.Tool)
			}
			if (s.ArgsStatus == schema.PayloadOK) != (len(s.Args) > 0 && s.Args[0] == '{') {
				t.Fatalf("call %q: status %d with arguments %q", s.CallID, s.ArgsStatus, s.Args)
			}
			calls[s.CallID] = s.Tool
		case StepResult:
			if answered[s.CallID] || s.CallID == "" {
				t.Fatalf("a second result for call %q, or one for none", s.CallID)
			}
			if tool, known := calls[s.CallID]; known && tool != s.Tool {
				t.Fatalf("result of %q for call %q of %q", s.Tool, s.CallID, tool)
			}
			answered[s.CallID] = true
		}
	}
	if len(calls) != run.Calls {
		t.Fatalf("%d calls counted, %d in the steps", run.Calls, len(calls))
	}
}
