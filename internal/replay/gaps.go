package replay

import (
	"slices"

	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// GapLine is an event that left open what relations say that a clause reads, or whose facts did
// not count. It is for operators: Why may quote what agents and others wrote.
type GapLine struct {
	Record    uint64   `json:"record"`
	Call      string   `json:"call,omitempty"`
	Tool      string   `json:"tool,omitempty"`
	Relations []string `json:"relations"` // of those that the clause reads
	Why       []string `json:"why"`       // what went wrong at the event, and where in the bundle
	// Held is set where the relations lack facts that only the agent's own account reports.
	Held bool `json:"held,omitempty"`
}

// maxGaps is how many gaps of a clause are told, the latest ones.
const maxGaps = 8

// gaps are the events of a log that left something open, by the session they belong to.
// It is used by one goroutine.
type gaps struct {
	bundle *policy.Bundle
	calls  map[callKey]*schema.Event // open ones, for the arguments that results are typed with
	owners map[sessionKey]string     // by session the agent whose calls are judged in it
	found  []gap
}

type sessionKey struct{ tenant, session string }

type gap struct {
	GapLine
	of     sessionKey
	result bool
}

func newGaps(b *policy.Bundle) *gaps {
	return &gaps{bundle: b, calls: map[callKey]*schema.Event{}, owners: map[sessionKey]string{}}
}

// record types an event once more, and keeps what it leaves open.
func (g *gaps) record(offset uint64, ev *schema.Event, observe bool) {
	key, of := callKey{ev.Tenant, ev.SessionID, ev.CallID}, sessionKey{ev.Tenant, ev.SessionID}
	tool, typing := ev.Tool, policy.Typing{}
	attested := *ev
	attested.Vantage = schema.Attested
	var counted policy.Typing // if somebody else than the agent had seen it
	switch ev.Kind {
	case schema.KindCall:
		g.calls[key] = ev
		if _, known := g.owners[of]; !known {
			g.owners[of] = ev.Actor.ID
		}
		typing = g.bundle.Type(ev, observe)
	case schema.KindResult:
		call := g.calls[key]
		delete(g.calls, key)
		if call == nil {
			return
		}
		tool, typing, counted = call.Tool, g.bundle.TypeResult(call, ev, observe), g.bundle.TypeResult(call, &attested, observe)
	case schema.KindMessage, schema.KindObservation:
		typing, counted = g.bundle.Type(ev, observe), g.bundle.Type(&attested, observe)
	case schema.KindGrant:
		typing = g.bundle.Type(ev, observe)
	case schema.KindResolution, schema.KindTick, schema.KindPolicy, schema.KindSession, schema.KindWithdrawn:
		return
	}
	line := GapLine{Record: offset, Call: ev.CallID, Tool: tool, Why: typing.Why}
	line.Relations = slices.Concat(typing.Uncertain, typing.Degraded)
	g.add(gap{GapLine: line, of: of, result: ev.Kind == schema.KindResult})
	if ev.Vantage == schema.Reported {
		line.Held, line.Why = true, []string{"only the agent's own account reports it, and that discharges nothing"}
		line.Relations = held(typing.Facts, counted.Facts)
		g.add(gap{GapLine: line, of: of, result: true})
	}
}

func (g *gaps) add(n gap) {
	again := func(o gap) bool { return o.Record == n.Record && o.Held == n.Held } // a call that was held opens twice
	if len(n.Relations) > 0 && !slices.ContainsFunc(g.found, again) {
		g.found = append(g.found, n)
	}
}

// held lists the relations of facts that are counted only where others than the agent saw them.
func held(made, counted []schema.Fact) []string {
	var out []string
	for i := range counted {
		f := &counted[i]
		same := func(o schema.Fact) bool { return o.Name == f.Name && slices.Equal(o.Args, f.Args) }
		if !slices.ContainsFunc(made, same) && !slices.Contains(out, f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}

// drop forgets what a call left open that was not permitted: it is no time point.
func (g *gaps) drop(session, call string) {
	g.found = slices.DeleteFunc(g.found, func(o gap) bool {
		return !o.result && o.Call != "" && o.Call == call && o.of.session == session
	})
}

// of lists what a clause reads and was left open in the trace of a session, where that matters,
// and what did not count, where the clause fires.
func (g *gaps) of(session string, c *compose.Clause) []GapLine {
	reads := g.reads(c.ID)
	var out []GapLine
	for _, o := range g.found {
		o.Relations = slices.DeleteFunc(slices.Clone(o.Relations), func(r string) bool { return !slices.Contains(reads, r) })
		matters := c.Completeness != verdict.Sound
		if o.Held {
			matters = c.Value >= verdict.Fp
		}
		if matters && len(o.Relations) > 0 && g.together(o.of, session) {
			out = append(out, o.GapLine)
		}
	}
	return out[max(0, len(out)-maxGaps):]
}

// together reports whether a session is of one trace with another.
func (g *gaps) together(of sessionKey, session string) bool {
	if of.session == session {
		return true
	}
	switch g.bundle.Trace {
	case policy.TraceSession:
		return false
	case policy.TraceAgent:
		owner, known := g.owners[of]
		return known && owner == g.owners[sessionKey{of.tenant, session}]
	case policy.TraceTenant:
		_, known := g.owners[sessionKey{of.tenant, session}]
		return known
	}
	return false
}

// reads are the relations in the formulas of a clause.
func (g *gaps) reads(clause string) []string {
	var out []string
	for i := range g.bundle.Clauses {
		c := &g.bundle.Clauses[i]
		if c.ID != clause {
			continue
		}
		for k := range c.Formulas {
			syntax.Walk(c.Formulas[k].Checked.Core, func(f syntax.Formula) bool {
				if atom, ok := f.(*syntax.Pred); ok {
					out = append(out, atom.Name)
				}
				return true
			})
		}
	}
	return out
}
