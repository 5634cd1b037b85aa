package sim

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// relayTrace is what the clauses of the relay policy speak of, kept by hand: an oracle
// that shares nothing with the temporal engine.
type relayTrace struct {
	verified, deployed, notices map[string][]int64 // times by host
	passes                      map[string][]int64 // times by session
	frozen                      bool
}

// within reports whether some time lies between lo and hi before now.
func within(times []int64, now int64, lo, hi time.Duration) bool {
	return slices.ContainsFunc(times, func(at int64) bool { return now-at >= int64(lo) && now-at <= int64(hi) })
}

func host(ev *schema.Event) string {
	var args struct{ Host string }
	_ = json.Unmarshal(ev.Args.Canon, &args) // none: no host
	return args.Host
}

// violated lists the clauses that a call violates now.
func (s *relayTrace) violated(ev *schema.Event, now int64) []string {
	h := host(ev)
	var out []string
	add := func(clause string, violated bool) {
		if violated {
			out = append(out, clause)
		}
	}
	switch ev.Tool {
	case "deploy":
		add("R1", !within(s.verified[h], now, 0, 10*time.Second))
		add("R2", within(s.deployed[h], now, 1, 3*time.Second))
		add("R4", s.frozen)
	case "restart":
		add("R3", !within(s.notices[h], now, 2*time.Second, 20*time.Second))
		add("R4", s.frozen)
	case "wipe":
		add("R5", !within(s.passes[ev.SessionID], now, 0, 5*time.Second))
	}
	return out
}

// adopt takes a permitted call.
func (s *relayTrace) adopt(ev *schema.Event, now int64) {
	switch h := host(ev); ev.Tool {
	case "deploy":
		s.deployed[h] = append(s.deployed[h], now)
	case "announce":
		s.notices[h] = append(s.notices[h], now)
	}
}

// step takes a result or a grant.
func (s *relayTrace) step(x *effect, now int64) {
	ev := x.Event
	switch {
	case ev.Kind == schema.KindResult && x.Proposed != nil && x.Proposed.Tool == "verify" && ev.Status == schema.ResultOK:
		var result struct{ OK bool }
		if json.Unmarshal(ev.Result.Canon, &result) == nil && result.OK {
			h := host(x.Proposed)
			s.verified[h] = append(s.verified[h], now)
		}
	case ev.Kind != schema.KindGrant:
	case ev.Tool == "freeze":
		s.frozen = true
	case ev.Tool == "thaw":
		s.frozen = false
	case ev.Tool == "allow_wipe":
		s.passes[ev.SessionID] = append(s.passes[ev.SessionID], now)
	}
}

// relayOracle checks every decision on the log against the clauses worked by hand: what
// was permitted violates none, what was refused for a violation violates the clause
// that is named.
func (w *world) relayOracle(h *history, n *counts) {
	traces := map[protocol.TraceID]*relayTrace{}
	opened := map[schema.Attempt]*effect{}
	for _, e := range h.entries {
		for i := range e.effects {
			x := &e.effects[i]
			s := traces[x.Trace]
			if s == nil || x.Kind == protocol.Evicted {
				s = &relayTrace{
					verified: map[string][]int64{}, deployed: map[string][]int64{},
					notices: map[string][]int64{}, passes: map[string][]int64{},
				}
				traces[x.Trace] = s
			}
			switch x.Kind { //nolint:exhaustive // what changes a trace or decides
			case protocol.Opened:
				opened[x.Attempt] = x
			case protocol.Adopted:
				if v := s.violated(x.Event, x.Timestamp); len(v) > 0 {
					w.problem("%s: permitted, but violates %v", w.line(e), v)
				}
				s.adopt(x.Event, x.Timestamp)
				n.worked++
			case protocol.Stepped:
				s.step(x, x.Timestamp)
			case protocol.Settled, protocol.Interim:
				r, o := x.Resolution, opened[x.Attempt]
				if r.Reason == verdict.Violation && r.Clause != "" && o.Evidence == verdict.Sound {
					if v := s.violated(x.Event, o.Timestamp); !slices.Contains(v, r.Clause) {
						w.problem("%s: refused by %s, but violates %v", w.line(e), r.Clause, v)
					}
					n.worked++
				}
			}
		}
	}
}
