package script_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/loadtest/script"
)

// TestOracleAgreesWithTheRule compares the offline runner's answers with the rules of
// both bundles, written here as plain Go over what a session did so far.
func TestOracleAgreesWithTheRule(t *testing.T) {
	for _, tc := range []struct {
		workload string
		rule     func() rule
	}{
		{"baseline", func() rule { return &approvals{} }},
		{"ledger", func() rule { return newBooks() }},
	} {
		t.Run(tc.workload, func(t *testing.T) {
			for seed := range uint64(4) {
				w, err := script.Load(tc.workload, seed)
				if err != nil {
					t.Fatal(err)
				}
				seen := map[string]int{}
				for n, s := range w.Scripts {
					r := tc.rule()
					for i := range s {
						got, want := r.step(&s[i]), s[i].Want.String()
						if s[i].Kind == script.Call && got != want {
							t.Fatalf("seed %d, script %d, step %d, %s %s: the rule says %q, the oracle %q", seed, n, i, s[i].Tool, s[i].Args, got, want)
						}
						seen[want]++
					}
				}
				if len(seen) < 6 {
					t.Errorf("seed %d: only the answers %v occur", seed, seen)
				}
			}
		})
	}
}

func TestLoadIsRepeatable(t *testing.T) {
	one, two, other := load(t, 7), load(t, 7), load(t, 8)
	if fmt.Sprint(one.Scripts) != fmt.Sprint(two.Scripts) {
		t.Error("the same seed gave two workloads")
	}
	if fmt.Sprint(one.Scripts) == fmt.Sprint(other.Scripts) {
		t.Error("two seeds gave the same workload")
	}
	for _, s := range one.Scripts {
		if s.Calls() != script.CallsPerSession {
			t.Errorf("a script has %d calls, want %d", s.Calls(), script.CallsPerSession)
		}
	}
	if _, err := script.Load("nothing", 1); err == nil || !strings.Contains(err.Error(), "baseline") {
		t.Errorf("an unknown workload gave %v, want the names of those that exist", err)
	}
}

func load(t *testing.T, seed uint64) *script.Workload {
	t.Helper()
	w, err := script.Load("ledger", seed)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// rule says what the answer to a step is and remembers what took effect.
type rule interface {
	step(s *script.Step) string
}

// approvals is the published rule: a risky call needs a grant before it.
type approvals struct{ granted bool }

func (a *approvals) step(s *script.Step) string {
	if s.Kind == script.Grant {
		a.granted = true
		return ""
	}
	clause := map[string]string{
		"delete_file": "O1", "disable_alarm": "O2", "send_money": "O3", "book_hotel": "O3", "send_email": "O4", "write_file": "O5",
	}[s.Tool]
	if clause == "" || a.granted {
		return "permit"
	}
	return "refuse violation " + clause
}

// books are the clauses L1 to L5.
type books struct {
	consent, known, paid map[string]bool
	approved             bool
}

func newBooks() *books {
	return &books{consent: map[string]bool{}, known: map[string]bool{}, paid: map[string]bool{}}
}

type bookArgs struct {
	Object, Name, Account, Path string
	To                          []string
	Cents                       int
}

func (b *books) step(s *script.Step) string {
	var a bookArgs
	if err := json.Unmarshal(s.Args, &a); err != nil {
		return err.Error()
	}
	if s.Kind == script.Grant {
		switch s.Tool {
		case "give_consent", "revoke_consent":
			b.consent[a.Object] = s.Tool == "give_consent"
		case "approve":
			b.approved = true
		}
		return ""
	}
	clause := b.call(s.Tool, &a)
	switch clause {
	case "":
		return "permit"
	case "invalid", "unmapped":
		return "refuse " + clause
	}
	return "refuse violation " + clause
}

func (b *books) call(tool string, a *bookArgs) string {
	switch tool {
	case "export_record":
		if !b.consent[a.Object] {
			return "L1"
		}
	case "find_contact":
		b.known[a.Name+"@example.com"] = true
	case "send_mail":
		if !b.known[a.To[0]] {
			return "L2"
		}
	case "pay":
		return b.pay(a)
	case "read_file":
		if strings.Contains(a.Path, ".env") || strings.Contains(a.Path, "keys") {
			return "L5"
		}
	case "format_disk":
		return "unmapped"
	}
	return ""
}

func (b *books) pay(a *bookArgs) string {
	payment := fmt.Sprint(a.Account, a.Cents)
	switch {
	case a.Cents == 0:
		return "invalid"
	case a.Cents > 10000 && !b.approved:
		return "L3"
	case b.paid[payment]:
		return "L4"
	}
	b.paid[payment] = true
	return ""
}
