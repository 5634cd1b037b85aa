package sim

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/service/gate"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// player plays a script against a world. It is used by one goroutine of a bubble.
type player struct {
	t       *testing.T
	w       *world
	out     strings.Builder
	waiting map[string]chan *said // calls without an answer, by "session/call"
	shown   map[uint32]uint64     // offset up to which `log` has shown a partition
	states  map[string]string     // letter of a state hash
	turns   int
	wrong   []string // what audits found
}

// options splits words into plain ones and name=value pairs. JSON stays one word.
func options(line string) (words []string, opts map[string]string) {
	opts = map[string]string{}
	for _, word := range fields(line) {
		name, value, found := strings.Cut(word, "=")
		if found && !strings.ContainsAny(name, `{"[`) {
			opts[name] = value
			continue
		}
		words = append(words, word)
	}
	return words, opts
}

// fields is strings.Fields, but for JSON objects, which are kept whole.
func fields(line string) []string {
	var out []string
	depth, from := 0, -1
	for i, r := range line + " " {
		switch r {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		switch {
		case r == ' ' && depth == 0 && from >= 0:
			out = append(out, line[from:i])
			from = -1
		case r != ' ' && from < 0:
			from = i
		}
	}
	return out
}

func (p *player) fail(format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf(format, args...)
}

func (p *player) print(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

func (p *player) duration(s string) time.Duration {
	p.t.Helper()
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		p.fail("%v", err)
	}
	return d
}

func (p *player) number(s string, none int) int {
	p.t.Helper()
	if s == "" {
		return none
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		p.fail("%v", err)
	}
	return n
}

// line plays one line of a script.
func (p *player) line(line string) {
	p.t.Helper()
	words, opts := options(line)
	if len(words) == 0 {
		p.fail("%q is no command", line)
	}
	if words[0] != "start" && p.w == nil {
		p.fail("the script does not begin with start")
	}
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	switch words[0] {
	case "start":
		p.start(opts)
	case "open":
		at := opts["gate"]
		if at == "" {
			at = "gate1"
		}
		p.report(p.w.open(arg(1), arg(2), at), "")
	case "call":
		p.call(words, opts)
	case "turns":
		p.playTurns(arg(1), opts)
	case "result":
		s, call := p.named(arg(1))
		status, err := schema.ParseResultStatus(arg(2))
		if err != nil {
			p.fail("%v", err)
		}
		p.report(p.w.result(s, p.at(s, opts), call, status, arg(3)), "")
	case "message":
		s := p.session(arg(1))
		p.report(p.w.message(s, p.at(s, opts), arg(2), strings.Join(words[3:], " ")), "")
	case "grant":
		s := p.session(arg(1))
		p.report(p.w.grant(s, p.at(s, opts), arg(2), arg(3), arg(4)), "")
	case "end":
		s := p.session(arg(1))
		p.report(p.w.endSession(s, p.at(s, opts)), "")
	default:
		p.operate(words, line)
	}
	synctest.Wait()
	p.answers()
}

// operate plays the commands that concern the deployment.
func (p *player) operate(words []string, line string) {
	p.t.Helper()
	switch words[0] {
	case "wait":
		time.Sleep(p.duration(words[1]))
	case "crash":
		p.w.crash(words[1])
	case "stop":
		p.w.stop(words[1])
	case "restart":
		p.w.start(words[1])
		synctest.Wait()
	case "ready":
		p.report(p.w.ready(words[1], 30*time.Second), words[1]+" is ready")
	case "pause":
		p.w.get(words[1]).link.pause()
	case "resume":
		p.w.get(words[1]).link.resume()
	case "clock":
		p.w.get(words[1]).link.setSkew(p.duration(words[2]))
	case "fault":
		rest := fields(line)[1:]
		if rest[0] == "clear" {
			p.w.weather.clear()
			return
		}
		r, err := parseRule(rest)
		if err != nil {
			p.fail("%v", err)
		}
		p.w.weather.add(r)
	case "fill":
		p.fill(words[1])
	case "log":
		p.showLog()
	case "verdicts":
		p.showVerdicts()
	case "state":
		p.showState()
	case "check":
		p.check()
	default:
		p.fail("%q is no command", words[0])
	}
}

func (p *player) start(opts map[string]string) {
	p.t.Helper()
	s := setup{
		policy: opts["policy"], partitions: p.number(opts["partitions"], 1), gates: p.number(opts["gates"], 1),
		composers: p.number(opts["composers"], 1), aspects: p.number(opts["aspects"], 1),
		observe: opts["mode"] == "observe", capacity: int64(p.number(opts["capacity"], 0)),
		seed: uint64(p.number(opts["seed"], 1)), ttl: p.duration(opts["ttl"]), //nolint:gosec // a script's number
		snapshotEvery: p.number(opts["snapshots"], 0), deadline: p.duration(opts["deadline"]),
		margin: p.duration(opts["margin"]), keyless: opts["keys"] == "wrong",
	}
	p.w = newWorld(p.t, s)
	p.w.startAll()
	// Off the beat of the clock, so that no script races with a tick.
	time.Sleep(time.Until(p.w.began.Add(1100 * time.Millisecond)))
	p.skipLog()
}

func (p *player) session(name string) *session {
	p.t.Helper()
	s := p.w.ledger.session(name)
	if s == nil {
		p.fail("session %q is not open", name)
	}
	return s
}

// named splits "session/call".
func (p *player) named(name string) (*session, string) {
	p.t.Helper()
	s, call, ok := strings.Cut(name, "/")
	if !ok {
		p.fail("%q is not session/call", name)
	}
	return p.session(s), call
}

func (p *player) at(s *session, opts map[string]string) string {
	if g := opts["gate"]; g != "" {
		return g
	}
	return s.gate
}

func (p *player) report(err error, ok string) {
	switch problem := gate.IsProblem(err); {
	case problem != nil:
		p.print("%s: %s", problem.Reason, problem.Message)
	case err != nil:
		p.print("error: %v", err)
	case ok != "":
		p.print("%s", ok)
	}
}

// call plays `call SESSION/CALL TOOL [JSON] [gate=G] [deadline=D] [patience=D]`. The
// answer is shown by the first command at whose end it is there.
func (p *player) call(words []string, opts map[string]string) {
	p.t.Helper()
	s, call := p.named(words[1])
	q := asking{
		session: s, call: call, tool: words[2], gate: opts["gate"],
		deadline: p.duration(opts["deadline"]), patience: p.duration(opts["patience"]),
	}
	if len(words) > 3 {
		q.args = words[3]
	}
	name := words[1]
	for p.waiting[name] != nil {
		name += "'" // the same call, asked again
	}
	answer := make(chan *said, 1)
	p.waiting[name] = answer
	go func() { answer <- p.w.ask(q) }()
}

// answers shows the answers that have come.
func (p *player) answers() {
	var names []string
	for n := range p.waiting {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		select {
		case s := <-p.waiting[n]:
			delete(p.waiting, n)
			p.answer(n, s)
		default:
		}
	}
}

func (p *player) answer(name string, s *said) {
	out := name + ": "
	if s.lost {
		p.print("%sno answer", out)
		return
	}
	a := s.answer
	out += a.Decision
	if a.Reason != "" {
		out += " " + string(a.Reason)
	}
	if a.Clause != "" {
		out += " " + a.Clause
	}
	if a.Unchecked != "" {
		out += " (unchecked: " + a.Unchecked + ")"
	}
	if a.Certificate != nil {
		if len(a.Certificate.Flags) > 0 {
			out += " flags " + strings.Join(a.Certificate.Flags, ",")
		}
		if len(a.Certificate.Missing) > 0 && a.Reason != verdict.Violation {
			out += " missing " + strings.Join(a.Certificate.Missing, ",")
		}
	}
	if d := s.at.Sub(s.asked); d > 0 {
		out += " after " + d.String()
	}
	p.print("%s", out)
	if a.Message != "" {
		p.print("  %s", a.Message)
	}
	p.witness(a)
}

// witness shows what a refusal by a clause rests on, from the verdict that it names.
func (p *player) witness(a *gate.Answer) {
	if a.Certificate == nil || a.Clause == "" {
		return
	}
	for part := range p.w.log.Partitions() {
		recs, err := readAll(p.w.log, bus.Verdicts, part)
		if err != nil {
			p.fail("%v", err)
		}
		for _, rec := range recs {
			v, err := schema.DecodeVerdict(rec.Data)
			if err != nil || !certified(a, v) {
				continue
			}
			for i := range v.Parts {
				if v.Parts[i].Clause == a.Clause {
					p.part(part, &v.Parts[i])
				}
			}
			return
		}
	}
}

func certified(a *gate.Answer, v *schema.Verdict) bool {
	for _, used := range a.Certificate.Parts {
		if used.Hash == fmt.Sprintf("%x", v.Hash()) {
			return true
		}
	}
	return false
}

func (p *player) part(partition uint32, part *schema.Part) {
	for _, row := range part.Rows {
		var bound []string
		for i, c := range part.Columns {
			bound = append(bound, c+" = "+row.Values[i].String())
		}
		var seen []string
		for _, offset := range row.Witness {
			seen = append(seen, p.recordAt(partition, offset))
		}
		name := ""
		if part.Name != "" {
			name = " " + part.Name
		}
		p.print("  %s%s %v %s: %s", part.Role, name, row.Mark, strings.Join(bound, ", "), strings.Join(seen, "; "))
	}
}

func (p *player) recordAt(partition uint32, offset uint64) string {
	recs, err := readAll(p.w.log, bus.Events, partition)
	if err != nil {
		p.fail("%v", err)
	}
	for _, rec := range recs {
		if rec.Offset == offset {
			if ev, err := schema.DecodeEvent(rec.Data); err == nil {
				return p.w.label(ev)
			}
		}
	}
	return "nothing"
}

// playTurns plays `turns N session=S from=M`: N turns in which the look-up of a host
// and the deployment that needs it are proposed at once; the look-up's result comes
// 100 ms later.
func (p *player) playTurns(count string, opts map[string]string) {
	p.t.Helper()
	s := p.session(opts["session"])
	permitted, denied := 0, 0
	for range p.number(count, 1) {
		p.turns++
		host := fmt.Sprintf(`{"host":"h%d"}`, p.turns)
		look, need := fmt.Sprintf("look%d", p.turns), fmt.Sprintf("need%d", p.turns)
		first, second := make(chan *said, 1), make(chan *said, 1)
		go func() { first <- p.w.ask(asking{session: s, call: look, tool: "verify", args: host}) }()
		synctest.Wait()
		go func() { second <- p.w.ask(asking{session: s, call: need, tool: "deploy", args: host}) }()
		if a := <-first; a.permit() {
			time.Sleep(100 * time.Millisecond)
			body, status := `{"ok":true}`, schema.ResultOK
			if opts["outcome"] == "error" {
				body, status = "", schema.ResultError
			}
			p.report(p.w.result(s, s.gate, look, status, body), "")
		}
		if a := <-second; a.permit() {
			permitted++
			p.report(p.w.result(s, s.gate, need, schema.ResultOK, ""), "")
		} else {
			denied++
		}
	}
	p.print("%d permitted, %d denied", permitted, denied)
}

// fill appends ever smaller messages to a session until the log takes none at all.
func (p *player) fill(name string) {
	s := p.session(name)
	for size := 1000; ; size /= 10 {
		var err error
		for err == nil {
			err = p.w.message(s, s.gate, "model", strings.Repeat("x", size))
		}
		if size == 0 {
			p.report(err, "")
			return
		}
	}
}

func (p *player) skipLog() {
	for part := range p.w.log.Partitions() {
		_, next, err := p.w.log.Bounds(p.t.Context(), bus.Events, part)
		if err != nil {
			p.fail("%v", err)
		}
		p.shown[part] = next
	}
}

// showLog shows what was appended since the last time, with what it did; ticks only
// when they did more than move the clock.
func (p *player) showLog() {
	h, err := p.w.fold(0)
	if err != nil {
		p.fail("%v", err)
	}
	for _, e := range h.entries {
		if e.record.Offset < p.shown[e.partition] {
			continue
		}
		if e.event.Kind == schema.KindTick && len(e.effects) <= 1 {
			continue
		}
		where := ""
		if p.w.log.Partitions() > 1 {
			where = fmt.Sprintf("[%d] ", e.partition)
		}
		p.print("%s%s", where, p.w.line(e))
	}
	p.skipLog()
}

// showVerdicts counts the verdict records and the distinct ones among them.
func (p *player) showVerdicts() {
	all, distinct := 0, map[string]bool{}
	for part := range p.w.log.Partitions() {
		recs, err := readAll(p.w.log, bus.Verdicts, part)
		if err != nil {
			p.fail("%v", err)
		}
		for _, rec := range recs {
			all++
			distinct[fmt.Sprint(part)+string(rec.Data)] = true
		}
	}
	p.print("%d verdict records, %d distinct", all, len(distinct))
}

// showState shows a letter for the monitors' state: the same letter, the same state.
func (p *player) showState() {
	var letters []string
	for _, role := range p.w.order {
		in := p.w.get(role)
		for _, a := range in.aspects {
			if in.ended {
				continue
			}
			sum, err := a.StateHash(p.t.Context())
			if err != nil {
				p.fail("%v", err)
			}
			key := fmt.Sprintf("%x", sum)
			if p.states[key] == "" {
				p.states[key] = string(rune('A' + len(p.states)))
			}
			letters = append(letters, role+" "+p.states[key])
		}
	}
	p.print("%s", strings.Join(letters, ", "))
}

// check settles the world and audits it.
func (p *player) check() {
	p.w.settleAll()
	p.answers()
	n := p.w.audit()
	for _, problem := range p.w.problems {
		p.print("WRONG: %s", problem)
		p.wrong = append(p.wrong, problem)
	}
	p.w.problems = nil
	v := reflect.ValueOf(n)
	var parts []string
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; v.Field(i).Int() > 0 && name != "records" {
			parts = append(parts, fmt.Sprintf("%d %s", v.Field(i).Int(), name))
		}
	}
	p.print("%s", strings.Join(parts, ", "))
}
