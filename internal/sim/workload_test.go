package sim

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// unit is the grain of an agent's waits. No deadline or margin is a multiple of it, so
// that nothing an agent does meets its own deadlines in the same instant; and each
// agent starts at an instant of its own, so that it meets nobody else's.
const unit = 7 * time.Millisecond

// step is one thing that an agent does.
type step struct {
	wait    time.Duration // before it
	what    what
	session int // of the agent's sessions
	gate    int // counted modulo the number of gates
	calls   []proposal
	tool    string // of a grant
	args    string
}

// what kinds of step there are.
type what uint8

const (
	oneCall   what = iota // proposed, run when permitted, its result posted
	turn                  // several calls at once
	lingering             // the call's result is posted while later steps go on
	again                 // the call is proposed at two gates under the same id
	hangUp                // the agent does not wait for the answer
	message
	grant
	badResult // a result for a call that was never permitted
	newSession
)

// proposal is one call with what running it gives.
type proposal struct {
	id, tool, args string
	runs           time.Duration
	status         schema.ResultStatus
	result         string
	silent         bool // no result is ever posted
}

// plan is what one agent does. It does not depend on the deployment.
type plan struct {
	agent    string
	offset   time.Duration
	sessions int
	steps    []step
}

// workload makes the plans of a seed.
func workload(r *rand.Rand, policy string, agents, steps int, trouble bool) []plan {
	var out []plan
	for i := range agents {
		p := plan{agent: fmt.Sprintf("agent-%d", i+1), offset: time.Duration(i+1) * 137 * time.Microsecond, sessions: 1 + r.IntN(2)}
		n := 0
		for range steps {
			s := step{
				wait: time.Duration(1+r.IntN(120)) * unit, session: r.IntN(p.sessions), gate: r.IntN(6),
				what: pick(r, oneCall, oneCall, oneCall, turn, turn, lingering, lingering, message, grant, grant),
			}
			if trouble && r.IntN(4) == 0 {
				s.wait = 0
			}
			if trouble && r.IntN(4) == 0 {
				s.what = pick(r, again, again, hangUp, newSession, badResult)
				if s.what == badResult && r.IntN(3) > 0 {
					s.what = again
				}
			}
			calls := 1
			if s.what == turn {
				calls = 2 + r.IntN(3)
			}
			for range calls {
				n++
				s.calls = append(s.calls, tools(r, policy, fmt.Sprintf("%c%d", 'a'+i, n)))
			}
			if policy == "relay" && s.what == turn && r.IntN(2) == 0 { // the second needs the first
				s.calls[0].tool, s.calls[1].tool = "verify", "deploy"
				s.calls[0].args = `{"host":"h1"}`
				s.calls[1].args = s.calls[0].args
			}
			s.tool, s.args = grants(r, policy)
			p.steps = append(p.steps, s)
		}
		out = append(out, p)
	}
	return out
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// tools makes a call of a tool of the policy.
func tools(r *rand.Rand, policy, id string) proposal {
	p := proposal{id: id, runs: time.Duration(r.IntN(60)) * unit}
	switch r.IntN(12) {
	case 0:
		p.status = schema.ResultError
	case 1:
		p.silent = true
	}
	switch policy {
	case "relay":
		host := pick(r, "h1", "h2")
		p.tool = pick(r, "verify", "verify", "deploy", "deploy", "deploy", "announce", "restart", "restart", "wipe", "look", "verify_all")
		p.args = fmt.Sprintf(`{"host":%q}`, host)
		if p.tool == "look" {
			p.args = ""
		}
		p.result = fmt.Sprintf(`{"ok":%v}`, r.IntN(5) > 0)
	case "consent":
		p.consent(r)
	case "courier":
		p.courier(r)
	case "registry":
		p.registry(r)
	default:
		p.tool = pick(r, "read_file", "send_money", "delete_file", "send_email", "disable_alarm", "set_limit", "confirm_payment", "search_web")
		p.args, p.result = `{"x":1}`, `{}`
	}
	if p.status == schema.ResultError {
		p.result = ""
	}
	return p
}

func (p *proposal) consent(r *rand.Rand) {
	object := pick(r, "r1", "r2")
	p.result = `{}`
	switch p.tool = pick(r, "export_record", "export_record", "share_record", "find_contact", "send_mail", "pay", "read_file", "revoke_consent", "get_time", "set_level"); p.tool {
	case "export_record", "share_record":
		p.args = fmt.Sprintf(`{"object":%q,"to":%q}`, object, pick(r, "archive", "partner", "vendor", "vendor", object))
		p.result = fmt.Sprintf(`{"stored":true,"object":%q}`, object)
	case "find_contact":
		p.args, p.result = `{"name":"A"}`, fmt.Sprintf(`{"rows":[{"email":"%s@example.com"}]}`, pick(r, "a", "b"))
	case "send_mail":
		p.args = fmt.Sprintf(`{"to":["%s@example.com"]}`, pick(r, "a", "b"))
	case "pay":
		p.args = fmt.Sprintf(`{"account":%q,"amount":%s}`, pick(r, "1", "2"), pick(r, "10", "100.5", `"much"`))
	case "read_file":
		p.args = fmt.Sprintf(`{"path":%q}`, pick(r, "/srv/a", "/srv/.env"))
	case "revoke_consent":
		p.args = fmt.Sprintf(`{"object":%q}`, object)
	case "set_level":
		p.args = fmt.Sprintf(`{"n":%d}`, r.IntN(5))
	}
}

func (p *proposal) courier(r *rand.Rand) {
	file := pick(r, "f1", "f2", "f3")
	p.args, p.result = fmt.Sprintf(`{"file":%q}`, file), `{}`
	switch p.tool = pick(r, "write", "write", "mark", "copy", "copy", "fetch", "purge", "open", "open", "close", "route", "drive", "drive", "note"); p.tool {
	case "write":
		p.args = fmt.Sprintf(`{"file":%q,"mark":%q}`, file, pick(r, "", "secret"))
	case "copy":
		p.args = fmt.Sprintf(`{"file":%q,"to":%q}`, file, pick(r, "home", "yard", "yard", "port", "nowhere"))
	case "fetch":
		p.result = fmt.Sprintf(`{"at":%q}`, pick(r, "home", "yard", "port"))
	case "open", "close":
		p.args = fmt.Sprintf(`{"to":%q}`, pick(r, "port", "home"))
	case "route":
		p.args = fmt.Sprintf(`{"file":%q,"lane":%q}`, file, pick(r, "a", "b", "b", "c", "x"))
	case "note":
		p.args = ""
	}
}

// registry makes calls whose texts say what typing has to find out.
func (p *proposal) registry(r *rand.Rand) {
	file, van := pick(r, "f1", "f2", "f3", "f4"), pick(r, "v1", "v2")
	text := pick(r, "all is well", "patient is stable", "badge no 7", "patient, badge no 7")
	p.args, p.result = fmt.Sprintf(`{"file":%q}`, file), `{}`
	switch p.tool = pick(r, "write", "label", "digest", "digest", "digest", "fetch", "send", "send", "send", "open", "close", "amend", "emblem", "drive", "drive", "note"); p.tool {
	case "write":
		p.args = fmt.Sprintf(`{"file":%q,"text":%q,"mark":%q}`, file, text, pick(r, "", "", "secret"))
	case "digest":
		p.args = fmt.Sprintf(`{"source":%q,"output":%q,"text":%q}`, file, pick(r, "f2", "f3", "f4"), text)
	case "fetch":
		p.result = fmt.Sprintf(`{"text":%q}`, text)
	case "amend":
		p.args = fmt.Sprintf(`{"van":%q,"text":%q,"cargo":%q}`, van, pick(r, "blankets", "blankets", "200 rounds"), pick(r, "", "", "other"))
	case "emblem", "drive":
		p.args = fmt.Sprintf(`{"van":%q}`, van)
	case "open", "close", "note":
		p.args = ""
	}
}

// grants picks an act of an authority.
func grants(r *rand.Rand, policy string) (tool, args string) {
	switch policy {
	case "relay":
		return pick(r, "thaw", "thaw", "freeze", "allow_wipe", "allow_wipe"), ""
	case "consent":
		if r.IntN(3) == 0 {
			return "confirm", ""
		}
		return "give_consent", fmt.Sprintf(`{"object":%q}`, pick(r, "r1", "r2"))
	}
	if policy == "registry" {
		return pick(r, "leave", "clear"), fmt.Sprintf(`{"file":%q}`, pick(r, "f1", "f2", "f3", "f4"))
	}
	if policy == "courier" {
		return "allow", fmt.Sprintf(`{"file":%q}`, pick(r, "f1", "f2", "f3"))
	}
	return "approve_request", ""
}

// actor plays a plan against a world.
type actor struct {
	*plan
	w       *world
	current []string // names of the open sessions
	opened  int
	posting sync.WaitGroup // results that are still to come
}

func (a *actor) gateOf(n int) string { return fmt.Sprintf("gate%d", n%a.w.setup.gates+1) }

// run plays the plan to its end.
func (a *actor) run() {
	time.Sleep(a.offset)
	for range a.sessions {
		a.current = append(a.current, "")
	}
	for i := range a.steps {
		s := &a.steps[i]
		time.Sleep(s.wait)
		a.step(s)
	}
	a.posting.Wait()
}

// session returns an open session, opening one if need be; nil when no gate does.
func (a *actor) session(s *step) *session {
	for try := 0; a.current[s.session] == "" && try < 8; try++ {
		name := fmt.Sprintf("%s.%d", a.agent, a.opened)
		if err := a.w.open(name, a.agent, a.gateOf(s.gate+try)); err == nil {
			a.opened++
			a.current[s.session] = name
			break
		}
		time.Sleep(100 * unit)
	}
	return a.w.ledger.session(a.current[s.session])
}

func (a *actor) step(s *step) {
	in := a.session(s)
	if in == nil {
		return
	}
	at := a.gateOf(s.gate)
	switch s.what {
	case oneCall:
		a.call(in, at, &s.calls[0])
	case turn:
		var all sync.WaitGroup
		for i := range s.calls {
			all.Go(func() { a.call(in, at, &s.calls[i]) })
			time.Sleep(unit)
		}
		all.Wait()
	case lingering:
		a.posting.Go(func() { a.call(in, at, &s.calls[0]) })
	case again:
		a.posting.Go(func() {
			time.Sleep(3 * unit)
			a.call(in, a.gateOf(s.gate+1), &s.calls[0])
		})
		a.call(in, at, &s.calls[0])
	case hangUp:
		a.w.ask(asking{session: in, call: s.calls[0].id, tool: s.calls[0].tool, args: s.calls[0].args, gate: at, patience: unit / 2})
	case message:
		_ = a.w.message(in, at, "model", "on we go")
	case grant:
		_ = a.w.grant(in, at, "user-1", s.tool, s.args)
	case badResult:
		_ = a.w.result(in, at, "never", schema.ResultOK, "")
	case newSession:
		if a.w.endSession(in, at) == nil {
			a.current[s.session] = ""
		}
	}
}

// call proposes a call, runs it when it is permitted, and posts its result once: when
// the answer to that is lost, nobody can know whether it is in the log.
func (a *actor) call(in *session, at string, p *proposal) {
	said := a.w.ask(asking{session: in, call: p.id, tool: p.tool, args: p.args, gate: at})
	if !said.permit() || p.silent || !a.w.firstRun(in, p.id) {
		return
	}
	time.Sleep(p.runs)
	for try := range 4 {
		if _, err := a.w.use(a.gateOf(try)); err == nil {
			_ = a.w.result(in, a.gateOf(try), p.id, p.status, p.result)
			return
		}
		time.Sleep(50 * unit)
	}
}

// firstRun reports whether a permitted call was not run yet: a permit is good for one
// run, however many wait for it.
func (w *world) firstRun(in *session, call string) bool {
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	key := in.id + "/" + call
	if w.ledger.mu.ran == nil {
		w.ledger.mu.ran = map[string]bool{}
	}
	if w.ledger.mu.ran[key] {
		return false
	}
	w.ledger.mu.ran[key] = true
	return true
}
