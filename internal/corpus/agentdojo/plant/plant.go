package plant

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
)

// The errors of planting.
var (
	// ErrNoCall is returned when the step to plant before is no call.
	ErrNoCall = errors.New("not a call")
	// ErrNoLookUp is returned by the kinds that plant in a result when there is none.
	ErrNoLookUp = errors.New("no result of a look-up stands before the call")
)

// Into returns a copy of the run with the value planted before the call at a step. The
// run itself stays as it is; the copy shares what was not changed. Errors wrap ErrNoCall
// and ErrNoLookUp.
func Into(run *agentdojo.Run, kind Kind, step int, value string) (*agentdojo.Run, error) {
	if step < 0 || step >= len(run.Steps) || run.Steps[step].Kind != agentdojo.StepCall {
		return nil, fmt.Errorf("planting %s in %s: step %d: %w", kind, run.ID, step, ErrNoCall)
	}
	out := *run
	out.Steps = slices.Clone(run.Steps)
	line := kind.line(run.Suite, value)
	switch kind {
	case KeyLine, Prose, Quoted, Reformatted:
		insert(&out, step, line)
		return &out, nil
	case Field, Fields, Raw:
	}
	at := lastLookUp(out.Steps[:step])
	if at < 0 {
		return nil, fmt.Errorf("planting %s in %s: %w", kind, run.ID, ErrNoLookUp)
	}
	result := &out.Steps[at]
	if kind == Raw {
		result.Text += "\n" + line
	} else {
		result.Text = inRecords(result.Text, line, kind == Fields)
	}
	return &out, nil
}

// insert puts a message of role tool, which answers no call, before the message that
// holds a step.
func insert(run *agentdojo.Run, step int, text string) {
	message := run.Steps[step].Message
	first := slices.IndexFunc(run.Steps, func(s agentdojo.Step) bool { return s.Message == message })
	for i := first; i < len(run.Steps); i++ {
		run.Steps[i].Message++
	}
	run.Messages++
	run.Steps = slices.Insert(run.Steps, first, agentdojo.Step{
		Kind: agentdojo.StepResult, Message: message, Role: "tool", CallID: orphan(run), Text: text,
	})
}

// orphan is an id that no call of the run has.
func orphan(run *agentdojo.Run) string {
	id := "planted"
	for slices.ContainsFunc(run.Steps, func(s agentdojo.Step) bool { return s.CallID == id }) {
		id += "#"
	}
	return id
}

// lastLookUp finds the last result without error that belongs to a call of a look-up,
// or -1.
func lastLookUp(steps []agentdojo.Step) int {
	for i := len(steps) - 1; i >= 0; i-- {
		s := &steps[i]
		if s.Kind == agentdojo.StepResult && s.Error == "" && IsLookUp(s.Tool) && called(steps[:i], s.CallID) {
			return i
		}
	}
	return -1
}

func called(steps []agentdojo.Step, id string) bool {
	return slices.ContainsFunc(steps, func(s agentdojo.Step) bool { return s.Kind == agentdojo.StepCall && s.CallID == id })
}

// IsLookUp reports whether a tool only looks something up: its name has one of the
// published read-only prefixes.
func IsLookUp(tool string) bool {
	return slices.ContainsFunc([]string{"get_", "list_", "read_", "search_", "view_", "fetch_", "query_"}, func(p string) bool {
		return strings.HasPrefix(tool, p)
	})
}
