package httpapi

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	stdjson "encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/membus"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/service/aspectd"
	"github.com/aspis-rv/aspis/internal/service/composer"
	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/aspects/temporal"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// pipeline is a whole deployment in this process: the roles over a log in memory,
// under the consent bundle, and the surface on a loopback port.
type pipeline struct {
	t      *testing.T
	url    string
	key    ed25519.PublicKey
	bus    *membus.Bus
	aspect *aspectd.Service
	fault  faults
	caller countedCaller

	runAspect func()
	ctx       context.Context //nolint:containedctx // of the test
}

// countedCaller tells how many calls have come to the gate and how many were answered.
type countedCaller struct {
	Caller
	entered, left atomic.Int64
}

func (c *countedCaller) Call(ctx context.Context, who gate.Principal, req gate.CallRequest) *gate.Answer {
	c.entered.Add(1)
	defer c.left.Add(1)
	return c.Caller.Call(ctx, who, req)
}

// faults makes the log refuse while it is set. Safe for concurrent use.
type faults struct {
	mu  sync.Mutex
	err error
}

func (f *faults) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *faults) ask(membus.Op, bus.Message) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// The partitions and the clock of a test deployment.
const (
	testPartitions = 2
	testTick       = 20 * time.Millisecond
)

// newPipeline starts a deployment without its aspect worker; start starts that too.
func newPipeline(t *testing.T) *pipeline {
	t.Helper()
	bundle, diags := policy.Load("../../../pkg/policy/testdata/consent")
	if diags.HasErrors() {
		t.Fatalf("%+v", diags)
	}
	engine, err := temporal.New(bundle)
	if err != nil {
		t.Fatal(err)
	}
	p := &pipeline{t: t}
	p.bus = membus.New(membus.Config{Partitions: testPartitions, Fault: p.fault.ask})
	rules := protocol.DefaultRules()
	p.aspect = aspectd.New(aspectd.Config{Bus: p.bus, Bundle: bundle, Engine: engine, Rules: rules})
	comp := composer.New(composer.Config{Bus: p.bus, Bundle: bundle, Rules: rules, Name: "composer", Tick: testTick})
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	p.key = public
	g, err := gate.New(gate.Config{
		Bus: p.bus, Bundle: bundle, Rules: rules, Name: "gate", Key: private, Secret: bytes.Repeat([]byte{7}, 32),
		AppendTimeout: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.caller.Caller = g
	backend := FromGate(g)
	backend.Caller = &p.caller
	srv, err := New(Config{Backend: backend, Auth: testTokens(t), Gatherer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	p.url = "http://" + ln.Addr().String()
	p.run(g, comp, srv, ln)
	return p
}

// run starts the roles and sees to it that the test ends after them: the surface
// first, as its contract wants.
func (p *pipeline) run(g *gate.Service, comp *composer.Service, srv *Server, ln net.Listener) {
	p.t.Helper()
	roles, stopRoles := context.WithCancel(p.t.Context())
	surface, stopSurface := context.WithCancel(p.t.Context())
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute) // a hang then names its place
	p.t.Cleanup(cancel)
	p.ctx = ctx
	var all, front sync.WaitGroup
	check := func(what string, err error) {
		if err != nil {
			p.t.Errorf("%s: %v", what, err)
		}
	}
	all.Go(func() { check("composer", comp.Run(roles)) })
	all.Go(func() { check("gate", g.Run(roles)) })
	p.runAspect = sync.OnceFunc(func() { all.Go(func() { check("aspectd", p.aspect.Run(roles)) }) })
	front.Go(func() { check("httpapi", srv.Serve(surface, ln)) })
	p.t.Cleanup(func() {
		stopSurface()
		front.Wait()
		stopRoles()
		all.Wait()
		if err := p.bus.Close(); err != nil {
			p.t.Errorf("bus: %v", err)
		}
	})
	if err := g.Ready(p.ctx); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pipeline) start() *pipeline {
	p.t.Helper()
	p.runAspect()
	if err := p.aspect.Ready(p.ctx); err != nil {
		p.t.Fatal(err)
	}
	return p
}

// response is what came back.
type response struct {
	status int
	body   string
	answer gate.Answer // of what is a decision or has some of its fields
}

func (p *pipeline) send(ctx context.Context, q request) (response, error) {
	r := q.build(ctx)
	out, err := http.NewRequestWithContext(ctx, r.Method, p.url+q.path, strings.NewReader(q.body))
	if err != nil {
		return response{}, err
	}
	out.Header = r.Header
	resp, err := http.DefaultClient.Do(out)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to the end
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return response{}, err
	}
	got := response{status: resp.StatusCode, body: string(body)}
	return got, stdjson.Unmarshal(body, &got.answer)
}

func (p *pipeline) post(q request) response {
	p.t.Helper()
	r, err := p.send(p.ctx, q)
	if err != nil {
		p.t.Fatalf("%s %s: %v", q.method, q.path, err)
	}
	return r
}

// session opens a session of a token's principal.
func (p *pipeline) session(token string) string {
	p.t.Helper()
	q := post("/v1/sessions", "")
	q.token = token
	r := p.post(q)
	var receipt gate.Receipt
	if err := stdjson.Unmarshal([]byte(r.body), &receipt); err != nil || r.status != http.StatusOK || receipt.Session == "" {
		p.t.Fatalf("no session: %d %s", r.status, r.body)
	}
	return receipt.Session
}

// call proposes a call; fields are JSON members beside session and tool, each with a
// leading comma.
func (p *pipeline) call(session, tool, fields string) response {
	p.t.Helper()
	return p.post(post("/v1/calls", callText(session, tool, fields)))
}

func callText(session, tool, fields string) string {
	return `{"session":"` + session + `","tool":"` + tool + `"` + fields + `}`
}

// state is the hash of all committed monitor states, with everything folded that was
// in the log.
func (p *pipeline) state() [sha256.Size]byte {
	p.t.Helper()
	h, err := p.aspect.StateHash(p.ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

// records returns the events of a kind that are in the log.
func (p *pipeline) records(kind schema.Kind) []*schema.Event {
	p.t.Helper()
	var out []*schema.Event
	for part := range uint32(testPartitions) {
		_, next, err := p.bus.Bounds(p.ctx, bus.Events, part)
		if err != nil {
			p.t.Fatal(err)
		}
		cur, err := p.bus.Read(p.ctx, bus.Events, part, bus.Start{})
		if err != nil {
			p.t.Fatal(err)
		}
		for at := uint64(0); at+1 < next; {
			rec, err := cur.Next(p.ctx)
			if err != nil {
				p.t.Fatal(err)
			}
			at = rec.Offset
			if ev, err := schema.DecodeEvent(rec.Data); err == nil && ev.Kind == kind {
				out = append(out, ev)
			}
		}
		if err := cur.Close(); err != nil {
			p.t.Fatal(err)
		}
	}
	return out
}
