package sim

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/membus"
	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/service/aspectd"
	"github.com/aspis-rv/aspis/internal/service/composer"
	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

const tenant = "acme"

// setup is the deployment of a run.
type setup struct {
	policy                      string
	partitions                  int
	gates, composers, aspects   int
	observe                     bool
	zeroBased                   bool
	capacity                    int64
	snapshotEvery               int
	snapshotAfter               time.Duration
	seed                        uint64
	deadline, ttl, tick, margin time.Duration // 0: as the policy or the service says
	evict                       time.Duration // after which an ended or idle session is forgotten; 0: as usual
	keyless                     bool          // gates trust no composer: every permit is unsigned
	direct                      bool          // composer1 hears of verdicts ahead of their records
}

// observeUntil is when an observing deployment ends to: not within any run.
func (s *setup) observeUntil() time.Time {
	if !s.observe {
		return time.Time{}
	}
	return time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
}

func (s *setup) complete() {
	for _, n := range []*int{&s.partitions, &s.gates, &s.composers, &s.aspects} {
		if *n == 0 {
			*n = 1
		}
	}
}

// bundled is a policy with the engines of its aspects; shared by all runs.
type bundled struct {
	bundle  *policy.Bundle
	engines []aspects.Engine
}

// bundles loads each policy once.
type bundles struct {
	mu struct {
		sync.Mutex
		loaded map[string]*bundled
	}
}

var shelf bundles //nolint:gochecknoglobals // loading is slow, and what is loaded is immutable

func policyDir(name string) string {
	for _, dir := range []string{"testdata/policies/", "../../pkg/policy/testdata/", "../../policies/"} {
		if _, err := os.Stat(dir + name); err == nil {
			return dir + name
		}
	}
	return name
}

func (s *bundles) get(name string) (*bundled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.mu.loaded[name]; b != nil {
		return b, nil
	}
	b, diags := policy.Load(policyDir(name))
	if diags.HasErrors() {
		return nil, fmt.Errorf("policy %s: %w", name, diags)
	}
	engines, err := node.Engines(b)
	if err != nil {
		return nil, err
	}
	if s.mu.loaded == nil {
		s.mu.loaded = map[string]*bundled{}
	}
	s.mu.loaded[name] = &bundled{b, engines}
	return s.mu.loaded[name], nil
}

// world is a running deployment inside a bubble.
type world struct {
	t        *testing.T
	setup    setup
	bundle   *policy.Bundle
	engines  []aspects.Engine
	rules    protocol.Rules
	log      *membus.Bus
	weather  *weather
	secret   []byte
	gateKey  ed25519.PrivateKey
	compKey  ed25519.PrivateKey
	trusted  []ed25519.PublicKey
	began    time.Time
	mu       sync.Mutex
	roles    map[string]*instance
	order    []string
	ledger   ledger
	problems []string
}

// instance is one life of a role.
type instance struct {
	role    string
	born    time.Time
	link    *link
	aspects []*aspectd.Service
	comp    *composer.Service
	gate    *gate.Service
	ctx     context.Context //nolint:containedctx // the life of the role
	cancel  context.CancelFunc
	done    chan struct{}
	err     error
	ended   bool
}

func newWorld(t *testing.T, s setup) *world {
	t.Helper()
	s.complete()
	b, err := shelf.get(s.policy)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, setup: s, bundle: b.bundle, engines: b.engines, rules: protocol.DefaultRules(),
		log: membus.New(membus.Config{
			Partitions: uint32(s.partitions), TopicBytes: s.capacity, ZeroBased: s.zeroBased, //nolint:gosec // a few
		}),
		weather: &weather{seed: s.seed}, secret: bytes.Repeat([]byte{7}, 32), roles: map[string]*instance{}, began: time.Now(),
	}
	if s.ttl != 0 {
		w.rules.ResultTTL = int64(s.ttl)
	}
	if s.evict != 0 {
		w.rules.EndedTTL, w.rules.IdleTTL = int64(s.evict), int64(s.evict)
	}
	w.gateKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	w.compKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, ed25519.SeedSize))
	public, _ := w.compKey.Public().(ed25519.PublicKey)
	if s.keyless {
		public, _ = w.gateKey.Public().(ed25519.PublicKey)
	}
	w.trusted = []ed25519.PublicKey{public}
	for i := range s.aspects {
		w.order = append(w.order, fmt.Sprintf("aspect%d", i+1))
	}
	for i := range s.composers {
		w.order = append(w.order, fmt.Sprintf("composer%d", i+1))
	}
	for i := range s.gates {
		w.order = append(w.order, fmt.Sprintf("gate%d", i+1))
	}
	return w
}

// startAll starts every role and waits until all are ready.
func (w *world) startAll() {
	w.t.Helper()
	for _, r := range w.order {
		w.start(r)
	}
	for _, r := range w.order {
		if err := w.ready(r, 30*time.Second); err != nil {
			w.t.Fatalf("%s: %v", r, err)
		}
	}
}

func (w *world) get(role string) *instance {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.roles[role]
}

func (w *world) problem(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// start begins a new life of a role.
func (w *world) start(role string) {
	w.t.Helper()
	skew := time.Duration(0)
	if old := w.get(role); old != nil {
		if !old.ended {
			w.t.Fatalf("%s is running", role)
		}
		skew = old.link.skew()
	}
	in := &instance{role: role, born: time.Now(), link: newLink(role, w.log, w.weather), done: make(chan struct{})}
	in.link.setSkew(skew)
	in.ctx, in.cancel = context.WithCancel(context.Background())
	var services []func(context.Context) error
	switch {
	case strings.HasPrefix(role, "aspect"):
		for _, e := range w.engines {
			a := aspectd.New(aspectd.Config{
				Bus: in.link, Bundle: w.bundle, Engine: e, Rules: w.rules,
				SnapshotEvery: w.setup.snapshotEvery, SnapshotAfter: w.setup.snapshotAfter, Tap: w.tap(),
			})
			in.aspects = append(in.aspects, a)
			services = append(services, a.Run)
		}
	case strings.HasPrefix(role, "composer"):
		in.comp = composer.New(composer.Config{
			Bus: in.link, Bundle: w.bundle, Rules: w.rules, Name: role, Key: w.compKey, ObserveUntil: w.setup.observeUntil(),
			Tick: w.setup.tick, Margin: w.setup.margin, SnapshotAfter: w.setup.snapshotAfter,
		})
		services = append(services, in.comp.Run)
	default:
		gt, err := gate.New(gate.Config{
			Bus: in.link, Bundle: w.bundle, Rules: w.rules, Name: role, Secret: w.secret, Key: w.gateKey,
			ComposerKeys: w.trusted,
		})
		if err != nil {
			w.t.Fatal(err)
		}
		in.gate = gt
		services = append(services, gt.Run)
	}
	w.mu.Lock()
	w.roles[role] = in
	w.mu.Unlock()
	in.run(services)
}

// run runs the services of a role and closes done after all have ended.
func (in *instance) run(services []func(context.Context) error) {
	errs := make(chan error, len(services))
	for _, s := range services {
		go func() { errs <- s(in.ctx) }()
	}
	go func() {
		for range services {
			in.err = errors.Join(in.err, <-errs)
		}
		close(in.done)
	}()
}

// tap is how the workers tell composer1 of their verdicts, where they share a process.
func (w *world) tap() func(uint32, *schema.Verdict) {
	if !w.setup.direct {
		return nil
	}
	return func(partition uint32, v *schema.Verdict) {
		if in := w.get("composer1"); in != nil && in.link.awake(in.ctx) == nil {
			in.comp.Offer(partition, v)
		}
	}
}

// ready waits until a role is.
func (w *world) ready(role string, patience time.Duration) error {
	in := w.get(role)
	ctx, cancel := context.WithTimeout(in.ctx, patience)
	defer cancel()
	switch {
	case in.comp != nil:
		return in.comp.Ready(ctx)
	case in.gate != nil:
		return in.gate.Ready(ctx)
	}
	for _, a := range in.aspects {
		if err := a.Ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

// crash ends the life of a role without a last snapshot.
func (w *world) crash(role string) {
	in := w.get(role)
	in.link.kill()
	w.end(in, true)
}

// stop ends the life of a role in order.
func (w *world) stop(role string) {
	in := w.get(role)
	w.end(in, false)
	in.link.kill()
}

func (w *world) end(in *instance, crashed bool) {
	if in.ended {
		return
	}
	in.ended = true
	in.cancel()
	<-in.done
	if in.err != nil && (!crashed || !errors.Is(in.err, bus.ErrClosed)) {
		w.problem("%s ended with %v", in.role, in.err)
	}
}

// close ends every role; the bubble may end after it.
func (w *world) close() {
	w.weather.clear()
	for _, r := range w.order {
		if in := w.get(r); in != nil {
			in.link.resume()
			w.stop(r)
			in.link.settle()
		}
	}
}

// settleAll clears the weather, brings every role back and waits until nothing can
// happen any more: all deadlines and the sweeps of the gates are past.
func (w *world) settleAll() {
	w.weather.clear()
	for _, r := range w.order {
		in := w.get(r)
		in.link.resume()
		in.link.setSkew(0)
		select {
		case <-in.done:
			if !in.ended {
				in.ended = true
				w.problem("%s ended by itself: %v", r, in.err)
			}
		default:
		}
		if in.ended {
			w.start(r)
		}
	}
	for _, r := range w.order {
		if err := w.ready(r, time.Minute); err != nil {
			w.problem("%s does not come back: %v", r, err)
		}
	}
	time.Sleep(15 * time.Second)
	synctest.Wait() // the log stands still until time goes on
}
