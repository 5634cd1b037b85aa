package spatial

import (
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// TestCheckedTexts compiles what the checker makes of texts, with all connectives, and
// evaluates it at med_fwd, where the record A is, which is marked.
func TestCheckedTexts(t *testing.T) {
	w, err := world.New(medevac())
	if err != nil {
		t.Fatal(err)
	}
	w, _ = w.Apply([]world.Edit{
		{Op: world.Place, A: "A", B: "med_fwd"}, markEdit("marked", []string{"A", "PHI"}, verdict.F),
	}, world.Origin{Offset: 1})
	sig, names := check.Signature(w.Spec().Signature()), map[string]bool{}
	for name := range sig {
		names[name] = true
	}
	for _, c := range []struct {
		location string
		want     verdict.Value
	}{
		{`home IMPLIES medical_enclave`, verdict.F},
		{`EVERYWHERE (cop OR medical_enclave)`, verdict.F},
		{`FORALL o. (holds(@l, o) IMPLIES marked(o, "PHI"))`, verdict.F},
		{`FORALL o. (holds(@l, o) IMPLIES (marked(o, "PHI") AND NOT domain(@l, "MED")))`, verdict.T},
		{`EXISTS o. (holds(@l, o) AND (marked(o, "PHI") OR marked(o, "PII")))`, verdict.F},
		{`EXISTS o. (marked(o, "PHI") AND EXISTS v. (holds(v, o) AND v = @l))`, verdict.F},
		{`EXISTS o, d. (holds(@l, o) AND reaches(o, d) AND d = "med_rear")`, verdict.F},
		{`NOT (SOMEWHERE[1,*] TRUE)`, verdict.F},
		{`home REACH[0,0] (cop REACH cop)`, verdict.F},
		{`SOMEWHERE (@l = v AND home)`, verdict.F},
		{`SOMEWHERE (NOT (@l = v) AND connects(v, @l))`, verdict.F},
		{`EXISTS x. (label(@l, x) AND x = "forward")`, verdict.F},
	} {
		f, diags := syntax.Parse(`vertex(v) AND AT v (`+c.location+`)`, syntax.Options{Mode: syntax.Bundle})
		if diags.HasErrors() {
			t.Fatalf("%s: %v", c.location, diags)
		}
		checked, diags := check.Check(f, sig, check.Options{World: names})
		if diags.HasErrors() {
			t.Fatalf("%s: %v", c.location, diags)
		}
		found := false
		syntax.Walk(checked.Core, func(g syntax.Formula) bool {
			at, ok := g.(*syntax.At)
			if !ok {
				return true
			}
			found = true
			compiled, err := Compile(at, w.Spec())
			if err != nil {
				t.Fatalf("%s: %v", c.location, err)
			}
			var args []schema.Value
			for range compiled.Vars() {
				args = append(args, schema.StringValue("med_fwd"))
			}
			if got := compiled.Value(w, "med_fwd", args, world.Unsafe); got != c.want {
				t.Errorf("%s: %v, want %v; the core is %s", c.location, got, c.want, at)
			}
			return false
		})
		if !found {
			t.Errorf("%s: no AT in %s", c.location, checked.Core)
		}
	}
}
