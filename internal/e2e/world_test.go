package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/client"
)

const medevac = "../../policies/medevac"

// roleSpatial is the worker of the spatial aspect beside that of the temporal one.
const roleSpatial = roleAspect + second

// roleSemantic is that of the semantic aspect.
const roleSemantic = roleAspect + third

// userToken is the credential of an authority.
const userToken = "5d41402abc4b2a76b9719d911017c592"

// startWorld starts a broker, a composer, a gate and a worker of each of three aspects, every
// one a process of its own.
func startWorld(t *testing.T) *deployment {
	t.Helper()
	d := newDeployment(t, medevac)
	tokens, err := os.ReadFile(d.tokensFile())
	if err == nil {
		err = os.WriteFile(d.tokensFile(), fmt.Appendf(tokens, "%s command-1 command default\n", userToken), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.startBroker()
	d.base = d.addRoles("")
	d.add(roleSpatial, "aspectd", "--policy", d.policy, "--nats", d.nats, "--log-level", "warn", "--aspect", "spatial")
	d.add(roleSemantic, "aspectd", "--policy", d.policy, "--nats", d.nats, "--log-level", "warn", "--aspect", "semantic")
	d.createLog()
	d.startAll()
	return d
}

// mission is a session of the MEDEVAC policy.
type mission struct {
	t         *testing.T
	d         *deployment
	agent     *client.Client
	authority *client.Client
	session   string
	calls     int
}

func newMission(t *testing.T, d *deployment, agent int) *mission {
	t.Helper()
	m := &mission{t: t, d: d, agent: d.client(agent), authority: client.New(d.base, userToken, nil)}
	var err error
	if m.session, err = m.agent.OpenSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

// call proposes a call and, where it is permitted, posts its result. Of clauses of several
// aspects the one is named whose worker was first.
func (m *mission) call(want, tool, args string, failed bool) {
	m.t.Helper()
	m.calls++
	id := fmt.Sprint("c", m.calls)
	d, err := m.agent.Propose(m.t.Context(), client.Call{Session: m.session, Tool: tool, Args: json.RawMessage(args), CallID: id, DeadlineMS: 20_000})
	if err != nil {
		m.t.Fatalf("%s %s: %v", tool, args, err)
	}
	got := strings.TrimSpace(d.Decision + " " + d.Clause)
	if !slices.Contains(strings.Split(want, " or "), got) {
		m.t.Errorf("%s %s: %s %s %s, want %s", tool, args, got, d.Reason, d.Message, want)
	}
	if !d.Permitted() {
		return
	}
	res := client.Result{Session: m.session, CallID: id, Result: json.RawMessage(`{}`)}
	if failed {
		res.Status = "error"
	}
	if err := m.agent.PostResult(m.t.Context(), res); err != nil {
		m.t.Fatalf("the result of %s: %v", tool, err)
	}
}

func (m *mission) grant(tool, args string) {
	m.t.Helper()
	if err := m.authority.PostGrant(m.t.Context(), client.Grant{Session: m.session, Tool: tool, Args: json.RawMessage(args)}); err != nil {
		m.t.Fatalf("%s: %v", tool, err)
	}
}

// TestWorldLive plays two sessions of one tenant against separate processes: they share a
// world and what its records are, the workers that hold them are killed in between, effects are
// taken back, and the retained log gives the same bytes again.
func TestWorldLive(t *testing.T) {
	d := startWorld(t)
	a, b := newMission(t, d, 0), newMission(t, d, 1)
	a.call("permit", "create_9line", `{"record":"A","text":"two litter","marking":"PHI"}`, false)
	a.call("permit", "stage_record", `{"record":"A","dest":"c2_cop"}`, false)
	b.call("refuse S1 or refuse T1", "open_feed", `{"src":"c2_cop","dst":"coalition_cop"}`, false)
	d.restart(roleSpatial, 0)
	b.call("refuse S1 or refuse T1", "stage_record", `{"record":"A","dest":"coalition_cop"}`, false)
	b.call("refuse S1 or refuse T1", "stage_record", `{"record":"A","dest":"nowhere"}`, false)
	b.call("refuse S2", "designate_lz", `{"mission":"m1","cell":"bravo"}`, false)
	b.call("permit", "designate_lz", `{"mission":"m1","cell":"charlie"}`, false)
	d.restart(roleAspect, 0)
	b.call("refuse T1", "release_record", `{"record":"A","partner":"partner_med","dest":"partner_med"}`, false)
	b.grant("grant_pii_release", `{"record":"A","partner":"partner_med"}`)
	b.call("permit", "release_record", `{"record":"A","partner":"partner_med","dest":"partner_med"}`, true) // it fails
	d.restart(roleSpatial, 0)
	a.call("permit", "purge_replicas", `{"record":"A","label":"cop"}`, false)
	a.call("refuse S3 or refuse T3", "purge_replicas", `{"record":"A","label":"medical_enclave"}`, false) // the partner has none
	a.launders(d, b)
	d.killAll()
	once := replayLog(t, d, "--workers", "1")
	if !bytes.Contains(once.lines, []byte(`"source":"cue","rule":"identifier"`)) {
		t.Error("no line of the replay says by which cue a record carries an identifier")
	}
	for _, flags := range [][]string{{"--workers", "4"}, {"--workers", "1", "--snapshot-every", "3"}} {
		if again := replayLog(t, d, flags...); !bytes.Equal(once.lines, again.lines) {
			t.Errorf("replay with %v prints other lines", flags)
		}
	}
	if c := once.log; c.Verdicts != 3*once.summary.Calls || c.VerdictsEqual+c.VerdictsAbsent != c.Verdicts || c.VerdictsAbsent > 6 || c.DecisionsEqual != c.Decisions {
		t.Errorf("%d calls, %+v", once.summary.Calls, c)
	}
}

// launders tries to release what was made from the marked record A, in two steps and by another
// session, and to cross the front with a load that only its text gives away.
func (m *mission) launders(d *deployment, other *mission) {
	m.t.Helper()
	m.call("permit", "summarise_record", `{"source":"A","output":"S","text":"one litter, service number 44712"}`, false)
	d.restart(roleSemantic, 0)
	other.call("permit", "summarise_record", `{"source":"S","output":"R","text":"one litter, svc no 44712"}`, false)
	other.grant("grant_pii_release", `{"record":"R","partner":"partner_med"}`)
	other.call("refuse Sigma2", "release_record", `{"record":"R","partner":"partner_med","dest":"partner_med"}`, false)
	other.call("permit", "summarise_record", `{"source":"A","output":"T","text":"one litter"}`, false)
	other.call("permit", "release_record", `{"record":"T","partner":"partner_med","dest":"partner_med"}`, false)
	d.restart(roleSpatial, 0)
	m.grant("downgrade_record", `{"record":"R"}`)
	d.restart(roleSemantic, 0)
	other.call("permit", "release_record", `{"record":"R","partner":"partner_med","dest":"partner_med"}`, false)

	other.call("permit", "summarise_record", `{"source":"A","output":"V","text":"litter, rank of sergeant"}`, true) // it fails: V was not made
	other.call("permit", "create_9line", `{"record":"V","text":"fuel"}`, false)
	other.call("permit", "release_record", `{"record":"V","partner":"partner_med","dest":"partner_med"}`, false)

	m.call("permit", "request_protected_marking", `{"mission":"m1"}`, false)
	m.call("permit", "amend_manifest", `{"mission":"m1","text":"six crates of ammunition"}`, false)
	m.call("permit", "amend_manifest", `{"mission":"m1","text":"two litters","cargo":"medical"}`, false)
	d.restart(roleAspect, 0)
	m.call("refuse T4", "cross_flot", `{"mission":"m1"}`, false)
}
