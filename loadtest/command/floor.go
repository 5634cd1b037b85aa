package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
	"github.com/aspis-rv/aspis/loadtest/measure"
	"github.com/aspis-rv/aspis/loadtest/pace"
)

// floorRow is what the log alone takes under one schedule.
type floorRow struct {
	Loop     string            `json:"loop"`
	Rate     float64           `json:"rate,omitempty"`
	Response measure.Quantiles `json:"response"`
}

func newFloor(e *env) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "floor", Short: "What the log alone takes for the two appends of one decision, in process", Args: cobra.NoArgs,
		Long: "Appends two records of 400 bytes, the second when the first is durable, under the schedules of one-closed\n" +
			"and one-open. No decision can be faster than that on this machine, whatever the roles do.",
		RunE: func(cmd *cobra.Command, _ []string) error { return e.floor(cmd.Context(), &f) },
	}
	fs := cmd.Flags()
	fs.DurationVar(&f.warmup, "warmup", time.Second, "time before each measurement that does not count")
	fs.DurationVar(&f.measure, "measure", 4*time.Second, "measured time of each row")
	fs.Float64Var(&f.rateOne, "rate-one", 200, "appends of two records per second in the open loop")
	return cmd
}

func (e *env) floor(ctx context.Context, f *runFlags) error {
	var rows []floorRow
	for _, loop := range []string{"closed", "open"} {
		row := floorRow{Loop: loop}
		if loop == "open" {
			row.Rate = f.rateOne
		}
		if err := inTemp(func(dir string) error { return f.floorRow(ctx, dir, &row) }); err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if e.json {
		enc := json.NewEncoder(e.out)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	fmt.Fprintf(e.out, "loadtest floor on %s, load average %s\nTwo appends to the embedded log, one after the other, in µs.\n\n", measure.Machine(), measure.LoadAverage())
	fmt.Fprintf(e.out, "%8s %8s %8s %8s  loop\n", "p50", "p90", "p99", "max")
	for _, r := range rows {
		name := r.Loop
		if r.Rate > 0 {
			name = fmt.Sprintf("%s, %g/s", r.Loop, r.Rate)
		}
		fmt.Fprintf(e.out, "%8.0f %8.0f %8.0f %8.0f  %s\n", r.Response.P50, r.Response.P90, r.Response.P99, r.Response.Max, name)
	}
	return nil
}

// floorRow measures one row on a log of its own.
func (f *runFlags) floorRow(ctx context.Context, dir string, row *floorRow) (err error) {
	srv, err := natsbus.StartServer(natsbus.ServerConfig{Dir: filepath.Join(dir, "log"), DontListen: true})
	if err != nil {
		return err
	}
	defer srv.Shutdown()
	log, err := natsbus.Connect(ctx, natsbus.Config{InProcess: srv, Partitions: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	sleeper, err := pace.NewSleeper()
	if err != nil {
		return err
	}
	defer sleeper.Close() //nolint:errcheck // nothing to lose
	took := measure.NewLatency()
	w := &appends{log: log}
	loop := pace.Closed
	if row.Loop == "open" {
		loop = pace.Open
	}
	_, err = loop(ctx, pace.Config{
		Rate: row.Rate, Warmup: f.warmup, Measure: f.measure, Sleep: sleeper.Sleep,
		Begin: func() {}, End: func() {}, Record: func(s pace.Sample) { took.Record(s.Response) },
	}, []pace.Worker{w})
	row.Response = took.Quantiles()
	return errors.Join(err, w.err)
}

// appends is the worker of the floor.
type appends struct {
	log bus.Bus
	err error // the first
}

// Call implements pace.Worker.
func (a *appends) Call(ctx context.Context) {
	for range 2 {
		_, err := a.log.Publish(ctx, bus.Message{Topic: bus.Events, Class: bus.Reserved, Data: make([]byte, 400)})
		if err != nil && ctx.Err() == nil {
			a.err = err
		}
	}
}

// Settle implements pace.Worker.
func (*appends) Settle(context.Context) {}
