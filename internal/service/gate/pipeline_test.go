package gate

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/membus"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/internal/service/aspectd"
	"github.com/aspis-rv/aspis/internal/service/composer"
	"github.com/aspis-rv/aspis/pkg/aspects/temporal"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// testPolicy has a clause of each disclosure that tests need, and an act of an
// authority.
const testPolicy = `policy: gate-test
revision: 1
authorities: [user]
deadline: 5s
trace: TRACE
blocking: precautionary
cues: {wordlist: wordlist.txt}
facts: {export: [object], consent: [object], secret: [object], post: [object], telling: [object]}
typing:
  tells(o, text): {emits: telling(o), cues: wordlist, in: [text]}
tools:
  export_record: {args: {object: string}, facts: [export(object)]}
  give_consent: {authority: true, args: {object: string}, facts: [consent(object)]}
  read_secret: {args: {object: string}, facts: [secret(object)]}
  get_time: {}
  post: {args: {object: string, text: string}, types: ['tells(object, text)'], facts: [post(object)]}
clauses:
  C1:
    text: A record is exported under a consent for it.
    forbid: {temporal: 'export(o) AND NOT (ONCE consent(o))'}
  C2:
    text: Secrets stay where they are.
    disclose: none
    forbid: {temporal: 'secret(o)'}
  C3:
    text: What is posted tells nothing.
    disclose: full
    forbid: {temporal: 'post(o) AND telling(o)'}
`

// rig is a gate, a composer and an aspect worker over a log in memory.
type rig struct {
	gate *Service
	bus  *membus.Bus
	mu   sync.Mutex
	err  error // of every write to the log while it is set
}

func loadText(t *testing.T, text string) *policy.Bundle {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "wordlist.txt"), []byte("kestrel\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, diags := policy.Load(dir)
	if diags.HasErrors() {
		t.Fatalf("%+v", diags)
	}
	return b
}

// start runs a deployment of the test policy until the test ends. adapt changes the gate's
// configuration.
func start(t *testing.T, trace string, adapt func(*Config)) *rig {
	t.Helper()
	return startWith(t, strings.Replace(testPolicy, "TRACE", trace, 1), adapt)
}

// startWith is start with another policy.
func startWith(t *testing.T, text string, adapt func(*Config)) *rig {
	t.Helper()
	b := loadText(t, text)
	engine, err := temporal.New(b)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{}
	r.bus = membus.New(membus.Config{Partitions: 2, Fault: func(_ membus.Op, _ bus.Message) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.err
	}})
	rules := protocol.DefaultRules()
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Bus: r.bus, Bundle: b, Rules: rules, Name: "gate", Key: key, Secret: make([]byte, 32),
		ComposerKeys: []ed25519.PublicKey{pub}, AppendTimeout: time.Second,
	}
	if adapt != nil {
		adapt(&cfg)
	}
	if r.gate, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	comp := composer.New(composer.Config{Bus: r.bus, Bundle: b, Rules: rules, Name: "composer", Key: key, Tick: 20 * time.Millisecond})
	aspect := aspectd.New(aspectd.Config{Bus: r.bus, Bundle: b, Engine: engine, Rules: rules})
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, run := range []func(context.Context) error{r.gate.Run, comp.Run, aspect.Run} {
		all.Go(func() {
			if err := run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		all.Wait()
	})
	bounded, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	if err := r.gate.Ready(bounded); err != nil {
		t.Fatal(err)
	}
	return r
}

func agent() Principal { return Principal{ID: "planner", Class: schema.ClassAgent, Tenant: "acme"} }
func user() Principal  { return Principal{ID: "j.doe", Class: schema.ClassUser, Tenant: "acme"} }

func (r *rig) session(t *testing.T) string {
	t.Helper()
	s, err := r.gate.OpenSession(t.Context(), agent(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.Session
}

func (r *rig) call(t *testing.T, session, tool, args string) *Answer {
	t.Helper()
	return r.gate.Call(t.Context(), agent(), CallRequest{Session: session, Tool: tool, Args: []byte(args)})
}

// TestGrantsThatChangeNothingAreRefused grants what no part of the policy reads.
func TestGrantsThatChangeNothingAreRefused(t *testing.T) {
	r := start(t, "session", nil)
	s := r.session(t)
	for _, tc := range []struct {
		req  GrantRequest
		want verdict.Reason
	}{
		{GrantRequest{Session: s, Tool: "give_consent", Args: []byte(`{"object":"r1"}`), Revokes: "g1"}, verdict.Invalid},
		{GrantRequest{Session: s, Tool: "nobody_knows"}, verdict.Unmapped},
		{GrantRequest{Session: s, Tool: "get_time"}, verdict.Unmapped},
		{GrantRequest{Session: s, Tool: "give_consent"}, verdict.Invalid},
		{GrantRequest{Session: s, Tool: "give_consent", Args: []byte(`{"object":"r1"}`)}, ""},
	} {
		_, err := r.gate.Grant(t.Context(), user(), tc.req)
		p := IsProblem(err)
		if got := (p == nil); got != (tc.want == "") || p != nil && p.Reason != tc.want {
			t.Errorf("%+v: %v, want %q", tc.req, err, tc.want)
		}
	}
	if a := r.call(t, s, "export_record", `{"object":"r1"}`); !a.permits() {
		t.Errorf("the grant has no effect: %+v", a)
	}
}

// TestUnsignedPermitIsNotDelivered lets a composer sign that the gate does not trust.
// Its permit stands in the log, is not given out, and is withdrawn.
func TestUnsignedPermitIsNotDelivered(t *testing.T) {
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, "session", func(c *Config) { c.ComposerKeys = []ed25519.PublicKey{other} })
	s := r.session(t)
	a := r.call(t, s, "get_time", "{}")
	if a.permits() || a.Permit != nil || a.Reason != verdict.NoAnswer {
		t.Errorf("answered %+v", a)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		v, err := r.gate.Session(t.Context(), agent(), s)
		if err != nil {
			t.Fatal(err)
		}
		if v.Calls[protocol.CallWithdrawn.String()] == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the permit is not withdrawn: %+v", v)
		}
	}
}

// TestSweepGivesUpCallsWithoutAnswer registers a call whose append failed after its
// client had gone: nobody would ever answer it.
func TestSweepGivesUpCallsWithoutAnswer(t *testing.T) {
	table, now := newPendingTable(1), time.Unix(100, 0)
	ev := func(id string) *schema.Event {
		return &schema.Event{ID: id, SessionID: "s", CallID: id, Deadline: now.UnixNano()}
	}
	p, _ := table.add(ev("c1"), now)
	if stale := table.sweep(now); len(stale) != 0 || table.get("c1") == nil {
		t.Error("a call is given up at its deadline, while it may still be answered")
	}
	if stale := table.sweep(now.Add(1)); len(stale) != 0 || p.answer.permits() {
		t.Errorf("%d permits to withdraw, answer %+v", len(stale), p.answer)
	}
	if _, how := table.add(ev("c2"), now); how != joinNew {
		t.Errorf("the table is still full: %v", how)
	}
}

// TestDisclosure violates a clause that discloses nothing and one that discloses a
// hint, and looks at the answers and at what the agent and a user read afterwards.
func TestDisclosure(t *testing.T) {
	r := start(t, "session", nil)
	s := r.session(t)
	secret, open := r.call(t, s, "read_secret", `{"object":"x"}`), r.call(t, s, "export_record", `{"object":"x"}`)
	told := func(who string, a *Answer, clause bool) {
		t.Helper()
		c := a.Certificate
		if a.Decision != "refuse" || a.Reason != verdict.Violation || (a.Clause != "") != clause || (a.Message != "") != clause ||
			c == nil || (c.Value != "") != clause || (len(c.Parts) > 0) != clause {
			t.Errorf("%s is told %+v, certificate %+v", who, a, c)
		}
	}
	told("the agent of C2", secret, false)
	told("the agent of C1", open, true)
	for who, p := range map[string]Principal{"agent": agent(), "user": user()} {
		got, err := r.gate.Decisions(t.Context(), p, DecisionFilter{Session: s})
		if err != nil || len(got) != 2 {
			t.Fatalf("%s: %d decisions, %v", who, len(got), err)
		}
		if who == "agent" {
			told("the agent of C2 afterwards", &got[0].Answer, false)
		} else if got[0].Clause != "C2" || got[0].Certificate.Value == "" {
			t.Errorf("a user is told %+v of C2", got[0])
		}
		told(who+" of C1", &got[1].Answer, true)
	}
}

// TestCuesAreNotDisclosed violates a clause by a cue: the agent reads the clause and the binding,
// and nothing of what was looked for, now or afterwards.
func TestCuesAreNotDisclosed(t *testing.T) {
	r := start(t, "session", nil)
	s := r.session(t)
	a := r.call(t, s, "post", `{"object":"x","text":"the Kestrel flies"}`)
	if a.Decision != "refuse" || a.Clause != "C3" || a.Message != `C3: What is posted tells nothing. (o = "x")` || a.Certificate.Value != "Fp" {
		t.Fatalf("told %+v", a)
	}
	later, err := r.gate.Decisions(t.Context(), agent(), DecisionFilter{Session: s})
	if err != nil || len(later) != 1 {
		t.Fatalf("%d decisions, %v", len(later), err)
	}
	for _, told := range []any{a, later} {
		text, err := json.Marshal(told)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"kestrel", "Kestrel", "wordlist", "cue", "telling", "presumptive"} {
			if strings.Contains(string(text), word) {
				t.Errorf("%q is in what the agent is told: %s", word, text)
			}
		}
	}
}

// TestDecisionsAreTheNewestOfAllPartitions decides calls in sessions of two agents
// that live in different partitions.
func TestDecisionsAreTheNewestOfAllPartitions(t *testing.T) {
	r := start(t, "session", nil)
	var sessions [2]string
	var agents [2]Principal
	for i := 0; sessions[0] == "" || sessions[1] == ""; i++ {
		p := Principal{ID: "agent-" + string(rune('a'+i)), Class: schema.ClassAgent, Tenant: "acme"}
		got, err := r.gate.OpenSession(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		part, _, err := r.gate.sessions.open(p, got.Session)
		if err != nil {
			t.Fatal(err)
		}
		sessions[part], agents[part] = got.Session, p
	}
	for i, part := range []int{1, 0, 1, 0} {
		a := r.gate.Call(t.Context(), agents[part], CallRequest{Session: sessions[part], Tool: "get_time", CallID: "c" + string(rune('0'+i))})
		if !a.permits() {
			t.Fatalf("call %d: %+v", i, a)
		}
		time.Sleep(2 * time.Millisecond) // the log's times differ
	}
	got, err := r.gate.Decisions(t.Context(), user(), DecisionFilter{Limit: 3})
	if err != nil || len(got) != 3 || got[0].CallID != "c1" || got[1].CallID != "c2" || got[2].CallID != "c3" {
		t.Errorf("the newest 3 are %+v, %v", got, err)
	}
	r.gate.scans.take(user())
	defer r.gate.scans.give(user())
	if _, err := r.gate.Decisions(t.Context(), user(), DecisionFilter{}); IsProblem(err) == nil || IsProblem(err).Reason != verdict.Busy {
		t.Errorf("a second scan at a time: %v", err)
	}
}
