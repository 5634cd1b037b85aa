package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/loadtest/fleet"
	"github.com/aspis-rv/aspis/loadtest/table"
)

// TestMain makes the test's binary what Main is, so that it can be the NATS server of
// separate processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveLog {
		os.Exit(Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// run runs a command line and returns its report.
func run(t *testing.T, args ...string) table.Report {
	t.Helper()
	var out, errw bytes.Buffer
	args = append([]string{"loadtest"}, append(args, "--json", "--warmup", "50ms", "--measure", "300ms", "--partitions", "2")...)
	if code := Main(args, strings.NewReader(""), &out, &errw); code != exitOK {
		t.Fatalf("%v: exit code %d\n%s%s", args, code, errw.Bytes(), out.Bytes())
	}
	var r table.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	return r
}

func checkRow(t *testing.T, r *table.Row, roles int) {
	t.Helper()
	if r.PerSecond <= 0 || r.Response.Count == 0 || r.Response.P50 <= 0 || r.Response.P50 > r.Response.Max {
		t.Errorf("%s: %g calls per second, latencies %+v", r.Name(), r.PerSecond, r.Response)
	}
	if r.Counts.Wrong > 0 || r.Counts.Permitted == 0 || r.Counts.Refused == 0 || r.Counts.Records == 0 || r.Signatures == 0 {
		t.Errorf("%s: %+v, %d signatures verified", r.Name(), r.Counts, r.Signatures)
	}
	if len(r.Roles) != roles {
		t.Errorf("%s: accounts of %+v, want %d processes", r.Name(), r.Roles, roles)
	}
	for _, role := range r.Roles {
		if role.RSS <= 0 {
			t.Errorf("%s: %s has no memory", r.Name(), role.Name)
		}
	}
}

// TestInProcess runs every row in small and finds every answer right.
func TestInProcess(t *testing.T) {
	r := run(t, "inprocess", "--sessions", "6", "--saturate", "4", "--tenants", "3", "--rate", "100", "--rate-one", "50")
	if len(r.Rows) != 8 {
		t.Fatalf("%d rows, want four of each workload", len(r.Rows))
	}
	for i := range r.Rows {
		checkRow(t, &r.Rows[i], 1)
	}
}

// TestSeparateProcesses builds the daemons and runs them as processes.
func TestSeparateProcesses(t *testing.T) {
	r := run(t, "processes", "--workload", "baseline", "--row", "one-closed")
	if len(r.Rows) != 2 {
		t.Fatalf("%d rows, want one of each surface", len(r.Rows))
	}
	checkRow(t, &r.Rows[0], 4) // server, aspectd, composer, this process as the gate
	checkRow(t, &r.Rows[1], 5)
	if len(r.Rows[0].Bars) == 0 || len(r.Rows[1].Bars) != 0 {
		t.Errorf("bars %v and %v, want them at the first row only", r.Rows[0].Bars, r.Rows[1].Bars)
	}
}

func TestUp(t *testing.T) {
	r := run(t, "http", "--workload", "baseline", "--row", "one-closed")
	checkRow(t, &r.Rows[0], 2)
}

func TestHops(t *testing.T) {
	for _, args := range [][]string{{"hops"}, {"hops", "--apart"}} {
		var out, errw bytes.Buffer
		args = append([]string{"loadtest"}, append(args, "--json", "--warmup", "50ms", "--measure", "300ms", "--partitions", "2")...)
		if code := Main(args, strings.NewReader(""), &out, &errw); code != exitOK {
			t.Fatalf("exit code %d: %s", code, errw.Bytes())
		}
		var got hopsOutput
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Calls < 5 || got.Partial > got.Calls/2 || got.Whole.Permit.P50 <= 0 {
			t.Errorf("%v: %d calls followed, %d in part, %+v", args, got.Calls, got.Partial, got.Whole)
		}
	}
}

func TestAWrongAnswerIsExitCode1(t *testing.T) {
	for name, c := range map[string]fleet.Counts{
		"wrong":     {Checked: 100, Permitted: 50, Refused: 49, Wrong: 1},
		"nothing":   {},
		"undecided": {Checked: 100, Permitted: 50, Refused: 50, Undecided: 10},
	} {
		e := &env{out: io.Discard, err: io.Discard, json: true}
		if err := e.print(&table.Report{Rows: []table.Row{{Counts: c}}}); !errors.Is(err, errUnsound) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if code := exitCode(errUnsound); code != exitWrong {
		t.Errorf("exit code %d", code)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range []string{
		"inprocess --row nothing", "inprocess --measure 1ms", "inprocess --warmup 1h", "inprocess --sessions 0", "inprocess --rate 0",
		"inprocess --workload nothing", "processes --surface nothing", "hops --workload nothing", "inprocess extra",
	} {
		var errw bytes.Buffer
		code := Main(append([]string{"loadtest"}, strings.Fields(args)...), strings.NewReader(""), io.Discard, &errw)
		if code != exitUsage || !strings.HasPrefix(errw.String(), "loadtest: ") {
			t.Errorf("%s: exit code %d, %q", args, code, errw.String())
		}
	}
}

// TestFloor measures the log alone, in both loops.
func TestFloor(t *testing.T) {
	var out, errw bytes.Buffer
	args := []string{"loadtest", "floor", "--json", "--warmup", "20ms", "--measure", "200ms", "--rate-one", "100"}
	if code := Main(args, strings.NewReader(""), &out, &errw); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, errw.Bytes())
	}
	var rows []floorRow
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil || len(rows) != 2 {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	for _, r := range rows {
		if r.Response.Count == 0 || r.Response.P50 <= 0 {
			t.Errorf("%s: %+v", r.Loop, r.Response)
		}
	}
}
