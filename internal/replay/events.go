package replay

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Events replays recorded events: a call takes effect if and only if it is
// permitted. It stops at the first event that cannot be read or folded.
func Events(cfg offline.Config, events iter.Seq2[*schema.Event, error], each func(*Line) error) (Summary, error) {
	return run(cfg, NewWitnesses(cfg.Bundle), events, each)
}

// Explain is Events with lines that say what was missing where a clause could not be checked. It
// types each event once more.
func Explain(cfg offline.Config, events iter.Seq2[*schema.Event, error], each func(*Line) error) (Summary, error) {
	w := NewWitnesses(cfg.Bundle)
	w.gaps = newGaps(cfg.Bundle)
	return run(cfg, w, events, each)
}

func run(cfg offline.Config, w *Witnesses, events iter.Seq2[*schema.Event, error], each func(*Line) error) (Summary, error) {
	var sum Summary
	cfg.Records = w.Keeping(cfg)
	run := offline.New(cfg)
	for ev, err := range events {
		if err != nil {
			return sum, err
		}
		d, err := run.Event(ev)
		if err != nil {
			return sum, fmt.Errorf("replay: %w", err)
		}
		if d == nil {
			continue
		}
		l := offlineLine(d, w)
		sum.Add(l)
		if err := each(l); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func offlineLine(d *offline.Decision, w *Witnesses) *Line {
	l := &Line{
		Event: strconv.Itoa(d.Index), Session: d.Event.SessionID, Call: d.Event.CallID, Trace: d.Trace.Trace,
		TP: d.TimePoint, TS: d.Timestamp, Tool: d.Event.Tool,
	}
	l.describe(&d.Decision, d.Resolution, w)
	return l
}
