package command

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/loadtest/measure"
	"github.com/aspis-rv/aspis/loadtest/world"
)

// worldFlags are the flags of `loadtest world`.
type worldFlags struct {
	vertices, channels, domains, events, checks int
	records                                     []int
	open                                        []float64
	seed                                        uint64
}

func newWorld(e *env) *cobra.Command {
	var f worldFlags
	cmd := &cobra.Command{
		Use: "world", Short: "What events take in a large world, in the spatial and the temporal monitor together", Args: cobra.NoArgs,
		Long: "Places records and opens and closes channels in random worlds. Answers are compared with a search of the\n" +
			"plain graph; a wrong one makes the exit code 1.",
		RunE: func(*cobra.Command, []string) error { return e.world(&f) },
	}
	fs := cmd.Flags()
	fs.IntVar(&f.vertices, "vertices", 100_000, "vertices")
	fs.IntVar(&f.channels, "channels", 400_000, "channels")
	fs.IntVar(&f.domains, "domains", 64, "release domains, 2 to 100")
	fs.IntSliceVar(&f.records, "records", []int{1_000, 10_000}, "records, up to 100000")
	fs.Float64SliceVar(&f.open, "open", []float64{0.2, 0.5}, "shares of the channels that are open")
	fs.IntVar(&f.events, "events", 4_000, "events of each kind")
	fs.IntVar(&f.checks, "checks", 40, "answers of each kind that are compared with the plain graph")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of the worlds")
	return cmd
}

func (f *worldFlags) validate() error {
	if f.vertices < 2 || f.vertices > 1_000_000 || f.domains < 2 || f.domains > 100 || f.events < 1 || f.checks < 0 ||
		f.channels < 2 || f.channels > f.vertices*(f.vertices-1)/2 {
		return errors.New("--vertices is 2 to 1000000, --domains 2 to 100, --events at least 1, --channels 2 to half of all pairs")
	}
	for _, open := range f.open {
		if open <= 0 || open >= 1 {
			return errors.New("--open is between 0 and 1")
		}
	}
	for _, n := range f.records {
		if n < 1 || n > 100_000 {
			return errors.New("--records is 1 to 100000")
		}
	}
	return nil
}

func (e *env) world(f *worldFlags) error {
	if err := f.validate(); err != nil {
		return err
	}
	var reports []*world.Report
	for _, records := range f.records {
		for _, open := range f.open {
			rep, err := world.Run(world.Options{
				Size:   world.Size{Vertices: f.vertices, Channels: f.channels, Records: records, Domains: f.domains, Open: open, Seed: f.seed},
				Events: f.events, Checks: f.checks,
			})
			if errors.Is(err, world.ErrWrong) {
				return fmt.Errorf("%w: %w", errUnsound, err)
			}
			if err != nil {
				return err
			}
			reports = append(reports, rep)
		}
	}
	if e.json {
		enc := json.NewEncoder(e.out)
		enc.SetIndent("", "  ")
		return enc.Encode(reports)
	}
	fmt.Fprintf(e.out, "loadtest world on %s, load average %s\nEvents in the spatial and the temporal monitor, judged and adopted, together.\n", measure.Machine(), measure.LoadAverage())
	for _, rep := range reports {
		fmt.Fprintln(e.out)
		if err := rep.WriteText(e.out); err != nil {
			return err
		}
	}
	return nil
}
