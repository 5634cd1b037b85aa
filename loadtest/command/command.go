// Package command is the command tree of the load test.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/loadtest/measure"
	"github.com/aspis-rv/aspis/loadtest/script"
	"github.com/aspis-rv/aspis/loadtest/table"
)

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1 // an answer was wrong, or too few were given
	exitUsage = 2 // usage, or a deployment that does not start
)

// errUnsound ends a run whose figures say nothing. Each cause was printed.
var errUnsound = errors.New("the figures are void")

// env is what a command may touch.
type env struct {
	in       io.Reader
	out, err io.Writer
	json     bool
}

// Main runs the command line args (args[0] is the program) and returns the exit code.
// SIGINT and SIGTERM stop a run and everything that it started.
func Main(args []string, in io.Reader, out, errw io.Writer) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // as the program itself does
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	e := &env{in: in, out: out, err: errw}
	root := e.root()
	root.SetArgs(args[1:])
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintf(errw, "loadtest: %s\n", err)
	}
	return exitCode(err)
}

func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errUnsound):
		return exitWrong
	}
	return exitUsage
}

func (e *env) root() *cobra.Command {
	root := &cobra.Command{
		Use: "loadtest", Short: "Measure decisions, and check every one of them", SilenceUsage: true, SilenceErrors: true,
		Long: "Loadtest plays fleets of scripted agents against Aspis. The right answer to every call is computed\n" +
			"beforehand by the offline runner; a wrong answer makes the exit code 1, however fast it came.",
	}
	root.PersistentFlags().BoolVar(&e.json, "json", false, "print one JSON document")
	root.AddCommand(newInProcess(e), newProcesses(e), newHTTP(e), newHops(e), newFloor(e), newMFOTL(e), newWorld(e), newText(e), newServeLog(e))
	return root
}

// runFlags are the flags of every mode.
type runFlags struct {
	workloads       []string
	seed            uint64
	warmup, measure time.Duration
	partitions      uint32
	tenants         int
	sessions        int
	saturate        int
	rate, rateOne   float64
	rows            []string
}

// Defaults of the flags. A row takes warm-up, measured time and drain: 12 s at most.
const (
	defaultWarmup  = 2 * time.Second
	defaultMeasure = 8 * time.Second
	// maxRow bounds what a row may be told to take.
	maxRow = 5 * time.Minute
)

func (f *runFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringSliceVar(&f.workloads, "workload", script.Names(), "bundles and their sessions")
	fs.Uint64Var(&f.seed, "seed", 1, "of scripts and schedules")
	fs.DurationVar(&f.warmup, "warmup", defaultWarmup, "time before each measurement that does not count")
	fs.DurationVar(&f.measure, "measure", defaultMeasure, "measured time of each row")
	fs.Uint32Var(&f.partitions, "partitions", 8, "partitions of the log")
	fs.IntVar(&f.tenants, "tenants", 64, "tenants among which many sessions are divided")
	fs.IntVar(&f.sessions, "sessions", 256, "sessions at a time in the open loop")
	fs.Float64Var(&f.rate, "rate", 800, "calls per second of all sessions together")
	fs.Float64Var(&f.rateOne, "rate-one", 200, "calls per second of the one session")
	fs.IntVar(&f.saturate, "saturate", 64, "sessions at a time in the closed loop that saturates")
	fs.StringSliceVar(&f.rows, "row", rowNames(), "which rows to measure")
}

// check reports every mistake at once.
func (f *runFlags) check() error {
	var errs []error
	if f.measure < 100*time.Millisecond || f.warmup < 0 || f.measure+f.warmup > maxRow {
		errs = append(errs, fmt.Errorf("--measure %v and --warmup %v: want at least 100ms measured and at most %v in all", f.measure, f.warmup, maxRow))
	}
	if f.sessions < 1 || f.saturate < 2 || f.tenants < 1 || f.partitions < 1 {
		errs = append(errs, errors.New("--sessions, --tenants and --partitions are at least 1, --saturate at least 2"))
	}
	if !(f.rate > 0) || !(f.rateOne > 0) {
		errs = append(errs, errors.New("--rate and --rate-one are above 0"))
	}
	for _, name := range f.rows {
		if _, ok := f.spec(name); !ok {
			errs = append(errs, fmt.Errorf("--row %s: there are %v", name, rowNames()))
		}
	}
	return errors.Join(errs...)
}

// print writes a report, if it has rows, and returns errUnsound when one of them says
// nothing.
func (e *env) print(r *table.Report) error {
	if len(r.Rows) == 0 {
		return nil
	}
	var err error
	if e.json {
		err = r.WriteJSON(e.out)
	} else {
		err = r.WriteText(e.out)
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	for i := range r.Rows {
		if bad := r.Rows[i].Err(); bad != nil {
			fmt.Fprintf(e.err, "loadtest: %s\n", bad)
			err = errUnsound
		}
	}
	return err
}

func newReport(mode string) *table.Report {
	return &table.Report{Mode: mode, Machine: measure.Machine(), Go: runtime.Version()}
}

// inTemp calls f with a directory that is removed afterwards.
func inTemp(f func(dir string) error) error {
	dir, err := os.MkdirTemp("", "aspis-loadtest-")
	if err != nil {
		return fmt.Errorf("temporary directory: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	return f(dir)
}
