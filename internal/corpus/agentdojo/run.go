package agentdojo

import (
	"encoding/json"

	"github.com/aspis-rv/aspis/internal/corpus"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Run is one recorded run. It is not modified after decoding and may be shared.
type Run struct {
	// ID names the run: model/suite/task/attack/injection, with "none" where there
	// is no attack or injection.
	ID string
	// File is where it was read, for messages.
	File string

	Model string // path part above the suite, or the pipeline's name
	Suite string // banking, slack, travel, workspace
	// UserTask is the task given as the user's own: user_task_N, or injection_task_N
	// where the injection's goal was issued by the user.
	UserTask string
	// Attack and Injection are empty when not set.
	Attack    string
	Injection string
	// Security is the recorded `security`: true when the injected goal was reached.
	// Only the JSON value true counts.
	Security bool
	// Utility is the recorded `utility`: true when the user's task was solved.
	Utility bool
	// Failure is the recorded error of the whole run, empty without one.
	Failure string

	// Messages counts the recorded messages, Calls those steps that are calls: the
	// length of the tool chain.
	Messages int
	Calls    int
	// Steps are the messages, calls and results in recorded order.
	Steps []Step

	Quirks corpus.Quirks
}

// StepKind says what a step is. The zero value is StepMessage.
type StepKind uint8

// The kinds of step.
const (
	StepMessage StepKind = iota // text of the system, the user or the model
	StepCall                    // a tool call of the model
	StepResult                  // the outcome of a call
)

// Step is one thing that happened in a run.
type Step struct {
	Kind StepKind
	// Message is the index of the recorded message that holds the step, from 0. The
	// text of a message stands before its calls.
	Message int
	// Role is the recorded role: system, user, assistant or tool.
	Role string
	// Tool is the tool's name; calls, and results as far as known.
	Tool string
	// CallID is unique among the calls of the run; on a result it names its call.
	CallID string
	// Args is the recorded JSON object of a call, nil unless ArgsStatus is
	// PayloadOK. Unreadable arguments stand in Text as they were recorded.
	Args       json.RawMessage
	ArgsStatus schema.PayloadStatus
	// Text is the text of a message or the value of a result.
	Text string
	// Error is the recorded error of a result, empty when the call succeeded.
	Error string
}

// attackSet reports whether an attack is named.
func (r *Run) attackSet() bool { return r.Attack != "" && r.Attack != "none" }

// Attacked reports whether an injection was planted: an attack type is set, is not
// "none", and an injection task is set.
func (r *Run) Attacked() bool { return r.attackSet() && r.Injection != "" }

// Successful reports whether the run was attacked and the injected goal reached.
func (r *Run) Successful() bool { return r.Attacked() && r.Security }

// Benign reports whether neither an attack nor an injection is set (the published
// convention; it includes injection tasks issued as the user's own).
func (r *Run) Benign() bool { return !r.attackSet() && r.Injection == "" }

// UserTaskOnly reports whether the run is benign and its task is one of the user's.
func (r *Run) UserTaskOnly() bool { return r.Benign() && r.IsUserTask() }

// IsUserTask reports whether the task is one of the user's, and not an injection's goal
// that the user issued.
func (r *Run) IsUserTask() bool { return isUserTask(r.UserTask) }

// HasChain reports whether the run has a tool call (the chain filter of the
// published generic rows).
func (r *Run) HasChain() bool { return r.Calls > 0 }

// HasMessages reports whether the run has a message (the messages filter of the
// published parametric rows).
func (r *Run) HasMessages() bool { return r.Messages > 0 }
