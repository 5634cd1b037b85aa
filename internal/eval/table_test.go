package eval

import (
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/corpus"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected outputs in testdata") //nolint:gochecknoglobals // flags of a test binary are global

// golden compares got with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s\nafter looking at it, run the test with -rewrite", path, got)
	}
}

// attacked makes a successful run of a suite with a chain of calls, in which the
// clauses first fired on the given calls.
func attacked(suite string, calls int, first ...int) outcome {
	return outcome{model: "m", suite: suite, calls: calls, attacked: true, successful: true, first: first}
}

func benign(suite string, userTask bool, first ...int) outcome {
	return outcome{model: "m", suite: suite, calls: 3, benign: true, userTask: userTask, first: first}
}

func handMade() *Table {
	tally := newTally([]string{"A", "B"})
	failed := attacked("banking", 4, 1, -1)
	failed.successful = false
	for _, o := range []outcome{
		attacked("slack", 5, 1, 3),    // lead 3
		attacked("slack", 5, -1, 0),   // lead 4, B alone
		attacked("banking", 3, 2, -1), // on the last call, A alone
		attacked("banking", 3, -1, -1),
		attacked("banking", 0, -1, -1), // no chain
		failed,
		benign("slack", true, -1, -1),
		benign("slack", true, -1, 2),
		benign("banking", false, 0, 0),
		{model: "n", suite: "travel", calls: 2, first: []int{0, 0}}, // neither attacked nor benign
	} {
		tally.add(o)
	}
	table := tally.table()
	table.Policy, table.Revision, table.Convention = "two", 3, Both
	table.Quirks = []corpus.Finding{{Quirk: "odd", Count: 3, Runs: 2, Example: "m/slack/user_task_1/none/none"}}
	return table
}

func TestTally(t *testing.T) {
	got := handMade()
	want := []Row{
		{"all", 10, 1, 5, 4, 4, 3, 3, 2, 2, 1},
		{"banking", 5, 1, 3, 2, 2, 1, 1, 1, 0, 0},
		{"slack", 4, 0, 2, 2, 2, 2, 2, 1, 2, 1},
		{"travel", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	}
	for i, row := range got.Rows {
		if row != want[i] {
			t.Errorf("row %s:\n got %+v\nwant %+v", want[i].Name, row, want[i])
		}
	}
	if a, b := got.Obligations["A"], got.Obligations["B"]; a != (Obligation{2, 1, 1}) || b != (Obligation{2, 2, 1}) {
		t.Errorf("obligations A %+v, B %+v", a, b)
	}
	if e := (Earliest{Preventive: 2, Last: 1, None: 1, LeadMedian: 3.5, LeadMean: 3.5, LeadMax: 4}); got.Earliest != e {
		t.Errorf("earliest %+v, want %+v", got.Earliest, e)
	}
}

func TestTableAsJSON(t *testing.T) {
	golden(t, "table.json", asJSON(t, handMade()))
}

func TestTableAsText(t *testing.T) {
	var out strings.Builder
	if err := handMade().WriteText(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", out.String())
}

func TestPublishedFiguresStandBesideTheSameRunsOnly(t *testing.T) {
	table := published()
	table.clauses = []string{"O1", "O2", "O3", "O4", "O5"}
	table.Policy, table.Models = publishedPolicy, []string{publishedModel}
	var out strings.Builder
	if err := table.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "published.txt", out.String())
	for _, change := range []func(*Table){
		func(t *Table) { t.Policy = "other" },
		func(t *Table) { t.Models = []string{publishedModel, "other"} },
		func(t *Table) { t.Models = nil },
	} {
		other := *table
		change(&other)
		if other.paper() != nil {
			t.Errorf("published figures beside policy %q on %v", other.Policy, other.Models)
		}
	}
}

// brokenPipe fails every write.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteTextReportsAFailedWrite(t *testing.T) {
	if err := handMade().WriteText(brokenPipe{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want %v", err, io.ErrClosedPipe)
	}
}
