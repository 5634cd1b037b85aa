package ingest

import (
	"context"
	"fmt"
	"sync"

	"github.com/aspis-rv/aspis/internal/appender"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Asker asks classifiers. It answers every question, in their order; one without an answer in time
// is marked missing. It returns at once when ctx ends.
type Asker interface {
	Ask(ctx context.Context, questions []policy.Question) []schema.Answer
}

// ask records in an event what classifiers say of it. Answers that a feed brings along stand where
// somebody else than the agent saw its events; they are not asked for again. An error means that
// the feed ends: what could not be asked for that reason alone is not appended as unanswered.
func (s *Service) ask(ctx context.Context, ev *schema.Event) error {
	if ev.Vantage == schema.Reported {
		ev.Answers = nil
	}
	if s.cfg.Asker == nil {
		return nil
	}
	questions := s.cfg.Bundle.Unanswered(s.calls.of(ev), ev)
	if len(questions) == 0 {
		return nil
	}
	answers := s.cfg.Asker.Ask(ctx, questions)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", appender.ErrUnrecorded, err)
	}
	ev.Answers = append(ev.Answers, answers...)
	return nil
}

// The bounds of the calls that are remembered for their results: their number, and the bytes of their
// arguments. What would have been asked of a result whose call is forgotten stays unknown.
const (
	maxCalls     = 16384
	maxCallBytes = 64 << 20
)

// calls are the latest calls of a feed, for what is asked of their results. Safe for concurrent use.
type calls struct {
	sync.Mutex
	byKey map[callKey]*schema.Event
	order []callKey // of byKey, the oldest first
	bytes int       // of all arguments
}

type callKey struct{ trace, session, call string }

// of returns the call of a result, nil when it is not known. A call is noted; the first one with an id
// stands, as everywhere.
func (c *calls) of(ev *schema.Event) *schema.Event {
	if ev.CallID == "" {
		return nil
	}
	c.Lock()
	defer c.Unlock()
	key := callKey{ev.Trace, ev.SessionID, ev.CallID}
	call := c.byKey[key]
	if call == nil && ev.Kind == schema.KindCall {
		c.noteLocked(key, ev)
	}
	if ev.Kind != schema.KindResult {
		return nil
	}
	return call
}

func (c *calls) noteLocked(key callKey, ev *schema.Event) {
	if c.byKey == nil {
		c.byKey = map[callKey]*schema.Event{}
	}
	call := *ev
	call.Answers = nil
	c.byKey[key] = &call
	c.order = append(c.order, key)
	c.bytes += len(ev.Args.Canon)
	for len(c.order) > maxCalls || c.bytes > maxCallBytes {
		c.bytes -= len(c.byKey[c.order[0]].Args.Canon)
		delete(c.byKey, c.order[0])
		c.order = c.order[1:]
	}
}
