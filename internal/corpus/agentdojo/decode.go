package agentdojo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/aspis-rv/aspis/internal/corpus"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// MaxSteps is the number of steps a run may have. Published runs have below two
// hundred; the limit keeps a crafted file from costing minutes of monitoring.
const MaxSteps = 20_000

// maxRecordedID is the longest recorded call id that is taken over, in bytes; the
// rest of what an id may have is room for the position that is appended to one used
// before. A longer one counts as missing.
const maxRecordedID = schema.MaxID - 16

// The errors of decoding a run.
var (
	// ErrMalformed is returned for a file that is not a run.
	ErrMalformed = errors.New("not an AgentDojo run")
	// ErrTooManySteps is returned for a run with more than MaxSteps steps.
	ErrTooManySteps = errors.New("too many steps")
)

// The quirks of runs.
const (
	QuirkArgsText      corpus.Quirk = "arguments-as-text"    // args were JSON text: read as the object in it
	QuirkArgsBad       corpus.Quirk = "arguments-unparsable" // args are no JSON object: kept as text, status malformed
	QuirkIDMissing     corpus.Quirk = "call-id-missing"      // id absent, null, empty or too long: derived from the position
	QuirkIDReused      corpus.Quirk = "call-id-reused"       // id of an earlier call of the run: derived from the position
	QuirkCallNameless  corpus.Quirk = "call-without-tool"    // a call that names no tool: passed over
	QuirkCallUnpaired  corpus.Quirk = "call-without-result"  // no result was recorded
	QuirkResultNoID    corpus.Quirk = "result-id-missing"    // paired by order
	QuirkResultOrphan  corpus.Quirk = "result-orphan"        // a result of no recorded call
	QuirkContentOdd    corpus.Quirk = "content-shape"        // content is neither text nor text parts: kept as JSON text
	QuirkRoleOdd       corpus.Quirk = "role-unknown"         // a role other than the four: read as the environment's
	QuirkCallsByOther  corpus.Quirk = "calls-by-other-role"  // tool calls on a message not the assistant's: not in the chain
	QuirkPathDiffers   corpus.Quirk = "path-differs"         // path and content name different tasks: the content counts
	QuirkAttackPartial corpus.Quirk = "attack-partial"       // attack or injection set, not both: neither attacked nor benign
	QuirkDuplicate     corpus.Quirk = "duplicate-run"        // a second file with the run's name: passed over
)

// Decode reads one run's file. The name is its path, from which come the run's
// identity and what the content leaves out. Errors wrap ErrMalformed or
// ErrTooManySteps. Decode is a pure function.
func Decode(name string, data []byte) (*Run, error) {
	var w wireRun
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, ErrMalformed, err)
	}
	if w.Messages == nil && w.Suite == "" && w.UserTask == "" {
		return nil, fmt.Errorf("%s: %w: it has neither messages nor a suite nor a user task; give the folder that holds runs/", name, ErrMalformed)
	}
	d := decoder{run: &Run{File: name, Messages: len(w.Messages)}, ids: make(map[string]bool)}
	d.identify(name, &w)
	for i := range w.Messages {
		d.message(i, &w.Messages[i])
		if len(d.run.Steps) > MaxSteps {
			return nil, fmt.Errorf("%s: %w: more than %d; split the file", name, ErrTooManySteps, MaxSteps)
		}
	}
	for range d.open {
		d.quirk(QuirkCallUnpaired)
	}
	return d.run, nil
}

// decoder turns messages into steps.
type decoder struct {
	run *Run
	// ids holds the call ids given out so far.
	ids map[string]bool
	// open lists the calls without a result yet, oldest first.
	open []openCall
}

// openCall is a call that awaits its result.
type openCall struct {
	recorded string // id as recorded, may be empty
	id       string // id given out
	tool     string
	message  int
}

func (d *decoder) quirk(q corpus.Quirk) { d.run.Quirks = d.run.Quirks.Add(q) }

// identify fills the run's metadata from content and path.
func (d *decoder) identify(name string, w *wireRun) {
	r := d.run
	p, ok := placeOf(name)
	r.Suite, r.UserTask = or(w.Suite, p.suite), or(w.UserTask, p.task)
	r.Attack, r.Injection = w.Attack, w.Injection
	r.Model = or(p.model, w.Pipeline)
	r.Security, r.Utility = isTrue(w.Security), isTrue(w.Utility)
	r.Failure = w.Failure.text
	content := place{model: r.Model, suite: r.Suite, task: r.UserTask, attack: or(r.Attack, none), injection: or(r.Injection, none)}
	if p.model == "" {
		p.model = r.Model
	}
	if ok && p != content {
		d.quirk(QuirkPathDiffers)
	}
	if !ok {
		p = content
	}
	r.ID = p.id()
	if !r.Attacked() && !r.Benign() {
		d.quirk(QuirkAttackPartial)
	}
}

func (d *decoder) message(index int, m *wireMessage) {
	if m.Content.odd {
		d.quirk(QuirkContentOdd)
	}
	switch m.Role {
	case "tool":
		d.result(index, m)
		return
	case "system", "user", "assistant":
	default:
		d.quirk(QuirkRoleOdd)
	}
	if m.Content.text != "" {
		d.add(Step{Kind: StepMessage, Message: index, Role: m.Role, Text: m.Content.text})
	}
	if len(m.ToolCalls) > 0 && m.Role != "assistant" {
		d.quirk(QuirkCallsByOther)
		return
	}
	for _, c := range m.ToolCalls {
		d.call(index, c)
	}
}

func (d *decoder) add(s Step) { d.run.Steps = append(d.run.Steps, s) }

func (d *decoder) call(index int, c *wireCall) {
	if c == nil || c.Function.name == "" {
		d.quirk(QuirkCallNameless)
		return
	}
	s := Step{Kind: StepCall, Message: index, Role: "assistant", Tool: c.Function.name, CallID: d.callID(c.ID.text)}
	raw := c.Args
	if isNull(raw) {
		raw = c.Function.args
	}
	d.arguments(&s, raw)
	d.add(s)
	d.run.Calls++
	d.open = append(d.open, openCall{recorded: c.ID.text, id: s.CallID, tool: s.Tool, message: index})
}

// callID gives out an id that is unique in the run.
func (d *decoder) callID(recorded string) string {
	id := recorded
	switch {
	case recorded == "" || len(recorded) > maxRecordedID:
		d.quirk(QuirkIDMissing)
		id = "call"
	case !d.ids[recorded]:
		d.ids[recorded] = true
		return recorded
	default:
		d.quirk(QuirkIDReused)
	}
	return d.derive(id, d.run.Calls)
}

// derive makes a new id from a prefix and a position.
func (d *decoder) derive(prefix string, n int) string {
	for ; ; n++ {
		if id := prefix + "#" + strconv.Itoa(n); !d.ids[id] {
			d.ids[id] = true
			return id
		}
	}
}

// arguments reads the arguments of a call: an object, nothing, or JSON text.
func (d *decoder) arguments(s *Step, raw json.RawMessage) {
	if isNull(raw) {
		return
	}
	object := bytes.TrimSpace(raw)
	if object[0] == '"' {
		var text string
		if json.Unmarshal(object, &text) == nil && json.Valid([]byte(text)) {
			object = bytes.TrimSpace([]byte(text))
		}
		if object[0] == '{' {
			d.quirk(QuirkArgsText)
		}
	}
	if object[0] != '{' {
		d.quirk(QuirkArgsBad)
		s.ArgsStatus, s.Text = schema.PayloadMalformed, string(raw)
		return
	}
	s.ArgsStatus, s.Args = schema.PayloadOK, json.RawMessage(object)
}

func (d *decoder) result(index int, m *wireMessage) {
	s := Step{Kind: StepResult, Message: index, Role: m.Role, Text: m.Content.text, Error: m.Error.text}
	recorded := m.CallID
	if m.Call != nil {
		s.Tool = m.Call.Function.name
		recorded = or(recorded, m.Call.ID.text)
	}
	if recorded == "" {
		d.quirk(QuirkResultNoID)
	}
	k := d.pair(recorded, s.Tool)
	if k < 0 {
		d.quirk(QuirkResultOrphan)
		s.CallID = d.orphanID(recorded)
		d.add(s)
		return
	}
	s.CallID, s.Tool = d.open[k].id, d.open[k].tool
	d.open = slices.Delete(d.open, k, k+1)
	d.add(s)
}

// orphanID names the call that a result claims but that the run does not have.
func (d *decoder) orphanID(recorded string) string {
	if len(recorded) > maxRecordedID {
		recorded = ""
	}
	if recorded != "" && !d.ids[recorded] {
		d.ids[recorded] = true
		return recorded
	}
	return d.derive(or(recorded, "orphan"), len(d.run.Steps))
}

// pair finds the open call that a result belongs to, or -1.
func (d *decoder) pair(recorded, tool string) int {
	if recorded != "" {
		k := slices.IndexFunc(d.open, func(c openCall) bool { return c.recorded == recorded })
		if k >= 0 {
			return k
		}
	}
	if len(d.open) == 0 {
		return -1
	}
	latest := d.open[len(d.open)-1].message
	candidate := func(c openCall) bool {
		return c.message == latest && (recorded == "" || c.recorded == "")
	}
	k := slices.IndexFunc(d.open, func(c openCall) bool { return candidate(c) && c.tool == tool })
	if k < 0 {
		k = slices.IndexFunc(d.open, candidate)
	}
	return k
}
