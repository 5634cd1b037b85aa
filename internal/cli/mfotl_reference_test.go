package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/monpoly"
)

// fewestEqual is the number of reference cases that must be compared and equal. It grows
// with the language that is evaluated.
const fewestEqual = 223

// TestMFOTLReference runs `aspis mfotl` on every reference case and compares with what
// MonPoly printed, byte for byte, and with its exit code.
func TestMFOTLReference(t *testing.T) {
	cases := referenceCases(t)
	var tally struct{ compared, equal, notYet, prefix int }
	leftOut := map[string]int{}
	for _, c := range cases {
		if why := c.leftOut(); why != "" {
			leftOut[why]++
			continue
		}
		code, out, errw := c.run()
		if code == exitUsage && c.ahead() {
			tally.notYet++
			continue
		}
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
	t.Logf("%d cases: %d compared, %d equal (%d with more time points determined at the end), %d not yet in scope",
		len(cases), tally.compared, tally.equal, tally.prefix, tally.notYet)
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
	case name == "rw-once-less-unb":
		return "MonPoly refuses the formula; here it can be monitored"
	}
	return ""
}

// run runs the command.
func (c *referenceCase) run() (code int, out, errw string) {
	args := slices.Concat([]string{
		"aspis", "mfotl", "-sig", filepath.Join(c.dir, "sig"), "-formula", filepath.Join(c.dir, "formula.mfotl"),
		"-log", filepath.Join(c.dir, "log"),
	}, c.meta.Flags)
	var stdout, stderr bytes.Buffer
	code = Main(args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// ahead reports whether the formula has parts that are not evaluated yet and that
// MonPoly accepts.
func (c *referenceCase) ahead() bool {
	if c.meta.Exit != 0 {
		return false
	}
	f, _ := syntax.Parse(c.files["formula.mfotl"], syntax.Options{Mode: syntax.MonPoly})
	return f != nil && monpoly.Scope(f) != nil
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

// referenceCases unpacks the reference data, which lies outside of the repository.
func referenceCases(t *testing.T) []*referenceCase {
	t.Helper()
	shared := os.Getenv("ASPIS_SHARED")
	if shared == "" {
		t.Skip("ASPIS_SHARED is not set: the reference cases are not at hand")
	}
	file, err := os.Open(filepath.Join(shared, "data", "mfotl", "cases.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*referenceCase{}
	base := t.TempDir()
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := path.Base(path.Dir(header.Name))
		if header.Typeflag != tar.TypeReg || name == "cases" {
			continue
		}
		c := byName[name]
		if c == nil {
			c = &referenceCase{name: name, files: map[string]string{}, dir: filepath.Join(base, name)}
			byName[name] = c
			if err := os.Mkdir(c.dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		c.add(t, path.Base(header.Name), archive)
	}
	var cases []*referenceCase
	for _, c := range byName {
		if err := json.Unmarshal([]byte(c.files["meta.json"]), &c.meta); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		cases = append(cases, c)
	}
	slices.SortFunc(cases, func(a, b *referenceCase) int { return strings.Compare(a.name, b.name) })
	return cases
}

func (c *referenceCase) add(t *testing.T, name string, r io.Reader) {
	t.Helper()
	content, err := io.ReadAll(r)
	if err == nil {
		err = os.WriteFile(filepath.Join(c.dir, name), content, 0o600)
	}
	if err != nil {
		t.Fatalf("%s/%s: %v", c.name, name, err)
	}
	c.files[name] = string(content)
}
