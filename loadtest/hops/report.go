package hops

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/aspis-rv/aspis/loadtest/measure"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Hop is the time between two places.
type Hop struct {
	Name string `json:"name"`
	// Beside reports that the hop runs beside the path of the decision.
	Beside bool              `json:"beside,omitempty"`
	Permit measure.Quantiles `json:"permit"`
	Refuse measure.Quantiles `json:"refuse"`
}

// Report is where the time went.
type Report struct {
	Hops  []Hop `json:"hops"` // in order; those on the path, then those beside it
	Whole Hop   `json:"whole"`
	Calls int   `json:"calls"`
	// Partial calls lacked a passing on the path, for instance because the record came by
	// replay. What happens beside it may come after the answer, and is counted where it
	// did not.
	Partial int `json:"partial"`
}

// ErrNothing is returned when no call passed every place.
var ErrNothing = errors.New("hops: no call was followed from end to end")

// hop names the way from one point to another.
type hop struct {
	name     string
	from, to point
	beside   bool
}

// together is the path where the composer runs beside the aspect and is handed its
// verdicts; the log has them later.
func together() []hop {
	return []hop{
		{"gate: check, canonical form, encode", made, gateAppends, false},
		{"append call, store, deliver to aspect", gateAppends, aspectReads, false},
		{"aspect: decode, fold, judge; composer: join, decide, sign, encode", aspectReads, composerMakes, false},
		{"create resolution, store, deliver to gate", composerMakes, gateReads, false},
		{"gate: decode, fold, wake caller, permit", gateReads, answered, false},
		{"append call, deliver to composer", gateAppends, composerHears, true},
		{"append verdict, deliver to composer", aspectEmits, composerReads, true},
		{"create resolution until acknowledged", composerMakes, composerKnows, true},
	}
}

// apart is the path where roles meet in the log alone.
func apart() []hop {
	return []hop{
		{"gate: check, canonical form, encode", made, gateAppends, false},
		{"append call, store, deliver to aspect", gateAppends, aspectReads, false},
		{"aspect: decode, fold, judge, encode", aspectReads, aspectEmits, false},
		{"append verdict, store, deliver to composer", aspectEmits, composerReads, false},
		{"composer: decode, join, decide, sign, encode", composerReads, composerMakes, false},
		{"create resolution, store, deliver to gate", composerMakes, gateReads, false},
		{"gate: decode, fold, wake caller, permit", gateReads, answered, false},
		{"append call, deliver to composer", gateAppends, composerHears, true},
		{"create resolution until acknowledged", composerMakes, composerKnows, true},
	}
}

// path is the passings of one call; 0 where there was none.
type path struct {
	at   [points]time.Duration
	told string
}

// whole reports whether the call passed every place of the path.
func (p *path) whole(list []hop) bool {
	return !slices.ContainsFunc(list, func(h hop) bool { return !h.beside && (p.at[h.from] == 0 || p.at[h.to] == 0) })
}

// Report puts the collected passings in order.
func (t *Trace) Report() (*Report, error) {
	t.mu.Lock()
	marks := slices.Clone(t.mu.marks)
	t.mu.Unlock()
	r := &Report{}
	list := together()
	if t.apart {
		list = apart()
	}
	whole := [2]*measure.Latency{measure.NewLatency(), measure.NewLatency()}
	times := make([][2]*measure.Latency, len(list))
	for i := range times {
		times[i] = [2]*measure.Latency{measure.NewLatency(), measure.NewLatency()}
	}
	for _, p := range paths(marks) {
		if !p.whole(list) {
			r.Partial++
			continue
		}
		r.Calls++
		kind := 1
		if p.told == "permit" {
			kind = 0
		}
		whole[kind].Record(p.at[answered] - p.at[made])
		for i, h := range list {
			if from, to := p.at[h.from], p.at[h.to]; from != 0 && to >= from {
				times[i][kind].Record(to - from)
			}
		}
	}
	if r.Calls == 0 {
		return nil, fmt.Errorf("%w; %d passings, %d calls in part", ErrNothing, len(marks), r.Partial)
	}
	for i, h := range list {
		r.Hops = append(r.Hops, Hop{Name: h.name, Beside: h.beside, Permit: times[i][0].Quantiles(), Refuse: times[i][1].Quantiles()})
	}
	r.Whole = Hop{Name: "call to answer", Permit: whole[0].Quantiles(), Refuse: whole[1].Quantiles()}
	return r, nil
}

// paths cuts the passings into calls: one begins where the agent makes it. The first
// passing of the right kind of record counts. What comes after the answer still
// belongs to the call until the next is made.
func paths(marks []mark) []path {
	slices.SortStableFunc(marks, func(a, b mark) int { return int(a.at - b.at) })
	var out []path
	for _, m := range marks {
		if m.point == made {
			out = append(out, path{})
		}
		if len(out) == 0 {
			continue
		}
		p := &out[len(out)-1]
		if p.at[m.point] != 0 || !belongs(&m) {
			continue
		}
		p.at[m.point] = m.at
		if m.point == answered {
			p.told = m.told
		}
	}
	return out
}

// belongs reports whether the record is the one that the point waits for on the path
// of a decision: the call, its verdict or its resolution, and no tick or result.
func belongs(m *mark) bool {
	kind := schema.KindCall
	switch m.point {
	case made, answered, points:
		return true
	case aspectEmits, composerReads:
		_, err := schema.DecodeVerdict(m.data)
		return err == nil
	case composerMakes, composerKnows, gateReads:
		kind = schema.KindResolution
	case gateAppends, aspectReads, composerHears:
	}
	ev, err := schema.DecodeEvent(m.data)
	return err == nil && ev.Kind == kind
}

// WriteText writes the report as a table; times are in µs.
func (r *Report) WriteText(w io.Writer) error {
	var s strings.Builder
	fmt.Fprintf(&s, "Where the time of one decision goes: %d calls, one at a time; µs; share of the medians' sum.\n\n", r.Calls)
	t := tabwriter.NewWriter(&s, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "permit p50\tp99\tshare\trefuse p50\tp99\t  hop\t")
	sum := 0.0
	for _, h := range r.Hops {
		if !h.Beside {
			sum += h.Permit.P50
		}
	}
	line := func(h *Hop, share string) {
		fmt.Fprintf(t, "%.0f\t%.0f\t%s\t%.0f\t%.0f\t  %s\t\n", h.Permit.P50, h.Permit.P99, share, h.Refuse.P50, h.Refuse.P99, h.Name)
	}
	for i := range r.Hops {
		share := "beside"
		if !r.Hops[i].Beside {
			share = fmt.Sprintf("%.0f %%", 100*r.Hops[i].Permit.P50/sum)
		}
		line(&r.Hops[i], share)
	}
	line(&r.Whole, "")
	if err := t.Flush(); err != nil {
		return fmt.Errorf("hops: %w", err)
	}
	_, err := io.WriteString(w, s.String())
	return err
}
