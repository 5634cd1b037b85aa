package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
	"github.com/aspis-rv/aspis/pkg/client"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Times of players.
const (
	askTimeout = 10 * time.Second      // one request
	retryPause = 60 * time.Millisecond // before the same is asked again
	patience   = 60 * time.Second      // until an answer that counts has to be there
)

// tally counts what players did. Safe for concurrent use.
type tally struct {
	calls, refused atomic.Int64
	mu             struct {
		sync.Mutex
		retries map[string]int // by reason
	}
}

func (c *tally) retried(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.retries == nil {
		c.mu.retries = map[string]int{}
	}
	c.mu.retries[why]++
}

// decided is the number of calls with an answer that counts.
func (c *tally) decided() int { return int(c.calls.Load()) }

// String says how many calls were made, refused and asked about again.
func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var again []string
	for _, why := range slices.Sorted(maps.Keys(c.mu.retries)) {
		again = append(again, why+" "+strconv.Itoa(c.mu.retries[why]))
	}
	return fmt.Sprintf("%d calls, %d refused, retries: %s", c.calls.Load(), c.refused.Load(), strings.Join(again, ", "))
}

// playAll plays every run in a session of its own, several at a time, and returns
// what was decided by run and call.
func playAll(tb testing.TB, d *deployment, runs []*agentdojo.Run, players int, count *tally) ([][]outcome, error) {
	tb.Helper()
	out := make([][]outcome, len(runs))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(tb.Context())
	for i := range players {
		g.Go(func() error {
			p := player{dep: d, agent: i, client: d.client(i), count: count}
			for {
				n := int(next.Add(1)) - 1
				if n >= len(runs) || ctx.Err() != nil {
					return ctx.Err()
				}
				var err error
				if out[n], err = p.play(ctx, runs[n]); err != nil {
					return fmt.Errorf("%s: %w", runs[n].ID, err)
				}
			}
		})
	}
	return out, g.Wait()
}

// player is a harness that plays runs, one after the other, under one credential.
type player struct {
	dep    *deployment
	agent  int
	client *client.Client
	count  *tally

	session string
	ids     map[string]string // recorded call id → id under which it was permitted
}

// play plays one run in a new session: messages are posted, calls proposed, and the
// results of those posted that were permitted.
func (p *player) play(ctx context.Context, r *agentdojo.Run) ([]outcome, error) {
	p.ids = map[string]string{}
	err := p.insist(ctx, "session", func(ctx context.Context) (err error) {
		p.session, err = p.client.OpenSession(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []outcome
	for i := range r.Steps {
		s := &r.Steps[i]
		switch s.Kind {
		case agentdojo.StepMessage:
			err = p.insist(ctx, "message", func(ctx context.Context) error {
				return p.client.PostMessage(ctx, client.Message{Session: p.session, Role: s.Role, Text: s.Text})
			})
		case agentdojo.StepCall:
			var o outcome
			if o, err = p.call(ctx, s, i); err == nil {
				out = append(out, o)
			}
		case agentdojo.StepResult:
			if id, permitted := p.ids[s.CallID]; permitted {
				err = p.result(ctx, s, id)
			}
		}
		if err != nil {
			return out, fmt.Errorf("step %d: %w", i, err)
		}
	}
	tries := 0
	err = p.insist(ctx, "end", func(ctx context.Context) error {
		err := p.client.EndSession(ctx, p.session)
		if tries++; tries > 1 && reasonOf(err) == string(verdict.Invalid) {
			return nil // it has ended, and the answer to that was lost
		}
		return err
	})
	return out, err
}

// insist does something that may be done twice until it succeeds.
func (p *player) insist(ctx context.Context, what string, do func(context.Context) error) error {
	began := time.Now()
	for {
		one, cancel := context.WithTimeout(ctx, askTimeout)
		err := do(one)
		cancel()
		switch {
		case err == nil:
			return nil
		case !passing(err) || ctx.Err() != nil || time.Since(began) > patience:
			return fmt.Errorf("%s: %w", what, err)
		}
		p.count.retried(what + " " + reasonOf(err))
		time.Sleep(retryPause)
	}
}

// passing says whether an error may be gone when the same is tried again.
func passing(err error) bool {
	pr, ok := errors.AsType[*client.Problem](err)
	if !ok {
		return true // the connection broke
	}
	d := client.Decision{Reason: pr.Reason}
	return d.Retry()
}

func reasonOf(err error) string {
	if pr, ok := errors.AsType[*client.Problem](err); ok {
		return pr.Reason
	}
	return "broken"
}

// call proposes a call until the policy decides it, each time under a new id.
func (p *player) call(ctx context.Context, s *agentdojo.Step, step int) (outcome, error) {
	args := s.Args
	if s.ArgsStatus != schema.PayloadOK {
		args = nil
	}
	began := time.Now()
	for try := 0; ; try++ {
		id := fmt.Sprintf("%d-%d", step, try)
		d, err := p.propose(ctx, client.Call{Session: p.session, Tool: s.Tool, Args: args, CallID: id})
		if err == nil && !d.Retry() {
			p.count.calls.Add(1)
			o := outcome{Tool: s.Tool, Decision: d.Decision, Reason: d.Reason, Clause: d.Clause}
			if o.refused() {
				p.count.refused.Add(1)
			} else {
				p.ids[s.CallID] = id
			}
			return o, nil
		}
		why := "broken"
		if err == nil {
			why = d.Reason
			err = fmt.Errorf("%s: %s", d.Reason, d.Message)
		}
		if ctx.Err() != nil || time.Since(began) > patience {
			return outcome{}, fmt.Errorf("call %s: %w", id, err)
		}
		p.count.retried(why)
		time.Sleep(retryPause)
	}
}

func (p *player) propose(ctx context.Context, c client.Call) (*client.Decision, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	d, err := p.client.Propose(ctx, c)
	if err == nil && d.Permitted() && (d.Permit == nil || d.Digest == "" || d.Position == "") {
		return nil, fmt.Errorf("a permit without a signed statement: %+v", d)
	}
	return d, err
}

// result posts the outcome of a permitted call. A second result for one call is an
// integrity violation, so after a failure it looks first whether the call is still
// without one.
func (p *player) result(ctx context.Context, s *agentdojo.Step, id string) error {
	r := client.Result{Session: p.session, CallID: id}
	text := s.Text
	if s.Error != "" {
		r.Status, text = "error", s.Error
	}
	var err error
	if r.Result, err = json.Marshal(text); err != nil {
		return err
	}
	return p.insist(ctx, "result", func(ctx context.Context) error {
		err := p.client.PostResult(ctx, r)
		if err == nil || !passing(err) {
			return err
		}
		time.Sleep(retryPause)
		pending, lost := p.pending(ctx)
		if lost == nil && !slices.Contains(pending, id) {
			p.count.retried("result was there")
			return nil
		}
		return err
	})
}

// pending returns the calls of the session that have no outcome, once the gate can
// tell.
func (p *player) pending(ctx context.Context) ([]string, error) {
	var view struct {
		Pending []string `json:"pending"`
	}
	for {
		err := p.get(ctx, "/v1/sessions/"+url.PathEscape(p.session), &view)
		if err == nil || ctx.Err() != nil {
			return view.Pending, err
		}
		time.Sleep(retryPause)
	}
}

// get reads a document of the gate.
func (p *player) get(ctx context.Context, path string, to any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.dep.base+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+p.dep.tokens[p.agent%len(p.dep.tokens)])
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", path, resp.StatusCode)
	}
	return json.NewDecoder(resp.Body).Decode(to)
}

// decisionOf is the decision of an answer, for messages.
func decisionOf(d *client.Decision) string {
	if d.Permitted() {
		return verdict.Permit.String()
	}
	return d.Reason
}
