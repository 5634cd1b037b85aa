package gate

import (
	"context"
	"time"

	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Asker asks classifiers. It answers every question, in their order; one without an answer in time
// is marked missing. It returns at once when ctx ends.
type Asker interface {
	Ask(ctx context.Context, questions []policy.Question) []schema.Answer
}

// ask records in an event what classifiers say of it; call is that of a result, if it is known. It is
// done before limit, whoever asked for it may go away meanwhile.
func (s *Service) ask(ctx context.Context, call, ev *schema.Event, limit time.Duration) {
	questions := s.cfg.Bundle.Questions(call, ev)
	if len(questions) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	ev.Answers = s.cfg.Asker.Ask(ctx, questions)
}
