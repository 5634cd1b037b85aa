package policy

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aspis-rv/aspis/internal/text"
	"github.com/aspis-rv/aspis/pkg/policy/internal/expr"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// looked is a text that typing rules look at, however many they are.
type looked struct {
	text    string // only its beginning where it is cut
	cut     bool
	scanned bool
	lists   uint64 // the lists of which a cue is in it, once it is scanned
	of      []byte // its SHA-256, once it was needed
}

// reading is a text of a parameter.
type reading struct {
	param, item int
	text        int // index in sight.looked
}

// sight is what the typing rules have looked at in one event. It is used again for others.
type sight struct {
	scanner  text.Scanner
	looked   []looked
	index    map[textKey]int // of those that are not among the first few
	readings []reading       // of the rule at hand

	// note sets the bits of the lists of which a cue is found, until all those wanted are.
	note          func(text.Hit) bool
	found, wanted uint64
}

// textKey names a text that was looked at.
type textKey struct {
	text string
	cut  bool
}

// errUnanswered says that nobody knows what a classifier would have said.
var errUnanswered = errors.New("there is no answer")

// suspect says whether the fact of a typing rule holds, and how strongly. What is missing for
// an answer makes its relation uncertain, what was not looked at makes it degraded; neither
// matters where the fact holds all the same.
func (r *typer) suspect(e *emitter, in *expr.Input) (verdict.Strength, bool) {
	if e.when != nil {
		definite, err := e.when.Truth(in)
		if err != nil {
			r.uncertain(e, err) // it may be definite, so that a presumptive fact does not do
		}
		if definite {
			return verdict.Definite, true
		}
	}
	if len(e.rule.in) == 0 {
		return verdict.Presumptive, false
	}
	cut, failed := r.read(e, in)
	if r.cued(e.rule) {
		return verdict.Presumptive, true
	}
	holds, unanswered := r.classified(e.rule)
	switch {
	case holds:
		return verdict.Presumptive, true
	case failed != nil:
		r.uncertain(e, failed)
	case unanswered != nil:
		r.uncertain(e, unanswered)
	case cut:
		r.out.Degraded = append(r.out.Degraded, e.relations()...)
		r.out.Why = append(r.out.Why, fmt.Sprintf("%s (%s): a text is longer than text_limit, %d bytes; the rest was not looked at", e.what(), e.place, r.b.typing.textLimit))
	}
	return verdict.Presumptive, false
}

// read finds the texts of the parameters that a rule looks at. It says whether it has only
// the beginning of one, and why one cannot be read, if that is so.
func (r *typer) read(e *emitter, in *expr.Input) (cut bool, failed error) {
	if r.sight == nil {
		r.sight = r.b.typing.cues.take()
	}
	s := r.sight
	s.readings = s.readings[:0]
	for _, param := range e.rule.in {
		name := e.rule.params[param]
		err := expr.EachText(in.Bound[name], MaxEach, func(item int, text string) {
			i := s.look(text, r.b.typing.textLimit)
			cut = cut || s.looked[i].cut
			s.readings = append(s.readings, reading{param: param, item: item, text: i})
		})
		if err != nil && failed == nil {
			failed = fmt.Errorf("the text %s: %w", strconv.Quote(name), err)
		}
	}
	return cut, failed
}

// look returns the number of a text among those looked at.
func (s *sight) look(text string, limit int) int {
	t := looked{text: text}
	if len(text) > limit {
		t.text, t.cut = beginning(text, limit), true
	}
	if i, known := s.known(&t); known {
		return i
	}
	s.looked = append(s.looked, t)
	return len(s.looked) - 1
}

// fewTexts is how many texts are found one after the other; more have an index.
const fewTexts = 8

// known finds a text among those looked at. One beyond the few is indexed, as the next one.
func (s *sight) known(t *looked) (int, bool) {
	for i := range s.looked[:min(len(s.looked), fewTexts)] {
		if s.looked[i].cut == t.cut && s.looked[i].text == t.text {
			return i, true
		}
	}
	if len(s.looked) < fewTexts {
		return 0, false
	}
	if s.index == nil {
		s.index = map[textKey]int{}
	}
	key := textKey{t.text, t.cut}
	i, known := s.index[key]
	if !known {
		s.index[key] = len(s.looked)
	}
	return i, known
}

// beginning is what of a text is within a number of bytes, without a part of a character.
func beginning(text string, limit int) string {
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// classified says whether some classifier found one of the texts to be what the rule is about;
// if none did, why that is not known, if it is not. While asking, it notes the questions.
func (r *typer) classified(u *rule) (holds bool, unanswered error) {
	for _, number := range u.ask {
		c := &r.b.typing.classifiers[number]
		for _, at := range r.sight.readings {
			t := &r.sight.looked[at.text]
			if strings.TrimSpace(t.text) == "" {
				continue
			}
			if r.asking {
				r.ask(c, t.text)
				continue
			}
			switch r.answer(c, t) {
			case answerHit:
				return true, nil
			case answerNone:
				unanswered = fmt.Errorf("the classifier %q: %w", c.Name, errUnanswered)
			case answerClear:
			}
		}
	}
	return false, unanswered
}

// ask notes a question, once.
func (r *typer) ask(c *Classifier, text string) {
	same := func(q Question) bool { return q.Classifier == c.Name && q.Text == text }
	if len(r.questions) < MaxQuestions && !slices.ContainsFunc(r.questions, same) {
		r.questions = append(r.questions, Question{Classifier: c.Name, Text: text, Context: r.contextOf(c)})
	}
}

// outcome is what the recorded answers of one classifier say of one text.
type outcome uint8

// The outcomes, from the least severe to the most.
const (
	answerClear outcome = iota // it is nothing
	answerNone                 // nobody knows
	answerHit                  // it is what the classifier looks for
)

// answer finds what a classifier said of a text. Of several answers the most severe counts.
func (r *typer) answer(c *Classifier, t *looked) outcome {
	out, found := answerClear, false
	r.answers(c, t, func(a *schema.Answer) {
		out, found = max(out, c.reads(a)), true
	})
	if !found {
		return answerNone
	}
	return out
}

// answers visits the answers of a classifier about a text.
func (r *typer) answers(c *Classifier, t *looked, visit func(*schema.Answer)) {
	for i := range r.ev.Answers {
		a := &r.ev.Answers[i]
		if a.Name != c.Name {
			continue
		}
		if t.of == nil {
			sum := sha256.Sum256([]byte(t.text))
			t.of = sum[:]
		}
		if bytes.Equal(a.Of, t.of) {
			visit(a)
		}
	}
}

// reads says what an answer means. A score that is none, from 0 to 1, is no answer.
func (c *Classifier) reads(a *schema.Answer) outcome {
	switch {
	case a.Missing || math.IsNaN(a.Score) || a.Score < 0 || a.Score > 1:
		return answerNone
	case a.Score >= c.Threshold && (c.Label == "" || a.Label == c.Label):
		return answerHit
	}
	return answerClear
}
