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

// maxCalls bounds the calls that are remembered for their results. What would have been asked of a
// result whose call is forgotten stays unknown.
const maxCalls = 16384

// calls are the latest calls of a feed, for what is asked of their results. Safe for concurrent use.
type calls struct {
	sync.Mutex
	byKey map[callKey]*schema.Event
	order []callKey // a ring of the keys of byKey
	next  int       // in order
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
	if len(c.order) < maxCalls {
		c.order = append(c.order, key)
	} else {
		delete(c.byKey, c.order[c.next])
		c.order[c.next] = key
		c.next = (c.next + 1) % maxCalls
	}
	c.byKey[key] = &schema.Event{Kind: ev.Kind, Actor: ev.Actor, Vantage: ev.Vantage, Tool: ev.Tool, Server: ev.Server, Args: ev.Args, CallID: ev.CallID, SessionID: ev.SessionID}
}
