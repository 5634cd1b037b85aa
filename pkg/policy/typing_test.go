package policy

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// showFacts prints facts as a test reads them.
func showFacts(facts []schema.Fact) string {
	var out []string
	for _, f := range facts {
		var args []string
		for _, a := range f.Args {
			args = append(args, a.String())
		}
		out = append(out, f.Name+"("+strings.Join(args, ",")+")")
	}
	return strings.Join(out, " ")
}

// event reads the JSON form of an event, observed unless it says otherwise.
func event(tb testing.TB, text string) *schema.Event {
	tb.Helper()
	ev, err := schema.ParseEventJSON([]byte(text))
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	if !strings.Contains(text, `"vantage"`) {
		ev.Vantage = schema.Observed
	}
	return ev
}

func TestTypeByEntry(t *testing.T) {
	b := load(t, "testdata/consent")
	for _, tt := range []struct {
		name, event, facts string
		invalid            string // a part of it
		uncertain          string
		unmapped           bool
	}{
		{name: "arguments", event: `{"actor":"agent","tool":"pay","args":{"account":"1","amount":100.5}}`, facts: `paid("1",10050)`},
		{name: "default", event: `{"actor":"agent","tool":"export_record","args":{"object":"r","to":"archive"}}`, facts: `export("r","archive")`},
		{name: "condition", event: `{"actor":"agent","tool":"export_record","args":{"object":"r","to":"partner"}}`, facts: `export("r","partner") leaves("r","HOME","AWAY")`},
		{name: "same as", event: `{"actor":"agent","tool":"share_record","args":{"object":"r","to":"archive"}}`, facts: `export("r","archive")`},
		{name: "each, sorted and once", event: `{"actor":"agent","tool":"send_mail","args":{"to":["b","a","b"],"cc":["c"]}}`, facts: `send("a") send("b") send("c")`},
		{name: "each of none", event: `{"actor":"agent","tool":"send_mail","args":{"to":[]}}`},
		{name: "null is the default", event: `{"actor":"agent","tool":"send_mail","args":{"to":["a"],"cc":null}}`, facts: `send("a")`},
		{name: "glob", event: `{"actor":"agent","tool":"read_file","args":{"path":"/x/../y/.env"}}`, facts: `read("/x/../y/.env") secret("/x/../y/.env")`},
		{name: "no effects", event: `{"actor":"agent","tool":"get_time","args":{"zone":"x"}}`},
		{name: "unknown domain", event: `{"actor":"agent","tool":"export_record","args":{"object":"r","to":"nowhere"}}`, facts: `export("r","nowhere")`, uncertain: "leaves"},
		{name: "no arguments", event: `{"actor":"agent","tool":"pay"}`, invalid: `argument "account" is missing; argument "amount" is missing`},
		{name: "wrong type", event: `{"actor":"agent","tool":"set_level","args":{"n":"1"}}`, invalid: `argument "n" is a string, and must be int`},
		{name: "undeclared", event: `{"actor":"agent","tool":"set_level","args":{"n":1,"m":2}}`, invalid: `argument "m" is not declared`},
		{name: "integral float", event: `{"actor":"agent","tool":"set_level","args":{"n":1.0}}`, facts: `level(1)`},
		{name: "too large", event: `{"actor":"agent","tool":"set_level","args":{"n":12345678901234567890}}`, invalid: "64 bits"},
		{name: "contradiction", event: `{"actor":"agent","tool":"export_record","args":{"object":"r","to":"r"}}`, invalid: "contradicts itself: object == to"},
		{name: "not an object", event: `{"actor":"agent","tool":"pay","args":[1]}`, invalid: "not a readable object"},
		{name: "malformed", event: `{"actor":"agent","tool":"pay","args_status":"malformed"}`, invalid: "not a readable object"},
		{name: "withheld", event: `{"actor":"agent","tool":"pay","args_status":"withheld"}`, uncertain: "paid"},
		{name: "unmapped", event: `{"actor":"agent","tool":"format_disk"}`, unmapped: true},
		{name: "tool names are exact", event: `{"actor":"agent","tool":"Pay"}`, unmapped: true},
		{name: "an unmapped observation", event: `{"actor":"env","kind":"observation","tool":"x"}`},
		{name: "a message", event: `{"actor":"user","kind":"message","text":"hello"}`},
		{name: "grant by an authority", event: `{"actor":"user","kind":"grant","tool":"give_consent","args":{"object":"r"}}`, facts: `consent("r")`},
		{name: "call by an authority", event: `{"actor":"command","tool":"give_consent","args":{"object":"r"}}`, facts: `consent("r")`},
		{name: "call by the agent", event: `{"actor":"agent","tool":"give_consent","args":{"object":"r"}}`},
		{name: "a principal that is none", event: `{"actor":"env","kind":"grant","tool":"give_consent","args":{"object":"r"}}`},
		{name: "revoking grant", event: `{"actor":"user","kind":"grant","tool":"give_consent","args":{"object":"r"},"grant":{"revokes":"g1"}}`},
		{name: "grant for later", event: `{"actor":"user","kind":"grant","tool":"give_consent","args":{"object":"r"},"ts":"1h","grant":{"not_before":"2h"}}`},
		{name: "grant since then", event: `{"actor":"user","kind":"grant","tool":"give_consent","args":{"object":"r"},"ts":"2h","grant":{"not_before":"2h"}}`, facts: `consent("r")`},
		{name: "ok result", event: `{"actor":"tool","kind":"result","call":"c","tool":"find_contact","result":{"rows":[{"email":"a"},{"email":"b"}]},"ok":true}`, facts: `known("a") known("b")`},
		{name: "error result", event: `{"actor":"tool","kind":"result","call":"c","tool":"find_contact","result":{"rows":[{"email":"a"}]},"ok":false}`},
		{name: "result of another form", event: `{"actor":"tool","kind":"result","call":"c","tool":"find_contact","result":"none","ok":true}`, uncertain: "known"},
		{name: "partly of another form", event: `{"actor":"tool","kind":"result","call":"c","tool":"find_contact","result":{"rows":[{"email":"a"},{"mail":"b"}]},"ok":true}`, facts: `known("a")`, uncertain: "known"},
		{name: "withheld result", event: `{"actor":"tool","kind":"result","call":"c","tool":"find_contact","result_status":"withheld","ok":true}`, uncertain: "known"},
		{name: "a result brings no facts of the call", event: `{"actor":"tool","kind":"result","call":"c","tool":"pay","result":1,"ok":true}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.Type(event(t, tt.event), false)
			if s := showFacts(got.Facts); s != tt.facts {
				t.Errorf("facts %s, want %s", s, tt.facts)
			}
			if !strings.Contains(got.Invalid, tt.invalid) || (got.Invalid == "") != (tt.invalid == "") {
				t.Errorf("invalid %q, want %q", got.Invalid, tt.invalid)
			}
			if s := strings.Join(got.Uncertain, " "); s != tt.uncertain || (len(got.Why) > 0) != (tt.uncertain != "") {
				t.Errorf("uncertain %q (%v), want %q", s, got.Why, tt.uncertain)
			}
			if got.Mapped == tt.unmapped {
				t.Errorf("mapped %v, want %v", got.Mapped, !tt.unmapped)
			}
		})
	}
}

func TestAuthority(t *testing.T) {
	b, found := loadText(filled(`
authorities: [user]
accept: {self-authority: for the test}
classes: {ack: {contains: [approve], emits: land(event.session), authority: true}}
tools:
  go: {args: {m: string}, facts: [launch(m)]}
  ask: {facts: [{emit: land(event.session), authority: true, at: result}]}
`))
	if found.HasErrors() {
		t.Fatal(found)
	}
	for _, tt := range []struct {
		name, event     string
		enforce, obeyed bool // in enforce mode, in observe mode
	}{
		{"agent's call", `{"actor":"agent","session":"s","tool":"approve"}`, false, true},
		{"user's call", `{"actor":"user","session":"s","tool":"approve"}`, true, true},
		{"user's reported call", `{"actor":"user","session":"s","tool":"approve","vantage":"reported"}`, true, true},
		{"user's message", `{"actor":"user","kind":"message","session":"s","tool":"approve"}`, true, true},
		{"user's reported message", `{"actor":"user","kind":"message","session":"s","tool":"approve","vantage":"reported"}`, false, true},
		{"agent's result", `{"actor":"agent","kind":"result","session":"s","tool":"ask","ok":true}`, false, true},
		{"user's result", `{"actor":"user","kind":"result","session":"s","tool":"ask","ok":true}`, true, true},
	} {
		ev := event(t, tt.event)
		if got := len(b.Type(ev, false).Facts) > 0; got != tt.enforce {
			t.Errorf("%s counts in enforce mode: %v", tt.name, got)
		}
		if got := len(b.Type(ev, true).Facts) > 0; got != tt.obeyed {
			t.Errorf("%s counts in observe mode: %v", tt.name, got)
		}
	}
	call := event(t, `{"actor":"user","session":"s","tool":"ask"}`)
	result := event(t, `{"actor":"tool","kind":"result","session":"s","ok":true}`)
	if got := showFacts(b.TypeResult(call, result, false).Facts); got != `land("s")` {
		t.Errorf("the result of a user's call gives %q", got)
	}
	if got := b.Type(result, false); len(got.Facts) > 0 {
		t.Errorf("a result without a tool gives %v", got.Facts)
	}
	b.SelfAuthority = ""
	if got := b.Type(event(t, `{"actor":"agent","session":"s","tool":"approve"}`), true); len(got.Facts) > 0 {
		t.Error("observe mode counts an agent's approval without an accepted exception")
	}
}

// TestClassesMakeFactsAsToolsDo: with each, when and a moment of their own.
func TestClassesMakeFactsAsToolsDo(t *testing.T) {
	b, found := loadText(filled(`
classes:
  reader:
    contains: [read_]
    at: result
    emits:
      - {emit: launch(v), each: 'v in extract(event.result, "to (\\w+)")'}
      - {emit: land(event.tool), when: event.tool.startsWith("read_"), at: call}
`))
	if found.HasErrors() {
		t.Fatal(found)
	}
	for text, want := range map[string]string{
		`{"actor":"agent","tool":"read_mail"}`:                                                `land("read_mail")`,
		`{"actor":"agent","tool":"spread_mail"}`:                                              ``,
		`{"actor":"tool","kind":"result","tool":"read_mail","result":"to a, to b","ok":true}`: `launch("a") launch("b")`,
	} {
		if got := showFacts(b.Type(event(t, text), false).Facts); got != want {
			t.Errorf("%s: facts %s, want %s", text, got, want)
		}
	}
}

func TestResultsThatDischarge(t *testing.T) {
	b := load(t, "testdata/consent")
	for rel, want := range map[string][]string{
		"known": {"find_contact"}, "archived": {"export_record", "share_record"}, "export": nil, "nothing": nil,
	} {
		if got := b.DischargesFromResult(rel); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", rel, got, want)
		}
	}
	if got := b.ResultRelations("share_record"); !slices.Equal(got, []string{"archived"}) {
		t.Errorf("the result of share_record supplies %v", got)
	}
	if !b.ResultSupplies("share_record", "archived") || b.ResultSupplies("share_record", "export") {
		t.Error("ResultSupplies disagrees with DischargesFromResult")
	}
}

// classesOf is the definition of the classes, without an automaton.
func classesOf(classes []class, tool string) []string {
	var out []string
	lower := strings.ToLower(tool)
	for _, c := range classes {
		has := func(in []string, test func(string, string) bool) bool {
			return slices.ContainsFunc(in, func(s string) bool { return test(lower, s) })
		}
		if has(c.contains, strings.Contains) && !has(c.unless, strings.HasPrefix) {
			out = append(out, c.name)
		}
	}
	return out
}

// The automaton against the definition, over few letters so that parts overlap,
// contain one another and end together.
func TestMatcherAgainstDefinition(t *testing.T) {
	const seed = 20
	r := rand.New(rand.NewPCG(seed, 0))
	word := func(most int) string {
		b := make([]byte, 1+r.IntN(most))
		for i := range b {
			b[i] = "abC_"[r.IntN(4)]
		}
		return string(b)
	}
	hits := 0
	for range 300 {
		classes := make([]class, 1+r.IntN(MaxClasses))
		for i := range classes {
			classes[i].name = fmt.Sprint(i)
			for range r.IntN(4) {
				classes[i].contains = append(classes[i].contains, strings.ToLower(word(4)))
			}
			for range r.IntN(2) {
				classes[i].unless = append(classes[i].unless, strings.ToLower(word(3)))
			}
		}
		ty := typing{classes: newMatcher(classes)}
		for range 50 {
			tool := word(12)
			if r.IntN(10) == 0 {
				tool += "É" + word(3)
			}
			got, want := ty.classNames(ty.classes.match(tool)), classesOf(classes, tool)
			hits += len(want)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d (a constant of this test): %q is %v, want %v (%+v)", seed, tool, got, want, classes)
			}
		}
	}
	if hits < 1000 {
		t.Errorf("only %d classes matched", hits)
	}
}

func TestBaselineClasses(t *testing.T) {
	b := load(t, "../../policies/baseline")
	for tool, want := range map[string]string{
		"delete_file": "destructive", "Transfer_Funds": "financial", "send_direct_message": "", "send_email": "export",
		"get_most_recent_transactions": "", "add_user_autodelete": "destructive teardown", "authorize_payment": "financial approval",
		"unlock_door": "teardown actuation", "share_file_export": "export", "request_otp": "approval", "search_deleted": "",
		"schedule_transaction": "financial", "update_scheduled_transaction": "financial actuation", "reserve_hotel": "",
	} {
		if got := strings.Join(b.Classes(tool), " "); got != want {
			t.Errorf("%s is %q, want %q", tool, got, want)
		}
	}
	got := b.Type(event(t, `{"actor":"agent","session":"s9","tool":"authorize_payment"}`), true)
	if s := showFacts(got.Facts); s != `approval("s9") financial("s9")` || !got.Mapped {
		t.Errorf("facts %s", s)
	}
	if got := b.Type(event(t, `{"actor":"agent","session":"s9","tool":"authorize_payment"}`), false); showFacts(got.Facts) != `financial("s9")` {
		t.Errorf("in enforce mode: %s", showFacts(got.Facts))
	}
	if got := b.Type(event(t, `{"actor":"agent","tool":"get_x"}`), false); got.Mapped || len(got.Facts) > 0 {
		t.Errorf("a reading tool is %+v", got)
	}
}

// Typing changes neither bundle nor event and gives the same every time.
func TestTypeIsPure(t *testing.T) {
	b := load(t, "testdata/consent")
	text := `{"actor":"agent","tool":"export_record","session":"s","args":{"object":"r","to":"partner"},"labels":{"a":"1"}}`
	ev, same := event(t, text), event(t, text)
	first := b.Type(ev, false)
	for range 20 {
		if got := b.Type(ev, false); !reflect.DeepEqual(got, first) {
			t.Fatalf("%+v, then %+v", first, got)
		}
	}
	if !reflect.DeepEqual(ev, same) {
		t.Error("the event was changed")
	}
}

func TestGlobs(t *testing.T) {
	for _, tt := range []struct {
		glob, path string
		want       bool
	}{
		{"**/.env*", ".env", true},
		{"**/.env*", "/a/b/.env.local", true},
		{"**/.env*", "/a/b/x.env", false},
		{"**/.env*", "/a/.env/b", false},
		{"~/.ssh/**", "~/.ssh/id", true},
		{"~/.ssh/**", "~/.ssh", true},
		{"~/.ssh/**", "~/.ssh/../x", false},
		{"a/*/c", "a/b/c", true},
		{"a/*/c", "a/b/b/c", false},
		{"a/**/c", "a/c", true},
		{"a/**/c", "a/x/../y/z/c", true},
		{"*a*b", "xaxxab", true},
		{"?", "é", true},
		{"?", "ab", false},
	} {
		if got := glob(strings.Split(tt.glob, "/")).matches(tt.path); got != tt.want {
			t.Errorf("%s on %s: %v", tt.glob, tt.path, got)
		}
	}
}

func TestEachLimit(t *testing.T) {
	b := load(t, "testdata/consent")
	mail := func(n int) *schema.Event {
		return event(t, `{"actor":"agent","tool":"send_mail","args":{"to":["a"`+strings.Repeat(`,"a"`, n-1)+`]}}`)
	}
	if got := b.Type(mail(MaxEach), false); len(got.Facts) != 1 || len(got.Uncertain) > 0 {
		t.Errorf("at the limit: %v %v", got.Facts, got.Why)
	}
	if got := b.Type(mail(MaxEach+1), false); len(got.Facts) != 0 || !slices.Equal(got.Uncertain, []string{"send"}) {
		t.Errorf("above the limit: %v %v", got.Facts, got.Uncertain)
	}
}

func TestTypeAllocations(t *testing.T) {
	b := load(t, "../../policies/baseline")
	for text, most := range map[string]float64{
		`{"actor":"agent","session":"s","tool":"get_current_weather_of_city"}`: 0,
		`{"actor":"agent","session":"s","tool":"reserve_restaurant"}`:          0,
		`{"actor":"agent","session":"s","tool":"send_money"}`:                  3,
	} {
		ev := event(t, text)
		if got := testing.AllocsPerRun(100, func() { b.Type(ev, false) }); got > most {
			t.Errorf("%s: %v allocations, want at most %v", ev.Tool, got, most)
		}
	}
}

func BenchmarkType(bench *testing.B) {
	baseline, consent := load(bench, "../../policies/baseline"), load(bench, "testdata/consent")
	field, clinic := load(bench, "testdata/field"), load(bench, "testdata/clinic")
	wide, limited := *clinic, clinic.typing
	limited.textLimit = maxTextLimit
	wide.typing = limited
	for _, c := range []struct {
		name string
		b    *Bundle
		text string
	}{
		{"class-none", baseline, `{"actor":"agent","session":"s","tool":"reserve_restaurant"}`},
		{"class-one", baseline, `{"actor":"agent","session":"s","tool":"update_user_info"}`},
		{"expressions", consent, `{"actor":"agent","session":"s","tool":"export_record","args":{"object":"r","to":"partner"}}`},
		{"effect", field, `{"actor":"agent","session":"s","tool":"stage_record","args":{"record":"r","dest":"cop"}}`},
		{"effect-and-rule", field, `{"actor":"agent","session":"s","tool":"create_record","args":{"record":"r","marking":"PHI"}}`},
		{"cues-none", clinic, call("create", `{"record":"r","text":"the quick brown fox jumps over the lazy dog"}`)},
		{"cues-one", clinic, call("create", `{"record":"r","text":"the quick brown patient jumps over the lazy dog"}`)},
		{"cues-64KB", &wide, call("create", `{"record":"r","text":"`+strings.Repeat("the quick brown fox ", 3200)+`"}`)},
	} {
		ev := event(bench, c.text)
		bench.Run(c.name, func(bench *testing.B) {
			bench.ReportAllocs()
			for bench.Loop() {
				c.b.Type(ev, false)
			}
		})
	}
}

// A bundle is shared by workers; run with -race.
func TestTypeConcurrently(t *testing.T) {
	b := load(t, "testdata/consent")
	texts := []string{
		`{"actor":"agent","tool":"export_record","session":"s","args":{"object":"r","to":"partner"}}`,
		`{"actor":"agent","tool":"send_mail","args":{"to":["a","b"]}}`,
		`{"actor":"agent","tool":"read_file","args":{"path":"/srv/.env"}}`,
	}
	var done sync.WaitGroup
	for i := range 8 {
		ev := event(t, texts[i%len(texts)])
		want := showFacts(b.Type(ev, false).Facts)
		done.Go(func() {
			for range 100 {
				if got := showFacts(b.Type(ev, false).Facts); got != want {
					t.Errorf("%s, want %s", got, want)
					return
				}
			}
		})
	}
	done.Wait()
}

// What the format's description shows is read as it says.
func TestExamplesOfTheDescription(t *testing.T) {
	data, err := os.ReadFile("../../policies/README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := "policy: p\nrevision: 1\nauthorities: [user]\nfacts: {export: [o], sent: [s], send: [a], known: [a], consent: [o], revoked: [o], leaves: [o], marked: [o, class], leaks: [who]}\nsets: {internal: [a]}\n"
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(data), -1)
	for _, m := range blocks {
		text += strings.ReplaceAll(m[1], "'…'", "'NOT (EXISTS o. (export(o) AND revoked(o)))'")
	}
	if len(blocks) < 3 {
		t.Fatalf("%d examples found", len(blocks))
	}
	files := map[string]string{policyFile: text, "cues/phi.txt": "patient\n", "cues/plans.txt": "~blueprint\n"}
	if b, found := loadFiles(files); b == nil {
		t.Error(found.Render(files))
	}
}
