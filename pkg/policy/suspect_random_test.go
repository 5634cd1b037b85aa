package policy

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// The flags of the random comparison of typing.
var (
	typingSeed   = flag.Uint64("typing.seed", 1, "first seed of the random comparison of typing") //nolint:gochecknoglobals // flags of a test binary are global
	typingRounds = flag.Int("typing.rounds", 300, "bundles that the comparison loads")            //nolint:gochecknoglobals // flags of a test binary are global
)

// The most that a text of the comparison may have before it is cut.
const typingLimit = minTextLimit

// guess is a typing rule as the comparison knows it: `emits g0(o)` over (o, text, marking).
type guess struct {
	definite    bool // marking == "X"
	cues        []int
	classifiers []int
	in          []string // o, text
}

// suspicions is a random bundle with rules, as the comparison knows it.
type suspicions struct {
	lists [][]string // phrases
	rules []guess
}

// material is what an event says; nil for what it does not.
type material struct {
	o       string
	text    any // string, []string or int
	marking any
	answers []schema.Answer
}

func randomWords(r *rand.Rand, most int) string {
	var out []string
	for range 1 + r.IntN(most) {
		out = append(out, []string{"pine", "oak", "pineoak", "elm", "ash", "fir"}[r.IntN(6)])
	}
	return strings.Join(out, " ")
}

func randomSuspicions(r *rand.Rand) suspicions {
	var s suspicions
	for range 1 + r.IntN(3) {
		var list []string
		for range 1 + r.IntN(2) {
			list = append(list, randomWords(r, 2))
		}
		s.lists = append(s.lists, unique(list))
	}
	for range 1 + r.IntN(3) {
		u := guess{definite: r.IntN(2) == 0, in: [][]string{{"text"}, {"o", "text"}, {"text", "o"}}[r.IntN(3)]}
		for i := range s.lists {
			if r.IntN(2) == 0 {
				u.cues = append(u.cues, i)
			}
		}
		for i := range 2 {
			if r.IntN(3) == 0 {
				u.classifiers = append(u.classifiers, i)
			}
		}
		if u.cues == nil && u.classifiers == nil {
			u.cues = []int{0}
		}
		s.rules = append(s.rules, u)
	}
	return s
}

// files writes the bundle.
func (s *suspicions) files() map[string]string {
	out := map[string]string{}
	names := func(prefix string, numbers []int) string {
		var list []string
		for _, i := range numbers {
			list = append(list, fmt.Sprint(prefix, i))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	text := fmt.Sprintf("policy: p\nrevision: 1\ntext_limit: %dB\nclassifiers: {k0: {threshold: 0.5}, k1: {threshold: 0.5, label: yes it is}}\n", typingLimit)
	lists, facts, rules, types, reads := "", "", "", "", "go(o)"
	for i, list := range s.lists {
		lists += fmt.Sprintf("  l%d: l%d.txt\n", i, i)
		out[fmt.Sprintf("l%d.txt", i)] = strings.Join(list, "\n")
	}
	for i, u := range s.rules {
		facts += fmt.Sprintf("  g%d: [o]\n", i)
		rules += fmt.Sprintf("  r%d(o, text, marking): {emits: g%d(o), in: [%s]", i, i, strings.Join(u.in, ", "))
		if u.definite {
			rules += `, definite: 'marking == "X"'`
		}
		if u.cues != nil {
			rules += ", cues: " + names("l", u.cues)
		}
		if u.classifiers != nil {
			rules += ", classifiers: " + names("k", u.classifiers)
		}
		rules += "}\n"
		types += fmt.Sprintf("      - 'r%d(args.o, args.text, args.marking)'\n", i)
		reads += fmt.Sprintf(" OR g%d(o)", i)
	}
	out[policyFile] = text + "cues:\n" + lists + "facts:\n  go: [o]\n" + facts + "typing:\n" + rules +
		"tools:\n  act:\n    facts: [go(args.o)]\n    types:\n" + types + "clauses: {A: {text: t, forbid: {temporal: '" + reads + "'}}}\n"
	return out
}

func randomText(r *rand.Rand) string {
	var s strings.Builder
	for range r.IntN(5) {
		word := randomWords(r, 1)
		if r.IntN(3) == 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		s.WriteString(word + []string{" ", ", ", "\n", " (", ""}[r.IntN(5)])
	}
	if r.IntN(8) == 0 {
		return strings.Repeat("x ", typingLimit/2-5) + s.String()
	}
	return s.String()
}

func randomMaterial(r *rand.Rand) material {
	m := material{o: randomText(r)}
	switch r.IntN(8) {
	case 0:
	case 1:
		m.text = 7
	case 2, 3, 4:
		list := []string{}
		for range r.IntN(4) {
			list = append(list, randomText(r))
		}
		m.text = list
	default:
		m.text = randomText(r)
	}
	if r.IntN(5) > 0 {
		m.marking = []string{"X", "Y", ""}[r.IntN(3)]
	}
	list, _ := m.texts("text")
	for _, text := range append(list, m.o, "else") {
		for k := range 2 {
			for range r.IntN(3) {
				m.answers = append(m.answers, randomAnswer(r, k, text))
			}
		}
	}
	return m
}

func randomAnswer(r *rand.Rand, k int, text string) schema.Answer {
	of := sha256.Sum256([]byte(text[:min(len(text), typingLimit)]))
	a := schema.Answer{Name: fmt.Sprint("k", k), Of: of[:]}
	if r.IntN(5) == 0 {
		a.Missing = true
		return a
	}
	a.Score = []float64{0, 0.4, 0.4, 0.5, 0.9}[r.IntN(5)]
	a.Label = []string{"yes it is", "no"}[r.IntN(2)]
	return a
}

// texts are those of a parameter; readable is false when it is no text, or not there.
func (m *material) texts(param string) (list []string, readable bool) {
	if param == "o" {
		return []string{m.o}, true
	}
	switch x := m.text.(type) {
	case string:
		return []string{x}, true
	case []string:
		return x, true
	}
	return nil, false
}

func (m *material) event(t *testing.T) *schema.Event {
	t.Helper()
	args := map[string]any{"o": m.o}
	if m.text != nil {
		args["text"] = m.text
	}
	if m.marking != nil {
		args["marking"] = m.marking
	}
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	ev := event(t, call("act", string(data)))
	ev.Answers = m.answers
	return ev
}

// has is the definition of a cue being in a text: its words one after the other, in the text as
// it stands or with a break before each capital inside a word.
func has(text, phrase string) bool {
	return hasWords(text, phrase) || hasWords(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(text, "$1 $2"), phrase)
}

func hasWords(text, phrase string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	return strings.Contains(" "+strings.Join(words, " ")+" ", " "+phrase+" ")
}

// judge is the definition of typing: how strongly a rule's fact holds, nil when it does not,
// and what is not known.
func (s *suspicions) judge(u *guess, m *material) (holds *verdict.Strength, uncertain, degraded bool) {
	definite, presumptive := verdict.Definite, verdict.Presumptive
	if u.definite && m.marking == "X" {
		return &definite, false, false
	}
	uncertain = u.definite && m.marking == nil
	var texts []string
	cut, unreadable := false, false
	for _, param := range u.in {
		list, readable := m.texts(param)
		unreadable = unreadable || !readable
		for _, text := range list {
			cut = cut || len(text) > typingLimit
			texts = append(texts, text[:min(len(text), typingLimit)])
		}
	}
	for _, text := range texts {
		for _, list := range u.cues {
			if slices.ContainsFunc(s.lists[list], func(phrase string) bool { return has(text, phrase) }) {
				return &presumptive, uncertain, false
			}
		}
	}
	unanswered := false
	for _, text := range texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		for _, k := range u.classifiers {
			worst := -1
			for _, a := range m.answers {
				if of := sha256.Sum256([]byte(text)); a.Name != fmt.Sprint("k", k) || string(a.Of) != string(of[:]) {
					continue
				}
				says := 0
				switch {
				case a.Missing:
					says = 1
				case a.Score >= 0.5 && (k == 0 || a.Label == "yes it is"):
					says = 2
				}
				worst = max(worst, says)
			}
			if worst == 2 {
				return &presumptive, uncertain, false
			}
			unanswered = unanswered || worst != 0
		}
	}
	uncertain = uncertain || unreadable || unanswered
	return nil, uncertain, cut && !uncertain
}

// TestTypingAgainstDefinition compares typing with its definition on random rules and events,
// and holds that more evidence never weakens a fact.
func TestTypingAgainstDefinition(t *testing.T) {
	seen := map[string]int{}
	for i := range *typingRounds {
		seed := *typingSeed + uint64(i)
		r := rand.New(rand.NewPCG(seed, 0))
		s := randomSuspicions(r)
		b, found := loadFiles(s.files())
		if b == nil {
			t.Fatalf("seed %d: %v\n%s", seed, found, s.files()[policyFile])
		}
		for range 20 {
			m := randomMaterial(r)
			where := fmt.Sprintf("seed %d (repeat: go test ./pkg/policy -run TestTypingAgainstDefinition -args -typing.seed %d -typing.rounds 1)\nlists %v rules %+v\nevent %+v",
				seed, seed, s.lists, s.rules, m)
			got := b.Type(m.event(t), false)
			want := s.typing(&m)
			if showTyped(got) != showTyped(want) || !slices.Equal(got.Uncertain, want.Uncertain) || !slices.Equal(got.Degraded, want.Degraded) {
				t.Fatalf("%s\n got %s uncertain %v degraded %v\nwant %s uncertain %v degraded %v",
					where, showTyped(got), got.Uncertain, got.Degraded, showTyped(want), want.Uncertain, want.Degraded)
			}
			seen["uncertain"] += len(got.Uncertain)
			seen["degraded"] += len(got.Degraded)
			for _, f := range got.Facts[:max(0, len(got.Facts)-1)] { // but for go
				seen[f.Strength.String()]++
			}
			more := m.strengthened(r, &s)
			if weaker := weakened(got.Facts, b.Type(more.event(t), false).Facts); weaker != "" {
				t.Fatalf("%s\n%s is weaker with more evidence: %+v", where, weaker, more)
			}
		}
	}
	for _, what := range []string{"definite", "presumptive", "uncertain", "degraded"} {
		if *typingRounds >= 300 && seen[what] < 50 {
			t.Errorf("%s facts %d times", what, seen[what])
		}
	}
	t.Log(seen)
}

// typing is the definition applied to all rules.
func (s *suspicions) typing(m *material) Typing {
	var out Typing
	args := []schema.Value{schema.StringValue(m.o)}
	for i := range s.rules {
		rel := fmt.Sprint("g", i)
		holds, uncertain, degraded := s.judge(&s.rules[i], m)
		if holds != nil {
			out.Facts = append(out.Facts, schema.Fact{Name: rel, Args: args, Strength: *holds})
		}
		if uncertain {
			out.Uncertain = append(out.Uncertain, rel)
		}
		if degraded {
			out.Degraded = append(out.Degraded, rel)
		}
	}
	out.Facts = append(out.Facts, schema.Fact{Name: "go", Args: args})
	return out
}

// strengthened is the event with more evidence: a marking, an answer, a text.
func (m *material) strengthened(r *rand.Rand, s *suspicions) material {
	more := *m
	switch r.IntN(3) {
	case 0:
		more.marking = "X"
	case 1:
		list, _ := m.texts("text")
		text := append(slices.Clone(list), m.o)[r.IntN(len(list)+1)]
		more.answers = append(slices.Clone(m.answers), randomAnswer(r, r.IntN(2), text))
	case 2:
		if list, ok := m.texts("text"); ok {
			more.text = append(slices.Clone(list), s.lists[0][0])
		}
	}
	return more
}

// weakened names a fact of which there is less than before.
func weakened(before, after []schema.Fact) string {
	strengths := map[string]verdict.Strength{}
	for _, f := range after {
		strengths[f.Name] = f.Strength
	}
	for _, f := range before {
		if s, ok := strengths[f.Name]; !ok || s > f.Strength {
			return f.Name + fmt.Sprint(slices.Sorted(maps.Keys(strengths)))
		}
	}
	return ""
}
