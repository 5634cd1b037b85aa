package compose

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Config is what a joiner needs besides the log.
type Config struct {
	Bundle *policy.Bundle
	Rules  protocol.Rules
	Options
	// Writer is the id of the composer, written into resolutions.
	Writer string
	// Margin is the time in ns before a call's deadline at which it is decided with
	// what is there (rule 11).
	Margin int64
}

// Joiner is the pure state of a composer over one partition: it folds the events
// topic, joins part verdicts to the attempts they name, and proposes resolutions.
// It is owned by one goroutine.
type Joiner struct {
	cfg     Config
	part    *protocol.Partition
	joins   map[schema.Attempt]*join
	early   map[schema.Attempt][]received
	faults  []string
	lowest  uint64 // no attempt in early opens before this offset
	out     []Proposal
	kept    bool // out holds proposals made on restoring, for the first caller
	foreign bool
	nextDue int64 // not after the first time at which Due has something; 0: nothing
}

// join is one open attempt.
type join struct {
	effect   protocol.Effect
	call     protocol.Call
	verdicts []received
	conflict string
	decided  bool
}

// Proposal is a resolution to be appended, with the decision that it records.
type Proposal struct {
	Attempt  schema.Attempt
	Event    *schema.Event
	Decision Decision
	Verdicts []*schema.Verdict
	// NotAfter is the time in ns after which a permit must not be appended any more
	// (rule 11); 0 when the call has no deadline. Due decides at the margin, which
	// leaves half of it for the append.
	NotAfter int64
}

// received is a part verdict and where it stood in the verdicts topic.
type received struct {
	verdict *schema.Verdict
	hash    []byte
	offset  uint64
}

// earlyLimit bounds the part verdicts kept for attempts whose opening the joiner
// has not folded yet. They arrive early only by as much as the joiner lags behind
// the aspects; at the limit it stops taking verdicts until it has caught up.
const earlyLimit = 4096

// NewJoiner returns the joiner of a partition before its first record.
func NewJoiner(partition uint32, cfg Config) *Joiner {
	return RestoreJoiner(protocol.New(partition, cfg.Rules), cfg)
}

// RestoreJoiner returns the joiner of a folded partition. The verdicts on its open
// attempts have to be given again. What can be decided without them is returned by
// the first call that returns proposals.
func RestoreJoiner(part *protocol.Partition, cfg Config) *Joiner {
	j := &Joiner{cfg: cfg, part: part, joins: map[schema.Attempt]*join{}, early: map[schema.Attempt][]received{}}
	j.foreign = part.Policy().Number != 0 && !bytes.Equal(part.Policy().Digest, cfg.Bundle.Digest[:])
	part.Opened(func(e *protocol.Effect) { j.opened(e) })
	j.kept = true
	return j
}

// begin starts a call that returns proposals.
func (j *Joiner) begin() {
	if !j.kept {
		j.out = j.out[:0]
	}
	j.kept = false
}

// Partition returns the folded protocol state. It must not be stepped.
func (j *Joiner) Partition() *protocol.Partition { return j.part }

// WantsVerdicts reports whether Verdict may be called; see earlyLimit.
func (j *Joiner) WantsVerdicts() bool { return len(j.early) < earlyLimit }

// Faults returns and forgets the faults seen since the last call: conflicting
// verdicts for one key, verdicts of another policy. They are alarms.
func (j *Joiner) Faults() []string {
	f := j.faults
	j.faults = nil
	return f
}

// VerdictOffset returns the offset from which the verdicts topic has to be read
// again after a restart at this state, given the offset after the last one read.
func (j *Joiner) VerdictOffset(next uint64) uint64 {
	for _, jn := range j.joins {
		for i := range jn.verdicts {
			next = min(next, jn.verdicts[i].offset)
		}
	}
	for _, list := range j.early {
		for i := range list {
			next = min(next, list[i].offset)
		}
	}
	return next
}

// Step folds the record at offset of the events topic and returns the resolutions
// to append. The slice is valid until the next call.
func (j *Joiner) Step(offset uint64, ev *schema.Event) []Proposal {
	j.begin()
	for _, e := range j.part.Step(offset, ev) {
		switch e.Kind {
		case protocol.Opened:
			j.opened(&e)
		case protocol.Closed, protocol.Adopted, protocol.Dropped, protocol.Interim:
			delete(j.joins, e.Attempt)
		case protocol.Activated:
			j.foreign = !bytes.Equal(e.Activation.Digest, j.cfg.Bundle.Digest[:])
		case protocol.Stepped, protocol.Settled, protocol.Voided, protocol.Repeated, protocol.Finished,
			protocol.Advanced, protocol.Evicted, protocol.Violated:
		}
	}
	j.dropEarly()
	return j.out
}

func (j *Joiner) opened(e *protocol.Effect) {
	jn := &join{effect: *e, call: *e.Call}
	jn.effect.Call = nil
	j.joins[e.Attempt] = jn
	early := j.early[e.Attempt]
	delete(j.early, e.Attempt)
	for _, r := range early {
		j.take(jn, r)
	}
	j.tryDecide(jn)
	j.schedule(jn)
}

// Verdict takes the part verdict at offset of the verdicts topic and returns the
// resolutions to append.
func (j *Joiner) Verdict(offset uint64, v *schema.Verdict) []Proposal {
	j.begin()
	if jn := j.file(offset, v); jn != nil {
		j.tryDecide(jn)
	}
	return j.out
}

// Verdicts takes part verdicts that come together, the first at offset, and decides when all
// are there: a fold that has every part of an attempt at hand decides nothing early.
func (j *Joiner) Verdicts(offset uint64, list []*schema.Verdict) []Proposal {
	j.begin()
	var joins []*join
	for i, v := range list {
		if jn := j.file(offset+uint64(i), v); jn != nil && !slices.Contains(joins, jn) {
			joins = append(joins, jn)
		}
	}
	for _, jn := range joins {
		j.tryDecide(jn)
	}
	return j.out
}

// file files a verdict; it returns the attempt, nil if that is not open yet.
func (j *Joiner) file(offset uint64, v *schema.Verdict) *join {
	r := received{verdict: v, hash: v.Hash(), offset: offset}
	jn := j.joins[v.Attempt]
	if jn == nil {
		j.keepEarly(r)
		return nil
	}
	j.take(jn, r)
	return jn
}

// keepEarly keeps a verdict on an attempt that may open with a record not yet folded.
// Of one aspect two that differ are kept: they are the fault, and a third adds nothing.
func (j *Joiner) keepEarly(r received) {
	a := r.verdict.Attempt
	if a.Opening < j.part.Next() {
		return
	}
	same := 0
	for _, k := range j.early[a] {
		if k.verdict.Aspect == r.verdict.Aspect {
			if same++; same == 2 || bytes.Equal(k.hash, r.hash) {
				return
			}
		}
	}
	if len(j.early) == 0 || a.Opening < j.lowest {
		j.lowest = a.Opening
	}
	j.early[a] = append(j.early[a], r)
}

// dropEarly forgets the verdicts on attempts that the log did not open where they say.
func (j *Joiner) dropEarly() {
	next := j.part.Next()
	if len(j.early) == 0 || j.lowest >= next {
		return
	}
	j.lowest = math.MaxUint64
	for a, list := range j.early {
		if a.Opening < next {
			delete(j.early, a)
			j.fault("a %s verdict names attempt %v, which never opened", list[0].verdict.Aspect, a)
			continue
		}
		j.lowest = min(j.lowest, a.Opening)
	}
}

// take files a verdict under its attempt. Two values for one key are a fault: the
// attempt then fails closed (rule 2).
func (j *Joiner) take(jn *join, r received) {
	v := r.verdict
	switch {
	case v.Tenant != jn.effect.Trace.Tenant:
		j.fault("a %s verdict on call %s is of another tenant", v.Aspect, jn.call.ID)
		return
	case !bytes.Equal(v.Policy, jn.effect.Policy):
		j.fault("a %s verdict on call %s is of another policy", v.Aspect, jn.call.ID)
		return
	case !slices.Contains(Aspects(j.cfg.Bundle, j.cfg.Options), aspects.Kind(v.Aspect)):
		return
	}
	for i := range jn.verdicts {
		if jn.verdicts[i].verdict.Aspect != v.Aspect {
			continue
		}
		if !bytes.Equal(jn.verdicts[i].hash, r.hash) {
			jn.conflict = fmt.Sprintf("two different %s verdicts", v.Aspect)
			j.fault("two different %s verdicts on call %s", v.Aspect, jn.call.ID)
		}
		return
	}
	jn.verdicts = append(jn.verdicts, r)
	sort.Slice(jn.verdicts, func(a, b int) bool { return jn.verdicts[a].verdict.Aspect < jn.verdicts[b].verdict.Aspect })
}

func (j *Joiner) fault(format string, args ...any) {
	if len(j.faults) < 100 {
		j.faults = append(j.faults, fmt.Sprintf(format, args...))
	}
}

// tryDecide proposes a resolution once no completion of the missing parts could
// change it.
func (j *Joiner) tryDecide(jn *join) {
	if jn.decided || j.foreign {
		return
	}
	d := j.decide(jn)
	if jn.conflict == "" && (!d.Final() || len(d.Missing) > 0 && j.mayHold(jn, &d)) {
		return
	}
	j.propose(jn, &d)
}

// Due proposes resolutions for the attempts whose deadline, less the margin, is not
// after now: with the parts that are there, the others named as missing.
func (j *Joiner) Due(now int64) []Proposal {
	j.begin()
	var due []*join
	for _, jn := range j.joins {
		if dl := jn.call.Deadline; dl != 0 && dl-j.margin(jn) <= now && !jn.decided {
			due = append(due, jn)
		}
	}
	sort.Slice(due, func(a, b int) bool { return due[a].effect.Offset < due[b].effect.Offset })
	for _, jn := range due {
		d := j.decide(jn)
		if j.foreign {
			d = Decision{Ruling: unavailable(), Completeness: verdict.Unavailable, Detail: "the active policy is not loaded"}
		}
		j.propose(jn, &d)
	}
	j.nextDue = 0
	for _, jn := range j.joins {
		j.schedule(jn)
	}
	return j.out
}

// margin is at most a quarter of the time the call was given.
func (j *Joiner) margin(jn *join) int64 {
	return min(j.cfg.Margin, max(0, jn.call.Deadline-jn.effect.Event.ClaimedTS)/4)
}

// NextDue returns a time in ns before which Due has nothing to propose, and false
// when no undecided attempt has a deadline.
func (j *Joiner) NextDue() (at int64, ok bool) { return j.nextDue, j.nextDue != 0 }

// schedule lowers nextDue to the time at which jn is due.
func (j *Joiner) schedule(jn *join) {
	if jn.call.Deadline == 0 || jn.decided {
		return
	}
	if at := jn.call.Deadline - j.margin(jn); j.nextDue == 0 || at < j.nextDue {
		j.nextDue = at
	}
}

func unavailable() verdict.Ruling {
	return verdict.Ruling{Outcome: verdict.Refuse, Reason: verdict.NoAnswer}
}

// options are the configured ones; the blocking set is that of the activation where
// nothing else is configured.
func (j *Joiner) options() Options {
	o := j.cfg.Options
	if o.Blocking == 0 {
		o.Blocking = j.part.Policy().Blocking
	}
	return o
}

// decide composes the decision from the verdicts received.
func (j *Joiner) decide(jn *join) Decision {
	in := &Input{
		Bundle: j.cfg.Bundle, Typing: j.cfg.Bundle.Type(jn.effect.Event, jn.effect.Observe),
		Distrusted: jn.effect.Distrusted, Options: j.options(),
	}
	for i := range jn.verdicts {
		in.Verdicts = append(in.Verdicts, jn.verdicts[i].verdict)
	}
	d := Decide(in)
	if jn.conflict != "" {
		d.Ruling = verdict.Combine(d.Ruling, unavailable())
		d.Completeness, d.Clause, d.Detail = verdict.Unavailable, "", jn.conflict
	}
	return d
}

func (j *Joiner) propose(jn *join, d *Decision) {
	jn.decided = true
	var verdicts []*schema.Verdict
	for i := range jn.verdicts {
		verdicts = append(verdicts, jn.verdicts[i].verdict)
	}
	r := Record(j.cfg.Bundle, d, verdicts, jn.effect.Observe)
	if awaits := j.awaits(jn, d); len(awaits) > 0 && r.Outcome == schema.SettledRefuse {
		r.Outcome, r.Awaits = schema.SettledHold, awaits
		r.Message = "waits for a call in flight"
	}
	r.CallID, r.Attempt, r.CallDigest, r.Writer = jn.call.CallID, jn.effect.Attempt, jn.call.Digest, j.cfg.Writer
	p := Proposal{Attempt: r.Attempt, Event: resolutionEvent(jn, r), Decision: *d, Verdicts: verdicts}
	if dl := jn.call.Deadline; dl != 0 {
		p.NotAfter = dl - j.margin(jn)/2
	}
	j.out = append(j.out, p)
}

// Retry forgets that a resolution was proposed for the attempt, after appending it
// failed; Again proposes it once more.
func (j *Joiner) Retry(a schema.Attempt) {
	if jn := j.joins[a]; jn != nil {
		jn.decided = false
		j.schedule(jn)
	}
}

// Again proposes the resolutions of all attempts that could be decided and have no
// proposal outstanding.
func (j *Joiner) Again() []Proposal {
	j.begin()
	var open []*join
	for _, jn := range j.joins {
		open = append(open, jn)
	}
	sort.Slice(open, func(a, b int) bool { return open[a].effect.Offset < open[b].effect.Offset })
	for _, jn := range open {
		j.tryDecide(jn)
	}
	return j.out
}

func resolutionEvent(jn *join, r *schema.Resolution) *schema.Event {
	call := jn.effect.Event
	return &schema.Event{
		ID: ResolutionID(r.Attempt), Tenant: call.Tenant, Trace: call.Trace, Kind: schema.KindResolution,
		CallID: call.CallID, SessionID: call.SessionID, Tool: call.Tool,
		Actor:      schema.Actor{ID: r.Writer, Class: schema.ClassMonitor},
		Resolution: r,
	}
}

// ResolutionID is the id, and the create-once key, of the resolution of an attempt.
func ResolutionID(a schema.Attempt) string {
	return fmt.Sprintf("%s@%d.%d", a.CallID, a.Partition, a.Opening)
}
