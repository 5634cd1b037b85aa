package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/monpoly/reference"
)

// fewestEqual is the number of reference cases that must be compared and equal.
const fewestEqual = 440

// TestMFOTLReference runs `aspis mfotl` on every reference case and compares with what
// MonPoly printed, byte for byte, and with its exit code.
func TestMFOTLReference(t *testing.T) {
	cases := referenceCases(t)
	var tally struct{ compared, equal, prefix int }
	leftOut := map[string]int{}
	for _, c := range cases {
		if why := c.leftOut(); why != "" {
			leftOut[why]++
			continue
		}
		code, out, errw := c.run()
		tally.compared++
		want := c.want()
		prefix := c.meta.Naive == "prefix" && out != want && strings.HasPrefix(out, want)
		if prefix {
			tally.prefix++
		}
		problem := c.compareErrors(code, errw)
		switch {
		case out != want && !prefix:
			t.Errorf("%s: got\n%s\nwant\n%s\nstandard error\n%s", c.name, out, want, errw)
		case problem != "":
			t.Errorf("%s: %s\nstandard error\n%s\nMonPoly's\n%s", c.name, problem, errw, c.files["expected.stderr"])
		default:
			tally.equal++
		}
	}
	t.Logf("%d cases: %d compared, %d equal (%d with more time points determined at the end)",
		len(cases), tally.compared, tally.equal, tally.prefix)
	for why, n := range leftOut {
		t.Logf("%d left out: %s", n, why)
	}
	if tally.equal < fewestEqual {
		t.Errorf("only %d cases are equal, want at least %d", tally.equal, fewestEqual)
	}
}

// referenceCase is one folder of the reference data.
type referenceCase struct {
	name  string
	files map[string]string
	meta  struct {
		Flags []string `json:"flags"`
		Exit  int      `json:"exit"`
		Naive string   `json:"naive"`
	}
	dir string
}

// leftOut says why a case is not compared, or nothing.
func (c *referenceCase) leftOut() string {
	for _, flag := range []string{"-ignore_parse_errors", "-nonewlastts", "-sigout", "-unix", "-stop_at_first_viol"} {
		if slices.Contains(c.meta.Flags, flag) {
			return "flag " + flag
		}
	}
	switch name := strings.TrimPrefix(c.name, "probe-"); {
	case strings.HasPrefix(name, "re-"), name == "sig-regexp", name == "s2r":
		return "regular-expression operators or values"
	case name == "letpast2":
		return "LETPAST"
	case name == "st-save":
		return "saved states"
	case name == "log-bigts":
		return "time stamps of more than 64 bits are an error here"
	case name == "ts-filter-unsound":
		return "MonPoly's filter changes the answer; ours does not"
	case name == "arith-fdiv0":
		return "zero divided by zero is an error here, not a number that is none"
	case name == "rw-once-less-unb":
		return "MonPoly refuses the formula; here it can be monitored"
	}
	return ""
}

// TestMFOTLExplainReference holds that -explain explains every answer of the reference
// cases and changes none.
func TestMFOTLExplainReference(t *testing.T) {
	explained := 0
	for _, c := range referenceCases(t) {
		if c.leftOut() != "" || slices.Contains(c.meta.Flags, "-verbose") || slices.Contains(c.meta.Flags, "-check") {
			continue
		}
		code, want, _ := c.run()
		got, out, errw := c.run("-explain")
		answers, reasons := withoutReasons(out)
		if got != code || answers != want {
			t.Errorf("%s: exit code %d and\n%s\nwant %d and\n%s\n%s", c.name, got, answers, code, want, errw)
		}
		explained += reasons
	}
	t.Logf("%d lines of reasons", explained)
	if explained < 1000 {
		t.Error("too few answers are explained")
	}
}

// withoutReasons puts the tuples of a time point, which -explain prints on a line each, on
// one line, and counts the lines of reasons.
func withoutReasons(out string) (answers string, reasons int) {
	var b strings.Builder
	last := ""
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "  ") {
			reasons++
			continue
		}
		point, tuple, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "):")
		if point != last {
			if last != "" {
				b.WriteString("\n")
			}
			b.WriteString(point + "):")
			last = point
		}
		b.WriteString(tuple)
	}
	if last != "" {
		b.WriteString("\n")
	}
	return b.String(), reasons
}

// run runs the command.
func (c *referenceCase) run(flags ...string) (code int, out, errw string) {
	args := slices.Concat([]string{
		"aspis", "mfotl", "-sig", filepath.Join(c.dir, "sig"), "-formula", filepath.Join(c.dir, "formula.mfotl"),
		"-log", filepath.Join(c.dir, "log"),
	}, c.meta.Flags, flags)
	var stdout, stderr bytes.Buffer
	code = Main(args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// want is the output that is due: MonPoly's without the time point that it makes up at
// the end, which only -verbose shows.
func (c *referenceCase) want() string {
	out := c.files["expected.stdout"]
	if slices.Contains(c.meta.Flags, "-verbose") {
		out = regexp.MustCompile(`At time point \d+:\n$`).ReplaceAllString(out, "")
	}
	return out
}

// compareErrors says how the exit code, or the place of the mistake, differs.
func (c *referenceCase) compareErrors(code int, errw string) string {
	theirs := c.files["expected.stderr"]
	if strings.Contains(theirs, "NOT monitorable") {
		if code != exitNo {
			return "the exit code of a formula that cannot be monitored is not 1"
		}
		return ""
	}
	crashed := strings.Contains(theirs, "Fatal error: exception")
	if (code == 0) != (c.meta.Exit == 0) || code != c.meta.Exit && !crashed {
		return "the exit code differs from MonPoly's"
	}
	if at := regexp.MustCompile(`(?m)^log:\d+:\d+:`).FindString(theirs); code != 0 && !strings.Contains(errw, at) {
		return "the mistake is at another place"
	}
	return ""
}

// referenceCases puts each case into a directory of its own.
func referenceCases(t *testing.T) []*referenceCase {
	t.Helper()
	byName := map[string]*referenceCase{}
	base := t.TempDir()
	var cases []*referenceCase
	for file, content := range reference.Files(t, reference.Answers) {
		if path.Base(file) == checksFile {
			continue
		}
		name := path.Base(path.Dir(file))
		c := byName[name]
		if c == nil {
			c = &referenceCase{name: name, files: map[string]string{}, dir: filepath.Join(base, name)}
			byName[name] = c
			cases = append(cases, c)
			if err := os.Mkdir(c.dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		c.files[path.Base(file)] = content
		writeText(t, filepath.Join(c.dir, path.Base(file)), content)
	}
	for _, c := range cases {
		if err := json.Unmarshal([]byte(c.files["meta.json"]), &c.meta); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
	}
	slices.SortFunc(cases, func(a, b *referenceCase) int { return strings.Compare(a.name, b.name) })
	return cases
}

func writeText(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// checksFile has MonPoly's verdicts about formulas, one to a line.
const checksFile = "check.jsonl"

// TestMFOTLCheckReference asks of every reference formula whether it can be monitored: what
// MonPoly accepts is accepted, and what is an error there is one.
func TestMFOTLCheckReference(t *testing.T) {
	const fewestAgreed = 125
	files := reference.Files(t, reference.Answers)
	dir := t.TempDir()
	var agreed, more int
	for line := range strings.Lines(files["cases/"+checksFile]) {
		var c checkCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if c.leftOut() {
			continue
		}
		writeText(t, filepath.Join(dir, "sig"), c.Sig)
		writeText(t, filepath.Join(dir, "formula"), c.Formula)
		args := []string{"aspis", "mfotl", "-check", "-sig", filepath.Join(dir, "sig"), "-formula", filepath.Join(dir, "formula")}
		if c.Negate {
			args = append(args, "-negate")
		}
		var errw bytes.Buffer
		switch code := Main(args, strings.NewReader(""), io.Discard, &errw); {
		case code == c.want():
			agreed++
		case code == exitOK && c.want() == exitNo:
			more++
		default:
			t.Errorf("%s (negated: %t): exit code %d, MonPoly says %s\n%s", c.Formula, c.Negate, code, c.Verdict, errw.String())
		}
	}
	t.Logf("%d formulas judged alike, %d more can be monitored here", agreed, more)
	if agreed < fewestAgreed {
		t.Errorf("only %d formulas judged alike, want at least %d", agreed, fewestAgreed)
	}
}

// checkCase is a line of checksFile.
type checkCase struct {
	Formula string `json:"formula"`
	Negate  bool   `json:"negate"`
	Sig     string `json:"sig"`
	Verdict string `json:"verdict"`
}

// leftOut names the formulas that are none here: LETPAST is no part of the language.
func (c *checkCase) leftOut() bool {
	return strings.HasPrefix(c.Formula, "LETPAST")
}

// want is the exit code that is due.
func (c *checkCase) want() int {
	switch c.Verdict {
	case "monitorable":
		return exitOK
	case "not-monitorable":
		return exitNo
	}
	return exitUsage
}
