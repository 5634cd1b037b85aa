package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/loadtest/deploy"
	"github.com/aspis-rv/aspis/loadtest/hops"
	"github.com/aspis-rv/aspis/loadtest/measure"
	"github.com/aspis-rv/aspis/loadtest/script"
	"github.com/aspis-rv/aspis/loadtest/table"
)

// hopsOutput is the JSON form of the mode.
type hopsOutput struct {
	*hops.Report
	Row *table.Row `json:"row"`
}

func newHops(e *env) *cobra.Command {
	f := runFlags{tenants: 1, rows: nil}
	var workload string
	var apart bool
	cmd := &cobra.Command{
		Use: "hops", Short: "Where the time of one decision goes, in process, one session at a time", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.hops(cmd.Context(), &f, workload, apart) },
	}
	fs := cmd.Flags()
	fs.StringVar(&workload, "workload", "baseline", "bundle and its sessions")
	fs.BoolVar(&apart, "apart", false, "roles meet in the log alone, over TCP, as separate processes do")
	fs.Uint64Var(&f.seed, "seed", 1, "of scripts")
	fs.DurationVar(&f.warmup, "warmup", defaultWarmup, "time before the measurement that does not count")
	fs.DurationVar(&f.measure, "measure", 5*time.Second, "measured time")
	fs.Uint32Var(&f.partitions, "partitions", 8, "partitions of the log")
	return cmd
}

// hops measures one closed loop with every passing noted. The notes cost some
// microseconds of each decision.
func (e *env) hops(ctx context.Context, f *runFlags, workload string, apart bool) error {
	w, err := script.Load(workload, f.seed)
	if err != nil {
		return err
	}
	trace, start := hops.New(apart), deploy.InProcess
	if apart {
		start = deploy.Apart
	}
	s := surface{
		name: "Go API, traced", setting: table.Unbarred,
		begin: func() { trace.Switch(true) }, end: func() { trace.Switch(false) },
		start: func(ctx context.Context, o deploy.Options) (*deploy.Deployment, error) {
			d, err := start(ctx, o, trace.Wrap)
			if err == nil {
				for i := range d.Doors {
					d.Doors[i] = trace.Door(d.Doors[i])
				}
			}
			return d, err
		},
	}
	row, err := f.measureRow(ctx, s, w, spec{loop: "closed", sessions: 1, tenants: 1})
	if err != nil {
		return err
	}
	r, err := trace.Report()
	if err != nil {
		return err
	}
	if e.json {
		enc := json.NewEncoder(e.out)
		enc.SetIndent("", "  ")
		err = enc.Encode(hopsOutput{Report: r, Row: row})
	} else {
		fmt.Fprintf(e.out, "loadtest hops on %s, load average %s to %s, %s, roles %s\n", measure.Machine(), row.Load[0], row.Load[1], workload, map[bool]string{false: "together", true: "apart"}[apart])
		err = r.WriteText(e.out)
	}
	if bad := row.Err(); bad != nil {
		return errors.Join(err, fmt.Errorf("%w: %w", errUnsound, bad))
	}
	return err
}
