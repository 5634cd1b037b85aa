// Package cli is the command tree. It is the only place that chooses drivers and
// adapters, and the only one that prints.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/adapter/monpoly"
	"github.com/aspis-rv/aspis/internal/bus"
)

// Exit codes.
const (
	exitOK          = 0
	exitNo          = 1 // the answer is "no": findings, failed tests, refusals where asked for
	exitUsage       = 2 // usage or unreadable input
	exitUnavailable = 3 // a broker or an engine is unavailable
)

// errNo ends a command whose answer is "no". Everything was printed already.
var errNo = errors.New("no")

// problem is an error with a hint: a sentence, or a command that can be pasted.
type problem struct {
	err  error
	hint string
}

func (p *problem) Error() string { return p.err.Error() }
func (p *problem) Unwrap() error { return p.err }

func hint(err error, format string, args ...any) error {
	return &problem{err: err, hint: fmt.Sprintf(format, args...)}
}

// env is what a command may touch.
type env struct {
	in       io.Reader
	out, err io.Writer
	json     bool
	monpoly  string         // the binary of the engine monpoly
	closing  []func() error // what ends the engines of the command
}

// Main runs the command line args (args[0] is the program) and returns the exit
// code. SIGINT and SIGTERM end long-running commands in an orderly way.
func Main(args []string, in io.Reader, out, errw io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	tuneCollector()
	e := &env{in: in, out: out, err: errw}
	root := newRoot(e)
	root.SetArgs(mfotlArgs(root, args[1:]))
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	defer e.close()
	return e.exit(root.ExecuteContext(ctx))
}

// tuneCollector lets the heap grow to five times what lives before it is collected,
// unless GOGC says otherwise: what lives is small, and the collector competes with
// pending calls for the processors.
func tuneCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

func (e *env) exit(err error) int {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, errNo) {
		return exitNo
	}
	fmt.Fprintf(e.err, "aspis: %s\n", err)
	if p, ok := errors.AsType[*problem](err); ok {
		fmt.Fprintf(e.err, "hint: %s\n", p.hint)
	}
	if errors.Is(err, bus.ErrUnavailable) || errors.Is(err, monpoly.ErrBinary) {
		return exitUnavailable
	}
	return exitUsage
}

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "aspis",
		Short:         "Runtime verification between LLM agents and the tools they call",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().BoolVar(&e.json, "json", false, "print machine-readable JSON")
	root.PersistentFlags().StringVar(&e.monpoly, "monpoly", monpoly.DefaultBinary, "MonPoly `binary` for policies with the engine monpoly: a name in PATH or a path")
	root.AddCommand(
		newUp(e), newDemo(e), newCheck(e), newTest(e), newReplay(e), newEval(e), newExplain(e), newMFOTL(e), newWorld(e), newClassify(e), newSchema(e), newKeys(e),
		newAspectd(e), newComposer(e), newGate(e), newIngest(e), newVersion(e),
	)
	return root
}
