package policy

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

func TestWorldOfBundle(t *testing.T) {
	b := load(t, "testdata/field")
	texts := func(s ...string) []schema.Value {
		var out []schema.Value
		for _, x := range s {
			out = append(out, schema.StringValue(x))
		}
		return out
	}
	want := &world.Spec{
		PhysicalUnit: "m",
		Vertices: []world.VertexSpec{
			{Name: "alpha", Sort: world.Physical},
			{Name: "cop", Sort: world.Informational, Domain: "MED", Labels: []string{"cop"}},
			{Name: "med_fwd", Sort: world.Informational, Domain: "MED", Labels: []string{"forward", "home", "medical_enclave"}},
			{Name: "open_1", Sort: world.Physical, Labels: []string{"own_lines"}},
			{Name: "partner_med", Sort: world.Informational, Domain: "MED_COALITION", Labels: []string{"medical_enclave"}},
			{Name: "rear", Sort: world.Informational, Domain: "MED", Labels: []string{"medical_enclave", "rear"}},
			{Name: "ridge", Sort: world.Physical, Labels: []string{"high", "masking"}},
			{Name: "wp_3", Sort: world.Physical, Labels: []string{"beyond"}},
		},
		Edges: []world.EdgeSpec{
			{From: "alpha", To: "open_1", Distance: 3000},
			{From: "alpha", To: "ridge", Distance: 1000},
			{From: "open_1", To: "wp_3", Distance: 700},
			{From: "ridge", To: "wp_3", Distance: 2500},
		},
		Channels: []world.ChannelSpec{
			{From: "med_fwd", To: "cop", Weight: 0, Open: true},
			{From: "med_fwd", To: "partner_med", Weight: world.WeightByDomain},
			{From: "med_fwd", To: "rear", Weight: world.WeightByDomain, Open: true},
		},
		Entities: []world.EntitySpec{{Name: "m1", Kind: "mission", Attributes: []world.AttributeSpec{
			{Name: "lz"}, {Name: "route", Values: texts("alpha", "wp_3")},
		}}},
		Objects:    []world.ObjectSpec{{Name: "A", At: []string{"cop", "med_fwd"}}, {Name: "B", At: []string{"partner_med"}}},
		Attributes: []string{"lz", "position", "route"},
		States: []world.StateSpec{
			{Name: "level", Kinds: []schema.ValueKind{schema.KindString, schema.KindInt}},
			{Name: "marked", Kinds: []schema.ValueKind{schema.KindString, schema.KindString}},
		},
		Labels:  []string{"masking", "medical_enclave", "own_lines", "surveyed"},
		Domains: []string{"ENEMY", "MED", "PARTNER"},
	}
	if !reflect.DeepEqual(b.World, want) {
		t.Errorf("world\n%+v\nwant\n%+v", b.World, want)
	}
	for name, kinds := range want.Signature() {
		if !slices.Equal(b.Signature[name], kinds) {
			t.Errorf("the relation %s is %v in the signature, want %v", name, b.Signature[name], kinds)
		}
	}
	if s := b.String(); !strings.Contains(s, "3 facts") || !strings.Contains(s, "a world of 8 vertices") {
		t.Error(s)
	}
}

// A state without a world makes an empty world.
func TestStateAlone(t *testing.T) {
	b, found := loadText(filled("state: {marked: [m]}\ntools: {go: {args: {m: string}, facts: [launch(m), marked(m)]}}\n" +
		"facts: {launch: [m]}\nclauses: {A: {text: t, forbid: {temporal: 'launch(x) AND marked(x)'}}}"))
	if b == nil || len(found) > 0 {
		t.Fatal(found)
	}
	if w := b.World; w == nil || len(w.States) != 1 || len(w.Vertices) != 0 || b.Signature["holds"] != nil {
		t.Errorf("%+v, signature %v", w, b.Signature)
	}
	if b, _ := loadText(filled("")); b.World != nil {
		t.Errorf("a bundle without a world has %+v", b.World)
	}
}

// showEdits prints edits as a test reads them.
func showEdits(edits []world.Edit) string {
	var out []string
	for _, e := range edits {
		parts := []string{}
		for _, s := range append([]string{e.Name, e.A, e.B}, e.Names...) {
			if s != "" {
				parts = append(parts, s)
			}
		}
		if e.Op == world.AddEdge || e.Op == world.OpenChannel {
			parts = append(parts, fmt.Sprint(e.N))
		}
		if e.Sort != world.Unknown {
			parts = append(parts, e.Sort.String())
		}
		for _, v := range e.Values {
			parts = append(parts, v.String())
		}
		out = append(out, e.Op.String()+"("+strings.Join(parts, ",")+")")
	}
	return strings.Join(out, " ")
}

func TestEffects(t *testing.T) {
	b := load(t, "testdata/field")
	const places = "exists gone holds reaches"
	for _, tt := range []struct {
		name, event, edits, facts, uncertain string
		invalid, documents                   bool
	}{
		{name: "default", event: `{"actor":"agent","tool":"create_record","args":{"record":"r"}}`, edits: `place(r,med_fwd)`, documents: true},
		{name: "mark before effect", event: `{"actor":"agent","tool":"create_record","args":{"record":"r","marking":"PHI"}}`, edits: `mark(marked,"r","PHI") place(r,med_fwd)`, documents: true},
		{name: "same as", event: `{"actor":"agent","tool":"replicate_record","args":{"record":"r","dest":"x y"}}`, edits: `place(r,x y)`},
		{name: "conditions", event: `{"actor":"agent","tool":"move_record","args":{"record":"r","dest":"rear","from":"cop"}}`, edits: `remove(r,cop) place(r,rear)`},
		{name: "other conditions", event: `{"actor":"agent","tool":"move_record","args":{"record":"r","dest":"rear"}}`, edits: `move(r,rear)`},
		{name: "derive", event: `{"actor":"agent","tool":"summarise","args":{"source":"r","output":"s"}}`, edits: `derive(s,r) place(s,med_fwd)`},
		{name: "purge", event: `{"actor":"agent","tool":"purge","args":{"record":"r","label":"forward"}}`, edits: `purge(r,forward)`},
		{name: "each", event: `{"actor":"agent","tool":"forget","args":{"records":["b","a","b"]}}`, edits: `destroy(b) destroy(a) destroy(b)`},
		{name: "each, one faulty", event: `{"actor":"agent","tool":"forget","args":{"records":["b",""]}}`, uncertain: places},
		{name: "open", event: `{"actor":"agent","tool":"open_feed","args":{"src":"a","dst":"b"}}`, edits: `open(a,b,-1)`},
		{name: "open with a weight", event: `{"actor":"agent","tool":"open_feed","args":{"src":"a","dst":"b","plain":false,"weight":3}}`, edits: `open(a,b,3)`},
		{name: "a negative weight", event: `{"actor":"agent","tool":"open_feed","args":{"src":"a","dst":"b","plain":false,"weight":-1}}`, uncertain: "connects opened reaches"},
		{name: "close", event: `{"actor":"agent","tool":"close_feed","args":{"src":"a","dst":"b"}}`, edits: `close(a,b)`},
		{name: "lists and texts", event: `{"actor":"agent","tool":"plan_route","args":{"mission":"m","cells":["a","b"],"more":["c"]}}`, edits: `set(route,m,"a","b") append(route,m,"c","wp_3")`},
		{name: "an empty list", event: `{"actor":"agent","tool":"plan_route","args":{"mission":"m","cells":[]}}`, edits: `set(route,m) append(route,m,"wp_3")`},
		{name: "an empty value", event: `{"actor":"agent","tool":"plan_route","args":{"mission":"m","cells":[""]}}`, edits: `append(route,m,"wp_3")`, uncertain: "route"},
		{name: "a vertex", event: `{"actor":"agent","tool":"survey","args":{"cell":"c","labels":["x","y"],"near":"alpha","distance":20}}`, edits: `add_vertex(c,x,y,physical) add_edge(c,alpha,20) add_label(alpha,surveyed)`},
		{name: "no sort", event: `{"actor":"agent","tool":"survey","args":{"cell":"c","sort":"x","near":"alpha","distance":0}}`, edits: `add_edge(c,alpha,0) add_label(alpha,surveyed)`, uncertain: "connects domain label opened reaches vertex"},
		{name: "a negative distance", event: `{"actor":"agent","tool":"survey","args":{"cell":"c","near":"alpha","distance":-1}}`, edits: `add_vertex(c,physical) add_label(alpha,surveyed)`, uncertain: "vertex"},
		{name: "removals", event: `{"actor":"agent","tool":"raze","args":{"cell":"c","near":"alpha"}}`, edits: `remove_edge(c,alpha) remove_label(c,masking) remove_vertex(c) set_domain(med_fwd,MED)`},
		{name: "a literal vertex", event: `{"actor":"agent","tool":"found","args":{"name":"n"}}`, edits: `add_vertex(n,MED,medical_enclave,forward,informational)`},
		{name: "an integer state", event: `{"actor":"agent","tool":"rate","args":{"record":"r","degree":4}}`, edits: `mark(level,"r",4)`},
		{name: "a state of a result", event: `{"actor":"tool","kind":"result","call":"c","tool":"rate","args":{"record":"r","degree":4},"result":{"degree":5},"ok":true}`, edits: `mark(level,"r",5)`},
		{name: "an unknown state", event: `{"actor":"tool","kind":"result","call":"c","tool":"rate","args":{"record":"r","degree":4},"result":{},"ok":true}`, uncertain: "level"},
		{name: "an effect by the agent", event: `{"actor":"agent","tool":"position","args":{"mission":"m","cell":"alpha"}}`},
		{name: "an effect by an authority", event: `{"actor":"env","kind":"observation","tool":"position","args":{"mission":"m","cell":"alpha"}}`, edits: `set(position,m,"alpha")`},
		{name: "nothing at the call", event: `{"actor":"agent","tool":"receive","args":{"record":"r"}}`},
		{name: "at the result", event: `{"actor":"tool","kind":"result","call":"c","tool":"receive","args":{"record":"r"},"result":{"at":"rear"},"ok":true}`, edits: `place(r,rear)`},
		{name: "an unreadable result", event: `{"actor":"tool","kind":"result","call":"c","tool":"receive","args":{"record":"r"},"result":5,"ok":true}`, uncertain: places},
		{name: "an error result", event: `{"actor":"tool","kind":"result","call":"c","tool":"receive","args":{"record":"r"},"result":{"at":"rear"},"ok":false}`},
		{name: "withheld", event: `{"actor":"agent","tool":"stage_record","args_status":"withheld"}`, uncertain: places},
		{name: "invalid", event: `{"actor":"agent","tool":"stage_record","args":{"record":1}}`, invalid: true},
		{name: "a class", event: `{"actor":"agent","session":"s9","tool":"send_mail"}`, edits: `place(s9,partner_med)`},
		{name: "a typed fact", event: `{"actor":"agent","tool":"load","args":{"mission":"m","text":"ammunition"}}`, facts: `non_medical("m")`},
		{name: "no typed fact", event: `{"actor":"agent","tool":"load","args":{"mission":"m","text":"water"}}`},
		{name: "domain of a vertex", event: `{"actor":"user","tool":"grant","args":{"record":"r","partner":"partner_med"}}`, facts: `grant_release("r","MED_COALITION")`},
		{name: "domain of a domain", event: `{"actor":"user","tool":"grant","args":{"record":"r","partner":"MED_COALITION"}}`, facts: `grant_release("r","MED_COALITION")`},
		{name: "domain of a set", event: `{"actor":"user","tool":"grant","args":{"record":"r","partner":"partner"}}`, facts: `grant_release("r","PARTNER")`},
		{name: "no domain", event: `{"actor":"user","tool":"grant","args":{"record":"r","partner":"alpha"}}`, uncertain: "grant_release"},
		{name: "a grant of an effect", event: `{"actor":"user","kind":"grant","tool":"grant_feed","args":{"src":"a","dst":"b"}}`, edits: `open(a,b,-1)`},
		{name: "a grant that revokes", event: `{"actor":"user","kind":"grant","tool":"grant_feed","args":{"src":"a","dst":"b"},"grant":{"revokes":"g"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.Type(event(t, tt.event), false)
			if s := showEdits(got.Edits); s != tt.edits {
				t.Errorf("edits %s, want %s", s, tt.edits)
			}
			if s := showFacts(got.Facts); s != tt.facts {
				t.Errorf("facts %s, want %s", s, tt.facts)
			}
			if s := strings.Join(got.Uncertain, " "); s != tt.uncertain || (len(got.Why) > 0) != (tt.uncertain != "") {
				t.Errorf("uncertain %q (%v), want %q", s, got.Why, tt.uncertain)
			}
			if got.Documents != tt.documents || (got.Invalid != "") != tt.invalid {
				t.Errorf("documents %v, invalid %q", got.Documents, got.Invalid)
			}
		})
	}
	if !b.Grantable("grant_feed") || !b.Grantable("send_mail") || b.Grantable("receive") {
		t.Error("Grantable does not look at effects")
	}
}

// An expression that a rule does not need may fail.
// TestResultRelationsOfEffects: a result that never comes leaves in doubt what its effects would
// have written.
func TestResultRelationsOfEffects(t *testing.T) {
	b := load(t, "testdata/field")
	tool := ""
	for name, e := range b.typing.entries {
		if slices.ContainsFunc(e.effects, func(e emitter) bool { return e.atResult }) {
			tool = name
		}
	}
	if got, want := b.ResultRelations(tool), []string{"exists", "gone", "holds", "reaches"}; !slices.Equal(got, want) {
		t.Errorf("%q: got %q, want %q", tool, got, want)
	}
}

func TestRuleNeedsWhatItReads(t *testing.T) {
	b, found := loadText(filled(`
state: {marked: [m, class]}
typing:
  phi(o, text, marking): {sets: 'marked(o, "PHI")', definite: 'marking == "PHI" || text == "x"'}
tools:
  go: {args: {m: string, marking: string}, facts: [launch(m)], types: ['phi(m, args.body, marking)']}
  back: {args: {m: string}, authority: true, facts: [land(m)]}
clauses: {A: {text: t, forbid: {temporal: 'launch(x) AND marked(x, _) AND NOT ONCE land(x)'}}}
`))
	if b == nil || len(found) > 0 {
		t.Fatal(found)
	}
	got := b.Type(event(t, `{"actor":"agent","tool":"go","args":{"m":"r","marking":"PHI"}}`), false)
	if s := showEdits(got.Edits); s != `mark(marked,"r","PHI")` || len(got.Uncertain) > 0 {
		t.Errorf("%s, uncertain %v (%v)", s, got.Uncertain, got.Why)
	}
	got = b.Type(event(t, `{"actor":"agent","tool":"go","args":{"m":"r","marking":""}}`), false)
	if !slices.Equal(got.Uncertain, []string{"marked"}) || len(got.Edits) > 0 || !strings.Contains(got.Why[0], `"text"`) {
		t.Errorf("%s, uncertain %v (%v)", showEdits(got.Edits), got.Uncertain, got.Why)
	}
}

func TestWithoutTyping(t *testing.T) {
	b := load(t, "testdata/field")
	off := b.WithoutTyping()
	if off.Digest != b.Digest || off.World != b.World {
		t.Error("another bundle")
	}
	create := event(t, `{"actor":"agent","tool":"create_record","args":{"record":"r","marking":"PHI"}}`)
	for text, want := range map[string]string{
		`{"actor":"agent","tool":"create_record","args":{"record":"r","marking":"PHI"}}`: "place(r,med_fwd) ",
		`{"actor":"agent","tool":"load","args":{"mission":"m","text":"ammunition"}}`:     " ",
		`{"actor":"agent","tool":"rate","args":{"record":"r","degree":4}}`:               `mark(level,"r",4) `,
	} {
		got := off.Type(event(t, text), false)
		if s := showEdits(got.Edits) + " " + showFacts(got.Facts); s != want {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
	if len(b.Type(create, false).Edits) != 2 {
		t.Error("the bundle itself was changed")
	}
}

// A faulty graph is reported at its place in its own file.
func TestImportsThatFail(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		line       int
		code       string
		part       string
	}{
		{"g.graphml", "<graphml>\n<graph>\n<node/>", 3, "B019", "has no name"},
		{"g.graphml", "<graphml>\n<graph>\n<node id='a'/>\n<edge source='a' target='b'/>", 4, "B019", "has no distance"},
		{"g.graphml", "<graphml>\n<graph>\n<node id='a'/>\n<node id='a'/></graph></graphml>", 4, "B009", `"a" is taken by the vertex on g.graphml:3`},
		{"g.graphml", "<graphml><key id='k' for='edge' attr.name='distance'><default>1</default></key><graph>\n<node id='alpha'/>\n<edge source='alpha' target='alpah'/></graph></graphml>", 3, "B010", `did you mean "alpha"`},
		{"g.graphml", "<graphml>\n<key id='k' for='node' attr.name='lables'/><graph><node id='a'>\n<data key='k'>x</data></node></graph></graphml>", 3, "B101", `did you mean "labels"`},
		{"g.geojson", "{\"type\": \"FeatureCollection\", \"features\": [\n{\"type\": \"Feature\", \"id\": \"a\", \"properties\": {\n\"sort\": \"x\"}}]}", 3, "B019", "no sort"},
		{"g.geojson", "{\"type\":\n \"FeatureCollection\", \"features\": [}", 2, "B019", "cannot be read"},
	} {
		fsys := fstest.MapFS{
			policyFile: {Data: []byte(filled("trace: tenant\nworld: {import: " + tt.name + "}"))},
			tt.name:    {Data: []byte(tt.text)},
		}
		_, found := LoadFS(fsys)
		if len(found) != 1 || found[0].File != tt.name || found[0].Span.Start.Line != tt.line || string(found[0].Code) != tt.code ||
			!strings.Contains(found[0].Message+found[0].Hint, tt.part) {
			t.Errorf("%s:\n%v", tt.text, found)
		}
	}
}

// The key escape holds for every formula, named ones and exceptions included.
func TestEscape(t *testing.T) {
	for key, want := range map[string]bool{"": false, "escape: unrestricted": false, "escape: restricted": true} {
		b, found := loadText(filled(key + `
trace: tenant
world: {vertices: {med: {sort: informational, domain: MED, labels: [a, b]}}}
define: {away(l): 'AT l (ESCAPE[1,*] a)'}
clauses:
  A:
    text: t
    forbid: {temporal: 'launch(x) AND NOT ONCE land(x)', spatial: 'launch(x) AND (away(x)) AND AT x (ESCAPE[0,5] (SOMEWHERE b))'}
    unless: {spatial: 'AT x (b SURROUND (ESCAPE a))'}
`))
		if b == nil || len(found) > 0 {
			t.Fatal(found)
		}
		seen := 0
		for _, f := range b.Clauses[0].Formulas {
			for _, root := range []syntax.Formula{f.Checked.Source, f.Checked.Core} {
				syntax.Walk(root, func(g syntax.Formula) bool {
					if e, ok := g.(*syntax.Escape); ok {
						seen++
						if e.Restricted != want {
							t.Errorf("%q: %s is restricted: %v", key, e, e.Restricted)
						}
					}
					return true
				})
			}
		}
		if seen != 6 {
			t.Errorf("%q: %d ESCAPEs seen", key, seen)
		}
	}
}

// What the description of worlds shows is read as it says.
func TestExamplesOfWorlds(t *testing.T) {
	data, err := os.ReadFile("../../docs/policy-world.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(data), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d examples found", len(blocks))
	}
	text := filled(`
trace: tenant
world: world.yaml
state: {marked: [record, class]}
typing: {'phi(o, marking)': {sets: 'marked(o, "PHI")', definite: 'marking == "PHI"'}}
facts: {launch: [m]}
clauses:
  A: {text: t, forbid: {temporal: 'launch(x) AND marked(x, _) AND (EXISTS c. (lz(x, c) AND route(x, c) AND position(x, c)))'}}
` + strings.Replace(blocks[1][1], "tools:\n", "tools:\n  go: {args: {m: string}, facts: [launch(m)], world: ['set(lz, m, \"alpha\")']}\n", 1))
	b, found := LoadFS(fstest.MapFS{
		policyFile: {Data: []byte(text)}, "world.yaml": {Data: []byte(blocks[0][1])},
		"terrain.graphml": {Data: []byte(`<graphml><graph><node id="x"/></graph></graphml>`)},
	})
	if b == nil || len(found) > 0 {
		t.Error(found.Render(map[string]string{policyFile: text, "world.yaml": blocks[0][1]}))
	}
	var listed []string
	for _, m := range regexp.MustCompile("`([a-z_]+)\\([a-z]").FindAllStringSubmatch(string(data), -1) {
		listed = append(listed, m[1])
	}
	for _, name := range operationNames() {
		if !slices.Contains(listed, name) {
			t.Errorf("the effect %s is not described", name)
		}
	}
}

// What a world cannot hold is said when the bundle is loaded.
func TestWorldThatCannotBe(t *testing.T) {
	_, found := loadText(filled("trace: tenant\nworld: {vertices: {a: {sort: physical}, b: {sort: physical}}, edges: [{from: a, to: b, distance: 9000000000000000000}]}"))
	wantCode(t, found, CodeWorld, policyFile, "no such world")
}
