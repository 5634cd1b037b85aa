package world

import (
	"fmt"
	"io"
)

// WriteText writes a report for people.
func (rep *Report) WriteText(w io.Writer) error {
	s := rep.Size
	_, err := fmt.Fprintf(w, "%d vertices, %d channels (%.0f %% open), %d records, %d domains, seed %d\n"+
		"built in %.2f s; %.0f bytes a vertex, %.0f bytes a shadow with one placement\n%10s %10s %10s %8s %8s  %s\n",
		s.Vertices, s.Channels, 100*s.Open, s.Records, s.Domains, s.Seed,
		rep.Build, rep.BytesPerVertex, rep.BytesPerShadow, "p50 µs", "p99 µs", "max µs", "events", "checked", "event")
	for i := range rep.Rows {
		r := &rep.Rows[i]
		if err != nil {
			return err
		}
		quantile, got := "p50", r.Times.P50
		if r.AtP99 {
			quantile, got = "p99", r.Times.P99
		}
		met := "met"
		if !r.Met() {
			met = "missed"
		}
		_, err = fmt.Fprintf(w, "%10.2f %10.1f %10.1f %8d %8d  %s; %s %.2f µs, at most %.0f: %s\n",
			r.Times.P50, r.Times.P99, r.Times.Max, r.Events, r.Check, r.Name, quantile, got, r.Bar, met)
	}
	return err
}
