package replay

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/judge"
	"github.com/aspis-rv/aspis/internal/protocol"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Source is the log to replay.
type Source interface {
	bus.Reader
	bus.Snapshots
	Partitions() uint32
}

// LogConfig says how to replay a log.
type LogConfig struct {
	Source  Source
	Bundle  *policy.Bundle
	Engines []aspects.Engine
	Rules   protocol.Rules
	compose.Options
	// Workers is the number of partitions replayed at a time; 0 means 1.
	Workers int
	// FromSnapshots starts from the stored snapshots of the aspects, where they fit.
	FromSnapshots bool
	// SnapshotEvery, when not 0, encodes and restores the monitors after every so
	// many records: what a restart there would do.
	SnapshotEvery int
	// From and Since leave out lines of calls before a position or an append time; the
	// records before are folded all the same.
	From  uint64
	Since int64
	// Missing has lines say what was missing where a clause could not be checked; each event is
	// then typed once more.
	Missing bool
	// Begin, when not nil, is called with the outcome before the first line is given.
	Begin func(*Comparison) error
}

// PolicyRef names a policy.
type PolicyRef struct {
	Digest   string `json:"digest"` // hex
	Name     string `json:"name,omitempty"`
	Revision int64  `json:"revision,omitempty"`
	// Decisions counts the calls of the log that it decided.
	Decisions int `json:"decisions"`
}

// String is the policy's name and the head of its digest.
func (p *PolicyRef) String() string {
	if p.Name == "" {
		return "sha256:" + p.Digest[:min(len(p.Digest), 12)]
	}
	return fmt.Sprintf("%s revision %d (sha256:%s)", p.Name, p.Revision, p.Digest[:min(len(p.Digest), 12)])
}

// RefOf names a loaded bundle.
func RefOf(b *policy.Bundle) PolicyRef {
	return PolicyRef{Digest: hex.EncodeToString(b.Digest[:]), Name: b.Name, Revision: b.Revision}
}

// Comparison says how what was computed compares with what the log holds.
type Comparison struct {
	Records        int      `json:"records"`
	Verdicts       int      `json:"verdicts"`        // computed
	VerdictsEqual  int      `json:"verdicts_equal"`  // and byte-equal to a retained one
	VerdictsAbsent int      `json:"verdicts_absent"` // of which the log retains none
	Decisions      int      `json:"decisions"`
	DecisionsEqual int      `json:"decisions_equal"`
	Mismatches     []string `json:"mismatches,omitempty"` // the first hundred
	// Others are the policies other than the given one that decided calls of the log.
	// Their decisions cannot be redone, and are not among Decisions.
	Others []PolicyRef `json:"other_policies,omitempty"`
}

// Equal reports whether nothing that was computed differs from the log, and whether
// the given policy decided all of it.
func (c *Comparison) Equal() bool { return len(c.Mismatches) == 0 && len(c.Others) == 0 }

func (c *Comparison) add(o *Comparison) {
	c.Records += o.Records
	c.Verdicts += o.Verdicts
	c.VerdictsEqual += o.VerdictsEqual
	c.VerdictsAbsent += o.VerdictsAbsent
	c.Decisions += o.Decisions
	c.DecisionsEqual += o.DecisionsEqual
	for _, m := range o.Mismatches {
		c.mismatch("%s", m)
	}
	for _, p := range o.Others {
		c.other(p)
	}
}

// other counts decisions of another policy than the given one.
func (c *Comparison) other(p PolicyRef) {
	i, found := slices.BinarySearchFunc(c.Others, p, func(a, b PolicyRef) int { return strings.Compare(a.Digest, b.Digest) })
	if !found {
		c.Others = slices.Insert(c.Others, i, p)
		return
	}
	c.Others[i].Decisions += p.Decisions
}

func (c *Comparison) mismatch(format string, args ...any) {
	if len(c.Mismatches) < 100 {
		c.Mismatches = append(c.Mismatches, fmt.Sprintf(format, args...))
	}
}

// Log replays the retained log up to its present end and gives the lines in
// the order of partition and position, whatever the number of workers.
func Log(ctx context.Context, cfg LogConfig, each func(*Line) error) (Summary, Comparison, error) {
	parts := make([]*partition, cfg.Source.Partitions())
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, cfg.Workers))
	for i := range parts {
		parts[i] = &partition{cfg: &cfg, id: uint32(i)} //nolint:gosec // a partition number
		g.Go(func() error { return parts[i].run(gctx) })
	}
	var sum Summary
	var cmp Comparison
	if err := g.Wait(); err != nil {
		return sum, cmp, fmt.Errorf("replay: %w", err)
	}
	for _, p := range parts {
		cmp.add(&p.cmp)
	}
	if cfg.Begin != nil {
		if err := cfg.Begin(&cmp); err != nil {
			return sum, cmp, err
		}
	}
	for _, p := range parts {
		for _, l := range p.lines {
			sum.Add(l)
			if err := each(l); err != nil {
				return sum, cmp, err
			}
		}
	}
	return sum, cmp, nil
}

// partition is the replay of one partition.
type partition struct {
	cfg    *LogConfig
	id     uint32
	fold   *protocol.Partition
	judges []*judge.Judge

	retained map[schema.VerdictKey][]byte // hash by key
	open     map[schema.Attempt]*attempt
	witness  *Witnesses
	policies map[string]PolicyRef // that were activated, by digest
	permits  map[string]*Line     // permitted calls without an outcome, by id of the record
	lines    []*Line
	cmp      Comparison
}

// attempt is an open attempt with the verdicts computed for it.
type attempt struct {
	line       *Line
	event      *schema.Event
	policy     []byte // active at the opening
	distrusted bool
	observe    bool
	verdicts   []*schema.Verdict
}

func (p *partition) run(ctx context.Context) error {
	first, next, err := p.cfg.Source.Bounds(ctx, bus.Events, p.id)
	if err != nil || first == next {
		return err
	}
	p.open, p.witness = map[schema.Attempt]*attempt{}, NewWitnesses(p.cfg.Bundle)
	if p.cfg.Missing {
		p.witness.gaps = newGaps(p.cfg.Bundle)
	}
	p.policies, p.permits = map[string]PolicyRef{}, map[string]*Line{}
	if err := p.readVerdicts(ctx); err != nil {
		return err
	}
	if err := p.start(ctx); err != nil {
		return err
	}
	return each(ctx, p.cfg.Source, bus.Events, p.id, func(rec bus.Record) error {
		ev, err := schema.DecodeEvent(rec.Data)
		if err != nil {
			p.cmp.mismatch("partition %d, record %d: %s", p.id, rec.Offset, err)
			return nil
		}
		ev.Position = schema.Position{Partition: p.id, Offset: rec.Offset}
		return p.step(rec, ev)
	})
}

// each reads a partition from its first retained record to its present end.
func each(ctx context.Context, r bus.Reader, t bus.Topic, part uint32, do func(bus.Record) error) error {
	first, next, err := r.Bounds(ctx, t, part)
	if err != nil || first == next {
		return err
	}
	cur, err := r.Read(ctx, t, part, bus.Start{Kind: bus.Earliest})
	if err != nil {
		return err
	}
	defer cur.Close() //nolint:errcheck // nothing is lost with a cursor
	for {
		rec, err := cur.Next(ctx)
		if err != nil {
			return err
		}
		if err := do(rec); err != nil {
			return err
		}
		if rec.Offset+1 >= next {
			return nil
		}
	}
}

func (p *partition) readVerdicts(ctx context.Context) error {
	p.retained = map[schema.VerdictKey][]byte{}
	return each(ctx, p.cfg.Source, bus.Verdicts, p.id, func(rec bus.Record) error {
		v, err := schema.DecodeVerdict(rec.Data)
		if err != nil {
			p.cmp.mismatch("partition %d, verdict %d: %s", p.id, rec.Offset, err)
			return nil
		}
		if had := p.retained[v.Key()]; had != nil && !bytes.Equal(had, v.Hash()) {
			p.cmp.mismatch("partition %d, verdict %d: another value for its key is retained", p.id, rec.Offset)
		}
		p.retained[v.Key()] = v.Hash()
		return nil
	})
}

func (p *partition) judgeConfig(e aspects.Engine) judge.Config {
	return judge.Config{Bundle: p.cfg.Bundle, Engine: e, Rules: p.cfg.Rules}
}

func (p *partition) start(ctx context.Context) error {
	p.fold = protocol.New(p.id, p.cfg.Rules)
	for _, e := range p.cfg.Engines {
		j := judge.New(p.id, p.judgeConfig(e))
		if p.cfg.FromSnapshots {
			data, _, err := p.cfg.Source.GetSnapshot(ctx, judge.SnapshotKey(e.Kind(), p.id))
			if err == nil {
				if restored, err := judge.Restore(data, p.judgeConfig(e)); err == nil {
					j = restored
				}
			}
		}
		p.judges = append(p.judges, j)
	}
	return nil
}

func (p *partition) step(rec bus.Record, ev *schema.Event) error {
	p.cmp.Records++
	effects := slices.Clone(p.fold.Step(rec.Offset, ev))
	for i := range effects {
		p.note(rec, ev, &effects[i])
	}
	for i, j := range p.judges {
		for _, v := range j.Step(rec.Offset, ev) {
			p.computed(v)
		}
		if n := p.cfg.SnapshotEvery; n > 0 && p.cmp.Records%n == 0 {
			if err := p.restart(i); err != nil {
				return err
			}
		}
	}
	for i := range effects {
		p.settle(&effects[i])
	}
	for i := range effects {
		if effects[i].Kind == protocol.Closed {
			delete(p.open, effects[i].Attempt)
		}
	}
	return nil
}

// note takes in what is needed before the monitors judge: which attempts opened,
// which policy is active, how permitted calls ended.
func (p *partition) note(rec bus.Record, ev *schema.Event, e *protocol.Effect) {
	switch e.Kind {
	case protocol.Opened:
		p.opened(rec, e)
		p.witness.Record(e.Offset, e.Event, e.Observe)
	case protocol.Stepped:
		p.witness.Record(e.Offset, e.Event, e.Observe)
	case protocol.Activated:
		a := e.Activation
		p.policies[string(a.Digest)] = PolicyRef{Digest: hex.EncodeToString(a.Digest), Name: a.Name, Revision: a.Revision}
	case protocol.Finished:
		p.finished(ev, e.Call)
	case protocol.Closed, protocol.Adopted, protocol.Dropped, protocol.Settled, protocol.Interim, protocol.Voided,
		protocol.Repeated, protocol.Advanced, protocol.Evicted, protocol.Violated:
	}
}

// finished notes the outcome of a permitted call.
func (p *partition) finished(ev *schema.Event, c *protocol.Call) {
	l := p.permits[c.ID]
	if l == nil {
		return
	}
	delete(p.permits, c.ID)
	switch c.Status {
	case protocol.CallWithdrawn:
		l.Outcome = OutcomeWithdrawn
	case protocol.CallUnknown:
		l.Outcome = OutcomeUnknown
	case protocol.CallDone:
		l.Outcome = OutcomeDone
		if ev.Kind == schema.KindResult && ev.Status == schema.ResultError {
			l.Outcome = OutcomeError
		}
	case protocol.CallQueued, protocol.CallOpen, protocol.CallHeld, protocol.CallPermitted, protocol.CallRefused, protocol.CallExpired:
	}
}

// restart replaces a judge by one restored from its own snapshot.
func (p *partition) restart(i int) error {
	state, err := p.judges[i].AppendState(nil)
	if err != nil {
		return err
	}
	j, err := judge.Restore(state, p.judgeConfig(p.cfg.Engines[i]))
	if err != nil {
		return err
	}
	p.judges[i] = j
	return nil
}

func (p *partition) opened(rec bus.Record, e *protocol.Effect) {
	p.open[e.Attempt] = &attempt{event: e.Event, policy: e.Policy, distrusted: e.Distrusted, line: &Line{
		Event: e.Event.ID, Session: e.Event.SessionID, Call: e.Event.CallID, Trace: e.Trace.Trace,
		TP: e.TimePoint, TS: e.Timestamp, Tool: e.Event.Tool,
		Position: fmt.Sprintf("%d/%d", p.id, e.Offset),
	}}
	if e.Offset < p.cfg.From || rec.Time.UnixNano() < p.cfg.Since {
		p.open[e.Attempt].line.Position = ""
	}
}

func (p *partition) computed(v *schema.Verdict) {
	p.cmp.Verdicts++
	if a := p.open[v.Attempt]; a != nil {
		a.verdicts = append(a.verdicts, v)
	}
	had := p.retained[v.Key()]
	switch {
	case had == nil:
		p.cmp.VerdictsAbsent++
	case bytes.Equal(had, v.Hash()):
		p.cmp.VerdictsEqual++
	default:
		p.cmp.mismatch("partition %d: the %s verdict on the attempt opened at %d differs", p.id, v.Aspect, v.Attempt.Opening)
		if a := p.open[v.Attempt]; a != nil {
			a.line.Differs = "the " + v.Aspect + " verdict"
		}
	}
}

// settle redoes the decision that a standing resolution records, from the parts that
// it used.
func (p *partition) settle(e *protocol.Effect) {
	switch e.Kind {
	case protocol.Settled, protocol.Interim: // an interim one follows the end of its attempt
	case protocol.Opened, protocol.Closed, protocol.Adopted, protocol.Dropped, protocol.Stepped, protocol.Voided, protocol.Repeated,
		protocol.Finished, protocol.Advanced, protocol.Activated, protocol.Evicted, protocol.Violated:
		return
	}
	a := p.open[e.Attempt]
	delete(p.open, e.Attempt)
	if a == nil {
		if e.Event == nil {
			return
		}
		a = &attempt{event: e.Event, line: &Line{
			Event: e.Event.ID, Session: e.Event.SessionID, Call: e.Event.CallID, Trace: e.Trace.Trace, Tool: e.Event.Tool,
			Position: fmt.Sprintf("%d/%d", p.id, e.Call.Offset),
		}}
	}
	d := &compose.Decision{}
	if other := p.otherPolicy(a, e.Resolution); other != nil {
		a.line.Policy = other.Digest
	} else {
		d = p.redo(a, e.Resolution)
	}
	if e.Kind == protocol.Settled && a.line.Position != "" {
		a.line.describe(d, e.Resolution, p.witness)
		if e.Resolution.Outcome == schema.SettledPermit {
			a.line.Outcome = OutcomePending
			p.permits[e.Call.ID] = a.line
		}
		p.lines = append(p.lines, a.line)
	}
}

// otherPolicy returns the policy that decided, where that is not the given one, and
// nil where it is. What a decision of another policy rests on cannot be computed.
func (p *partition) otherPolicy(a *attempt, r *schema.Resolution) *PolicyRef {
	digest := r.Policy
	if len(digest) == 0 {
		digest = a.policy
	}
	if len(digest) == 0 || bytes.Equal(digest, p.cfg.Bundle.Digest[:]) {
		return nil
	}
	ref, known := p.policies[string(digest)]
	if !known {
		ref = PolicyRef{Digest: hex.EncodeToString(digest)}
	}
	ref.Decisions = 1
	p.cmp.other(ref)
	return &ref
}

// options are those given; the blocking set is that of the activation where none is.
func (p *partition) options() compose.Options {
	o := p.cfg.Options
	if o.Blocking == 0 {
		o.Blocking = p.fold.Policy().Blocking
	}
	return o
}

// redo composes the decision again and compares it with the one on record. Records
// by gates, and those that the log implies, decide nothing that could be redone.
func (p *partition) redo(a *attempt, r *schema.Resolution) *compose.Decision {
	in := &compose.Input{
		Bundle: p.cfg.Bundle, Typing: p.cfg.Bundle.Type(a.event, a.observe), Distrusted: a.distrusted, Options: p.options(),
	}
	for _, v := range a.verdicts {
		if slices.ContainsFunc(r.Parts, func(ref schema.PartRef) bool { return ref.Aspect == v.Aspect }) {
			in.Verdicts = append(in.Verdicts, v)
		}
	}
	d := compose.Decide(in)
	if r.Outcome == schema.SettledExpired || r.Writer == "" || p.cfg.FromSnapshots {
		return &d
	}
	p.cmp.Decisions++
	again := compose.Record(p.cfg.Bundle, &d, in.Verdicts, slices.Contains(r.Flags, compose.ObserveMark))
	again.CallID, again.Attempt, again.CallDigest, again.Writer = r.CallID, r.Attempt, r.CallDigest, r.Writer
	if r.Outcome == schema.SettledHold && again.Outcome == schema.SettledRefuse {
		again.Outcome, again.Awaits, again.Message = r.Outcome, r.Awaits, r.Message
	}
	if bytes.Equal(again.SigningBytes(), r.SigningBytes()) {
		p.cmp.DecisionsEqual++
		return &d
	}
	a.line.Differs = "the decision"
	p.cmp.mismatch("partition %d: the decision on the attempt opened at %d differs: %s, recorded %s",
		p.id, r.Attempt.Opening, inShort(again), inShort(r))
	return &d
}

// inShort is a resolution's outcome, reason and clause, as far as it has them.
func inShort(r *schema.Resolution) string {
	parts := []string{outcome(r.Outcome), string(r.Reason), r.Clause}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}
