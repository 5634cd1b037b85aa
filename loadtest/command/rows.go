package command

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/aspis-rv/aspis/loadtest/deploy"
	"github.com/aspis-rv/aspis/loadtest/fleet"
	"github.com/aspis-rv/aspis/loadtest/measure"
	"github.com/aspis-rv/aspis/loadtest/pace"
	"github.com/aspis-rv/aspis/loadtest/script"
	"github.com/aspis-rv/aspis/loadtest/table"
)

// spec is a row to measure.
type spec struct {
	loop     string
	sessions int
	tenants  int
	rate     float64
}

func rowNames() []string { return []string{"one-closed", "one-open", "many-open", "saturated"} }

// spec returns the row of a name.
func (f *runFlags) spec(name string) (spec, bool) {
	switch name {
	case "one-closed":
		return spec{loop: "closed", sessions: 1, tenants: 1}, true
	case "one-open":
		return spec{loop: "open", sessions: 1, tenants: 1, rate: f.rateOne}, true
	case "many-open":
		return spec{loop: "open", sessions: f.sessions, tenants: min(f.tenants, f.sessions), rate: f.rate}, true
	case "saturated":
		return spec{loop: "closed", sessions: f.saturate, tenants: min(f.tenants, f.saturate)}, true
	}
	return spec{}, false
}

// surface is a kind of deployment and how it is reached.
type surface struct {
	name    string
	setting table.Setting
	start   func(ctx context.Context, o deploy.Options) (*deploy.Deployment, error)
	// begin and end, when not nil, are called around the measured time.
	begin, end func()
}

// measureAll measures the rows of every workload on a surface, each on a deployment
// of its own, and adds them to the report; those before a failure stay in it.
func (f *runFlags) measureAll(ctx context.Context, e *env, s surface, r *table.Report) error {
	for _, name := range f.workloads {
		w, err := script.Load(name, f.seed)
		if err != nil {
			return err
		}
		for _, rowName := range f.rows {
			sp, _ := f.spec(rowName)
			fmt.Fprintf(e.err, "loadtest: %s, %s, %s …\n", s.name, name, rowName)
			row, err := f.measureRow(ctx, s, w, sp)
			if row != nil {
				r.Rows = append(r.Rows, *row)
			}
			if err != nil {
				return fmt.Errorf("%s, %s, %s: %w", s.name, name, rowName, err)
			}
		}
	}
	return nil
}

// measureRow starts a deployment, measures one row on it, and stops it.
func (f *runFlags) measureRow(ctx context.Context, s surface, w *script.Workload, sp spec) (row *table.Row, err error) {
	err = inTemp(func(dir string) error {
		d, err := s.start(ctx, deploy.Options{Dir: dir, Workload: w, Partitions: f.partitions, Agents: sp.sessions, Tenants: sp.tenants})
		if err != nil {
			return err
		}
		row, err = f.drive(ctx, d, s, w, sp)
		return errors.Join(err, d.Close())
	})
	return row, err
}

// drive measures one row on a running deployment.
func (f *runFlags) drive(ctx context.Context, d *deploy.Deployment, s surface, w *script.Workload, sp spec) (*table.Row, error) {
	row := &table.Row{
		Surface: s.name, Workload: w.Name, Loop: sp.loop, Sessions: sp.sessions, Tenants: sp.tenants, Rate: sp.rate,
		Seconds: f.measure.Seconds(),
	}
	var tally fleet.Tally
	workers, err := f.agents(ctx, d, w, &tally)
	if err != nil {
		return nil, err
	}
	sleeper, err := pace.NewSleeper()
	if err != nil {
		return nil, err
	}
	defer sleeper.Close() //nolint:errcheck // nothing to lose
	debug.FreeOSMemory()  // what earlier rows left is not this row's
	rec := newRecorder(d)
	cfg := pace.Config{
		Rate: sp.rate, Poisson: sp.sessions > 1, Seed: f.seed, Warmup: f.warmup, Measure: f.measure,
		Begin: func() { rec.begin(); call(s.begin) }, End: func() { call(s.end); rec.end() },
		Sleep: sleeper.Sleep, Record: rec.record,
	}
	loop := pace.Closed
	if sp.loop == "open" {
		loop = pace.Open
	}
	row.Load[0] = measure.LoadAverage()
	res, err := loop(ctx, cfg, workers)
	row.Load[1] = measure.LoadAverage()
	if err != nil {
		return nil, err
	}
	row.Signatures = tally.Verify(d.GateKey)
	row.Counts = tally.Counts()
	row.PerSecond = float64(res.Answered) / res.Elapsed.Seconds()
	rec.fill(row, res.Answered)
	row.Judge(s.setting)
	return row, rec.err
}

func call(f func()) {
	if f != nil {
		f()
	}
}

// preparing is the number of sessions opened at the same time before a run.
const preparing = 16

// agents makes an agent for each door, with its first session open.
func (f *runFlags) agents(ctx context.Context, d *deploy.Deployment, w *script.Workload, tally *fleet.Tally) ([]pace.Worker, error) {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(preparing)
	var workers []pace.Worker
	for i, door := range d.Doors {
		rng := rand.New(rand.NewPCG(f.seed, uint64(i))) //nolint:gosec // a workload is no secret
		a := fleet.NewAgent(door, w, tally, rng)
		workers = append(workers, a)
		g.Go(func() error { return a.Prepare(ctx) })
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("opening the sessions: %w", err)
	}
	return workers, nil
}

// recorder takes the samples and accounts of one row.
type recorder struct {
	deployment              *deploy.Deployment
	response, service, late *measure.Latency
	unserved                atomic.Int64
	before, after           []deploy.RoleUsage
	noiseBefore, noiseAfter measure.Noise
	err                     error
}

func newRecorder(d *deploy.Deployment) *recorder {
	return &recorder{deployment: d, response: measure.NewLatency(), service: measure.NewLatency(), late: measure.NewLatency()}
}

func (r *recorder) begin() {
	var err error
	r.before, err = r.deployment.Usage()
	r.noiseBefore = measure.ReadNoise()
	r.err = errors.Join(r.err, err)
}

func (r *recorder) end() {
	var err error
	r.after, err = r.deployment.Usage()
	r.noiseAfter = measure.ReadNoise()
	r.err = errors.Join(r.err, err)
}

func (r *recorder) record(s pace.Sample) {
	r.response.Record(s.Response)
	if s.Unserved {
		r.unserved.Add(1)
		return
	}
	r.service.Record(s.Service)
	if s.Idle {
		r.late.Record(s.Response - s.Service)
	}
}

// fill puts what was recorded into the row.
func (r *recorder) fill(row *table.Row, calls int) {
	row.Response, row.Service, row.Late = r.response.Quantiles(), r.service.Quantiles(), r.late.Quantiles()
	row.Unserved = int(r.unserved.Load())
	row.Noise = r.noiseAfter.Since(r.noiseBefore)
	for i, after := range r.after {
		cpu := after.CPU - r.before[i].CPU
		row.Roles = append(row.Roles, table.Role{
			Name: after.Name, CPU: float64(cpu.Microseconds()) / float64(max(calls, 1)), RSS: float64(after.RSS) / (1 << 20),
		})
	}
}

// self is the path of this program.
func self() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	return path, nil
}

func has(list []string, s string) bool { return slices.Contains(list, s) }
