package replay

import (
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/compose"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/offline"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// EvidenceLine is why a typed fact holds on which a binding rests. It is for operators: it
// quotes what agents and others wrote.
type EvidenceLine struct {
	Binding  int                   `json:"binding"` // index of the first of the clause's bindings that rest on it
	Fact     string                `json:"fact"`
	Strength string                `json:"strength"`
	Source   policy.EvidenceSource `json:"source"`
	Rule     string                `json:"rule"`
	Place    string                `json:"place"`
	Record   uint64                `json:"record"` // of the event whose text or marking it is, in its partition
	Call     string                `json:"call,omitempty"`
	Tool     string                `json:"tool,omitempty"`

	Condition string `json:"condition,omitempty"` // of a marking

	Param   string `json:"param,omitempty"` // of a cue or classifier: whose text it was
	Item    int    `json:"item,omitempty"`  // where it is a list of texts
	List    string `json:"list,omitempty"`
	Cue     string `json:"cue,omitempty"`
	Span    []int  `json:"span,omitempty"`    // where the cue begins and ends in the text, in bytes
	Excerpt string `json:"excerpt,omitempty"` // the text around it

	Classifier string  `json:"classifier,omitempty"`
	Version    string  `json:"version,omitempty"`
	Label      string  `json:"label,omitempty"`
	Score      float64 `json:"score,omitempty"`

	// Of is what Fact prints.
	Of schema.Fact `json:"-"`
}

// What is shown of a clause: evidence of its first bindings, and so many lines. More says
// nothing that these do not.
const (
	maxBindings = 16
	maxEvidence = 64
)

// Witnesses keeps the events that typing rules look at, so that what they made of the witness
// events of a firing can be told: an event is typed again when somebody asks, and not before.
// It grows with the events of tools that have typing rules. It is used by one goroutine.
type Witnesses struct {
	bundle *policy.Bundle
	events map[uint64]witness
	calls  map[callKey]*schema.Event
	gaps   *gaps // nil: nobody asks what is missing
}

type witness struct {
	event, call *schema.Event
	observe     bool
}

type callKey struct{ tenant, session, call string }

// NewWitnesses returns the witnesses of a log that is about to be folded.
func NewWitnesses(b *policy.Bundle) *Witnesses {
	return &Witnesses{bundle: b, events: map[uint64]witness{}, calls: map[callKey]*schema.Event{}}
}

// Record takes an event of the log at its offset. The event is kept.
func (w *Witnesses) Record(offset uint64, ev *schema.Event, observe bool) {
	if w.gaps != nil {
		w.gaps.record(offset, ev, observe)
	}
	in := witness{event: ev, observe: observe}
	tool, key := ev.Tool, callKey{ev.Tenant, ev.SessionID, ev.CallID}
	switch ev.Kind {
	case schema.KindCall:
		if w.bundle.Types(tool) {
			w.calls[key] = ev
		}
	case schema.KindResult:
		if in.call = w.calls[key]; in.call != nil {
			tool = in.call.Tool
		}
	case schema.KindGrant, schema.KindMessage, schema.KindObservation:
	case schema.KindResolution, schema.KindTick, schema.KindPolicy, schema.KindSession, schema.KindWithdrawn:
		return
	}
	if w.bundle.Types(tool) {
		w.events[offset] = in
	}
}

// Keeping returns the function that an offline run is given for its records, so that it tells
// w of them as well as whoever was told before.
func (w *Witnesses) Keeping(cfg offline.Config) func(offset uint64, ev *schema.Event) {
	return func(offset uint64, ev *schema.Event) {
		w.Record(offset, ev, cfg.Observe)
		if cfg.Records != nil {
			cfg.Records(offset, ev)
		}
	}
}

// Evidence says why the typed facts hold on which the firings of a clause rest, in the order of
// the firings and of the log, each once.
func (w *Witnesses) Evidence(c *compose.Clause) []EvidenceLine {
	var out []EvidenceLine
	if len(w.events) == 0 {
		return nil
	}
	typed := map[uint64][]policy.Evidence{}
	for i := range c.Firings[:min(len(c.Firings), maxBindings)] {
		f := &c.Firings[i]
		atoms := w.atoms(c.ID, f)
		for _, offset := range f.Witness {
			if _, done := typed[offset]; !done {
				typed[offset] = w.explain(offset)
			}
			for k := range typed[offset] {
				why := &typed[offset][k]
				if len(out) < maxEvidence && concerns(atoms, f, &why.Fact) {
					out = add(out, w.line(i, offset, why))
				}
			}
		}
	}
	return out
}

func (w *Witnesses) explain(offset uint64) []policy.Evidence {
	in, known := w.events[offset]
	if !known {
		return nil
	}
	return w.bundle.Explain(in.call, in.event, in.observe).Evidence
}

// atoms are the predicates of the formula of a firing and of the guards of its clause.
func (w *Witnesses) atoms(clause string, f *compose.Firing) []*syntax.Pred {
	var out []*syntax.Pred
	for i := range w.bundle.Clauses {
		c := &w.bundle.Clauses[i]
		for k := range c.Formulas {
			p := &c.Formulas[k]
			fired := p.Role == schema.RoleForbid && p.Aspect == f.Aspect && p.Name == f.Name
			if c.ID != clause || !fired && p.Role != schema.RoleGuard {
				continue
			}
			syntax.Walk(p.Checked.Core, func(g syntax.Formula) bool {
				if atom, ok := g.(*syntax.Pred); ok {
					out = append(out, atom)
				}
				return true
			})
		}
	}
	return out
}

// concerns reports whether some atom can be the fact under the binding of a firing. What the
// binding does not give, such as a variable that is quantified, may be anything.
func concerns(atoms []*syntax.Pred, f *compose.Firing, fact *schema.Fact) bool {
	return slices.ContainsFunc(atoms, func(atom *syntax.Pred) bool {
		if atom.Name != fact.Name || len(atom.Args) != len(fact.Args) {
			return false
		}
		for i, arg := range atom.Args {
			switch arg := arg.(type) {
			case syntax.Const:
				if arg.Value != fact.Args[i] {
					return false
				}
			case syntax.Var:
				if k := slices.Index(f.Columns, arg.Name); k >= 0 && f.Values[k] != fact.Args[i] {
					return false
				}
			case syntax.Arith, syntax.Conv, syntax.Neg, syntax.Here: // may be anything
			}
		}
		return true
	})
}

func (w *Witnesses) line(binding int, offset uint64, why *policy.Evidence) EvidenceLine {
	in := w.events[offset]
	tool := in.event.Tool
	if in.call != nil {
		tool = in.call.Tool
	}
	out := EvidenceLine{
		Binding: binding, Fact: factOf(&why.Fact), Strength: why.Fact.Strength.String(), Source: why.Source, Rule: why.Rule, Place: why.Place,
		Record: offset, Call: in.event.CallID, Tool: tool, Condition: why.Condition, Param: why.Param, Item: why.Item,
		List: why.List, Cue: why.Cue, Excerpt: why.Excerpt, Classifier: why.Classifier, Version: why.Version, Label: why.Label, Score: why.Score,
		Of: why.Fact,
	}
	if why.Source == policy.FromCue {
		out.Span = []int{why.Start, why.End}
	}
	return out
}

// factOf prints a fact as formulas write it.
func factOf(f *schema.Fact) string {
	args := make([]string, len(f.Args))
	for i, v := range f.Args {
		args[i] = v.String()
	}
	return f.Name + "(" + strings.Join(args, ", ") + ")"
}

// add appends a line unless another binding has brought it.
func add(lines []EvidenceLine, l EvidenceLine) []EvidenceLine {
	same := func(o EvidenceLine) bool {
		return o.Record == l.Record && o.Fact == l.Fact && o.Source == l.Source && o.Rule == l.Rule && o.Place == l.Place &&
			o.Param == l.Param && o.Item == l.Item && o.List == l.List && slices.Equal(o.Span, l.Span) && o.Classifier == l.Classifier && o.Score == l.Score
	}
	if slices.ContainsFunc(lines, same) {
		return lines
	}
	return append(lines, l)
}

// Presumptive reports whether the line is one of heuristic evidence.
func (l *EvidenceLine) Presumptive() bool { return l.Of.Strength == verdict.Presumptive }
