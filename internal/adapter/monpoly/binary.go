package monpoly

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultBinary is the name under which the binary is looked up in PATH.
const DefaultBinary = "monpoly"

// Find returns the path of the binary, a name in PATH or a path; empty stands for
// DefaultBinary. It fails with ErrBinary when there is none, and runs nothing.
func Find(binary string) (string, error) {
	if binary == "" {
		binary = DefaultBinary
	}
	path, err := exec.LookPath(binary)
	if err != nil {
		return "", fmt.Errorf("%w: %w; install MonPoly, or write `engine: aspis` in the policy", ErrBinary, err)
	}
	return path, nil
}

// files are the paths of a question's signature and formula.
type files struct{ signature, formula string }

func (f files) arguments(more ...string) []string {
	return append([]string{"-sig", f.signature, "-formula", f.formula}, more...)
}

// write stores the question in a directory.
func (q *question) write(dir string) error {
	q.files = files{signature: filepath.Join(dir, q.name+".sig"), formula: filepath.Join(dir, q.name+".mfotl")}
	return errors.Join(os.WriteFile(q.files.signature, []byte(q.signature), 0o600), os.WriteFile(q.files.formula, []byte(q.formula+"\n"), 0o600))
}

// check asks the binary whether it monitors the question as it stands, and takes over
// the order in which it prints the variables. It fails with ErrFormula unless the
// binary says so in the words that it has for it: on a formula that it does not
// monitor it may end in silence and without an error.
func (q *question) check(ctx context.Context, binary string) error {
	cmd := exec.CommandContext(ctx, binary, q.files.arguments("-check", "-no_rw")...)
	var words said
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &words, reapTime
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: -check fails: %w %s", ErrFormula, err, words.String())
	}
	lines := strings.Split(string(words.text), "\n")
	if !slices.ContainsFunc(lines, affirms) {
		return fmt.Errorf("%w: -check does not say that it is monitorable: %s", ErrFormula, words.String())
	}
	for _, line := range lines {
		if order, ok := freeVariables(line, q.variables); ok {
			q.order = order
			return nil
		}
	}
	return fmt.Errorf("%w: -check names other variables than %s: %s", ErrFormula, q.columns(), words.String())
}

// affirms tells whether a line says that the formula is monitorable. The words depend
// on whether the formula may be rewritten.
func affirms(line string) bool {
	return line == "The formula is monitorable." || line == "The analyzed formula is monitorable."
}
