package script

import (
	"fmt"

	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The principals of the offline run. Answers do not depend on their names.
const (
	agentID = "agent"
	userID  = "user"
	session = "s"
)

// gap is the log time between two steps of the offline run, in ns: anything far
// below the windows of the bundles.
const gap = 1_000_000

// answer fills in the right answers and the canonical arguments of a script.
func answer(b *policy.Bundle, s Script) error {
	engines, err := node.Engines(b)
	if err != nil {
		return err
	}
	r := offline.New(offline.Config{Bundle: b, Engines: engines})
	now := int64(1_700_000_000_000_000_000)
	if _, err := r.Event(event(schema.KindSession, now)); err != nil {
		return err
	}
	for i := range s {
		now += gap
		if err := answerStep(r, b, &s[i], i, now); err != nil {
			return fmt.Errorf("step %d, %s: %w", i, s[i].Tool, err)
		}
	}
	return nil
}

func answerStep(r *offline.Runner, b *policy.Bundle, step *Step, i int, now int64) error {
	if step.Args != nil {
		canon, err := schema.Canonical(step.Args)
		if err != nil {
			return err
		}
		step.Canon = canon
	}
	if step.Kind == Grant {
		ev := event(schema.KindGrant, now)
		ev.Tool, ev.Args = step.Tool, payload(step.Canon)
		ev.Actor, ev.Vantage = schema.Actor{ID: userID, Class: schema.ClassUser}, schema.Attested
		_, err := r.Event(ev)
		return err
	}
	ev := event(schema.KindCall, now)
	ev.Tool, ev.Args, ev.CallID = step.Tool, payload(step.Canon), callID(i)
	ev.Deadline = now + int64(b.Deadline)
	d, err := r.Event(ev)
	if err != nil {
		return err
	}
	step.Want = want(d.Resolution)
	if step.Want.Decision != verdict.Permit.String() {
		return nil
	}
	res := event(schema.KindResult, now+gap/2)
	res.Tool, res.CallID, res.Result = step.Tool, callID(i), payload(step.Result)
	_, err = r.Event(res)
	return err
}

func event(kind schema.Kind, now int64) *schema.Event {
	ev := &schema.Event{
		Kind: kind, SessionID: session, ClaimedTS: now, Issuer: schema.IssuerModel,
		Actor: schema.Actor{ID: agentID, Class: schema.ClassAgent},
	}
	if kind == schema.KindSession {
		ev.Session = &schema.SessionMark{}
	}
	return ev
}

func payload(canon []byte) schema.Payload {
	if canon == nil {
		return schema.Payload{}
	}
	return schema.Payload{Status: schema.PayloadOK, Canon: canon}
}

func callID(i int) string { return fmt.Sprintf("c%d", i) }

// want is the answer that a gate gives for a resolution.
func want(r *schema.Resolution) Want {
	switch r.Outcome {
	case schema.SettledPermit:
		return Want{Decision: verdict.Permit.String()}
	case schema.SettledRedirect:
		return Want{Decision: verdict.Redirect.String(), Reason: string(r.Reason), Clause: r.Clause}
	case schema.SettledEscalate:
		return Want{Decision: verdict.Escalate.String(), Reason: string(r.Reason), Clause: r.Clause}
	case schema.SettledRefuse, schema.SettledExpired, schema.SettledHold:
	}
	return Want{Decision: verdict.Refuse.String(), Reason: string(r.Reason), Clause: r.Clause}
}
