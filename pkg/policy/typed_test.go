package policy

import (
	"testing"
	"testing/fstest"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestTypingOfAnAuthority: a rule that is applied with authority makes its facts in the events of
// an authority alone, and Types knows which tools have rules.
func TestTypingOfAnAuthority(t *testing.T) {
	b, found := LoadFS(fstest.MapFS{"policy.yaml": {Data: []byte(`policy: t
revision: 1
authorities: [user]
facts: {approved: [draft], publish: [draft]}
typing:
  approved(d, note): {emits: approved(d), definite: 'note == "yes"'}
tools:
  review: {args: {d: string, note: string}, types: [{apply: 'approved(d, note)', authority: true}]}
  publish: {args: {d: string}, facts: [publish(d)]}
clauses:
  C: {text: t, forbid: {semantic: 'publish(d) AND NOT (ONCE approved(d))'}}
`)}})
	if len(found) > 0 {
		t.Fatalf("%+v", found)
	}
	for class, want := range map[schema.ActorClass]int{schema.ClassAgent: 0, schema.ClassUser: 1, schema.ClassCommand: 0} {
		ev := &schema.Event{
			Kind: schema.KindCall, Tool: "review", Actor: schema.Actor{ID: "x", Class: class},
			Args: schema.Payload{Status: schema.PayloadOK, Canon: []byte(`{"d":"a","note":"yes"}`)},
		}
		if got := b.Type(ev, false).Facts; len(got) != want {
			t.Errorf("%s: %v, want %d facts", class, got, want)
		}
		if got := b.Explain(nil, ev, false).Evidence; len(got) != want {
			t.Errorf("%s: %v, want %d reasons", class, got, want)
		}
	}
	for tool, want := range map[string]bool{"review": true, "publish": false, "other": false} {
		if b.Types(tool) != want || b.WithoutTyping().Types(tool) {
			t.Errorf("Types(%s) is %v", tool, b.Types(tool))
		}
	}
}
