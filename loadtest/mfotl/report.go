package mfotl

import (
	"encoding/json"
	"fmt"
	"io"
)

// Report is a table of rows.
type Report struct {
	Machine string `json:"machine"`
	Load    string `json:"load_average"`
	Go      string `json:"go"`
	Rows    []Row  `json:"rows"`
}

// WriteJSON writes one document.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteText writes a table.
func (r *Report) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.printf("loadtest mfotl on %s, %s, load average %s\n", r.Machine, r.Go, r.Load)
	p.printf("Events are time points; rates are per second of user time.\n\n")
	p.printf("%-18s %-8s %10s %10s %8s %8s %10s\n", "workload", "program", "events", "events/s", "µs/event", "MB/s", "peak MB")
	for _, row := range r.Rows {
		for _, f := range []*Figures{row.Aspis, row.MonPoly} {
			if f != nil && f.Rate > 0 {
				p.printf("%-18s %-8s %10d %10.0f %8.2f %8.1f %10.1f\n", row.Workload, f.Program, f.Size.Points, f.Rate, 1e6/f.Rate, f.Speed, float64(f.Peak)/1e6)
			}
		}
		p.row(&row)
	}
	return p.err
}

// row writes what is to be said about a row.
func (p *printer) row(row *Row) {
	if row.Wrong != "" {
		p.printf("%-18s wrong: %s\n", row.Workload, row.Wrong)
	}
	if row.Aspis == nil {
		return
	}
	if row.Bar > 0 {
		met := "met"
		if row.Aspis.Rate < row.Bar {
			met = "missed"
		}
		p.printf("%18s bar: %.0f events/s: %s\n", "", row.Bar, met)
	}
	if row.MonPoly != nil && row.MonPoly.Rate > 0 {
		p.printf("%18s %.1f times as fast as %s\n", "", row.Aspis.Rate/row.MonPoly.Rate, row.MonPoly.Program)
	}
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}
