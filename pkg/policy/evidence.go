package policy

import (
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// EvidenceSource says what makes a fact of a typing rule.
type EvidenceSource string

// The sources of evidence.
const (
	FromMarking    EvidenceSource = "marking"    // the rule's definite condition
	FromCue        EvidenceSource = "cue"        // a cue in a text
	FromClassifier EvidenceSource = "classifier" // the recorded answer of a classifier
)

// Evidence is one reason for a fact, or for a mark of a state, that a typing rule made. Which
// of the fields after Source are set depends on it.
type Evidence struct {
	// Fact is what holds, with the strength that this reason gives it; a mark is a fact of
	// its state.
	Fact schema.Fact
	// Rule is the name of the typing rule, and Place where it stands in the bundle.
	Rule   string
	Place  string
	Source EvidenceSource

	// Condition is the text of the rule's `definite`; of a marking.
	Condition string

	// Param is the parameter of the rule whose text it was; of a cue or classifier. Where
	// it is a list of texts, Item is the index in it, otherwise 0.
	Param string
	Item  int

	// List and Cue name the cue; Start and End are where it stands in the text as given, in
	// bytes, and Excerpt is what stands there with something around it, at most MaxExcerpt bytes.
	List       string
	Cue        string
	Start, End int
	Excerpt    string

	// Classifier, Version, Label and Score are those of the answer.
	Classifier string
	Version    string
	Label      string
	Score      float64
}

// Explain is Type, or TypeResult for a result, with the Evidence. It costs a second look at
// the texts that made facts, so that judging an event does without; call is that of a result,
// when it is at hand, and else nil.
func (b *Bundle) Explain(call, ev *schema.Event, observe bool) Typing {
	run := typer{b: b, ev: ev, observe: observe, explain: true}
	run.event(call)
	return run.out
}

// because adds why the fact that a typing rule just made holds.
func (r *typer) because(e *emitter, f schema.Fact) {
	why := Evidence{Fact: f, Rule: e.rule.name, Place: e.place}
	if f.Strength == verdict.Definite {
		why.Source, why.Condition = FromMarking, e.rule.condition
		r.give(why)
		return
	}
	if !r.becauseOfCues(e.rule, why) {
		r.becauseOfAnswers(e.rule, why)
	}
}

// give adds a reason, unless there are too many.
func (r *typer) give(why Evidence) {
	if len(r.out.Evidence) < maxEvidence {
		r.out.Evidence = append(r.out.Evidence, why)
	}
}

// becauseOfAnswers adds the answers that say what the rule is about.
func (r *typer) becauseOfAnswers(u *rule, why Evidence) {
	why.Source = FromClassifier
	for _, number := range u.ask {
		c := &r.b.typing.classifiers[number]
		for _, at := range r.sight.readings {
			why.Param, why.Item = u.params[at.param], at.item
			r.answers(c, &r.sight.looked[at.text], func(a *schema.Answer) {
				if c.reads(a) == answerHit {
					why.Classifier, why.Version, why.Label, why.Score = a.Name, a.Version, a.Label, a.Score
					r.give(why)
				}
			})
		}
	}
}
