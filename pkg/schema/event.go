package schema

import "github.com/aspis-rv/aspis/pkg/verdict"

// Kind says what an event is. The zero value is KindCall, the default of the
// short JSON form.
type Kind uint8

// The kinds of event.
const (
	KindCall        Kind = iota // a proposed tool call
	KindResult                  // the outcome of a permitted call
	KindResolution              // the decision about an attempt: see Resolution
	KindMessage                 // a user or model message
	KindGrant                   // an authority record: grant, revocation, approval, release
	KindObservation             // something observed about the environment
	KindTick                    // the logical clock of a partition: see Tick
	KindPolicy                  // a policy activation: see Activation
	KindSession                 // session start or end: see SessionMark
	KindWithdrawn               // a permit that stood but was never delivered
)

// Position is a place in the log. Offsets ascend within a partition but need not
// be contiguous; where the first one starts depends on the bus driver.
type Position struct {
	Partition uint32
	Offset    uint64
}

// ActorClass is the class of a principal.
type ActorClass string

// The classes of principal. A bundle names those that are authorities.
const (
	ClassAgent   ActorClass = "agent"
	ClassUser    ActorClass = "user"
	ClassTool    ActorClass = "tool"
	ClassEnv     ActorClass = "env"
	ClassCommand ActorClass = "command"
	ClassMonitor ActorClass = "monitor"
	ClassSystem  ActorClass = "system"
)

// Actor is the authenticated originator of an event.
type Actor struct {
	ID    string     // principal id; empty only in offline input
	Class ActorClass // derived from the credential online
}

// Vantage is how an event came to be seen, derived from credential and adapter.
// The zero value is Reported, the weakest.
type Vantage uint8

// The vantages, weakest first.
const (
	Reported Vantage = iota // the agent's own account
	Attested                // a separate credential the agent's account cannot read
	Observed                // our own proxy carried the bytes
)

// PayloadStatus says what is known about arguments or a result.
// The zero value is PayloadAbsent.
type PayloadStatus uint8

// The payload states.
const (
	PayloadAbsent    PayloadStatus = iota // there was none
	PayloadOK                             // present, canonical JSON in Canon
	PayloadWithheld                       // exists, but was not given to us
	PayloadMalformed                      // given, but not readable as JSON
)

// Payload is a call's arguments or a result's value.
type Payload struct {
	Status PayloadStatus
	// Canon is the canonical JSON text, only with PayloadOK. Shared; never modified.
	Canon []byte
	// RawDigest is the SHA-256 of the bytes as they came, when they came as bytes.
	RawDigest []byte
}

// ResultStatus is the outcome of a call. The zero value is ResultOK.
type ResultStatus uint8

// The outcomes of a call.
const (
	ResultOK ResultStatus = iota
	ResultError
	ResultUnknown // released, but nobody knows what happened
)

// Answer is the recorded answer of a non-deterministic source (a classifier, a
// model, a human), asked before the event was appended.
type Answer struct {
	Name    string
	Version string
	Score   float64
	Label   string
	Missing bool // no answer in time: the fact is unknown
	// Of is the SHA-256 of the text that the answer is about, when it is about one.
	Of []byte
}

// Issuer says who put a call together.
type Issuer string

// The issuers of a call.
const (
	IssuerModel   Issuer = "model"
	IssuerProgram Issuer = "program"
	IssuerUser    Issuer = "user"
	IssuerHosted  Issuer = "hosted"
	IssuerServer  Issuer = "server"
)

// Event is the canonical event: one record of the events topic. The zero value is
// not valid; see Validate. An Event is not safe for concurrent modification; a
// decoded one shares memory with nothing but its own payload bytes.
type Event struct {
	// Identity and order.
	ID          string // ULID-like, from the producer
	Tenant      string
	Trace       string // partition key value: the coarsest trace the event belongs to
	Producer    string
	Incarnation uint64
	Seq         uint64 // gap-free per (Producer, Incarnation, partition), from 1; 0: not numbered
	Kind        Kind
	CallID      string
	Position    Position // where the log put it; never encoded in the record itself
	Vantage     Vantage
	ClaimedTS   int64 // producer's clock, ns since the Unix epoch

	// The twelve fields. Timestamp is computed by the fold, never encoded.
	Timestamp   int64 // log time, ns, non-decreasing within a trace
	Actor       Actor
	Tool        string
	Action      []string // effect or class names
	Object      []string
	Recipient   []string
	Source      string
	ApprovalID  string
	SessionID   string
	StateBefore string
	StateAfter  string
	TrustDomain string

	// Payload.
	Server  string // tool server; with Tool and SchemaDigest the tool's identity
	Args    Payload
	Result  Payload
	Status  ResultStatus // kind result
	Text    string       // kind message
	Answers []Answer
	Labels  map[string]string
	Issuer  Issuer
	// Deadline is the log time in ns by which a call must be settled; kind call.
	Deadline int64
	// Digest binds a call: SHA-256 over tenant, principal, server, tool and Args.
	Digest []byte

	// Exactly one of these is set, matching Kind.
	Resolution *Resolution
	Tick       *Tick
	Grant      *Grant
	Activation *Activation
	Session    *SessionMark

	// Unknown holds fields of the record that this version does not know, by wire
	// key, each a raw MessagePack value, written back on encoding.
	Unknown map[string][]byte
}

// Attempt names one judging of a call: everything in the log is keyed by it.
type Attempt struct {
	Partition uint32
	Opening   uint64 // offset of the record at which the attempt opened
	CallID    string
}

// SettledAs is the outcome a resolution records.
type SettledAs uint8

// The outcomes. Hold and Escalated are interim; all others are terminal.
const (
	SettledPermit SettledAs = iota
	SettledRefuse
	SettledRedirect
	SettledHold
	SettledEscalate
	SettledExpired
)

// Terminal reports whether the outcome ends the call.
func (s SettledAs) Terminal() bool { return s != SettledHold && s != SettledEscalate }

// PartRef names a part verdict that a resolution used.
type PartRef struct {
	Aspect string
	Hash   []byte        // SHA-256 of the verdict record's bytes
	Value  verdict.Value // fused value of the part
}

// Resolution settles an attempt; it is the decision (protocol, rule 10).
type Resolution struct {
	CallID  string
	Attempt Attempt // zero Opening: an `expired` record that names its call only
	Outcome SettledAs
	Reason  verdict.Reason
	Clause  string // the deciding clause, when one decided
	Message string // what the agent is told, within the clause's disclosure
	Detail  string // what operators are told

	Value        verdict.Value
	Completeness verdict.Completeness
	Flags        []string // clauses that flagged without refusing
	Parts        []PartRef
	Missing      []string // aspects that did not answer
	Policy       []byte   // digest of the bundle
	CallDigest   []byte   // Event.Digest of the call
	Awaits       []string // hold: calls whose end reopens the attempt

	Writer    string // id of the composer or gate that wrote it
	Signature []byte // Ed25519 over SigningBytes
}

// Tick is the logical clock of a partition.
type Tick struct {
	N    uint64 // 1, 2, 3, … per partition
	Time int64  // log time in ns
	// Marks holds the highest sequence seen per "producer/incarnation".
	Marks map[string]uint64
}

// Grant is an authority record. It names a fact of the bundle's signature that
// the authority asserts (or withdraws); the bundle maps Tool and Args of the event
// to facts exactly as for a call.
type Grant struct {
	Revokes    string // id of the grant withdrawn, or empty
	NotBefore  int64  // start of validity, ns; 0: from its own time point
	CallDigest []byte // approval: the digest of the call it is bound to
}

// Activation makes a policy the active one from its position on.
type Activation struct {
	Number   uint64 // 1, 2, 3, … per partition
	Digest   []byte // bundle digest
	Name     string
	Revision int64
	// Blocking overrides the bundle's blocking set when not zero.
	Blocking verdict.BlockingSet
	// ObserveUntil is the log time in ns up to which the deployment only observes:
	// calls are decided and recorded, and permitted whatever the decision. 0: it
	// enforces. Reason says why.
	ObserveUntil int64
	Reason       string
}

// SessionMark starts or ends a session.
type SessionMark struct {
	End bool
}
