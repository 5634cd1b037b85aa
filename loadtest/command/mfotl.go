package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/loadtest/measure"
	"github.com/aspis-rv/aspis/loadtest/mfotl"
)

// mfotlFlags are the flags of `loadtest mfotl`.
type mfotlFlags struct {
	archive, aspis, monpoly string
	workloads               []string
	facts, runs             int
}

func newMFOTL(e *env) *cobra.Command {
	var f mfotlFlags
	cmd := &cobra.Command{
		Use: "mfotl", Short: "Throughput and memory of `aspis mfotl` on long logs", Args: cobra.NoArgs,
		Long: "Runs the aspis binary over logs that are repeated with shifted times and serials, and MonPoly beside it.\n" +
			"Answers to the log as it is are compared with the right ones; a wrong one makes the exit code 1.",
		RunE: func(cmd *cobra.Command, _ []string) error { return e.mfotl(cmd.Context(), &f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.archive, "archive", "", "workloads (default: data/mfotl/bench.tar.gz in the folder $ASPIS_SHARED)")
	fs.StringVar(&f.aspis, "aspis", "", "binary to measure (default: built from this module)")
	fs.StringVar(&f.monpoly, "monpoly", "", "MonPoly's binary, to be measured beside it")
	fs.StringSliceVar(&f.workloads, "workload", nil, "which workloads to measure (default: all)")
	fs.IntVar(&f.facts, "facts", 1_000_000, "facts that a repeated log has at least")
	fs.IntVar(&f.runs, "runs", 3, "runs of which the one with the median user time counts")
	return cmd
}

func (e *env) mfotl(ctx context.Context, f *mfotlFlags) error {
	if f.facts < 1 || f.runs < 1 {
		return errors.New("--facts and --runs are at least 1")
	}
	if f.archive == "" {
		shared := os.Getenv("ASPIS_SHARED")
		if shared == "" {
			return errors.New("no workloads: give --archive FILE, or set ASPIS_SHARED to the folder of shared data")
		}
		f.archive = filepath.Join(shared, "data", "mfotl", "bench.tar.gz")
	}
	workloads, err := mfotl.Load(f.archive)
	if err != nil {
		return err
	}
	if workloads, err = f.chosen(workloads); err != nil {
		return err
	}
	return inTemp(func(dir string) error {
		o, err := f.options(ctx, dir)
		if err != nil {
			return err
		}
		return e.measureMFOTL(ctx, o, workloads, dir)
	})
}

// chosen leaves the workloads that --workload names.
func (f *mfotlFlags) chosen(all []*mfotl.Workload) ([]*mfotl.Workload, error) {
	if len(f.workloads) == 0 {
		return all, nil
	}
	var out []*mfotl.Workload
	for _, name := range f.workloads {
		at := slices.IndexFunc(all, func(w *mfotl.Workload) bool { return w.Name == name })
		if at < 0 {
			var names []string
			for _, w := range all {
				names = append(names, w.Name)
			}
			return nil, fmt.Errorf("--workload %s: there are %s", name, strings.Join(names, ", "))
		}
		out = append(out, all[at])
	}
	return out, nil
}

// options finds or builds the programs.
func (f *mfotlFlags) options(ctx context.Context, dir string) (*mfotl.Options, error) {
	o := &mfotl.Options{Facts: f.facts, Runs: f.runs}
	binary := f.aspis
	if binary == "" {
		binary = filepath.Join(dir, "aspis")
		out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/aspis-rv/aspis/cmd/aspis").CombinedOutput() //nolint:gosec // fixed
		if err != nil {
			return nil, fmt.Errorf("building aspis; run from a folder of the module: %w\n%s", err, out)
		}
	}
	o.Aspis = mfotl.Program{Name: "aspis", Command: []string{binary, "mfotl"}}
	if f.monpoly != "" {
		o.MonPoly = mfotl.Program{Name: "monpoly", Command: []string{f.monpoly}}
	}
	return o, nil
}

func (e *env) measureMFOTL(ctx context.Context, o *mfotl.Options, workloads []*mfotl.Workload, dir string) error {
	report := mfotl.Report{Machine: measure.Machine(), Go: runtime.Version(), Load: measure.LoadAverage()}
	void := false
	for _, w := range workloads {
		row, err := o.Measure(ctx, w, dir)
		if err != nil {
			return err
		}
		void = void || row.Wrong != ""
		report.Rows = append(report.Rows, row)
	}
	write := report.WriteText
	if e.json {
		write = report.WriteJSON
	}
	if err := write(e.out); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if void {
		return errUnsound
	}
	return nil
}
