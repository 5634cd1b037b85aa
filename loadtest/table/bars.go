package table

import "fmt"

// Bar is a figure to reach, on two quiet cores, beside the one measured.
type Bar struct {
	What  string  `json:"what"` // p50, p99, p99.9 or calls/s
	Limit float64 `json:"limit"`
	Got   float64 `json:"got"`
	Met   bool    `json:"met"`
}

// perSecond is the one bar that is a lower bound.
const perSecond = "calls/s"

// String is the bar as the table shows it.
func (b Bar) String() string {
	met := "met"
	if !b.Met {
		met = "missed"
	}
	if b.What == perSecond {
		return fmt.Sprintf("%s %.0f, to reach %.0f: %s", b.What, b.Got, b.Limit, met)
	}
	return fmt.Sprintf("%s %.0f µs, at most %.0f µs: %s", b.What, b.Got, b.Limit, met)
}

// Setting is the way roles run, which decides what is to be reached.
type Setting uint8

// The settings.
const (
	InProcess Setting = iota // one process, Go API
	OverHTTP                 // one process, HTTP
	Separate                 // a process per role, one NATS server
	Unbarred                 // nothing is to be reached
)

// limits are the figures to reach in µs, and calls per second; 0 is none.
type limits struct{ p50, p99, p999, rate float64 }

// Judge fills in the row's bars.
func (r *Row) Judge(s Setting) {
	l := r.limits(s)
	r.Bars = nil
	add := func(what string, limit, got float64) {
		if limit == 0 {
			return
		}
		met := got <= limit
		if what == perSecond {
			met = got >= limit
		}
		r.Bars = append(r.Bars, Bar{What: what, Limit: limit, Got: got, Met: met})
	}
	add("p50", l.p50, r.Response.P50)
	add("p99", l.p99, r.Response.P99)
	add("p99.9", l.p999, r.Response.P999)
	add(perSecond, l.rate, r.PerSecond)
}

func (r *Row) limits(s Setting) limits {
	saturated := r.Loop == "closed" && r.Sessions > 1
	one := r.Sessions == 1
	switch s {
	case InProcess:
		switch {
		case saturated:
			return limits{rate: 8000}
		case one:
			return limits{p50: 200, p99: 600}
		}
	case OverHTTP:
		switch {
		case saturated:
			return limits{rate: 3000}
		case one:
			return limits{p50: 450}
		}
	case Separate:
		switch {
		case saturated:
			return limits{rate: 6000}
		case one:
			return limits{p50: 1100, p99: 2500}
		default:
			return limits{p50: 1700, p99: 6000, p999: 12000}
		}
	case Unbarred:
	}
	return limits{}
}
