package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is a line of `go test -json` (cmd/test2json).
type event struct {
	Action     string
	Package    string
	ImportPath string // of a build event
	Test       string
	Output     string
}

// log digests events.
type log struct {
	out     io.Writer
	allowed map[string]string // "package Test" to reason
	closing strings.Builder   // the closing lines of all packages

	printed         map[string]*strings.Builder // what a test in progress has printed
	skipped         []string
	passed, failed  int
	packages, built int // packages that passed, packages that did not build
}

func newLog(out io.Writer) *log {
	return &log{out: out, allowed: map[string]string{}, printed: map[string]*strings.Builder{}}
}

// parseAllowed reads the list of allowed skips.
func parseAllowed(text string) (map[string]string, error) {
	out := map[string]string{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(line, "|")
		name, reason = strings.TrimSpace(name), strings.TrimSpace(reason)
		if len(strings.Fields(name)) != 2 || reason == "" {
			return nil, fmt.Errorf("line %d: want `package Test | reason`, got %q", n, line)
		}
		out[name] = reason
	}
	return out, nil
}

// read consumes the stream. A line that is no JSON is passed through: that is how
// the go command reports what went wrong before any test ran.
func (l *log) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				l.print(line)
			} else {
				l.take(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *log) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		l.print(e.Output)
	case "build-fail":
		l.built++
	case "output":
		l.output(key, e)
	case "pass", "fail", "skip":
		l.ended(key, e)
	case "start", "run", "pause", "cont", "bench", "attr", "artifacts":
	}
}

// output keeps what a test prints until it is known whether it failed. Lines of a
// package are its closing line, or what it printed outside tests.
func (l *log) output(key string, e event) {
	if e.Test != "" {
		if l.printed[key] == nil {
			l.printed[key] = &strings.Builder{}
		}
		l.printed[key].WriteString(e.Output)
		return
	}
	if isClosing(e.Output) {
		l.closing.WriteString(e.Output)
	}
	if e.Output != "PASS\n" {
		l.print(e.Output)
	}
}

func isClosing(line string) bool {
	for _, prefix := range []string{"ok  \t", "FAIL\t"} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

func (l *log) ended(key string, e event) {
	text := l.printed[key]
	delete(l.printed, key)
	switch {
	case e.Test == "" && e.Action == "pass":
		l.packages++
	case e.Test == "":
		if e.Action == "fail" {
			l.failed++
		}
		l.orphans(e.Package)
	case e.Action == "pass":
		l.passed++
	case e.Action == "skip":
		l.skipped = append(l.skipped, short(key))
	default:
		l.failed++
		if text != nil {
			l.print(text.String())
		}
	}
}

// orphans prints what tests wrote that never ended, because the package panicked
// or ran out of time.
func (l *log) orphans(pkg string) {
	for key, text := range l.printed {
		if strings.HasPrefix(key, pkg+" ") {
			l.print(text.String())
			delete(l.printed, key)
		}
	}
}

// short is a key without the path of the module.
func short(key string) string {
	const module = "github.com/aspis-rv/aspis/"
	return strings.TrimPrefix(key, module)
}

// verdict prints the summary and reports whether the run was good.
func (l *log) verdict() bool {
	good := l.failed == 0 && l.built == 0
	for _, key := range l.skipped {
		if reason, ok := l.allowed[key]; ok {
			l.print(fmt.Sprintf("skipped, as allowed: %s (%s)\n", key, reason))
			continue
		}
		l.print(fmt.Sprintf("skipped, and not on the list of allowed skips: %s\n", key))
		good = false
	}
	if l.passed == 0 || l.packages == 0 {
		l.print("no test ran\n")
		good = false
	}
	l.print(fmt.Sprintf("%d packages passed, %d tests passed, %d skipped, %d failed, %d builds failed\n",
		l.packages, l.passed, len(l.skipped), l.failed, l.built))
	return good
}

func (l *log) print(text string) {
	fmt.Fprint(l.out, text) //nolint:errcheck // a closed pipe ends the program
}
