package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/monpoly"
)

// outputSize is the size of the buffer of answers: one system call for some thousand
// of them when the log is a file.
const outputSize = 64 << 10

// answers prints verdicts. An error stays until flush returns it.
type answers struct {
	w     *bufio.Writer
	line  []byte
	style monpoly.Style
	json  bool
	err   error
}

func (a *answers) emit(v *monpoly.Verdict) {
	if a.err != nil {
		return
	}
	if a.json {
		a.line, a.err = monpoly.AppendJSON(a.line[:0], v)
	} else {
		a.line = a.style.Append(a.line[:0], v)
	}
	if a.err == nil && len(a.line) > 0 {
		_, a.err = a.w.Write(a.line)
	}
}

// begin announces a time point.
func (a *answers) begin(index uint64) {
	if a.err == nil {
		_, a.err = fmt.Fprintf(a.w, "At time point %d:\n", index)
	}
}

func (a *answers) flush() error {
	if a.err == nil {
		a.err = a.w.Flush()
	}
	if a.err != nil {
		return fmt.Errorf("writing the answers: %w", a.err)
	}
	return nil
}

// prompt reads a log, and prints what is known before it waits for more of it.
type prompt struct {
	in  io.Reader
	out *answers
}

func (p *prompt) Read(buf []byte) (int, error) {
	if err := p.out.flush(); err != nil {
		return 0, err
	}
	return p.in.Read(buf)
}

// formula is a formula as it was read.
type formula struct {
	name    string
	source  diag.Sources
	tree    syntax.Formula // nil if it could not be parsed
	checked *check.Checked // nil if it was refused
	diags   diag.List
}

// readFormula parses and checks the formula file.
func (e *env) readFormula(f *mfotlFlags, sig check.Signature) (*formula, error) {
	content, err := os.ReadFile(f.formula) //nolint:gosec // the path is the user's
	if err != nil && strings.ContainsAny(f.formula, "( ") {
		return nil, hint(fmt.Errorf("formula: %w", err), "-formula takes the name of a file that holds the formula")
	}
	if err != nil {
		return nil, fmt.Errorf("formula: %w", err)
	}
	form := &formula{name: f.formula, source: diag.Sources{f.formula: string(content)}}
	form.tree, form.diags = syntax.Parse(string(content), syntax.Options{Mode: syntax.MonPoly, Raw: true, File: f.formula})
	if form.tree == nil {
		return form, nil
	}
	if f.negate {
		form.tree = &syntax.Not{Node: syntax.Node{Pos: form.tree.Span()}, F: form.tree}
	}
	checked, diags := check.Check(form.tree, sig, check.Options{Mode: syntax.MonPoly, File: f.formula, BuiltIn: true, Future: true})
	form.checked = checked
	form.diags = append(form.diags, diags...).Sorted()
	return form, nil
}

// refuse prints why a formula cannot be used. The answer is "no" for one that means
// something and cannot be monitored; other mistakes are errors.
func (e *env) refuse(form *formula) error {
	fmt.Fprint(e.err, form.diags.Render(form.source))
	if form.unmonitorable() {
		fmt.Fprintf(e.err, "aspis: the formula in %s is NOT monitorable\n", form.name)
		return errNo
	}
	return fmt.Errorf("the formula in %s cannot be used", form.name)
}

// unmonitorable reports whether nothing is wrong with the formula but that it cannot be
// monitored.
func (f *formula) unmonitorable() bool {
	openForms := []diag.Code{check.CodeNegation, check.CodeComparison, check.CodeOr, check.CodeSince, check.CodeUnbounded}
	for _, d := range f.diags {
		if d.Severity == diag.Error && !slices.Contains(openForms, d.Code) {
			return false
		}
	}
	return f.checked == nil
}

// reading says how the formula was read, with all parentheses.
func (f *formula) reading() string {
	if f.tree == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The input formula is:\n  %s\n", f.tree)
	if f.checked != nil {
		fmt.Fprintf(&b, "The analyzed formula is:\n  %s\n", f.checked.Core)
	}
	fmt.Fprintf(&b, "The sequence of free variables is: (%s)\n", strings.Join(f.free(), ","))
	return b.String()
}

// free lists the free variables in the order of the answers' columns.
func (f *formula) free() []string {
	if f.checked == nil {
		return append([]string{}, syntax.FreeVars(f.tree)...)
	}
	return columns(f.checked)
}

// columns names the columns of the answers; not nil.
func columns(c *check.Checked) []string {
	names := []string{}
	for _, c := range c.Free {
		names = append(names, c.Name)
	}
	return names
}

// readingRecord is the answer of -check as JSON.
type readingRecord struct {
	Monitorable bool      `json:"monitorable"`
	Formula     string    `json:"formula,omitempty"`
	Core        string    `json:"core,omitempty"`
	Free        []string  `json:"free"`
	Diagnostics diag.List `json:"diagnostics"`
}

// printReading answers -check.
func (e *env) printReading(form *formula) error {
	if e.json {
		r := readingRecord{Monitorable: form.checked != nil, Free: []string{}, Diagnostics: append(diag.List{}, form.diags...)}
		if form.tree != nil {
			r.Formula, r.Free = form.tree.String(), form.free()
		}
		if form.checked != nil {
			r.Core = form.checked.Core.String()
		}
		if err := json.NewEncoder(e.out).Encode(r); err != nil {
			return err
		}
	} else {
		fmt.Fprint(e.out, form.reading())
		if form.checked != nil {
			fmt.Fprint(e.out, "The analyzed formula is monitorable.\n")
		} else if form.unmonitorable() {
			fmt.Fprint(e.out, "The analyzed formula is NOT monitorable.\n")
		}
	}
	if form.checked == nil {
		return e.refuse(form)
	}
	if !e.json {
		fmt.Fprint(e.err, form.diags.Render(form.source))
	}
	return nil
}
