package gate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// DecisionFilter selects decisions. Session is required for agents; authorities may
// leave it out and see their whole tenant.
type DecisionFilter struct {
	Session string
	CallID  string
	Limit   int // 0: 100; at most 1000
}

// DecisionRecord is one standing resolution as read from the log.
type DecisionRecord struct {
	Answer
	Tool    string `json:"tool"`
	Session string `json:"session"`
	Agent   string `json:"agent"`
	Detail  string `json:"detail,omitempty"` // for operators only
	Call    string `json:"call_position"`
}

// Decisions reads the retained log and returns the newest standing resolutions that
// match, oldest first. The cost is that of folding the partitions concerned; it is
// meant for people and audits, not for the path of a call.
func (s *Service) Decisions(ctx context.Context, who Principal, f DecisionFilter) ([]DecisionRecord, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	f.Limit = min(f.Limit, 1000)
	parts, err := s.visible(who, f.Session)
	if err != nil {
		return nil, err
	}
	if !s.scans.take(who) {
		return nil, tooMany("a reading of the log for this principal is under way; wait for it")
	}
	defer s.scans.give(who)
	operator := s.operator(who)
	var out []dated
	for _, part := range parts {
		var found []dated
		err := s.scan(ctx, part, func(e *protocol.Effect, rec *bus.Record) {
			call := e.Event
			if e.Kind != protocol.Settled || call == nil || call.Tenant != who.Tenant ||
				f.Session != "" && call.SessionID != f.Session || f.CallID != "" && call.CallID != f.CallID {
				return
			}
			d := s.decision(e, part, rec.Offset, operator)
			if found = append(found, dated{rec.Time, d}); len(found) > f.Limit {
				found = found[1:]
			}
		})
		if err != nil {
			return nil, err
		}
		out = newest(append(out, found...), f.Limit)
	}
	records := make([]DecisionRecord, len(out))
	for i := range out {
		records[i] = out[i].DecisionRecord
	}
	return records, nil
}

// dated is a decision with the time at which the log took it.
type dated struct {
	at time.Time
	DecisionRecord
}

// newest sorts by time, partitions in order where it is the same, and keeps the last n.
func newest(list []dated, n int) []dated {
	slices.SortStableFunc(list, func(a, b dated) int { return a.at.Compare(b.at) })
	return list[max(0, len(list)-n):]
}

// operator reports whether the principal may see what is not its own: an authority
// under the active policy, never an agent.
func (s *Service) operator(who Principal) bool {
	return who.Class != schema.ClassAgent && slices.Contains(s.cfg.Bundle.Authorities, who.Class)
}

func (s *Service) decision(e *protocol.Effect, part uint32, offset uint64, operator bool) DecisionRecord {
	r := DecisionRecord{
		Answer: *fromResolution(e.Resolution), Tool: e.Event.Tool, Session: e.Event.SessionID, Agent: e.Event.Actor.ID,
		Call: positionString(schema.Position{Partition: part, Offset: e.Call.Offset}),
	}
	r.CallID = e.Event.CallID
	r.Position = positionString(schema.Position{Partition: part, Offset: offset})
	if operator {
		r.Detail = e.Resolution.Detail
	} else {
		s.disclose(&r.Answer)
	}
	return r
}

// visible lists the partitions a principal may read decisions of.
func (s *Service) visible(who Principal, session string) ([]uint32, error) {
	if session == "" {
		if !s.operator(who) {
			return nil, invalid("session is missing: only an authority sees the decisions of others")
		}
		all := make([]uint32, len(s.lanes))
		for i := range all {
			all[i] = uint32(i) //nolint:gosec // a partition number
		}
		return all, nil
	}
	part, own, err := s.sessions.open(who, session)
	if err != nil || !own && !s.operator(who) {
		return nil, invalid("%s", errSession)
	}
	return []uint32{part}, nil
}

// scan folds the retained records of a partition up to its present end.
func (s *Service) scan(ctx context.Context, part uint32, visit func(*protocol.Effect, *bus.Record)) error {
	first, next, err := s.cfg.Bus.Bounds(ctx, bus.Events, part)
	if err != nil {
		return fmt.Errorf("gate: reading partition %d: %w", part, err)
	}
	if first == next {
		return nil
	}
	cur, err := s.cfg.Bus.Read(ctx, bus.Events, part, bus.Start{Kind: bus.Earliest})
	if err != nil {
		return fmt.Errorf("gate: reading partition %d: %w", part, err)
	}
	defer cur.Close() //nolint:errcheck // nothing is lost with a cursor
	fold := protocol.New(part, s.cfg.Rules)
	for {
		rec, err := cur.Next(ctx)
		if err != nil {
			return fmt.Errorf("gate: reading partition %d: %w", part, err)
		}
		if ev, err := schema.DecodeEvent(rec.Data); err == nil {
			effects := fold.Step(rec.Offset, ev)
			for i := range effects {
				visit(&effects[i], &rec)
			}
		}
		if rec.Offset+1 >= next {
			return nil
		}
	}
}

// SessionView is the state of one session.
type SessionView struct {
	Session string         `json:"session"`
	Ended   bool           `json:"ended"`
	Calls   map[string]int `json:"calls"` // by state
	Pending []string       `json:"pending,omitempty"`
}

// Session returns the state of a session that the principal owns, or, for an
// authority, of any in its tenant, as of all that was in the log at the time of the
// call: who lost an answer can find out here what became of a call or a result.
func (s *Service) Session(ctx context.Context, who Principal, id string) (*SessionView, error) {
	part, own, err := s.sessions.open(who, id)
	if err != nil || !own && !s.operator(who) {
		return nil, invalid("%s", errSession)
	}
	l := s.lanes[part]
	if err := l.readOn(ctx); err != nil {
		return nil, err
	}
	trace := s.traceOf(&schema.Event{SessionID: id, Actor: schema.Actor{ID: who.ID}})
	v := &SessionView{Session: id, Calls: map[string]int{}}
	l.mu.Lock()
	defer l.mu.Unlock()
	tid := protocol.TraceID{Tenant: who.Tenant, Trace: trace}
	v.Ended = l.mu.fold.Ended(tid, id)
	l.mu.fold.Calls(tid, func(c *protocol.Call) {
		if c.Session != id {
			return
		}
		v.Calls[c.Status.String()]++
		if c.Status.Unresolved() || c.Status == protocol.CallPermitted {
			v.Pending = append(v.Pending, c.CallID)
		}
	})
	slices.Sort(v.Pending)
	return v, nil
}
