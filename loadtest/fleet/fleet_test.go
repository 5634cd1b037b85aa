package fleet_test

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/loadtest/fleet"
	"github.com/aspis-rv/aspis/loadtest/script"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// mirror is a gate that knows the script and answers right, but for what spoil does.
type mirror struct {
	w     *script.Workload
	key   ed25519.PrivateKey
	spoil func(n int, a *fleet.Answer) error // n counts the calls from 0

	t         *testing.T
	calls     int
	opened    int
	script    script.Script
	at        int
	permitted bool
}

// Principal implements fleet.Door.
func (m *mirror) Principal() (tenant, id string) { return "t", "a" }

// Open implements fleet.Door.
func (m *mirror) Open(context.Context) (fleet.Session, error) {
	m.opened++
	m.script, m.at, m.permitted = nil, 0, false
	return m, nil
}

// Call implements fleet.Session. With the first step of a session it finds out which
// script is played.
func (m *mirror) Call(_ context.Context, _, tool string, args []byte) (fleet.Answer, error) {
	if m.script == nil {
		m.script = m.find(tool, args)
	}
	step := m.script[m.at]
	if step.Tool != tool || string(step.Args) != string(args) || m.permitted {
		m.t.Fatalf("call %s %s: the script says %s %s; a result is owed: %v", tool, args, step.Tool, step.Args, m.permitted)
	}
	a := fleet.Answer{Decision: step.Want.Decision, Reason: step.Want.Reason, Clause: step.Want.Clause}
	if a.Decision == "permit" {
		a.Args = step.Canon
		a.Digest = hex.EncodeToString(schema.CallDigest("t", "a", "", tool, nil, step.Canon))
		st, _ := json.Marshal(map[string]string{"digest": a.Digest})
		a.Permit = &fleet.Permit{Statement: st, Signature: ed25519.Sign(m.key, st)}
	}
	n := m.calls
	m.calls++
	err := m.spoil(n, &a)
	m.permitted = err == nil && a.Decision == "permit"
	if !m.permitted {
		m.at++
	}
	return a, err
}

func (m *mirror) find(tool string, args []byte) script.Script {
	for _, s := range m.w.Scripts {
		if s[0].Tool == tool && string(s[0].Args) == string(args) {
			return s
		}
	}
	m.t.Fatalf("no script begins with %s %s", tool, args)
	return nil
}

// Result implements fleet.Session.
func (m *mirror) Result(_ context.Context, _ string, result []byte) error {
	if !m.permitted || string(result) != string(m.script[m.at].Result) {
		m.t.Fatalf("step %d: result %s of a call that was permitted: %v", m.at, result, m.permitted)
	}
	m.permitted = false
	m.at++
	return nil
}

// Grant implements fleet.Session.
func (m *mirror) Grant(_ context.Context, tool string, args []byte) error {
	if m.script == nil {
		m.script = m.find(tool, args)
	}
	if m.script[m.at].Tool != tool {
		m.t.Fatalf("step %d: granted %s", m.at, tool)
	}
	m.at++
	return nil
}

// End implements fleet.Session.
func (m *mirror) End(context.Context) error {
	if m.at != len(m.script) {
		m.t.Fatalf("a session ended at step %d of %d", m.at, len(m.script))
	}
	return nil
}

func load(t *testing.T) *script.Workload {
	t.Helper()
	w, err := script.Load("baseline", 1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// play makes n calls against a mirror and returns what was counted.
func play(t *testing.T, w *script.Workload, n int, spoil func(n int, a *fleet.Answer) error) (fleet.Counts, *mirror) {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &mirror{w: w, key: key, spoil: spoil, t: t}
	var tally fleet.Tally
	a := fleet.NewAgent(m, w, &tally, rand.New(rand.NewPCG(1, 1)))
	if err := a.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range n {
		a.Call(t.Context())
		a.Settle(t.Context())
	}
	if tally.Verify(pub) == 0 {
		t.Error("no signature was checked")
	}
	return tally.Counts(), m
}

func TestAgentPlaysItsScripts(t *testing.T) {
	const n = 10 * script.CallsPerSession
	c, m := play(t, load(t), n, func(int, *fleet.Answer) error { return nil })
	if err := c.Sound(); err != nil {
		t.Error(err)
	}
	if c.Checked != n || c.Permitted+c.Refused != n || m.opened != 11 || c.Failed != 0 {
		t.Errorf("%+v after %d calls in %d sessions", c, n, m.opened)
	}
}

// TestEveryFalseAnswerIsFound spoils the answer to call 40 in every way that an agent
// could be told something false.
func TestEveryFalseAnswerIsFound(t *testing.T) {
	w := load(t)
	for name, spoil := range map[string]func(a *fleet.Answer){
		"other decision":  func(a *fleet.Answer) { a.Decision = "redirect" },
		"no decision":     func(a *fleet.Answer) { a.Decision = "" },
		"permit unsigned": func(a *fleet.Answer) { a.Decision, a.Permit = "permit", nil },
		"reason":          func(a *fleet.Answer) { a.Reason += "x" },
		"clause":          func(a *fleet.Answer) { a.Clause = "O9" },
		"digest":          func(a *fleet.Answer) { a.Digest = strings.Repeat("0", 64) },
		"arguments":       func(a *fleet.Answer) { a.Args = []byte(`{}`) },
		"statement":       func(a *fleet.Answer) { a.Permit.Statement = []byte(`{}`) },
		"late permit":     func(a *fleet.Answer) { a.Reason = "late" },
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := false
			c, _ := play(t, w, 200, func(n int, a *fleet.Answer) error {
				if n >= 40 && !spoilt && a.Decision == "permit" {
					spoilt = true
					spoil(a)
				}
				return nil
			})
			if c.Wrong != 1 || len(c.Examples) != 1 || c.Sound() == nil {
				t.Errorf("%+v: want one wrong answer with its description", c)
			}
		})
	}
}

func TestBadSignatureIsFound(t *testing.T) {
	c, _ := play(t, load(t), 100, func(_ int, a *fleet.Answer) error {
		if a.Permit != nil {
			a.Permit.Signature[0] ^= 1
		}
		return nil
	})
	if c.Wrong == 0 || c.Sound() == nil {
		t.Errorf("%+v: want wrong answers", c)
	}
}

// TestUndecidedIsNotWrong checks that refusals which decide nothing end the session,
// because what follows would have other answers, and spoil a run only when many.
func TestUndecidedIsNotWrong(t *testing.T) {
	w := load(t)
	for _, reason := range []string{"late", "busy", "unavailable", "unrecorded"} {
		c, m := play(t, w, 1000, func(n int, a *fleet.Answer) error {
			if n == 500 {
				*a = fleet.Answer{Decision: "refuse", Reason: reason}
			}
			return nil
		})
		if c.Undecided != 1 || c.Wrong != 0 || c.Sound() != nil || m.opened < 32 {
			t.Errorf("%s: %+v in %d sessions", reason, c, m.opened)
		}
	}
	c, _ := play(t, w, 1000, func(n int, a *fleet.Answer) error {
		if n%20 == 19 {
			*a = fleet.Answer{Decision: "refuse", Reason: "late"}
		}
		return nil
	})
	if c.Undecided != 50 || c.Sound() == nil {
		t.Errorf("%+v: one undecided call in twenty must spoil a run", c)
	}
}

func TestNoAnswerIsAFailure(t *testing.T) {
	c, _ := play(t, load(t), 1000, func(n int, _ *fleet.Answer) error {
		if n%50 == 49 {
			return errors.New("connection reset")
		}
		return nil
	})
	if c.Failed != 20 || c.Wrong != 0 || c.Sound() == nil {
		t.Errorf("%+v: want 20 failures, too many to be sound", c)
	}
}

func TestAnEmptyRunIsNotSound(t *testing.T) {
	for _, c := range []fleet.Counts{{}, {Checked: 10, Permitted: 10}, {Checked: 10, Refused: 10}} {
		if c.Sound() == nil {
			t.Errorf("%+v passed", c)
		}
	}
}
