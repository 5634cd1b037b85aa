package protocol

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

var seedFlag = flag.Uint64("seed", 0, "run the property test with this seed alone") //nolint:gochecknoglobals // flags of a test binary are global

// chooser yields numbers below n.
type chooser interface{ IntN(n int) int }

// generator makes records that mostly make sense: it remembers the calls it proposed.
type generator struct {
	from  chooser
	part  *Partition // to name attempts
	tick  uint64
	time  int64
	seqs  map[string]uint64
	calls []*schema.Event
	count int
}

func newGenerator(from chooser, part *Partition) *generator {
	return &generator{from: from, part: part, seqs: map[string]uint64{}, time: 1000 * second}
}

func (g *generator) one(in int) bool { return g.from.IntN(in) == 0 }

func (g *generator) pick(of ...string) string { return of[g.from.IntN(len(of))] }

// next makes one record.
func (g *generator) next() *schema.Event {
	g.count++
	switch k := g.from.IntN(20); {
	case k < 5:
		return g.call()
	case k < 11 && len(g.calls) > 0:
		return g.resolution(g.calls[max(0, len(g.calls)-1-g.from.IntN(6))])
	case k < 13 && len(g.calls) > 0:
		c := g.calls[max(0, len(g.calls)-1-g.from.IntN(8))]
		ev := g.record(schema.KindResult, c.SessionID, c.Trace)
		ev.CallID = c.CallID
		return ev
	case k == 13 && len(g.calls) > 0:
		c := g.calls[max(0, len(g.calls)-1-g.from.IntN(4))]
		ev := g.record(schema.KindWithdrawn, c.SessionID, c.Trace)
		ev.CallID = c.CallID
		return ev
	case k == 14:
		return g.grant()
	case k < 17:
		g.tick += uint64(g.from.IntN(2))
		g.time += int64(g.from.IntN(4)) * second
		return &schema.Event{ID: "tick", Kind: schema.KindTick, Tick: &schema.Tick{N: g.tick, Time: g.time}}
	case k == 17 && g.one(6):
		n := g.part.Policy().Number + uint64(g.from.IntN(3))
		return &schema.Event{ID: "policy", Kind: schema.KindPolicy, Activation: &schema.Activation{Number: n, Digest: []byte{byte(g.from.IntN(3))}}}
	case k == 18:
		ev := g.traced(schema.KindSession)
		ev.Session = &schema.SessionMark{End: g.one(3)}
		return ev
	}
	if g.one(2) {
		return g.traced(schema.KindObservation)
	}
	return g.traced(schema.KindMessage)
}

func (g *generator) traced(k schema.Kind) *schema.Event {
	session := g.pick("s1", "s2", "s3", "s4")
	trace := session
	if session == "s4" {
		trace = "fleet"
	}
	return g.record(k, session, trace)
}

func (g *generator) record(k schema.Kind, session, trace string) *schema.Event {
	ev := &schema.Event{
		ID: fmt.Sprintf("r%d", g.count), Kind: k, Tenant: "acme", SessionID: session, Trace: trace,
		ClaimedTS: g.time + int64(g.from.IntN(8)-2)*second, Actor: schema.Actor{ID: g.pick("ann", "bob"), Class: schema.ClassAgent},
	}
	if !g.one(8) {
		ev.Producer, ev.Incarnation = g.pick("gate", "other", "third"), 1+uint64(g.from.IntN(20)/18)
		g.number(ev)
	}
	return ev
}

// number gives ev its number; some are skipped, and some of these come later.
func (g *generator) number(ev *schema.Event) {
	key := fmt.Sprint(ev.Producer, ev.Incarnation)
	switch {
	case g.one(12):
		g.seqs[key] += 2 + uint64(g.from.IntN(3))
		ev.Seq = g.seqs[key]
	case g.one(10) && g.seqs[key] > 4:
		ev.Seq = g.seqs[key] - uint64(g.from.IntN(4))
	default:
		g.seqs[key]++
		ev.Seq = g.seqs[key]
	}
}

func (g *generator) call() *schema.Event {
	ev := g.traced(schema.KindCall)
	ev.CallID, ev.Digest = fmt.Sprintf("c%d", len(g.calls)), []byte(fmt.Sprint(len(g.calls)%5))
	if len(g.calls) > 0 && g.one(8) { // a repeated id, perhaps with other bytes
		c := g.calls[g.from.IntN(len(g.calls))]
		ev.CallID, ev.SessionID, ev.Trace = c.CallID, c.SessionID, c.Trace
		if g.one(2) {
			ev.Digest = c.Digest
		}
	}
	if !g.one(5) {
		ev.Deadline = g.time + int64(g.from.IntN(12)-1)*second
	}
	g.calls = append(g.calls, ev)
	return ev
}

func (g *generator) grant() *schema.Event {
	ev := g.traced(schema.KindGrant)
	ev.Grant = &schema.Grant{}
	if len(g.calls) > 0 && g.one(2) {
		c := g.calls[max(0, len(g.calls)-1-g.from.IntN(5))]
		ev.SessionID, ev.Trace, ev.Grant.CallDigest = c.SessionID, c.Trace, c.Digest
	}
	return ev
}

func (g *generator) resolution(call *schema.Event) *schema.Event {
	ev := g.record(schema.KindResolution, call.SessionID, call.Trace)
	ev.Producer, ev.Seq = "", 0
	r := &schema.Resolution{CallID: call.CallID, Outcome: schema.Settlements()[g.from.IntN(6)], CallDigest: call.Digest, Writer: "composer"}
	if c := g.part.Lookup(TraceID{"acme", call.Trace}, call.SessionID, call.CallID); c != nil {
		r.Attempt, r.CallDigest = c.Attempt, c.Digest
		r.Attempt.CallID = c.ID
	}
	if g.one(10) {
		r.Attempt.Opening += uint64(g.from.IntN(5))
	}
	if g.one(15) {
		r.CallDigest = []byte("another")
	}
	for range g.from.IntN(3) {
		r.Awaits = append(r.Awaits, fmt.Sprintf("c%d", g.from.IntN(len(g.calls)+1)))
	}
	ev.CallID, ev.Resolution = call.CallID, r
	return ev
}

// smallRules make every limit of the fold bite in a short sequence.
func smallRules() Rules {
	return Rules{
		MaxSkew: 3 * second, QueueLimit: 3, ResultTTL: 12 * second, CallMemory: 6, EndedTTL: 15 * second, IdleTTL: 40 * second,
		MaxTraces: 3, Incarnations: 2, MissingLimit: 4,
	}
}

// TestRandomSequences checks, record by record: the invariants of Partition; that a
// partition restored at random points has the same effects and the same bytes; that
// a record fed twice changes nothing; that time points are consecutive and only
// adopted records make them; that no call is settled twice.
func TestRandomSequences(t *testing.T) {
	seeds := []uint64{*seedFlag}
	if *seedFlag == 0 {
		seeds = nil
		for s := range uint64(70) {
			seeds = append(seeds, s+1)
		}
	}
	kinds := map[EffectKind]int{}
	for _, seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test's chance is a seed
		if err := playRandom(rng, 150, kinds); err != nil {
			t.Fatalf("seed %d: %v\nrepeat: go test ./internal/protocol -run TestRandomSequences -seed %d", seed, err, seed)
		}
	}
	for k := Opened; k <= Violated; k++ {
		if kinds[k] == 0 && *seedFlag == 0 {
			t.Errorf("no random record had the effect %s", k)
		}
	}
}

func playRandom(from chooser, records int, kinds map[EffectKind]int) error {
	w := &walk{straight: New(7, smallRules()), settled: map[string]bool{}}
	w.resumed = New(7, smallRules())
	g := newGenerator(from, w.straight)
	if from.IntN(4) > 0 { // else the log is trimmed
		if err := w.step(&schema.Event{ID: "policy", Kind: schema.KindPolicy, Activation: &schema.Activation{Number: 1}}); err != nil {
			return err
		}
	}
	for i := range records {
		if from.IntN(5) == 0 {
			if err := w.restart(); err != nil {
				return fmt.Errorf("record %d: %w", i, err)
			}
		}
		ev := g.next()
		if err := w.step(ev); err != nil {
			return fmt.Errorf("record %d (%s of %s %s): %w", i, ev.Kind, ev.SessionID, ev.CallID, err)
		}
		for k, n := range w.seen {
			kinds[k] += n
		}
		if once(ev) && from.IntN(3) == 0 {
			if err := w.twice(ev); err != nil {
				return fmt.Errorf("record %d (%s of %s %s), again: %w", i, ev.Kind, ev.SessionID, ev.CallID, err)
			}
		}
	}
	return nil
}

// once reports whether the protocol recognises ev when it is written twice.
func once(ev *schema.Event) bool {
	switch ev.Kind {
	case schema.KindTick, schema.KindPolicy, schema.KindResolution, schema.KindWithdrawn:
		return true
	case schema.KindCall, schema.KindResult, schema.KindMessage, schema.KindGrant, schema.KindObservation, schema.KindSession:
		return ev.Seq != 0
	}
	return false
}

// walk compares a partition that folds straight through with one that is restored.
type walk struct {
	straight, resumed *Partition
	offset            uint64
	settled           map[string]bool // by record id of the call
	seen              map[EffectKind]int
	count             int
}

func (w *walk) restart() error {
	state, err := w.resumed.AppendState(nil)
	if err != nil {
		return err
	}
	w.resumed, err = Restore(state, smallRules())
	return err
}

type mark struct {
	next uint64
	last int64
}

func (w *walk) step(ev *schema.Event) error {
	w.offset += 1 + w.offset%3 // with holes
	ev.Position.Offset = w.offset
	before := map[TraceID]mark{}
	for id, t := range w.straight.traces {
		before[id] = mark{t.next, t.last}
	}
	effects := w.straight.Step(w.offset, ev)
	w.seen = map[EffectKind]int{}
	for i := range effects {
		e := &effects[i]
		w.seen[e.Kind]++
		if err := w.effect(e, before); err != nil {
			return fmt.Errorf("%s: %w", effectText(e), err)
		}
	}
	for id, t := range w.straight.traces {
		if m := before[id]; t.next != m.next || t.last != m.last {
			return fmt.Errorf("trace %s is at time point %d, time %d; its adopted records give %d, %d", id.Trace, t.next, t.last, m.next, m.last)
		}
	}
	if err := w.straight.invariants(); err != nil {
		return err
	}
	return w.same(effects, w.resumed.Step(w.offset, ev))
}

// effect follows one effect: `marks` is where each trace stands.
func (w *walk) effect(e *Effect, marks map[TraceID]mark) error {
	m := marks[e.Trace]
	switch e.Kind {
	case Opened, Adopted, Stepped:
		if e.TimePoint != m.next || e.Timestamp < m.last {
			return fmt.Errorf("out of order: the trace is at time point %d, time %d", m.next, m.last)
		}
		if e.Kind != Opened {
			marks[e.Trace] = mark{m.next + 1, e.Timestamp}
		}
	case Settled:
		if w.settled[e.Call.ID] {
			return fmt.Errorf("call %s is settled twice", e.Call.ID)
		}
		w.settled[e.Call.ID] = true
	case Evicted:
		delete(marks, e.Trace)
	case Closed, Dropped, Interim, Voided, Repeated, Finished, Advanced, Activated, Violated:
	}
	return nil
}

func (w *walk) same(a, b []Effect) error {
	if len(a) != len(b) {
		return fmt.Errorf("the restored partition has %d effects, the other %d", len(b), len(a))
	}
	for i := range a {
		x, y := effectText(&a[i]), effectText(&b[i])
		if x != y || a[i].Attempt != b[i].Attempt || !bytes.Equal(a[i].Policy, b[i].Policy) || (a[i].Proposed == nil) != (b[i].Proposed == nil) {
			return fmt.Errorf("the restored partition has the effect %q, the other %q", y, x)
		}
	}
	if w.count++; w.count%3 != 0 { // states are compared now and then; effects always
		return nil
	}
	x, err := w.straight.AppendState(nil)
	if err != nil {
		return err
	}
	y, err := w.resumed.AppendState(nil)
	if err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return fmt.Errorf("the states differ: %x and %x", x, y)
	}
	return nil
}

// twice feeds a record that was just folded once more. Only the offset may change,
// and when a trace was last active.
func (w *walk) twice(ev *schema.Event) error {
	before, err := w.stateAside()
	if err != nil {
		return err
	}
	again := *ev
	if err := w.step(&again); err != nil {
		return err
	}
	for k := range w.seen {
		if k != Voided {
			return fmt.Errorf("it has the effect %s", k)
		}
	}
	after, err := w.stateAside()
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		return fmt.Errorf("it changes the state")
	}
	return nil
}

func (w *walk) stateAside() ([]byte, error) {
	next := w.straight.next
	w.straight.next = 0
	b, err := w.straight.AppendState(nil)
	w.straight.next = next
	return b, err
}
