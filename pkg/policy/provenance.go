package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/records"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// take says what of a text becomes a value.
type take string

const (
	takeValue       take = "value"       // the text as a whole
	takeTokens      take = "tokens"      // its words
	takeIdentifiers take = "identifiers" // its addresses, numbers and handles
	takePhrases     take = "phrases"     // its runs of up to some words
)

// phraseWords is how many words a phrase has at most, unless the bundle says otherwise.
const phraseWords = 3

// origin is one field from which values of a relation come.
type origin struct {
	trust    Trust
	take     take
	words    int          // of takePhrases
	path     records.Path // of a result
	pathText string
	from     schema.ActorClass // of messages: whose
	accepted bool              // of messages: reported ones count; see trust_reported
	place    string            // file:line:column, for explanations
}

// provenance is where the values of one relation come from at the results of one tool, or in
// messages.
type provenance struct {
	rel     string
	trusted bool
	origins []origin
}

// fromMessages is the key under which messages stand beside tools.
const fromMessages = "messages"

// provenanceNames declares the relations.
func (l *loader) provenanceNames(n *source.Node) {
	for _, f := range l.mapOf(n, "provenance") {
		if d := l.declare(f.Key, f.Key.Value, declProvenance); d != nil {
			d.emitted = true
			l.b.Signature[f.Key.Value] = []schema.ValueKind{schema.KindString}
		}
	}
}

// provenanceSection reads `payee: {list_payments: {path: "[].recipient", trust: trusted_tool}}`.
func (l *loader) provenanceSection(n *source.Node) {
	if n == nil || n.Kind != source.Map {
		return
	}
	for _, f := range n.Fields {
		d := l.names[f.Key.Value]
		if d == nil || d.kind != declProvenance || d.key != f.Key {
			continue // reported where it was to be declared
		}
		if f.Value.Kind != source.Map || len(f.Value.Fields) == 0 {
			l.report(f.Value, wrongType("the provenance of "+f.Key.Value, "a map of tools, or messages", f.Value.Describe()))
			d.trusted = true // as below
			continue
		}
		r := provenanceReader{l: l, rel: f.Key.Value, d: d}
		for _, from := range f.Value.Fields {
			r.source(from)
		}
		if r.first == nil {
			d.trusted = true // no source can be read, which is reported; nothing follows from it
		}
	}
}

// provenanceReader reads the sources of one relation.
type provenanceReader struct {
	l     *loader
	rel   string
	d     *declaration
	first *source.Node // trust of the first source
}

// source reads what one tool, or the messages, contribute.
func (r *provenanceReader) source(f source.Field) {
	var entry *toolEntry
	if f.Key.Value != fromMessages {
		if entry = r.tool(f.Key); entry == nil {
			return
		}
	}
	p := provenance{rel: r.rel}
	for _, item := range r.l.listOf(f.Value) {
		if o, ok := r.origin(item, entry); ok {
			p.trusted = o.trust.Trusted()
			p.origins = append(p.origins, o)
		}
	}
	switch {
	case len(p.origins) == 0:
		if len(r.l.listOf(f.Value)) == 0 {
			r.l.report(f.Value, wrongType("a source of "+r.rel, `a map such as {path: "[].email", trust: trusted_tool}`, "empty"))
		}
	case entry == nil:
		r.l.b.typing.messages = append(r.l.b.typing.messages, p)
	default:
		entry.provenance = append(entry.provenance, p)
	}
}

// tool finds the entry of a source.
func (r *provenanceReader) tool(key *source.Node) *toolEntry {
	e := r.l.b.typing.entries[key.Value]
	switch {
	case e == nil:
		r.l.report(key, undeclared("tool", key.Value, append(r.l.b.toolNames(), fromMessages)))
		return nil
	case e.name != key.Value:
		r.l.report(key, fault(CodeProvenance, "write "+e.name, "the tool %s is the same as %s and has its provenance", key.Value, e.name))
		return nil
	}
	return e
}

// origin reads `{path: "[].email", trust: trusted_tool, take: value}`.
func (r *provenanceReader) origin(n *source.Node, entry *toolEntry) (origin, bool) {
	l := r.l
	where := "a source of " + r.rel
	if n.Kind != source.Map {
		l.report(n, wrongType(where, `a map such as {path: "[].email", trust: trusted_tool}`, n.Describe()))
		return origin{}, false
	}
	keys, other := []string{"path", "trust", "take", "words"}, []string{"from", "trust_reported"}
	if entry == nil {
		keys, other = []string{"from", "trust", "take", "words", "trust_reported"}, []string{"path"}
	}
	for _, f := range n.Fields {
		if slices.Contains(other, f.Key.Value) {
			l.report(f.Key, misplacedSourceKey(f.Key.Value))
		}
	}
	l.keys(n, where, append(keys, other...), nil)
	o := origin{place: place(n)}
	sound := r.trust(n, &o)
	r.take(n, &o)
	if entry != nil {
		return o, r.path(n, &o, entry) && sound
	}
	o.accepted = l.trustReported(n.Get("trust_reported"), "what "+r.rel+" takes from messages") != ""
	return o, r.from(n, &o) && sound
}

func misplacedSourceKey(key string) finding {
	switch key {
	case "path":
		return fault(CodeProvenance, "delete it; take says what of the text becomes a value", "a message is a text and has no path")
	case "trust_reported":
		return fault(CodeProvenance, "write it under the tool", "trust_reported is a key of the tool, not of one of its fields")
	}
	return fault(CodeProvenance, "delete it, or write it under messages", "only messages are from somebody")
}

// trust reads whose values they are, and holds that a relation is all trusted or not at all.
func (r *provenanceReader) trust(n *source.Node, o *origin) bool {
	t := n.Get("trust")
	if t == nil {
		r.l.report(n, missingKey("trust", "a source of "+r.rel, "say who chooses the values of this field: "+trustNames()))
		return false
	}
	if o.trust = r.l.trust(t); o.trust == "" {
		return false
	}
	switch {
	case r.first == nil:
		r.first, r.d.trusted = t, o.trust.Trusted()
	case r.d.trusted != o.trust.Trusted():
		r.l.report(t, fault(CodeProvenance, "make two relations",
			"%s has trusted values and others: it starts with %s, and this is %s", r.rel, r.first.Value, o.trust))
		return false
	}
	return true
}

func trustNames() string {
	var names []string
	for _, t := range Trusts() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

func (r *provenanceReader) take(n *source.Node, o *origin) {
	o.take = takeValue
	if s, ok := r.l.choice(n.Get("take"), "take", string(takeValue), string(takeTokens), string(takeIdentifiers), string(takePhrases)); ok {
		o.take = take(s)
	}
	o.words = phraseWords
	words := n.Get("words")
	if words == nil {
		return
	}
	if o.take != takePhrases {
		r.l.report(words, fault(CodeProvenance, "delete it, or write take: phrases", "only phrases have a number of words"))
		return
	}
	if i, ok := r.l.integer(words, "words"); ok {
		if i < 1 || i > MaxPhraseWords {
			r.l.report(words, badValue("words", words.Value, fmt.Sprintf("is not from 1 to %d", MaxPhraseWords), ""))
			return
		}
		o.words = int(i)
	}
}

// path reads where in the result the values stand.
func (r *provenanceReader) path(n *source.Node, o *origin, entry *toolEntry) bool {
	at := n.Get("path")
	if at == nil {
		r.l.report(n, missingKey("path", "a source of "+r.rel, `name the field, for example path: "[].email", or path: "" for the whole result`))
		return false
	}
	if at.Kind != source.Scalar || (at.Type != source.String && !at.Quoted()) {
		r.l.report(at, quoteIt("path", "a text", at.Describe()))
		return false
	}
	o.pathText = at.Value
	path, err := records.ParsePath(at.Value)
	if err != nil {
		r.l.report(at, fault(CodeProvenance, `write names with points, [] for every item of a list, * for every key, for example "contacts[].email"`, "%v", err))
		return false
	}
	o.path = path
	if problem := unfit(entry.returns, at.Value); problem != "" {
		r.l.report(at, fault(CodeProvenance, `see returns of the tool`, "the path %q selects nothing: %s returns %v, and that is %s", at.Value, entry.name, entry.returns, problem))
		return false
	}
	return true
}

// unfit says what results of a format are, if a path cannot lead into them.
func unfit(f records.Format, path string) string {
	switch f {
	case records.Text:
		if path != "" {
			return "one text, whose path is \"\""
		}
	case records.Lines:
		if !strings.HasPrefix(path, "[") || strings.IndexByte(path, ']') != len(path)-1 || strings.Contains(path, `"`) {
			return `a list of texts, whose path is "[]" or that of one line such as "[0]"`
		}
	case records.JSON, records.YAML, records.Python:
	}
	return ""
}

// from reads whose messages they are.
func (r *provenanceReader) from(n *source.Node, o *origin) bool {
	at := n.Get("from")
	if at == nil {
		r.l.report(n, missingKey("from", "messages as a source of "+r.rel, "name the class whose messages count, for example from: user"))
		return false
	}
	s, ok := r.l.choice(at, "from", string(schema.ClassAgent), string(schema.ClassUser), string(schema.ClassTool),
		string(schema.ClassEnv), string(schema.ClassCommand), string(schema.ClassMonitor), string(schema.ClassSystem))
	if !ok {
		return false
	}
	o.from = schema.ActorClass(s)
	if why := mistrusted(o.from, o.trust, r.l.b.Authorities); why != "" {
		r.l.report(n.Get("trust"), fault(CodeProvenance, "write trust: untrusted_content, or agent for the agent's own words", "messages from %s are not %s: %s", o.from, o.trust, why))
		return false
	}
	return true
}

// mistrusted says why the words of a class are not of a trust domain.
func mistrusted(from schema.ActorClass, t Trust, authorities []schema.ActorClass) string {
	switch t {
	case TrustContent, TrustAgent:
		return ""
	case TrustUser:
		if from != schema.ClassUser {
			return "they are not the user's words"
		}
	case TrustAuthority:
		if !slices.Contains(authorities, from) {
			return "the class is not among the authorities of the policy"
		}
	case TrustTool, TrustSystem:
		if from == schema.ClassAgent {
			return "an agent's words make nothing known"
		}
	}
	return ""
}
