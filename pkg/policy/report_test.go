package policy

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

var rewriteGolden = flag.Bool("rewrite", false, "write the golden files of testdata/golden") //nolint:gochecknoglobals // flags of a test binary are global

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *rewriteGolden {
		write(t, filepath.Dir(path), name, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run go test ./pkg/policy -rewrite and read the diff. Got:\n%s", path, got)
	}
}

// What `aspis check` prints, with the tools of a deployment.
func TestReports(t *testing.T) {
	for _, tt := range []struct{ golden, dir, tools string }{
		{"baseline.txt", "../../policies/baseline", ""},
		{"consent.txt", "testdata/consent", ""},
		{"field.txt", "testdata/field", ""},
		{"consent-mcp.txt", "testdata/consent", "testdata/tools/mcp.json"},
		{"consent-openai.txt", "testdata/consent", "testdata/tools/openai.json"},
	} {
		r, err := Check(tt.dir, CheckOptions{Tools: tt.tools})
		if err != nil {
			t.Fatal(err)
		}
		if !r.OK {
			t.Errorf("%s: not ok: %v", tt.dir, r.Diagnostics)
		}
		_, text, _ := strings.Cut(r.Text(), "\n") // the first line names the digest
		golden(t, tt.golden, text)
	}
}

func TestReportOfBrokenBundle(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, policyFile, filled("unmapped: allow\n"))
	r, err := Check(dir, CheckOptions{})
	if err != nil || r.OK || r.Bundle != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if text := r.Text(); !strings.Contains(text, "1 | unmapped: allow") {
		t.Errorf("the line is not shown:\n%s", text)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		OK          bool
		Diagnostics []struct {
			Code, Severity, File, Message, Hint string
			Line, Column                        int
		}
	}
	if err := json.Unmarshal(data, &back); err != nil || len(back.Diagnostics) != 1 {
		t.Fatalf("%s: %v", data, err)
	}
	if d := back.Diagnostics[0]; d.Code != "B006" || d.Severity != "error" || d.File != policyFile || d.Line != 1 || d.Column != 11 {
		t.Errorf("got %+v", d)
	}
	if _, err := Check(filepath.Join(dir, "nonesuch"), CheckOptions{}); err == nil {
		t.Error("no error for a directory that does not exist")
	}
	if _, err := Check(dir, CheckOptions{Tools: filepath.Join(dir, "nonesuch")}); err == nil {
		t.Error("no error for a file of tools that does not exist")
	}
}

func TestToolsThatCannotBeRead(t *testing.T) {
	b := load(t, "testdata/consent")
	for _, text := range []string{"", "{}", "[]", `{"tools": [{}]}`, `{"tools": 1}`, `{"tools": [], "tools": []}`, "[1]", "not JSON"} {
		found := CompareTools(b, "tools.json", []byte(text))
		wantCode(t, found, CodeRead, "tools.json", "")
	}
	if found := CompareTools(nil, "tools.json", []byte(`[{"name":"x"}]`)); len(found) > 0 {
		t.Errorf("without a bundle: %v", found)
	}
}

// Under `unmapped: permit` an uncovered tool is a remark, else a warning.
func TestUncoveredTools(t *testing.T) {
	for _, tt := range []struct {
		dir      string
		severity diag.Severity
	}{{"../../policies/baseline", diag.Info}, {"testdata/consent", diag.Warning}} {
		found := CompareTools(load(t, tt.dir), "tools.json", []byte(`[{"name":"reserve_table"}]`))
		if len(found) != 1 || found[0].Code != CodeUncovered || found[0].Severity != tt.severity || found[0].Span.Start.Col != 10 {
			t.Errorf("%s: %+v", tt.dir, found)
		}
	}
}

func TestExpectationMatch(t *testing.T) {
	f, fp := verdict.F, verdict.Fp
	refused := Outcome{
		Decision: verdict.Refuse, Reason: verdict.Violation, Value: f,
		Clauses: []ClauseOutcome{
			{ID: "A", Value: f, Bindings: []map[string]schema.Value{
				{"r": schema.StringValue("A"), "n": schema.IntValue(5)}, {"r": schema.StringValue("B"), "n": schema.IntValue(6)},
			}},
			{ID: "B", Value: verdict.Tp},
		},
	}
	doubted := Outcome{
		Decision: verdict.Refuse, Reason: verdict.Unknown,
		Clauses: []ClauseOutcome{{ID: "A", Completeness: verdict.Incomplete}, {ID: "B"}},
	}
	for _, tt := range []struct {
		name string
		e    Expectation
		o    Outcome
		want string // a part of the differences, "" for none
	}{
		{"met", Expectation{Decision: "refuse", Reason: verdict.Violation, Clause: "A", Value: &f, Binding: map[string]schema.Value{"r": schema.StringValue("B")}}, refused, ""},
		{"a number in quotes", Expectation{Clause: "A", Binding: map[string]schema.Value{"n": schema.StringValue("5")}}, refused, ""},
		{"any clause", Expectation{Binding: map[string]schema.Value{"r": schema.StringValue("A")}}, refused, ""},
		{"decision", Expectation{Decision: "permit"}, refused, "the decision is refuse, want permit"},
		{"reason", Expectation{Reason: verdict.Unknown}, refused, `the reason is "violation", want "unknown"`},
		{"value", Expectation{Clause: "A", Value: &fp}, refused, "the value is F, want Fp"},
		{"overall value", Expectation{Value: &fp}, refused, "the value is F, want Fp"},
		{"another clause", Expectation{Clause: "B"}, refused, "the clause B does not fire"},
		{"no such clause", Expectation{Clause: "C"}, refused, "the clause C does not fire"},
		{"a clause that could not be checked", Expectation{Reason: verdict.Unknown, Clause: "A"}, doubted, ""},
		{"one beside it that could", Expectation{Reason: verdict.Unknown, Clause: "B"}, doubted, "the clause B does not fire"},
		{"values of one firing", Expectation{Clause: "A", Binding: map[string]schema.Value{"r": schema.StringValue("A"), "n": schema.IntValue(6)}}, refused, `the binding is {n: 5, r: "A"} {n: 6, r: "B"}, want {n: 6, r: "A"}`},
		{"unknown variable", Expectation{Binding: map[string]schema.Value{"x": schema.IntValue(1)}}, refused, "want {x: 1}"},
		{"a flagged permit is no permit", Expectation{Decision: "permit"}, Outcome{Flagged: true}, "the decision is flag"},
		{"flag", Expectation{Decision: "flag"}, Outcome{Flagged: true}, ""},
		{"a flagged refusal is a refusal", Expectation{Decision: "refuse"}, Outcome{Decision: verdict.Refuse, Flagged: true}, ""},
	} {
		got := strings.Join(tt.e.Match(tt.o), "; ")
		if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A test's events are whole: ids, calls of results, times.
func TestTestsAreCompleted(t *testing.T) {
	b := load(t, "testdata/consent")
	for _, test := range b.Tests {
		for i, ev := range test.Events {
			if ev.ID == "" || ev.Tenant == "" || ev.SessionID == "" || ev.Actor.Class == "" || ev.Vantage != schema.Observed || ev.Timestamp != ev.ClaimedTS {
				t.Errorf("%s: event %d is %+v", test.Name, i, ev)
			}
			switch ev.Kind {
			case schema.KindCall, schema.KindResult:
				if ev.CallID == "" || ev.Tool == "" {
					t.Errorf("%s: event %d has no call id or tool", test.Name, i)
				}
			case schema.KindGrant:
			case schema.KindMessage, schema.KindResolution, schema.KindObservation, schema.KindTick, schema.KindPolicy, schema.KindSession, schema.KindWithdrawn:
				t.Errorf("%s: event %d is a %s", test.Name, i, ev.Kind)
			}
		}
		if c := test.Copies(); len(c) != len(test.Events) || c[0] == test.Events[0] || c[0].ID != "e0" {
			t.Errorf("%s: copies %v", test.Name, c)
		}
		if len(test.Expect) == 0 || !test.Pos.IsValid() || test.File != "tests/consent.yaml" {
			t.Errorf("%s: %d expectations, at %v in %q", test.Name, len(test.Expect), test.Pos, test.File)
		}
	}
}
