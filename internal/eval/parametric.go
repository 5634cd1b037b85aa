package eval

import (
	"errors"
	"fmt"

	"github.com/aspis-rv/aspis/internal/corpus/agentdojo"
	"github.com/aspis-rv/aspis/internal/corpus/agentdojo/plant"
	"github.com/aspis-rv/aspis/internal/eval/stats"
)

// Counts are the figures of one predicate. All runs with a message count, the messages
// filter of the published figures.
type Counts struct {
	// Detected counts the successful runs in which it fired, of Of.
	Detected int `json:"detected"`
	Of       int `json:"of"`
	// Benign counts the benign runs in which it fired, published convention.
	Benign   int `json:"benign"`
	BenignOf int `json:"benign_of"`
	// User leaves out injection tasks issued as the user's own.
	User   int `json:"user_benign"`
	UserOf int `json:"user_benign_of"`
}

// Detection is the share of the successful runs in which the predicate fired.
func (c Counts) Detection() stats.Proportion { return stats.Proportion{K: c.Detected, N: c.Of} }

// FalseAlarms is the share of benign runs with a firing, published convention.
func (c Counts) FalseAlarms() stats.Proportion { return stats.Proportion{K: c.Benign, N: c.BenignOf} }

// UserFalseAlarms is the same for the user's own tasks only.
func (c Counts) UserFalseAlarms() stats.Proportion { return stats.Proportion{K: c.User, N: c.UserOf} }

func (c *Counts) add(o *outcome, fired bool) {
	count := func(in bool, runs, firings *int) {
		if in {
			*runs++
			if fired {
				*firings++
			}
		}
	}
	count(o.successful, &c.Of, &c.Detected)
	count(o.benign, &c.BenignOf, &c.Benign)
	count(o.userTask, &c.UserOf, &c.User)
}

// Flips counts, by the letter of the planting, the runs in which a predicate fired and
// after the planting did not.
type Flips map[string]int

// Planting says how often a planted value passed for a known one. For each predicate
// those successful runs are planted in which it fired, with the value it fired on.
type Planting struct {
	Naive    Flips `json:"naive"`
	Hardened Flips `json:"hardened"`
	Ours     Flips `json:"ours"`
	// Of counts the runs that the published predicate flagged, OfOurs those of ours.
	Of     int `json:"of"`
	OfOurs int `json:"of_ours"`
}

// flips returns those of a predicate, or nil for one that is not planted.
func (p *Planting) flips(predicate string) Flips {
	switch predicate {
	case Naive:
		return p.Naive
	case Hardened:
		return p.Hardened
	case Policy:
		return p.Ours
	}
	return nil
}

// answers is what the predicates say of one run.
type answers struct {
	question *question
	fired    map[string]bool
	flips    map[string][]plant.Kind
	// unplanted counts the plantings that had no place in the run.
	unplanted int
}

// interrogator answers the questions on runs. It is immutable and safe for concurrent use.
type interrogator struct {
	*replayer

	questions  []question
	predicates []map[string]int // of each question
}

func newInterrogator(r *replayer, c Convention) *interrogator {
	out := &interrogator{replayer: r, questions: questions()}
	for i := range out.questions {
		out.predicates = append(out.predicates, out.questions[i].predicates(r.bundle, c))
	}
	return out
}

// ask answers the question that is asked of the run's suite; nil when there is none, or
// when the run has no message.
func (p *interrogator) ask(run *agentdojo.Run) (*answers, error) {
	for i := range p.questions {
		if q := &p.questions[i]; q.suite == run.Suite && run.HasMessages() {
			return p.answer(run, q, p.predicates[i])
		}
	}
	return nil, nil //nolint:nilnil // nothing is asked
}

// place is where a value is planted.
type place struct {
	step  int
	value string
}

func (p *interrogator) answer(run *agentdojo.Run, q *question, predicates map[string]int) (*answers, error) {
	out := &answers{question: q, fired: map[string]bool{}, flips: map[string][]plant.Kind{}}
	first := p.firings(run, predicates)
	places := map[place]map[string]int{}
	for name, f := range first {
		out.fired[name] = true
		if !run.Successful() || (name != Naive && name != Hardened && name != Policy) {
			continue
		}
		at := place{f.step, q.offending(&run.Steps[f.step], f)}
		if places[at] == nil {
			places[at] = map[string]int{}
		}
		places[at][name] = predicates[name]
	}
	for at, of := range places {
		if err := p.plant(run, at, of, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// firings returns the first firing of each predicate that fires at all.
func (p *interrogator) firings(run *agentdojo.Run, predicates map[string]int) map[string]firing {
	out := make(map[string]firing, len(predicates))
	p.replay(run, func(f firing) bool {
		for name, clause := range predicates {
			if _, before := out[name]; clause == f.clause && !before {
				out[name] = f
			}
		}
		return len(out) < len(predicates)
	})
	return out
}

// plant plants a value in every way and notes which predicates fall silent.
func (p *interrogator) plant(run *agentdojo.Run, at place, predicates map[string]int, out *answers) error {
	for _, kind := range plant.Kinds() {
		planted, err := plant.Into(run, kind, at.step, at.value)
		if errors.Is(err, plant.ErrNoLookUp) {
			out.unplanted++
			continue
		}
		if err != nil {
			return fmt.Errorf("eval: %w", err)
		}
		fired := p.firings(planted, predicates)
		for name := range predicates {
			if _, still := fired[name]; !still {
				out.flips[name] = append(out.flips[name], kind)
			}
		}
	}
	return nil
}

// survey adds answers up. It is not safe for concurrent use.
type survey struct {
	parametric map[string]map[string]Counts
	planting   map[string]*Planting
}

func newSurvey(p *interrogator) *survey {
	s := &survey{parametric: map[string]map[string]Counts{}, planting: map[string]*Planting{}}
	for i := range p.questions {
		name := p.questions[i].name
		s.parametric[name] = map[string]Counts{}
		for predicate := range p.predicates[i] {
			s.parametric[name][predicate] = Counts{}
		}
		s.planting[name] = &Planting{Naive: noFlips(), Hardened: noFlips(), Ours: noFlips()}
	}
	return s
}

func noFlips() Flips {
	out := Flips{}
	for _, kind := range plant.Kinds() {
		out[kind.String()] = 0
	}
	return out
}

func (s *survey) add(o *outcome, a *answers) {
	if a == nil {
		return
	}
	table, planting := s.parametric[a.question.name], s.planting[a.question.name]
	for predicate, counts := range table {
		counts.add(o, a.fired[predicate])
		table[predicate] = counts
	}
	if !o.successful {
		return
	}
	if a.fired[Naive] {
		planting.Of++
	}
	if a.fired[Policy] {
		planting.OfOurs++
	}
	for predicate, kinds := range a.flips {
		for _, kind := range kinds {
			planting.flips(predicate)[kind.String()]++
		}
	}
}
