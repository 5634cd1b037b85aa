// Package script makes the sessions of scripted agents, each with the one right
// answer to each of its calls. The answers come from the offline runner: the same
// bundle folded over the same session without a log, a bus or a clock.
package script

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"

	"github.com/aspis-rv/aspis/pkg/policy"
)

// Kind says who acts in a step.
type Kind uint8

// The kinds of step.
const (
	Call  Kind = iota // the agent proposes a call
	Grant             // the authority acts
)

// Want is the right answer to a call.
type Want struct {
	Decision string `json:"decision"` // permit, refuse, redirect or escalate
	Reason   string `json:"reason,omitempty"`
	Clause   string `json:"clause,omitempty"`
}

// String is the answer as a test or a report shows it.
func (w Want) String() string {
	s := w.Decision
	if w.Reason != "" {
		s += " " + w.Reason
	}
	if w.Clause != "" {
		s += " " + w.Clause
	}
	return s
}

// Step is one thing that happens in a session.
type Step struct {
	Kind Kind
	Tool string
	Args []byte // JSON text, or nil
	// Result is the JSON text that the tool answers when the call is permitted.
	Result []byte
	// Canon is the canonical form of Args, which a permit repeats.
	Canon []byte
	Want  Want // of a Call
}

// Script is one session. The first step and the one after the last call may be
// anything; there is at least one call.
type Script []Step

// Calls is the number of calls.
func (s Script) Calls() int {
	n := 0
	for i := range s {
		if s[i].Kind == Call {
			n++
		}
	}
	return n
}

// Workload is a bundle and the sessions that agents play against it. It is immutable
// and safe for concurrent use.
type Workload struct {
	Name    string
	Bundle  *policy.Bundle
	Files   fs.FS // of the bundle
	Scripts []Script
}

// The shape of a workload.
const (
	// Sessions is the number of different scripts: enough that no two neighbours of a
	// fleet do the same, few enough that answering them offline takes no time.
	Sessions = 64
	// CallsPerSession is the length of a session in calls: several turns of a chat.
	CallsPerSession = 32
)

// Names lists the workloads.
func Names() []string { return []string{"baseline", "ledger"} }

// Load makes a workload. The same name and seed give the same scripts.
func Load(name string, seed uint64) (*Workload, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("script: there is no workload %q; there are %v", name, Names())
	}
	files, err := bundleFiles(name)
	if err != nil {
		return nil, err
	}
	bundle, diags := policy.LoadFS(files)
	if diags.HasErrors() {
		return nil, fmt.Errorf("script: bundle %s: %w", name, diags)
	}
	w := &Workload{Name: name, Bundle: bundle, Files: files}
	rng := rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15)) //nolint:gosec // a workload is no secret
	for range Sessions {
		s := generate(name, rng)
		if err := answer(bundle, s); err != nil {
			return nil, fmt.Errorf("script: workload %s, seed %d: %w", name, seed, err)
		}
		w.Scripts = append(w.Scripts, s)
	}
	return w, nil
}

func generate(name string, rng *rand.Rand) Script {
	if name == "ledger" {
		return ledger(rng)
	}
	return baseline(rng)
}
