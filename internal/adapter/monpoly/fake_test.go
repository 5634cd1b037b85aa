package monpoly

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// The fake is this test binary, run as MonPoly: it reads the same files and log and
// writes the same lines, and its answers are those of our own engine. It misbehaves in
// one way at a time, at the questions of a bundle but not at the probes.
const (
	fakeMode = "ASPIS_FAKE_MONPOLY"
	fakeLog  = "ASPIS_FAKE_MONPOLY_LOG" // a file to which every process appends what it is
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(fakeMode); mode != "" {
		os.Exit(runFake(mode, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// fake writes a script that runs the fake in a mode, and returns its path and that of
// the log that its processes write.
func fake(tb testing.TB, mode string) (binary, log string) {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	binary, log = filepath.Join(dir, "monpoly"), filepath.Join(dir, "log")
	script := fmt.Sprintf("#!/bin/sh\nGORACE=atexit_sleep_ms=0 %s='%s' %s='%s' exec '%s' \"$@\"\n", fakeMode, mode, fakeLog, log, self)
	if err := os.WriteFile(binary, []byte(script), 0o700); err != nil {
		tb.Fatal(err)
	}
	return binary, log
}

// faker is one run of the fake.
type faker struct {
	mode     string
	from     int // the time point from which on it misbehaves
	out, err io.Writer
	checked  *check.Checked
	state    *mfotl.State
	log      *os.File
	at       int
	last     int64
}

func runFake(mode string, args []string, in io.Reader, out, errw io.Writer) int {
	f := &faker{mode: mode, out: out, err: errw, last: -1}
	options := map[string]string{}
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-sig", "-formula":
			options[args[i]] = args[i+1]
			i++
		default:
			options[args[i]] = ""
		}
	}
	if rest, ok := strings.CutPrefix(mode, "from "); ok {
		first, rest, _ := strings.Cut(rest, " ")
		f.mode = rest
		f.from, _ = strconv.Atoi(first)
	}
	if strings.HasPrefix(filepath.Base(options["-formula"]), "probe") && mode != "unsound" && mode != "mute" && mode != "fails" && mode != "foreign" && mode != "hangs" {
		f.mode = "ok"
	}
	if err := f.load(options["-sig"], options["-formula"]); err != nil {
		fmt.Fprintln(errw, err)
		return 2
	}
	if _, ok := options["-check"]; ok {
		return f.check()
	}
	for _, o := range []string{"-verbose", "-no_rw", "-nofilteremptytp", "-nofilterrel", "-stop_at_out_of_order_ts"} {
		if _, ok := options[o]; !ok {
			fmt.Fprintf(errw, "the option %s is not there\n", o)
			return 3
		}
	}
	if len(options) != 7 {
		fmt.Fprintf(errw, "other options than expected: %v\n", args)
		return 3
	}
	return f.monitor(bufio.NewReader(in))
}

// load reads signature and formula.
func (f *faker) load(sigFile, formulaFile string) error {
	text, err := os.ReadFile(sigFile)
	if err != nil {
		return err
	}
	sig := check.Signature{}
	for line := range strings.Lines(string(text)) {
		name, args, _ := strings.Cut(strings.TrimSpace(line), "(")
		kinds := []schema.ValueKind{}
		for k := range strings.SplitSeq(strings.TrimSuffix(args, ")"), ",") {
			switch k {
			case "int":
				kinds = append(kinds, schema.KindInt)
			case "string":
				kinds = append(kinds, schema.KindString)
			case "float":
				kinds = append(kinds, schema.KindFloat)
			}
		}
		sig[name] = kinds
	}
	if text, err = os.ReadFile(formulaFile); err != nil {
		return err
	}
	formula, diags := syntax.Parse(string(text), syntax.Options{Mode: syntax.MonPoly})
	if formula == nil {
		return fmt.Errorf("%s: %w", text, diags[0])
	}
	if f.checked, diags = check.Check(formula, sig, check.Options{Mode: syntax.MonPoly}); f.checked == nil {
		return fmt.Errorf("%s: %w", text, diags[0])
	}
	plan, err := mfotl.Compile([]*check.Checked{f.checked})
	if err != nil {
		return err
	}
	f.state = plan.New()
	return nil
}

// columns is the order in which the fake prints the variables: last first.
func (f *faker) columns() []int {
	var out []int
	for i := range f.checked.Free {
		out = append(out, len(f.checked.Free)-1-i)
	}
	return out
}

func (f *faker) check() int {
	var names []string
	for _, i := range f.columns() {
		names = append(names, f.checked.Free[i].Name)
	}
	variables := "The sequence of free variables is: (" + strings.Join(names, ",") + ")\n"
	switch f.mode {
	case "unmonitorable":
		fmt.Fprintf(f.err, "The input formula is:\n  x\n%sThe analyzed formula is NOT monitorable, because of the subformula:\n  x\n", variables)
		return 0
	case "mute", "mute formula":
		return 0
	case "fails", "fails formula":
		fmt.Fprintln(f.err, `Fatal error: exception Failure("[Rewriting.check_wff]")`)
		return 2
	case "hangs", "hangs formula":
		_, _ = io.Copy(io.Discard, blocked{})
	case "variables":
		variables = "The sequence of free variables is: (v7)\n"
	}
	fmt.Fprintf(f.err, "The input formula is:\n  %s\n%sThe formula is monitorable.\n", f.checked.Source, variables)
	return 0
}

// blocked is a reader that never returns.
type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }

// monitor reads the log from in and answers.
func (f *faker) monitor(in *bufio.Reader) int {
	if name := os.Getenv(fakeLog); name != "" {
		var err error
		if f.log, err = os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return 3
		}
		defer f.log.Close() //nolint:errcheck // a test
	}
	f.note("start")
	if c, err := in.ReadByte(); err != nil || c != '@' {
		return 1
	}
	for {
		text, err := in.ReadString(';')
		if err != nil {
			return 0
		}
		// The time point is evaluated when the token behind it has been read.
		if c, err := in.ReadByte(); err != nil || c != '@' {
			return 1
		}
		if code, ended := f.point(strings.TrimSpace(strings.TrimSuffix(text, ";")), in); ended {
			return code
		}
		f.at++
	}
}

func (f *faker) note(what string) {
	if f.log != nil {
		fmt.Fprintf(f.log, "%d %s\n", os.Getpid(), what)
	}
}

// point answers one time point, or misbehaves.
func (f *faker) point(text string, in *bufio.Reader) (code int, ended bool) {
	f.note(text)
	first, rest, _ := strings.Cut(text, " ")
	ts, err := strconv.ParseInt(first, 10, 64)
	if err != nil || ts < f.last {
		fmt.Fprintln(f.err, "Error: OUT OF ORDER TIMESTAMP")
		return 1, true
	}
	f.last = ts
	facts, err := parseFacts(rest, f.checked)
	if err != nil {
		fmt.Fprintln(f.err, err)
		return 1, true
	}
	f.state.Step(ts, uint64(f.at), facts)
	rows := f.state.Rows(0)
	f.state.Commit()
	head, body := fmt.Sprintf("At time point %d:\n", f.at), fmt.Sprintf("@%d (time point %d): %s\n", ts, f.at, f.print(rows))
	return f.misbehave(head, body, ts, in)
}

func (f *faker) misbehave(head, body string, ts int64, in io.Reader) (code int, ended bool) {
	mode := f.mode
	if f.at < f.from {
		mode = "ok"
		if f.mode == "dies" { // between time points
			f.say(head, body)
			return 0, true
		}
	}
	switch mode {
	case "silent":
		return 0, false
	case "late": // after its log has ended
		_, _ = io.Copy(io.Discard, in)
		f.say(head, body)
		return 0, true
	case "head only":
		f.say(head)
	case "garbage":
		f.say(head, "(1,2)\n")
	case "other point":
		f.say(head, fmt.Sprintf("@%d (time point %d): %s", ts, f.at+1, strings.SplitAfterN(body, ": ", 2)[1]))
	case "other head":
		f.say(fmt.Sprintf("At time point %d:\n", f.at+1), body)
	case "other time":
		f.say(head, fmt.Sprintf("@%d (time point %d): %s", ts+1, f.at, strings.SplitAfterN(body, ": ", 2)[1]))
	case "twice":
		f.say(head, body, head, body)
	case "row twice":
		f.say(head, fmt.Sprintf("@%d (time point %d): ((\"x61\"),(\"x61\"))\n", ts, f.at))
	case "unquoted":
		f.say(head, fmt.Sprintf("@%d (time point %d): ((x61))\n", ts, f.at))
	case "partial":
		f.say(head, body[:len(body)-3])
		return 0, true
	case "zero":
		fmt.Fprintln(f.err, "Fatal error: exception Division_by_zero")
		return 2, true
	case "endless":
		for {
			if _, err := io.WriteString(f.out, strings.Repeat("(", 1<<16)); err != nil {
				return 1, true
			}
		}
	case "unsound":
		f.say(head, strings.NewReplacer("()", "((1,1))", "false", "true").Replace(body))
	default:
		f.say(head, body)
	}
	return 0, false
}

func (f *faker) say(lines ...string) { _, _ = io.WriteString(f.out, strings.Join(lines, "")) }

// print writes rows as MonPoly does when it is verbose.
func (f *faker) print(rows []schema.Row) string {
	if len(f.checked.Free) == 0 {
		return strconv.FormatBool(len(rows) > 0)
	}
	var out []string
	for _, r := range rows {
		var values []string
		for _, i := range f.columns() {
			values = append(values, r.Values[i].String())
		}
		out = append(out, "("+strings.Join(values, ",")+")")
	}
	return "(" + strings.Join(out, ",") + ")"
}

// parseFacts reads `name(value,value) …`. The values are typed as they are written:
// strings begin with an x.
func parseFacts(text string, c *check.Checked) ([]schema.Fact, error) {
	var out []schema.Fact
	for f := range strings.FieldsSeq(text) {
		name, args, ok := strings.Cut(strings.TrimSuffix(f, ")"), "(")
		if !ok || !slices.Contains(c.Relations, name) {
			return nil, fmt.Errorf("fact %q", f)
		}
		fact := schema.Fact{Name: name}
		for a := range strings.SplitSeq(args, ",") {
			switch {
			case args == "":
			case strings.HasPrefix(a, "x"):
				if _, err := hex.DecodeString(a[1:]); err != nil {
					return nil, err
				}
				fact.Args = append(fact.Args, schema.StringValue(a))
			case strings.Contains(a, "."):
				v, err := strconv.ParseFloat(a, 64)
				if err != nil {
					return nil, err
				}
				fact.Args = append(fact.Args, schema.FloatValue(v))
			default:
				v, err := strconv.ParseInt(a, 10, 64)
				if err != nil {
					return nil, err
				}
				fact.Args = append(fact.Args, schema.IntValue(v))
			}
		}
		out = append(out, fact)
	}
	return out, nil
}
