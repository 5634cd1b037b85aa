package offline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/aspects/temporal"
	"github.com/aspis-rv/aspis/pkg/policy"
)

const loadPolicy = `policy: p
revision: 1
text_limit: 64KB
cues: {arms: arms.txt}
facts: {non_medical: [mission], cross: [mission]}
typing:
  load(m, text): {emits: non_medical(m), cues: arms, in: text}
tools:
  amend: {args: {mission: string, text: string}, types: ['load(mission, text)']}
  cross: {args: {mission: string}, facts: [cross(mission)]}
clauses:
  C1:
    text: What crosses carries a medical load, and did before.
    forbid: {temporal: 'cross(m) AND (ONCE[0s,1h] non_medical(m))'}
`

// TestPaddingSmugglesNothing: a text that is longer than the limit is not looked at beyond it,
// and so is no evidence of anything: a call with one is refused as unknown, and where it just
// happened, what rests on it is, as long as it counts.
func TestPaddingSmugglesNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"policy.yaml": loadPolicy, "arms.txt": "ammunition\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, diags := policy.Load(dir)
	if diags.HasErrors() {
		t.Fatalf("%+v", diags)
	}
	engine, err := temporal.New(b)
	if err != nil {
		t.Fatal(err)
	}
	padding := strings.Repeat("blankets ", 64_000/9+1)
	for _, tt := range []struct {
		name, kind, text string
		want             string // for the amendment, crossing after a minute, crossing after two hours
	}{
		{"a clean text", "call", "blankets", "permit, permit, permit"},
		{"a cue", "call", "blankets, ammunition", "permit, permit C1, permit"},
		{"a cue and padding", "call", "ammunition " + padding, "permit, permit C1, permit"},
		{"padding and a cue", "call", padding + "ammunition", "refuse unknown C1, permit, permit"},
		{"only padding", "call", padding, "refuse unknown C1, permit, permit"},
		{"it happened", "observation", padding + "ammunition", "refuse unknown C1, permit"},
		{"it happened to be clean", "observation", "blankets", "permit, permit"},
	} {
		ev := func(ts, kind, tool, args string) string {
			class := map[string]string{"call": "agent", "observation": "env"}[kind]
			id := ""
			if kind == "call" {
				id = `"call":"` + ts + `",`
			}
			return fmt.Sprintf(`{"session":"s","actor":%q,"kind":%q,%s"ts":%q,"tool":%q,"args":%s}`+"\n", class, kind, id, ts, tool, args)
		}
		log := ev("1s", tt.kind, "amend", fmt.Sprintf(`{"mission":"m1","text":%q}`, tt.text)) +
			ev("1m", "call", "cross", `{"mission":"m1"}`) + ev("2h", "call", "cross", `{"mission":"m1"}`)
		decisions := decide(t, b, engine, log)
		var got []string
		for _, d := range decisions {
			got = append(got, strings.Join(strings.Fields(fmt.Sprint(d.Resolution.Outcome, " ", d.Resolution.Reason, " ", d.Resolution.Clause, " ", strings.Join(d.Resolution.Flags, " "))), " "))
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, s, tt.want)
		}
	}
}
