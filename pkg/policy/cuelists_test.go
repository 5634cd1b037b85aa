package policy

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// withCues is a bundle whose only call is suspected on account of its one argument.
const withCues = `cues: {phi: phi.txt}
typing: {hint(m): {emits: launch(m), cues: phi, in: m}}
tools: {go: {args: {m: string}, types: [hint(m)]}, back: {args: {m: string}, authority: true, facts: [land(m)]}}
`

// TestCueLists: what is wrong with a cue list is said where it stands.
func TestCueLists(t *testing.T) {
	swap := func(from, to string) string { return strings.Replace(withCues, from, to, 1) }
	for _, tt := range []struct {
		name, policy string
		phi, other   string
		want         []string
	}{
		{"nothing", withCues, "patient\nmedical record # of a patient\n\n# nok\nnok | next of kin\n", "", nil},
		{"no file", swap("phi.txt", "phi.text"), "patient\n", "", []string{`policy.yaml:1:13 B001 the bundle has no file "phi.text"`}},
		{"a file elsewhere", swap("phi.txt", "../phi.txt"), "patient\n", "", []string{`policy.yaml:1:13 B001 "../phi.txt" leaves the bundle`}},
		{"no name of a file", swap("phi.txt", "[patient]"), "patient\n", "", []string{`policy.yaml:1:13 B005 a cue list must be a text, and this is a list`}},
		{"no list", swap("{phi: phi.txt}", "phi.txt"), "patient\n", "", []string{`policy.yaml:1:7 B005 cues must be a map`, `policy.yaml:2:44 B010 there is no cue list "phi"`}},
		{"a bad name", swap("{phi: phi.txt}", "{phi: phi.txt, 1st: other.txt}"), "patient\n", "x\n", []string{`policy.yaml:1:22 B008 "1st" cannot be the name of a cue list`}},
		{"one file twice", swap("{phi: phi.txt}", "{phi: phi.txt, psi: phi.txt}"), "patient\n", "", []string{`policy.yaml:1:27 B009 the name "phi.txt" is taken by another cue list`}},
		{"never used", swap("{phi: phi.txt}", "{phi: phi.txt, arms: other.txt}"), "patient\n", "mortar\n", []string{`policy.yaml:1:22 B101 the cue list arms is never used`}},
		{"no such list", swap("cues: phi,", "cues: [phi, ph],"), "patient\n", "", []string{`policy.yaml:2:50 B010 there is no cue list "ph"`}},
		{"a duplicate", withCues, "patient\nnok\n  Patient\n", "", []string{`phi.txt:3:3 B120 the cue "Patient" changes nothing: wherever it is found, "patient" (line 1) is found too`}},
		{"hidden by a part", withCues, "service number\nnok | service\n", "", []string{`phi.txt:1:1 B120 the cue "service number" changes nothing: wherever it is found, "service" (line 2) is found too`}},
		{"hidden by a stem", withCues, "~grenade\nhand grenades\n", "", []string{`phi.txt:2:1 B120 the cue "hand grenades" changes nothing: wherever it is found, "grenade" (line 1) is found too`}},
		{"a stem is hidden by no word", withCues, "~hand grenade\ngrenade\n", "", nil},
		{"cues of two lists", swap("{phi: phi.txt}", "{phi: phi.txt, arms: other.txt}") + "classes: {}\n", "service number\n", "service\n", []string{`policy.yaml:1:22 B101 the cue list arms is never used`}},
	} {
		files := map[string]string{policyFile: filled(tt.policy), "phi.txt": tt.phi}
		if tt.other != "" {
			files["other.txt"] = tt.other
		}
		b, found := loadFiles(files)
		var got []string
		for _, d := range found {
			got = append(got, fmt.Sprintf("%s:%d:%d %s %s", d.File, d.Span.Start.Line, d.Span.Start.Col, d.Code, d.Message))
		}
		ok := len(got) == len(tt.want) && (b == nil) == found.HasErrors()
		for i := range min(len(got), len(tt.want)) {
			ok = ok && strings.HasPrefix(got[i], tt.want[i])
		}
		if !ok {
			t.Errorf("%s: found\n%s\nwant\n%s", tt.name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// TestCueListsAreDigested: a bundle with another cue is another bundle.
func TestCueListsAreDigested(t *testing.T) {
	files := map[string]string{policyFile: filled(withCues), "phi.txt": "patient\n"}
	one, _ := loadFiles(files)
	changed := maps.Clone(files)
	changed["phi.txt"] = "patients\n"
	if other, _ := loadFiles(changed); one == nil || other == nil || one.Digest == other.Digest {
		t.Errorf("bundles %v and %v", one, other)
	}
	if got := one.Sources()["phi.txt"]; got != "patient\n" {
		t.Errorf("the source of the list is %q", got)
	}
}

// TestManyCueLists: there are as many lists as a word has bits, and each is found.
func TestManyCueLists(t *testing.T) {
	for _, n := range []int{MaxCueLists, MaxCueLists + 1} {
		files := map[string]string{}
		lists, names := "", ""
		for i := range n {
			lists += fmt.Sprintf("  l%d: l%d.txt\n", i, i)
			names += fmt.Sprintf("l%d, ", i)
			files[fmt.Sprintf("l%d.txt", i)] = fmt.Sprintf("word%d\n", i)
		}
		files[policyFile] = filled("cues:\n" + lists + strings.Replace(strings.SplitN(withCues, "\n", 2)[1], "cues: phi", "cues: ["+names+"]", 1))
		b, found := loadFiles(files)
		if (b != nil) != (n <= MaxCueLists) {
			t.Fatalf("%d lists: %v", n, found)
		}
		for i := 0; b != nil && i < n; i++ {
			if got := b.Type(event(t, call("go", fmt.Sprintf(`{"m":"a word%d"}`, i))), false); len(got.Facts) != 1 {
				t.Errorf("the cue of list %d is not found", i)
			}
		}
	}
}
