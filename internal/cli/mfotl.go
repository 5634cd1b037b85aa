package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/monpoly"
)

// mfotlFlags are the flags of `aspis mfotl`; the names are MonPoly's.
type mfotlFlags struct {
	sig, formula, log string
	negate            bool
	check, verbose    bool
	explain           bool
	keepPoints        bool
	keepRelations     bool
	stopOutOfOrder    bool
	floats            string
}

const mfotlLong = `Monitor a log for the tuples that satisfy a formula of metric first-order temporal logic, as MonPoly does.

Signature, formula, log and answers are MonPoly's; flags may have one dash or two. An answer is printed as soon as the
time point that decides it is complete: at the ";" that ends it, or the "@" of the next one. Empty time points and facts
of relations that the formula does not read never change an answer here, so that MonPoly's filters have no effect on the
answers; -nofilterrel moreover holds all facts to the signature.

A signature lists relations with the types of their columns, string, int or float; a log the facts of each time point:

  login(user:string, host:string) transfer(user:string, amount:int)

  @10 login("ann", "db-1") login("bob", "web-1")
  @20 transfer("ann", 100) ("bob", 50)

A formula with free variables gives the tuples that satisfy it, a formula without gives "true". To find violations of
a formula that should always hold, monitor its negation (-negate). The language is that of docs/language.md, with times
as plain numbers in the unit of the log.

Nothing happens after the end of the log: what is still open there is decided so.

With -explain every tuple has a line of its own, and indented below it a line for each conjunct of the formula: the time
points whose facts make it hold, or, of what does not hold under a NOT, the window of time stamps in which what would make it
hold is missing. The formulas are those that -verbose prints as analyzed. Of NEXT, EVENTUALLY and UNTIL it is said whether
they hold, not why. With -json each answer has a key "reasons". The formula is evaluated again for every tuple, and 8 bytes
are kept for every time point.

Exit codes:
  0  the log was monitored to its end; with -check, the formula can be monitored
  1  the formula cannot be monitored, or the log is wrong; the answers before the mistake were printed
  2  wrong usage, or an unreadable file, signature or formula`

func newMFOTL(e *env) *cobra.Command {
	f := &mfotlFlags{}
	cmd := &cobra.Command{
		Use: "mfotl -sig FILE -formula FILE [-log FILE|-]", Args: cobra.NoArgs, Long: mfotlLong,
		Short: "Monitor a log for a formula, with MonPoly's files and flags",
		RunE:  func(*cobra.Command, []string) error { return e.mfotl(f) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.sig, "sig", "", "signature `file`: relations and the types of their columns (required)")
	fs.StringVar(&f.formula, "formula", "", "formula `file` (required)")
	fs.StringVar(&f.log, "log", "-", "log `file`; - is standard input")
	fs.BoolVar(&f.negate, "negate", false, "monitor the negation of the formula")
	fs.BoolVar(&f.check, "check", false, "say whether the formula can be monitored, and how it is read; read no log")
	fs.BoolVar(&f.verbose, "verbose", false, "print how the formula is read, and time points without an answer")
	fs.BoolVar(&f.explain, "explain", false, "print below each tuple why it satisfies the formula")
	fs.BoolVar(&f.keepPoints, "nofilteremptytp", false, "as is: empty time points are always evaluated")
	fs.BoolVar(&f.keepRelations, "nofilterrel", false, "check the arguments of facts of all relations")
	fs.BoolVar(&f.stopOutOfOrder, "stop_at_out_of_order_ts", false, "end at a time stamp that goes back, instead of leaving out its time point")
	fs.StringVar(&f.floats, "float", "g", "`form` of floats: g, six digits as C's %g, or exact")
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "Usage:\n  aspis %s\n\nFlags:\n%s", cmd.Use, oneDash(cmd.Flags().FlagUsages()))
		return err
	})
	return cmd
}

// oneDash writes long flags with one dash.
func oneDash(usages string) string { return strings.ReplaceAll(usages, "     --", "     -") }

// mfotlArgs gives the flags of `aspis mfotl` that stand with one dash a second one, which
// is how they are parsed. Other commands' arguments stay as they are.
func mfotlArgs(root *cobra.Command, args []string) []string {
	at := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if at < 0 || args[at] != "mfotl" {
		return args
	}
	cmd, _, err := root.Find(args[at : at+1])
	if err != nil {
		return args
	}
	cmd.InitDefaultHelpFlag()
	out := slices.Clone(args)
	for i := at + 1; i < len(out); i++ {
		name, _, given := strings.Cut(strings.TrimLeft(out[i], "-"), "=")
		flag := cmd.Flags().Lookup(name)
		if flag == nil {
			flag = root.PersistentFlags().Lookup(name)
		}
		if !strings.HasPrefix(out[i], "-") || len(name) < 2 && flag == nil {
			continue
		}
		if flag == nil { // a misspelt one, which the parser then names in full
			out[i] = "--" + strings.TrimLeft(out[i], "-")
			continue
		}
		out[i] = "--" + strings.TrimLeft(out[i], "-")
		if takesValue := flag.NoOptDefVal == ""; takesValue && !given {
			i++ // a value is not a flag, whatever it looks like
		}
	}
	return out
}

// mfotl runs the command.
func (e *env) mfotl(f *mfotlFlags) error {
	if f.sig == "" || f.formula == "" {
		return hint(errors.New("give a signature and a formula"), "aspis mfotl -sig FILE -formula FILE -log FILE")
	}
	if f.floats != "g" && f.floats != "exact" {
		return hint(fmt.Errorf("-float %s is no form of floats", f.floats), "-float g or -float exact")
	}
	sig, err := readSignature(f.sig)
	if err != nil {
		return err
	}
	form, err := e.readFormula(f, sig)
	if err != nil {
		return err
	}
	if f.check {
		return e.printReading(form)
	}
	if f.verbose {
		fmt.Fprint(e.err, form.reading())
	}
	if form.checked == nil {
		return e.refuse(form)
	}
	fmt.Fprint(e.err, form.diags.Render(form.source))
	spareMemory()
	signal.Reset(os.Interrupt, syscall.SIGTERM) // there is nothing to put in order: they end the process, also while it waits for input
	return e.monitor(f, form.checked, sig)
}

// spareMemory takes tuneCollector back: an event allocates next to nothing, so that
// collecting early costs no time here.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(100)
	}
}

func readSignature(path string) (check.Signature, error) {
	content, err := os.ReadFile(path) //nolint:gosec // the path is the user's
	if err != nil {
		return nil, fmt.Errorf("signature: %w", err)
	}
	sig, err := monpoly.ParseSignature(content, path)
	return sig, located(err)
}

// located gives an error of a signature or a log the hint it carries.
func located(err error) error {
	if at, ok := errors.AsType[*monpoly.Error](err); ok && at.Hint != "" {
		return hint(err, "%s", at.Hint)
	}
	return err
}

// monitor runs a formula over the log.
func (e *env) monitor(f *mfotlFlags, c *check.Checked, sig check.Signature) error {
	in, name, err := e.openLogFile(f.log)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	evaluator, err := e.evaluator(f, c)
	if err != nil {
		return err
	}
	out := &answers{w: bufio.NewWriterSize(e.out, outputSize), json: e.json, style: monpoly.Style{
		ExactFloats: f.floats == "exact", Verbose: f.verbose, Closed: len(c.Free) == 0, Columns: columns(c),
	}}
	m := monpoly.Monitor{Evaluator: evaluator, Emit: out.emit}
	if f.verbose && !e.json {
		m.Begin = out.begin
	}
	if !f.stopOutOfOrder {
		m.Skip = func(p *monpoly.Point, last int64) {
			fmt.Fprintf(e.err, "WARNING: Skipping out of order timestamp %d (previous: %d)\n", p.TS, last)
		}
	}
	reads := func(relation string) bool { return f.keepRelations || slices.Contains(c.Relations, relation) }
	err = m.Run(monpoly.NewReader(&prompt{in: in, out: out}, name, sig, reads))
	if failed := out.flush(); failed != nil {
		return failed
	}
	if err != nil {
		return e.wrongLog(err)
	}
	return nil
}

// evaluator makes the evaluator of a formula, and says what it will not explain.
func (e *env) evaluator(f *mfotlFlags, c *check.Checked) (monpoly.Evaluator, error) {
	if !f.explain {
		return monpoly.NewEvaluator(c)
	}
	if looksAhead(c.Core) {
		fmt.Fprint(e.err, "aspis: -explain gives reasons in the past; of NEXT, EVENTUALLY and UNTIL it says only whether they hold\n")
	}
	return monpoly.NewExplainer(c)
}

// looksAhead reports whether a core formula has a future operator.
func looksAhead(f syntax.Formula) (found bool) {
	syntax.Walk(f, func(f syntax.Formula) bool {
		switch f.(type) {
		case *syntax.Next, *syntax.Eventually, *syntax.Until:
			found = true
		default:
		}
		return !found
	})
	return found
}

// wrongLog prints an error of the log, which ends the command with exitNo.
func (e *env) wrongLog(err error) error {
	fmt.Fprintf(e.err, "aspis: %s\n", err)
	if at, ok := errors.AsType[*monpoly.Error](err); ok && at.Hint != "" {
		fmt.Fprintf(e.err, "hint: %s\n", at.Hint)
	}
	if errors.Is(err, monpoly.ErrOrder) {
		fmt.Fprint(e.err, "hint: sort the log, or leave out -stop_at_out_of_order_ts to skip such time points\n")
	}
	return errNo
}

func (e *env) openLogFile(path string) (io.ReadCloser, string, error) {
	if path == "-" || path == "" {
		return io.NopCloser(e.in), "standard input", nil
	}
	file, err := os.Open(path) //nolint:gosec // the path is the user's
	if err != nil {
		return nil, "", fmt.Errorf("log: %w", err)
	}
	return file, path, nil
}
