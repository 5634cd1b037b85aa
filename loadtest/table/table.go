// Package table is what a load test prints: one row per measurement, as text for
// people and as JSON for programs, with the figures to reach beside those measured.
package table

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/aspis-rv/aspis/loadtest/fleet"
	"github.com/aspis-rv/aspis/loadtest/measure"
)

// Report is the output of one mode.
type Report struct {
	Mode    string `json:"mode"`
	Machine string `json:"machine"`
	Go      string `json:"go"`
	Rows    []Row  `json:"rows"`
}

// Row is one measurement.
type Row struct {
	Surface  string  `json:"surface"`  // how agents reach the gate
	Workload string  `json:"workload"` // the bundle and its sessions
	Loop     string  `json:"loop"`     // open or closed
	Sessions int     `json:"sessions"` // at a time
	Tenants  int     `json:"tenants"`
	Rate     float64 `json:"rate,omitempty"` // calls per second asked for; open loop
	Seconds  float64 `json:"seconds"`        // measured, the warm-up apart

	PerSecond float64           `json:"calls_per_second"`
	Response  measure.Quantiles `json:"response"` // from when a call was due
	Service   measure.Quantiles `json:"service"`  // from when it was made
	// Late is how late the load generator was with calls of idle sessions.
	Late     measure.Quantiles `json:"generator_late"`
	Unserved int               `json:"unserved"` // due, and without an answer at the end

	Roles  []Role         `json:"roles"`
	Noise  measure.Pauses `json:"noise"` // of the load generator's process
	Counts fleet.Counts   `json:"counts"`
	// Signatures is the number of permits whose signature was verified.
	Signatures int       `json:"signatures_verified"`
	Load       [2]string `json:"load_average"` // of the machine before and after
	Bars       []Bar     `json:"bars,omitempty"`
}

// Role is the share of one process.
type Role struct {
	Name string  `json:"name"`
	CPU  float64 `json:"cpu_us_per_call"`
	RSS  float64 `json:"rss_mib"`
}

// Name says which measurement the row is.
func (r *Row) Name() string {
	sessions := "1 session"
	if r.Sessions != 1 {
		sessions = fmt.Sprintf("%d sessions", r.Sessions)
	}
	loop := "closed loop"
	switch {
	case r.Loop == "open":
		loop = fmt.Sprintf("open loop, %g/s", r.Rate)
	case r.Sessions > 1:
		loop = "saturated"
	}
	return fmt.Sprintf("%s, %s, %s, %s", r.Surface, r.Workload, sessions, loop)
}

// cpu is the processor time per call of all processes together, in µs.
func (r *Row) cpu() float64 {
	sum := 0.0
	for _, role := range r.Roles {
		sum += role.CPU
	}
	return sum
}

func (r *Row) rss() float64 {
	sum := 0.0
	for _, role := range r.Roles {
		sum += role.RSS
	}
	return sum
}

// Err returns why the figures of a row say nothing, or nil: a fast wrong answer is a
// defect, and so is an answer that never came.
func (r *Row) Err() error {
	if err := r.Counts.Sound(); err != nil {
		return fmt.Errorf("%s: %w", r.Name(), err)
	}
	return nil
}

// WriteJSON writes the report as one JSON document.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteText writes the report as a table. Latencies and processor times are in µs,
// memory is in MiB.
func (r *Report) WriteText(w io.Writer) error {
	var s strings.Builder
	fmt.Fprintf(&s, "loadtest %s on %s, %s\n", r.Mode, r.Machine, r.Go)
	s.WriteString("Latencies in µs from when a call was due (open loop) or made (closed loop); processor time\n" +
		"in µs per call over all processes, the load generator's included; memory in MiB.\n\n")
	t := tabwriter.NewWriter(&s, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "calls/s\tp50\tp90\tp99\tp99.9\tmax\tservice p50\tcpu/call\tmemory\tload\t  row\t")
	for i := range r.Rows {
		row := &r.Rows[i]
		q := row.Response
		fmt.Fprintf(t, "%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%s–%s\t  %s\t\n", row.PerSecond,
			q.P50, q.P90, q.P99, q.P999, q.Max, row.Service.P50, row.cpu(), row.rss(), row.Load[0], row.Load[1], row.Name())
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	for i := range r.Rows {
		r.Rows[i].writeDetail(&s)
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// writeDetail writes what belongs to one row only.
func (r *Row) writeDetail(s *strings.Builder) {
	fmt.Fprintf(s, "\n%s\n", r.Name())
	c := &r.Counts
	fmt.Fprintf(s, "  answers: %d checked, %d permits, %d refusals, %d wrong, %d undecided, %d failed; %d other records; %d signatures verified\n",
		c.Checked, c.Permitted, c.Refused, c.Wrong, c.Undecided, c.Failed, c.Records, r.Signatures)
	for _, e := range c.Examples {
		fmt.Fprintf(s, "    %s\n", e)
	}
	for _, role := range r.Roles {
		fmt.Fprintf(s, "  %s: %.0f µs of processor time per call, %.0f MiB\n", role.Name, role.CPU, role.RSS)
	}
	fmt.Fprintf(s, "  load generator: %d collections' pauses, p50 %.0f µs, max %.0f µs; runnable goroutines wait %.0f µs at p99",
		r.Noise.GC, r.Noise.GCP50, r.Noise.GCMax, r.Noise.SchedP9)
	if r.Loop == "open" {
		fmt.Fprintf(s, "; late by %.0f µs at p50, %.0f µs at p99; %d calls unserved", r.Late.P50, r.Late.P99, r.Unserved)
	}
	s.WriteByte('\n')
	for _, b := range r.Bars {
		fmt.Fprintf(s, "  bar: %s\n", b)
	}
}
