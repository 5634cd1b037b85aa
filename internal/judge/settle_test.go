package judge

import (
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// listener is a monitor that keeps what it is told, in order.
type listener struct {
	spy

	told []any
}

func (m *listener) New() aspects.Monitor                    { return m }
func (m *listener) Restore([]byte) (aspects.Monitor, error) { return m, nil }
func (m *listener) Settle(end aspects.Ended)                { m.told = append(m.told, end) }

func (m *listener) Adopt(in aspects.Input) {
	m.told = append(m.told, in.Call+in.Event.CallID)
	if in.Ended.Call != "" {
		m.told = append(m.told, in.Ended)
	}
}

// TestEnds: a monitor that keeps effects hears how every call ended, each once: with its
// result, or without one; then only when no attempt is open, also after a restart.
func TestEnds(t *testing.T) {
	result := func(status schema.ResultStatus) *schema.Event {
		ev := record(schema.KindResult, "s", "a", "send", `{}`)
		ev.Status = status
		return ev
	}
	end := func(o aspects.Outcome) aspects.Ended { return aspects.Ended{Call: "6", Outcome: o} }
	withdrawn := record(schema.KindWithdrawn, "s", "a", "", "")
	for _, tc := range []struct {
		name    string
		with    *schema.Event
		open    bool // an attempt is open when the call ends
		restart bool
		want    []any
	}{
		{"an ok result", result(schema.ResultOK), false, false, []any{"6a", "a", end(aspects.EffectsStay)}},
		{"an error", result(schema.ResultError), false, false, []any{"6a", "a", end(aspects.EffectsGo)}},
		{"withdrawn", withdrawn, false, false, []any{"6a", end(aspects.EffectsGo)}},
		{"no result", tick(2, 130), false, true, []any{"6a", end(aspects.EffectsDoubt)}},
		{"withdrawn while another is open", withdrawn, true, false, []any{"6a", "10b", end(aspects.EffectsGo)}},
		{"the same with a restart", withdrawn, true, true, []any{"6a", "10b", end(aspects.EffectsGo)}},
		{"no result while another is open", tick(2, 130), true, true, []any{"6a", "10b", end(aspects.EffectsDoubt)}},
	} {
		cfg := config(bundle(t, 1))
		cfg.Bundle.World = &world.Spec{}
		heard := &listener{}
		cfg.Engine = heard
		l, j := newLog(t, cfg), New(3, cfg)
		l.give(activation(1, cfg.Bundle), j)
		l.give(tick(1, 105), j)
		l.give(record(schema.KindCall, "s", "a", "send", sendX), j)
		l.give(l.resolution("s", "a", schema.SettledPermit), j)
		if tc.open {
			b := record(schema.KindCall, "s", "b", "send", sendX)
			b.Deadline = 200 * second
			l.give(b, j)
		}
		ev := *tc.with
		l.give(&ev, j)
		if tc.restart {
			j = again(t, j, cfg)
		}
		if tc.open {
			if n := len(j.ends); n != 1 {
				t.Errorf("%s: %d traces wait to be told", tc.name, n)
			}
			l.give(l.resolution("s", "b", schema.SettledPermit), j)
		}
		if !slices.Equal(heard.told, tc.want) || len(j.ends) != 0 {
			t.Errorf("%s: told %v, want %v", tc.name, heard.told, tc.want)
		}
	}
}

// TestRecordedCallWithoutResult: in a recording a call that never gets a result has had its
// effects; one whose result says that nobody knows leaves them in doubt.
func TestRecordedCallWithoutResult(t *testing.T) {
	unknown := record(schema.KindResult, "s", "a", "send", `{}`)
	unknown.Status = schema.ResultUnknown
	for _, tc := range []struct {
		name string
		with *schema.Event
		want []any
	}{
		{"no result", tick(2, 130), []any{"6a", aspects.Ended{Call: "6", Outcome: aspects.EffectsStay}}},
		{"an unknown one", unknown, []any{
			"6a", "a", aspects.Ended{Call: "6", Outcome: aspects.EffectsDoubt}, aspects.Ended{Call: "6", Outcome: aspects.EffectsDoubt},
		}},
	} {
		cfg := config(bundle(t, 1))
		cfg.Bundle.World, cfg.Recorded = &world.Spec{}, true
		heard := &listener{}
		cfg.Engine = heard
		l, j := newLog(t, cfg), New(3, cfg)
		l.give(activation(1, cfg.Bundle), j)
		l.give(tick(1, 105), j)
		l.give(record(schema.KindCall, "s", "a", "send", sendX), j)
		l.give(l.resolution("s", "a", schema.SettledPermit), j)
		l.give(tc.with, j)
		if !slices.Equal(heard.told, tc.want) {
			t.Errorf("%s: the monitor was told %v, want %v", tc.name, heard.told, tc.want)
		}
	}
}
