package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/pkg/client"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// permit is a permit that a client was given.
type permit struct {
	position  string // of the resolution
	digest    string
	statement json.RawMessage
}

// String says where the permit stands, and what was signed.
func (p permit) String() string { return fmt.Sprintf("%s %.400s", p.position, p.statement) }

// receipts are what all clients were given, by call. Safe for concurrent use.
type receipts struct {
	mu struct {
		sync.Mutex
		permits map[callName][]permit
		answers map[string]int
		refused map[callName]bool // by the policy
	}
}

func newReceipts() *receipts {
	r := &receipts{}
	r.mu.permits, r.mu.answers, r.mu.refused = map[callName][]permit{}, map[string]int{}, map[callName]bool{}
	return r
}

// note keeps an answer. All who wait for one call get the same permit; another one
// counts as a second.
func (r *receipts) note(name callName, d *client.Decision, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.mu.answers["broken"]++
		return
	}
	r.mu.answers[decisionOf(d)]++
	if d.Reason == string(verdict.Violation) {
		r.mu.refused[name] = true
	}
	if !d.Permitted() {
		return
	}
	for _, had := range r.mu.permits[name] {
		if bytes.Equal(had.statement, d.Permit) {
			return
		}
	}
	r.mu.permits[name] = append(r.mu.permits[name], permit{d.Position, d.Digest, d.Permit})
}

// loader is a client that proposes calls, repeats proposals under the same id when it
// has no answer, and now and then when it has one.
type loader struct {
	gates   []*client.Client // one of which is asked at a time
	rng     *rand.Rand
	got     *receipts
	session string
	calls   int
}

// run makes calls until ctx ends.
func (c *loader) run(ctx context.Context) {
	for ctx.Err() == nil {
		if c.session == "" || c.calls%25 == 0 {
			s, err := c.open(ctx)
			if err != nil {
				time.Sleep(retryPause)
				continue
			}
			c.session = s
		}
		c.calls++
		c.call(ctx)
	}
}

func (c *loader) open(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return c.gate().OpenSession(ctx)
}

// gate picks a gate.
func (c *loader) gate() *client.Client { return c.gates[c.rng.IntN(len(c.gates))] }

// call proposes one call until there is an answer to it.
func (c *loader) call(ctx context.Context) {
	g := generator{rng: c.rng}
	tool, args := g.call()
	name := callName{c.session, fmt.Sprintf("call-%d", c.calls)}
	ask := client.Call{Session: c.session, Tool: tool, Args: args, CallID: name.call}
	if c.rng.IntN(3) == 0 {
		ask.DeadlineMS = 300 + c.rng.Int64N(1000)
	}
	for range 20 {
		d, err := c.propose(ctx, name, ask)
		if ctx.Err() != nil {
			return
		}
		if err == nil && (!d.Retry() || d.Reason == string(verdict.Late)) {
			if d.Permitted() && c.rng.IntN(3) > 0 {
				c.result(ctx, name) // once: what becomes of it is on record or not
			}
			return
		}
		time.Sleep(time.Duration(20+c.rng.IntN(60)) * time.Millisecond)
	}
}

// propose asks once, or twice at the same time, or with little patience.
func (c *loader) propose(ctx context.Context, name callName, ask client.Call) (*client.Decision, error) {
	patience := askTimeout
	if c.rng.IntN(10) == 0 {
		patience = time.Duration(1+c.rng.IntN(30)) * time.Millisecond
	}
	twin := make(chan struct{})
	go func(double bool, gate *client.Client) {
		defer close(twin)
		if double {
			_, _ = c.ask(ctx, gate, name, ask, askTimeout) // it is noted
		}
	}(c.rng.IntN(8) == 0, c.gate())
	d, err := c.ask(ctx, c.gate(), name, ask, patience)
	<-twin
	return d, err
}

func (c *loader) ask(ctx context.Context, gate *client.Client, name callName, ask client.Call, patience time.Duration) (*client.Decision, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d, err := gate.Propose(ctx, ask)
	c.got.note(name, d, err)
	return d, err
}

func (c *loader) result(ctx context.Context, name callName) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	_ = c.gate().PostResult(ctx, client.Result{Session: name.session, CallID: name.call, Result: json.RawMessage(`"done"`)})
}
