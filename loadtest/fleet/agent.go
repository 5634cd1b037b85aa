package fleet

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/aspis-rv/aspis/loadtest/script"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Agent plays one session after another. It implements pace.Worker and is used by
// one goroutine.
type Agent struct {
	door     Door
	workload *script.Workload
	tally    *Tally
	rng      *rand.Rand
	tenant   string
	id       string

	session   Session
	script    script.Script
	next      int // index into script
	permitted bool
	open      bool // a call was answered and is not settled
}

// NewAgent returns an agent that chooses its scripts by rng.
func NewAgent(door Door, w *script.Workload, tally *Tally, rng *rand.Rand) *Agent {
	a := &Agent{door: door, workload: w, tally: tally, rng: rng}
	a.tenant, a.id = door.Principal()
	return a
}

// Prepare opens the first session and does what comes before its first call, so that
// no call pays for it.
func (a *Agent) Prepare(ctx context.Context) error {
	if err := a.begin(ctx); err != nil {
		return err
	}
	return a.grants(ctx)
}

// Call proposes the next call of the script and checks the answer.
func (a *Agent) Call(ctx context.Context) {
	if a.session == nil {
		if err := a.Prepare(ctx); err != nil {
			a.tally.failed(ctx, "opening a session", err)
			return
		}
	}
	step := &a.script[a.next]
	got, err := a.session.Call(ctx, callID(a.next), step.Tool, step.Args)
	a.open = true
	if err != nil {
		a.abandon()
		a.tally.failed(ctx, "call", err)
		return
	}
	switch a.tally.check(ctx, a.judge(step, &got)) {
	case right:
		a.permitted = got.Decision == permit
		a.tally.sample(got.Permit)
	case wrong, undecided:
		a.abandon()
	}
}

// Settle posts the result of a permitted call, then does what the script has before
// its next call; at its end it begins another session.
func (a *Agent) Settle(ctx context.Context) {
	if a.session == nil || !a.open {
		return
	}
	if err := a.settle(ctx); err != nil {
		a.abandon()
		a.tally.failed(ctx, "between calls", err)
	}
}

func (a *Agent) settle(ctx context.Context) error {
	step := &a.script[a.next]
	a.open = false
	if a.permitted {
		a.permitted = false
		if err := a.session.Result(ctx, callID(a.next), step.Result); err != nil {
			return err
		}
		a.tally.recorded()
	}
	a.next++
	if err := a.grants(ctx); err != nil || a.next < len(a.script) {
		return err
	}
	if err := a.session.End(ctx); err != nil {
		return err
	}
	a.tally.recorded()
	return a.Prepare(ctx)
}

// begin opens a session with a script chosen at random.
func (a *Agent) begin(ctx context.Context) error {
	s, err := a.door.Open(ctx)
	if err != nil {
		return err
	}
	a.tally.recorded()
	a.session, a.next, a.open = s, 0, false
	a.script = a.workload.Scripts[a.rng.IntN(len(a.workload.Scripts))]
	return nil
}

// grants does the authority's steps up to the next call.
func (a *Agent) grants(ctx context.Context) error {
	for a.next < len(a.script) && a.script[a.next].Kind == script.Grant {
		step := &a.script[a.next]
		if err := a.session.Grant(ctx, step.Tool, step.Args); err != nil {
			return err
		}
		a.tally.recorded()
		a.next++
	}
	return nil
}

// abandon gives the session up: after an answer that is not the right one, or none,
// the right answers to what follows are not known.
func (a *Agent) abandon() {
	a.session, a.permitted, a.open = nil, false, false
}

func callID(i int) string { return "c" + strconv.Itoa(i) }

const permit = "permit"

// judgement is an answer beside the right one.
type judgement struct {
	got, want script.Want
	message   string
	fault     string // what else is wrong with it
}

// judge compares an answer with the right one: the decision, its reason and clause,
// and for a permit that it is for this call and no other.
func (a *Agent) judge(step *script.Step, got *Answer) judgement {
	j := judgement{
		got:  script.Want{Decision: got.Decision, Reason: got.Reason, Clause: got.Clause},
		want: step.Want, message: got.Message,
	}
	if got.Decision != permit {
		return j
	}
	digest := hex.EncodeToString(schema.CallDigest(a.tenant, a.id, "", step.Tool, nil, step.Canon))
	switch {
	case got.Permit == nil || len(got.Permit.Signature) == 0:
		j.fault = "the permit is not signed"
	case got.Digest != digest:
		j.fault = fmt.Sprintf("the permit is for the digest %s, not %s", got.Digest, digest)
	case !bytes.Equal(got.Args, step.Canon):
		j.fault = fmt.Sprintf("the permit's arguments are %s, not %s", got.Args, step.Canon)
	case !bytes.Contains(got.Permit.Statement, []byte(digest)):
		j.fault = "the signed statement is not about this call"
	}
	return j
}
