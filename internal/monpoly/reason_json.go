package monpoly

import (
	"math"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// reason is a reason as JSON.
type reason struct {
	Formula string         `json:"formula"`
	Holds   bool           `json:"holds"`
	TS      int64          `json:"ts"`
	TP      uint64         `json:"tp"`
	Values  map[string]any `json:"values,omitempty"`
	RestsOn []timePoint    `json:"rests_on,omitempty"`
	Window  *window        `json:"window,omitempty"`
	// Future marks an operator that is not explained.
	Future  bool     `json:"future,omitempty"`
	Because []reason `json:"because,omitempty"`
}

// timePoint is a time point as JSON.
type timePoint struct {
	TS int64  `json:"ts"`
	TP uint64 `json:"tp"`
}

// window is a window as JSON; From is null if it reaches back to the beginning. At is
// where the operand of a ONCE or SINCE that holds does.
type window struct {
	From *int64 `json:"from"`
	To   int64  `json:"to"`
	At   *int64 `json:"at,omitempty"`
}

func jsonReasons(reasons []mfotl.Reason, times []int64) []reason {
	out := make([]reason, len(reasons))
	for i := range reasons {
		out[i] = jsonReason(&reasons[i], times)
	}
	return out
}

func jsonReason(r *mfotl.Reason, times []int64) reason {
	out := reason{
		Formula: r.Formula.String(), Holds: r.Mark != verdict.T, TS: r.TS, TP: r.Point,
		Future: looksAhead(r.Formula), Because: jsonReasons(r.Because, times),
	}
	if len(r.Binding) > 0 {
		out.Values = map[string]any{}
	}
	for _, b := range r.Binding {
		out.Values[b.Name] = jsonValue(b.Value)
	}
	for _, i := range r.Witness {
		out.RestsOn = append(out.RestsOn, timePoint{TS: times[i], TP: i})
	}
	if r.Window != nil {
		out.Window = jsonWindow(r)
	}
	return out
}

func jsonWindow(r *mfotl.Reason) *window {
	out := window{To: r.Window.To}
	if r.Window.From != math.MinInt64 {
		out.From = &r.Window.From
	}
	switch r.Formula.(type) {
	case *syntax.Once, *syntax.Since:
		if r.Mark != verdict.T {
			out.At = &r.Window.At
		}
	default:
	}
	return &out
}
