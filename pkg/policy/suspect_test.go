package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// showTyped prints facts and marks, presumptive ones with a question mark.
func showTyped(got Typing) string {
	var out []string
	show := func(f schema.Fact) {
		s := showFacts([]schema.Fact{f})
		if f.Strength == verdict.Presumptive {
			s += "?"
		}
		out = append(out, s)
	}
	for _, e := range got.Edits {
		show(schema.Fact{Name: e.Name, Args: e.Values, Strength: e.Strength})
	}
	for _, f := range got.Facts {
		show(f)
	}
	return strings.Join(out, " ")
}

// answered writes an answer about a text as JSON.
func answered(name, text, rest string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf(`{"name":%q,"of":%q,%s}`, name, hex.EncodeToString(sum[:]), rest)
}

// call writes a call with answers as JSON.
func call(tool, args string, answers ...string) string {
	list := ""
	if len(answers) > 0 {
		list = `,"answers":[` + strings.Join(answers, ",") + `]`
	}
	return fmt.Sprintf(`{"actor":"agent","tool":%q,"args":%s%s}`, tool, args, list)
}

func TestSuspicion(t *testing.T) {
	b := load(t, "testdata/clinic")
	long, longer := strings.Repeat("x ", 128), strings.Repeat("x ", 129)
	hit, low, none := `"label":"leak","score":0.8`, `"label":"leak","score":0.79`, `"missing":true`
	for _, tt := range []struct {
		name, event, typed string
		uncertain          string
		degraded           string
	}{
		{name: "a marking", event: call("create", `{"record":"r","marking":"PHI"}`), typed: `marked("r","PHI")`},
		{name: "a cue in the text", event: call("create", `{"record":"r","text":"The Patient is well."}`), typed: `marked("r","PHI")?`},
		{name: "a cue in the name", event: call("create", `{"record":"patient-7.txt"}`), typed: `marked("patient-7.txt","PHI")?`},
		{name: "a cue of two words", event: call("create", `{"record":"r","text":"his medical\trecord"}`), typed: `marked("r","PHI")?`},
		{name: "a cue with a stem", event: call("create", `{"record":"r","text":"Service numbers: 1, 2"}`), typed: `marked("r","PHI")?`},
		{name: "no substring is a cue", event: call("create", `{"record":"r","text":"impatient, inpatients; medical; nokia"}`)},
		{name: "marking and cue", event: call("create", `{"record":"r","text":"patient","marking":"PHI"}`), typed: `marked("r","PHI")`},
		{name: "another marking", event: call("create", `{"record":"r","marking":"phi"}`)},
		{name: "a cue of another list", event: call("create", `{"record":"r","text":"mortar"}`)},
		{name: "a definite and a presumptive mark", event: call("twice", `{"record":"r","text":"patient","marking":"PHI"}`), typed: `marked("r","PHI") marked("r","PHI")?`},

		{name: "withheld arguments", event: `{"actor":"agent","tool":"create","args_status":"withheld"}`, uncertain: "marked"},
		{name: "an argument is not there", event: call("note", `{"record":"r","marking":"x"}`), uncertain: "marked"},
		{name: "and a cue is in another", event: call("note", `{"record":"patient","marking":"x"}`), typed: `marked("patient","PHI")?`},
		{name: "an argument of another type", event: call("note", `{"record":"r","text":7,"marking":"x"}`), uncertain: "marked"},
		{name: "whether it is marked is not known", event: call("note", `{"record":"r","text":"patient"}`), typed: `marked("r","PHI")?`, uncertain: "marked"},
		{name: "a marking does not need the text", event: call("note", `{"record":"r","marking":"PHI"}`), typed: `marked("r","PHI")`},

		{name: "a list of texts", event: call("amend", `{"m":"m1","text":"water","more":["food","two grenades"]}`), typed: `non_medical("m1")?`},
		{name: "a list without cues", event: call("amend", `{"m":"m1","text":"water","more":["food",""]}`)},
		{name: "the end of a long text", event: call("amend", `{"m":"m1","text":"`+long+`"}`)},
		{name: "beyond the limit", event: call("amend", `{"m":"m1","text":"`+longer+`"}`), degraded: "non_medical"},
		{name: "a cue beyond the limit", event: call("amend", `{"m":"m1","text":"`+long+`mortar"}`), degraded: "non_medical"},
		{name: "a cue within the limit", event: call("amend", `{"m":"m1","text":"mortar `+longer+`"}`), typed: `non_medical("m1")?`},
		{name: "a cue in another text", event: call("amend", `{"m":"m1","text":"`+longer+`","more":["mortar"]}`), typed: `non_medical("m1")?`},

		{name: "a result", event: `{"actor":"tool","kind":"result","call":"c","tool":"inbox","result":[{"id":"1","body":"hello"},{"id":"2","body":"Ammunition!"}],"ok":true}`, typed: `non_medical("2")?`},
		{name: "a result without a text", event: `{"actor":"tool","kind":"result","call":"c","tool":"inbox","result":[{"id":"1"},{"id":"2","body":"ammunition"}],"ok":true}`, typed: `non_medical("2")?`, uncertain: "non_medical"},
		{name: "an error result", event: `{"actor":"tool","kind":"result","call":"c","tool":"inbox","result":[{"id":"2","body":"ammunition"}],"ok":false}`},
		{name: "the call of a result", event: call("inbox", `{}`)},

		{name: "nobody answered", event: call("mail", `{"to":"a","body":"hi"}`), uncertain: "leaks rude"},
		{name: "all clear", event: call("mail", `{"to":"a","body":"hi"}`, answered("leak", "hi", low), answered("leak", "a", low), answered("tone", "hi", `"score":0.49`), answered("tone", "a", `"score":0`))},
		{
			name: "one answer is missing", event: call("mail", `{"to":"a","body":"hi"}`, answered("leak", "hi", low), answered("leak", "a", none), answered("tone", "hi", `"score":0.1`), answered("tone", "a", `"score":0`)),
			uncertain: "rude",
		},
		{name: "at the threshold", event: call("mail", `{"to":"a","body":"hi"}`, answered("leak", "hi", hit)), typed: `leaks("a")? rude("a")?`},
		{name: "another label", event: call("mail", `{"to":"a","body":"hi"}`, answered("leak", "hi", `"label":"benign","score":1`)), uncertain: "rude"},
		{name: "any label", event: call("mail", `{"to":"a","body":"hi"}`, answered("tone", "a", `"label":"anything","score":0.5`)), typed: `rude("a")?`, uncertain: "leaks"},
		{name: "about another text", event: call("mail", `{"to":"a","body":"hi"}`, answered("leak", "Hi", hit)), uncertain: "leaks rude"},
		{name: "about no text", event: call("mail", `{"to":"a","body":"hi"}`, `{"name":"leak","label":"leak","score":1}`), uncertain: "leaks rude"},
		{name: "of another classifier", event: call("mail", `{"to":"a","body":"hi"}`, answered("other", "hi", hit)), uncertain: "leaks rude"},
		{name: "no score", event: call("mail", `{"to":"a","body":"hi"}`, answered("leak", "hi", `"label":"leak","score":1.5`)), uncertain: "leaks rude"},
		{name: "a score below none", event: call("mail", `{"to":"a","body":"hi"}`, answered("leak", "hi", `"label":"leak","score":-1`)), uncertain: "leaks rude"},
		{name: "the severest of two", event: call("mail", `{"to":"a","body":"hi"}`, answered("leak", "hi", low), answered("leak", "hi", hit), answered("leak", "hi", none)), typed: `leaks("a")? rude("a")?`},
		{name: "no answer is worse than a good one", event: call("mail", `{"to":"a","body":"hi"}`, answered("leak", "hi", none), answered("leak", "hi", low)), uncertain: "leaks rude"},
		{name: "an empty text says nothing", event: call("mail", `{"to":"","body":" "}`)},
		{name: "a cue needs no answer", event: call("mail", `{"to":"a","body":"a patient"}`), typed: `leaks("a")?`, uncertain: "rude"},
		{name: "a classifier weakens nothing", event: call("mail", `{"to":"a@press.example","body":"hi"}`, answered("leak", "hi", hit)), typed: `leaks("a@press.example") rude("a@press.example")?`},
		{name: "beyond the limit, and no answer", event: call("mail", `{"to":"a","body":"`+longer+`"}`), uncertain: "leaks rude"},
		{
			name:     "beyond the limit, and all clear",
			event:    call("mail", `{"to":"","body":"`+longer+`"}`, answered("leak", long, low), answered("tone", long, `"score":0`)),
			degraded: "leaks rude",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.Type(event(t, tt.event), false)
			if s := showTyped(got); s != tt.typed {
				t.Errorf("typed %s, want %s", s, tt.typed)
			}
			if u, d := strings.Join(got.Uncertain, " "), strings.Join(got.Degraded, " "); u != tt.uncertain || d != tt.degraded {
				t.Errorf("uncertain %q, degraded %q (%v), want %q, %q", u, d, got.Why, tt.uncertain, tt.degraded)
			}
			if (len(got.Why) > 0) != (len(got.Uncertain)+len(got.Degraded) > 0) {
				t.Errorf("reasons %v for %v and %v", got.Why, got.Uncertain, got.Degraded)
			}
			if off := b.WithoutTyping().Type(event(t, tt.event), false); len(off.Facts)+len(off.Edits)+len(off.Uncertain)+len(off.Degraded) > 0 {
				t.Errorf("without typing: %+v", off)
			}
		})
	}
}

// loadFiles loads a bundle from the texts of its files.
func loadFiles(files map[string]string) (*Bundle, diag.List) {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return LoadFS(fsys)
}

// TestLookingAllocatesNothing: where nothing is found, looking for cues costs no memory.
func TestLookingAllocatesNothing(t *testing.T) {
	if raced {
		t.Skip("under the race detector pools allocate; the test runs without it")
	}
	ev := event(t, call("go", `{"m":"The quick brown fox jumps over the lazy dog, 12 times; and over 7 others."}`))
	allocations := func(rule string) float64 {
		b, found := loadFiles(map[string]string{policyFile: filled(strings.Replace(withCues, "cues: phi, in: m", rule, 1)), "phi.txt": "patient\n"})
		if b == nil {
			t.Fatal(found)
		}
		return testing.AllocsPerRun(200, func() { b.Type(ev, false) })
	}
	without, with := allocations(`definite: 'm == "x"'`), allocations(`definite: 'm == "x"', cues: phi, in: m`)
	if with > without {
		t.Errorf("%v allocations, without cues %v", with, without)
	}
}

// TestFactOfTwoRules: of a fact that two rules make the definite one stays.
func TestFactOfTwoRules(t *testing.T) {
	b, found := loadFiles(map[string]string{"policy.yaml": filled(`
cues: {phi: phi.txt}
typing:
  one(m): {emits: launch(m), cues: phi, in: m}
  two(m): {emits: launch(m), definite: 'm.startsWith("x")'}
tools: {go: {args: {m: string}, types: [one(m), two(m)]}, back: {args: {m: string}, authority: true, facts: [land(m)]}}
authorities: [user]
`), "phi.txt": "patient\n"})
	if b == nil {
		t.Fatal(found)
	}
	for m, want := range map[string]string{"x": `launch("x")`, "patient": `launch("patient")?`, "x patient": `launch("x patient")`, "y": ""} {
		if got := showTyped(b.Type(event(t, call("go", fmt.Sprintf(`{"m":%q}`, m))), false)); got != want {
			t.Errorf("%q is typed %s, want %s", m, got, want)
		}
	}
}

func TestQuestions(t *testing.T) {
	b := load(t, "testdata/clinic")
	long := strings.Repeat("x ", 128)
	for _, tt := range []struct{ name, event, want string }{
		{"each text, once", call("mail", `{"to":"a","body":"hi"}`), `leak:hi leak:a tone:hi tone:a`},
		{"one text twice", call("mail", `{"to":"a","body":"a"}`), `leak:a tone:a`},
		{"not where a cue is", call("mail", `{"to":"a","body":"patient"}`), `leak:patient leak:a tone:patient tone:a`},
		{"not where it is definite", call("mail", `{"to":"a@press.example","body":"hi"}`), `leak:hi leak:a@press.example tone:hi tone:a@press.example`},
		{"not of nothing", call("mail", `{"to":"","body":" \n"}`), ``},
		{"within the limit", call("mail", `{"to":"","body":"`+long+`yyy"}`), `leak:` + long + ` tone:` + long},
		{"answers do not matter", call("mail", `{"to":"","body":"b"}`, answered("leak", "b", `"score":1`)), `leak:b tone:b`},
		{"no rule asks", call("create", `{"record":"r","text":"t"}`), ``},
		{"an invalid call", call("mail", `{"to":"a"}`), ``},
		{"an unknown tool", call("x", `{"to":"a"}`), ``},
		{"a tick", `{"actor":"system","kind":"tick","tick":{"n":1,"time":1}}`, ``},
	} {
		ev := event(t, tt.event)
		var got []string
		for _, q := range b.Questions(nil, ev) {
			got = append(got, q.Classifier+":"+q.Text)
			if q.Classifier == "leak" && (len(q.Context) != 2 || q.Context["tool"] != "mail" || q.Context["kind"] != "call") || q.Classifier == "tone" && q.Context != nil {
				t.Errorf("%s: %s is told %v", tt.name, q.Classifier, q.Context)
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, s, tt.want)
		}
		if len(b.WithoutTyping().Questions(nil, ev)) > 0 {
			t.Errorf("%s: without typing there are questions", tt.name)
		}
	}
	want := []Classifier{{Name: "leak", Threshold: 0.8, Label: "leak", Timeout: 100e6, Context: []string{"kind", "tool"}}, {Name: "tone", Threshold: 0.5, Timeout: 500e6}}
	if got := b.Classifiers(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("classifiers %v, want %v", got, want)
	}
}

// TestQuestionsOfAResult: the tool and the arguments are those of its call.
func TestQuestionsOfAResult(t *testing.T) {
	b := load(t, "testdata/clinic")
	asked := event(t, call("fetch", `{"who":"a"}`))
	result := event(t, `{"actor":"tool","kind":"result","call":"c","result":"see you","ok":true}`)
	got := b.Questions(asked, result)
	if len(got) != 1 || got[0].Text != "see you" || got[0].Context["tool"] != "fetch" || got[0].Context["kind"] != "result" {
		t.Fatalf("questions %+v", got)
	}
	if s := b.TypeResult(asked, result, false); len(s.Facts) > 0 || !slices.Equal(s.Uncertain, []string{"leaks"}) {
		t.Errorf("without an answer: %+v", s)
	}
	result.Answers = []schema.Answer{{Name: "leak", Label: "leak", Score: 1, Of: got[0].Of()}}
	if s := showTyped(b.TypeResult(asked, result, false)); s != `leaks("a")?` {
		t.Errorf("with an answer: %s", s)
	}
	if got := b.Explain(asked, result, false); len(got.Evidence) != 1 || got.Evidence[0].Classifier != "leak" {
		t.Errorf("evidence %+v", got.Evidence)
	}
	if other := b.Questions(nil, result); len(other) > 0 {
		t.Errorf("without its call: %+v", other)
	}
	if result.Status = schema.ResultError; len(b.Questions(asked, result)) > 0 {
		t.Error("an error is asked about")
	}
}

// TestAnsweredQuestionsSettle: whatever the questions of an event are, once they are answered nothing is unknown.
func TestAnsweredQuestionsSettle(t *testing.T) {
	b := load(t, "testdata/clinic")
	for _, body := range []string{"hi", "a", "patient", "", " ", strings.Repeat("x", 255) + "é and more"} {
		for _, score := range []float64{0, 0.6, 1} {
			ev := event(t, call("mail", fmt.Sprintf(`{"to":"a","body":%q}`, body)))
			for _, q := range b.Questions(nil, ev) {
				ev.Answers = append(ev.Answers, schema.Answer{Name: q.Classifier, Of: q.Of(), Score: score, Label: "leak"})
			}
			if got := b.Type(ev, false); len(got.Uncertain) > 0 {
				t.Errorf("%q is answered %v: %v", body, score, got.Why)
			}
		}
	}
}

// TestManyQuestions: what is not asked stays unknown.
func TestManyQuestions(t *testing.T) {
	b, found := loadFiles(map[string]string{"policy.yaml": filled(`
classifiers: {tone: {threshold: 0.5}}
typing: {'rude(m, texts)': {emits: launch(m), classifiers: tone, in: texts}}
tools: {go: {args: {m: string, texts: '[string]'}, types: ['rude(m, texts)']}, back: {args: {m: string}, authority: true, facts: [land(m)]}}
`)})
	if b == nil {
		t.Fatal(found)
	}
	for _, n := range []int{MaxQuestions, MaxQuestions + 1, MaxEach, MaxEach + 1} {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = fmt.Sprintf(`"t%d"`, i)
		}
		ev := event(t, call("go", `{"m":"m","texts":[`+strings.Join(texts, ",")+`]}`))
		questions := b.Questions(nil, ev)
		for _, q := range questions {
			ev.Answers = append(ev.Answers, schema.Answer{Name: q.Classifier, Of: q.Of()})
		}
		asked := min(n, MaxQuestions)
		if n > MaxEach {
			asked = 0
		}
		if got := b.Type(ev, false); len(questions) != asked || (len(got.Uncertain) > 0) != (n > MaxQuestions) {
			t.Errorf("%d texts: %d questions, then %v", n, len(questions), got.Why)
		}
	}
}

func TestEvidence(t *testing.T) {
	b := load(t, "testdata/clinic")
	for _, tt := range []struct{ name, event, want string }{
		{"a marking", call("create", `{"record":"r","text":"patient","marking":"PHI"}`), `marked("r","PHI"): phi: marking == "PHI"`},
		{
			"cues", call("create", `{"record":"the patient","text":"A Service Number, a patient."}`),
			`marked("the patient","PHI")?: phi: phi "patient" in o[0] 4-11 "the patient"; ` +
				`marked("the patient","PHI")?: phi: phi "service number" in text[0] 2-16 "A Service Number, a patient."; ` +
				`marked("the patient","PHI")?: phi: phi "patient" in text[0] 20-27 "A Service Number, a patient."`,
		},
		{"the second text", call("amend", `{"m":"m","text":"a","more":["b","mortar"]}`), `non_medical("m")?: load: arms "mortar" in texts[2] 0-6 "mortar"`},
		{
			"answers", call("mail", `{"to":"a","body":"hi"}`, answered("leak", "hi", `"version":"v1","label":"leak","score":0.9`), answered("tone", "hi", `"score":0`), answered("tone", "a", `"score":0.7`)),
			`leaks("a")?: leak: leak v1 leak 0.9 of text[0]; rude("a")?: rude: leak v1 leak 0.9 of text[0]; rude("a")?: rude: tone   0.7 of to[0]`,
		},
		{"nothing", call("create", `{"record":"r"}`), ""},
		{"no rule", call("release", `{"record":"r"}`), ""},
	} {
		got := b.Explain(nil, event(t, tt.event), false)
		var out []string
		for _, e := range got.Evidence {
			s := showTyped(Typing{Facts: []schema.Fact{e.Fact}}) + ": " + e.Rule + ": "
			switch e.Source {
			case FromMarking:
				s += e.Condition
			case FromCue:
				s += fmt.Sprintf("%s %q in %s[%d] %d-%d %q", e.List, e.Cue, e.Param, e.Item, e.Start, e.End, e.Excerpt)
			case FromClassifier:
				s += fmt.Sprintf("%s %s %s %v of %s[%d]", e.Classifier, e.Version, e.Label, e.Score, e.Param, e.Item)
			}
			if !strings.HasPrefix(e.Place, "policy.yaml:") {
				t.Errorf("%s: the place is %q", tt.name, e.Place)
			}
			out = append(out, s)
		}
		slices.Sort(out)
		want := strings.Split(tt.want, "; ")
		slices.Sort(want)
		if s := strings.Join(out, "; "); s != strings.Join(want, "; ") {
			t.Errorf("%s:\n %s, want\n %s", tt.name, s, strings.Join(want, "; "))
		}
		if plain := b.Type(event(t, tt.event), false); showTyped(plain) != showTyped(got) || plain.Evidence != nil {
			t.Errorf("%s: explained %s, typed %s with evidence %v", tt.name, showTyped(got), showTyped(plain), plain.Evidence)
		}
	}
}

// TestEvidenceIsBounded: sixteen cues of a fact are shown, and of each what is around it.
func TestEvidenceIsBounded(t *testing.T) {
	b := load(t, "testdata/clinic")
	got := b.Explain(nil, event(t, call("create", `{"record":"r","text":"`+strings.Repeat("é patient ", 20)+`"}`)), false)
	if len(got.Evidence) != maxHits {
		t.Fatalf("%d reasons", len(got.Evidence))
	}
	for _, e := range got.Evidence {
		if len(e.Excerpt) > MaxExcerpt || !strings.Contains(e.Excerpt, "patient") || strings.ContainsRune(e.Excerpt, '�') {
			t.Errorf("excerpt %q", e.Excerpt)
		}
	}
	var texts []string
	for i := range MaxEach {
		texts = append(texts, fmt.Sprintf(`{"id":"%d","body":"mortar"}`, i))
	}
	result := `{"actor":"tool","kind":"result","call":"c","tool":"inbox","result":[` + strings.Join(texts, ",") + `],"ok":true}`
	if got := b.Explain(nil, event(t, result), false); len(got.Evidence) != maxEvidence || len(got.Facts) != MaxEach {
		t.Errorf("%d reasons for %d facts", len(got.Evidence), len(got.Facts))
	}
}
