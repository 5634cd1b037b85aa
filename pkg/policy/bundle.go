// Package policy loads, checks and tests the policy bundle a user writes, and
// types events under it. A loaded Bundle is immutable and safe for concurrent use.
package policy

import (
	"time"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TraceKey is what forms one trace.
type TraceKey string

// The trace keys, finest first.
const (
	TraceSession TraceKey = "session"
	TraceAgent   TraceKey = "agent"
	TraceTenant  TraceKey = "tenant"
)

// UnmappedRule is what happens to a call of a tool that no entry covers.
type UnmappedRule string

// The rules for unmapped tools.
const (
	UnmappedRefuse   UnmappedRule = "refuse"
	UnmappedEscalate UnmappedRule = "escalate"
	UnmappedFlag     UnmappedRule = "flag"
	UnmappedPermit   UnmappedRule = "permit"
)

// EngineName names what evaluates the temporal formulas of a bundle.
type EngineName string

// The engines.
const (
	EngineAspis   EngineName = "aspis"   // the one that is part of this program
	EngineMonPoly EngineName = "monpoly" // the MonPoly binary that the user has
)

// Disclosure is what the agent is told about a refusal by a clause.
type Disclosure string

// The disclosures, least first.
const (
	DiscloseNone  Disclosure = "none"  // the reason class only
	DiscloseClass Disclosure = "class" // and the clause id
	DiscloseHint  Disclosure = "hint"  // and the clause's text
	DiscloseFull  Disclosure = "full"  // and the bindings
)

// Bundle is a loaded and checked policy.
type Bundle struct {
	Name     string
	Revision int64
	// Digest is the SHA-256 over the names and bytes of the bundle's files.
	Digest   [32]byte
	Trace    TraceKey
	Blocking verdict.BlockingSet
	Deadline time.Duration
	Unmapped UnmappedRule
	// Engine evaluates the temporal formulas; empty means EngineAspis.
	Engine      EngineName
	Authorities []schema.ActorClass
	// SelfAuthority is the reason of `accept: {self-authority: …}`: facts that
	// discharge an obligation count although the agent itself caused them. Observe
	// mode and evaluation only.
	SelfAuthority string
	// Signature declares every relation of the bundle: its facts, and its globs, each
	// over one text. Sets and named formulas are no relations: they are written out in
	// the formulas when the bundle is loaded.
	Signature check.Signature
	// World is the world that the policy declares, nil if it declares none. Its relations,
	// attributes and states included, are part of Signature.
	World   *world.Spec
	Clauses []Clause
	// Tests are the bundle's own tests in the order of the files.
	Tests []Test

	facts   int // how many relations are facts or globs
	typing  typing
	sources diag.Sources
}

// Clause is one rule of a bundle.
type Clause struct {
	ID             string
	Text           string
	Source         string
	Formulas       []Formula // guards and forbid parts, sorted by (Role, Name, Aspect)
	Strategy       verdict.Strategy
	Shadow         bool // mode: shadow
	Disclose       Disclosure
	FlagIncomplete bool // on_incomplete: flag
}

// Formula is one formula of a clause.
type Formula struct {
	Aspect  aspects.Kind
	Role    schema.Role
	Name    string
	Checked *check.Checked
	// Text is the formula as written in the bundle, and File, Line, Col where it stands.
	Text      string
	File      string
	Line, Col int
}

// Typing is what a bundle makes of one event.
type Typing struct {
	Facts []schema.Fact
	// Edits are the effects on the world, in the order of the bundle.
	Edits []world.Edit
	// Documents is set when the tool documents what there is.
	Documents bool
	// Mapped is false for a call of a tool that no entry covers.
	Mapped bool
	// Invalid says why a call contradicts itself or the argument types declared for
	// its tool; empty when it does not.
	Invalid string
	// Uncertain lists, sorted, the relations of facts whose expressions could not be
	// evaluated: they are unknown, not absent. Of effects it lists the relations of the
	// world that they may have changed, of those on edges the relation vertex.
	Uncertain []string
	// Degraded lists, sorted, relations of facts that typing rules would make on account of
	// texts longer than the bundle's text_limit: nothing was found in their beginning, and the
	// rest was not looked at. Those that are Uncertain too are left out.
	Degraded []string
	// Evidence says, in the order of the bundle, why facts of typing rules hold; see Explain.
	Evidence []Evidence
	// Why says for each such fact where it stands in the bundle and what went wrong.
	// It is for operators: it may quote arguments.
	Why []string
	// Classes lists the tool classes of the event's tool in the order of the bundle:
	// its action set. Shared; never modified.
	Classes []string
}
