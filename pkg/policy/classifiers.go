package policy

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strconv"
	"time"

	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Classifier is what a bundle says of something that judges texts and is asked before an
// event is appended. Where it is found is configuration of the deployment, by its name.
type Classifier struct {
	Name string
	// Threshold is the least score, above 0 and at most 1, that makes a fact presumptive.
	Threshold float64
	// Label is the one that an answer must have to count; empty: any.
	Label string
	// Timeout bounds the wait for one answer. It is below the deadline of the bundle.
	Timeout time.Duration
	// Context lists, sorted, what else the classifier is told about the event: class, kind,
	// server, tool.
	Context []string
}

// Question is one text that a classifier is to be asked about. Its answer is recorded in the
// event with Name the Classifier and Of the digest of the text.
type Question struct {
	Classifier string
	Text       string
	Context    map[string]string
}

// Of is the SHA-256 of the text: what the answer says it is about.
func (q *Question) Of() []byte {
	sum := sha256.Sum256([]byte(q.Text))
	return sum[:]
}

// Classifiers lists the classifiers of the bundle in its order.
func (b *Bundle) Classifiers() []Classifier {
	out := slices.Clone(b.typing.classifiers)
	for i := range out {
		out[i].Context = slices.Clone(out[i].Context)
	}
	return out
}

// Questions lists what is to be asked before an event is appended, each question once, in the
// order of the bundle; call is that of a result, when it is at hand. A text is asked about
// only where nothing else makes the fact already. Of more than MaxQuestions the first ones are
// listed; what the others would have said stays unknown. Questions is a pure function of the
// bundle, the call and the event without its answers, and costs as much as typing the event.
func (b *Bundle) Questions(call, ev *schema.Event) []Question {
	if !b.asks(call, ev) {
		return nil
	}
	run := typer{b: b, ev: ev, asking: true}
	run.event(call)
	return run.questions
}

// Unanswered is Questions without those that the event has an answer to already, a missing one
// included.
func (b *Bundle) Unanswered(call, ev *schema.Event) []Question {
	return slices.DeleteFunc(b.Questions(call, ev), func(q Question) bool {
		of := q.Of()
		return slices.ContainsFunc(ev.Answers, func(a schema.Answer) bool { return a.Name == q.Classifier && bytes.Equal(a.Of, of) })
	})
}

// asks reports whether a classifier may be asked about the event. It is cheap.
func (b *Bundle) asks(call, ev *schema.Event) bool {
	if len(b.typing.classifiers) == 0 || b.typing.untyped {
		return false
	}
	tool := ev.Tool
	if call != nil && ev.Kind == schema.KindResult {
		tool = call.Tool
	}
	entry := b.typing.entries[tool]
	return entry != nil && slices.ContainsFunc(entry.emitters, func(e emitter) bool {
		return e.rule != nil && len(e.rule.ask) > 0
	})
}

// The waiting time for a classifier: its default, and its least.
const (
	defaultTimeout = 500 * time.Millisecond
	minTimeout     = time.Millisecond
)

// classifierSection reads `exfil: {threshold: 0.8, label: exfiltration, timeout: 500ms}`.
func (l *loader) classifierSection(n *source.Node) {
	fields := l.mapOf(n, "classifiers")
	if len(fields) > MaxClassifiers {
		l.report(fields[MaxClassifiers].Key, overLimit("the bundle has too many classifiers", MaxClassifiers, "let one have several labels"))
		return
	}
	for _, f := range fields {
		l.classifier(f)
	}
}

func (l *loader) classifier(f source.Field) {
	name := f.Key.Value
	if !isID(name) {
		l.report(f.Key, badName("a classifier", name, "a name is a letter followed by letters, digits, _, - and ."))
	}
	where := "the classifier " + name
	l.classifierKeys = append(l.classifierKeys, f.Key)
	c := Classifier{Name: name, Timeout: min(defaultTimeout, l.b.Deadline/2)}
	if f.Value.Kind != source.Map {
		l.report(f.Value, wrongType(where, "a map with threshold", f.Value.Describe()))
	} else {
		l.keys(f.Value, where, []string{"threshold", "label", "timeout", "context"}, nil)
		l.threshold(f, where, &c)
		c.Label, _ = l.text(f.Value.Get("label"), "label")
		l.timeout(f.Value.Get("timeout"), &c)
		c.Context = l.context(f.Value.Get("context"))
	}
	l.b.typing.classifiers = append(l.b.typing.classifiers, c)
}

func (l *loader) threshold(f source.Field, where string, c *Classifier) {
	n := f.Value.Get("threshold")
	switch {
	case n == nil:
		l.report(f.Key, missingKey("threshold", where, "write the least score that counts, for example threshold: 0.8"))
		return
	case n.Kind != source.Scalar || n.Type != source.Float && n.Type != source.Int:
		l.report(n, wrongType("threshold", "a number", n.Describe()))
		return
	}
	score, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || !(score > 0 && score <= 1) {
		l.report(n, badValue("threshold", n.Value, "is no score above 0 and at most 1", "for example 0.8"))
		return
	}
	c.Threshold = score
}

func (l *loader) timeout(n *source.Node, c *Classifier) {
	s, ok := l.text(n, "timeout")
	if !ok {
		return
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil || d < minTimeout:
		l.report(n, badValue("timeout", s, "is no time of at least 1ms", "write a number with a unit, for example 500ms"))
	case d >= l.b.Deadline:
		l.report(n, badValue("timeout", s, "is not below the deadline of the bundle, "+l.b.Deadline.String(),
			"shorten it: a call that waits so long for an answer is late"))
	default:
		c.Timeout = d
	}
}

// context reads what a classifier is told besides the text. Ids of principals and sessions are
// not among it: they say nothing about a text, and classifiers may be somebody else's.
func (l *loader) context(n *source.Node) []string {
	var out []string
	for _, item := range l.listOf(n) {
		if s, ok := l.choice(item, "context", "class", "kind", "server", "tool"); ok {
			out = append(out, s)
		}
	}
	return unique(out)
}

// classifierNames lists the names in the order of the bundle.
func (l *loader) classifierNames() []string {
	out := make([]string, len(l.b.typing.classifiers))
	for i := range out {
		out[i] = l.b.typing.classifiers[i].Name
	}
	return out
}

// contextOf is what a classifier is told about an event.
func (r *typer) contextOf(c *Classifier) map[string]string {
	if len(c.Context) == 0 {
		return nil
	}
	out := make(map[string]string, len(c.Context))
	for _, name := range c.Context {
		switch name {
		case "class":
			out[name] = string(r.ev.Actor.Class)
		case "kind":
			out[name] = r.ev.Kind.String()
		case "server":
			out[name] = r.ev.Server
		case "tool":
			out[name] = r.tool
		}
	}
	return out
}
