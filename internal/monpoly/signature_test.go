package monpoly

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/schema"
)

func TestSignature(t *testing.T) {
	text := "# users and their files\np(int) q(x:int, name:string)\n\tmy-pred:a(v:float) # three\r\ne() \"odd name\"(string)"
	got, err := ParseSignature([]byte(text), "sig")
	if err != nil {
		t.Fatal(err)
	}
	want := check.Signature{
		"p": {schema.KindInt}, "q": {schema.KindInt, schema.KindString}, "my-pred:a": {schema.KindFloat}, "e": {}, "odd name": {schema.KindString},
	}
	if !maps.EqualFunc(got, want, slices.Equal[[]schema.ValueKind]) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSignatureSaysWhatIsWrong(t *testing.T) {
	for _, tc := range []struct{ text, want, hint string }{
		{"p(x:bool)", `sig:1:3: there is no type "bool"`, "the types are int, string and float"},
		{"P(x:Int)", `sig:1:3: there is no type "Int"`, "did you mean int?"},
		{"p(x: int)", `sig:1:3: there is no type ""`, ""},
		{"p(x:int);", `sig:1:9: expected the name of a relation, found ";"`, ""},
		{"p(x:int)\np(x:int)", `sig:2:1: the relation "p" is declared twice`, "remove"},
		{"q()\ntp(int)", `sig:2:1: the relation "tp" is built in`, "remove"},
		{"tpts(int,int)", `sig:1:1: the relation "tpts" is built in`, "remove"},
		{"p", `sig:1:2: expected "(" after the relation p, found the end`, ""},
		{"p(int", `sig:1:6: expected "," or ")", found the end`, ""},
		{"p(int,)", `sig:1:7: expected the type of a column, found ")"`, ""},
		{`""()`, `sig:1:1: a relation has no name`, ""},
		{"my.pred(int) p(a:b:int)", `sig:1:16: there is no type "b:int"`, ""},
	} {
		_, err := ParseSignature([]byte(tc.text), "sig")
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Error() != tc.want || !strings.Contains(e.Hint, tc.hint) {
			t.Errorf("%q: got %v, want %s with hint %q", tc.text, err, tc.want, tc.hint)
		}
	}
}

// FuzzSignature holds that what is read is what is declared: written again, it reads the
// same.
func FuzzSignature(f *testing.F) {
	f.Add("p(int) q(x:int,y:string)\n# c\ne()")
	f.Add("p(x: int)")
	f.Add(`"a\"b"(float)r"c"()`)
	f.Fuzz(func(t *testing.T, text string) {
		sig, err := ParseSignature([]byte(text), "sig")
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Line < 1 || e.Col < 1 || e.Line > 1+strings.Count(text, "\n")+strings.Count(text, "\r") {
				t.Fatalf("%q: %v is no place in it", text, err)
			}
			return
		}
		again, err := ParseSignature([]byte(signatureText(sig)), "sig")
		if err != nil || !maps.EqualFunc(again, sig, slices.Equal[[]schema.ValueKind]) {
			t.Fatalf("%q: read as %v, written again as %v (%v)", text, sig, again, err)
		}
	})
}

func signatureText(sig check.Signature) string {
	var b strings.Builder
	for name, kinds := range sig {
		columns := []string{}
		for _, k := range kinds {
			columns = append(columns, k.String())
		}
		b.WriteString(`"` + name + `"(` + strings.Join(columns, ",") + ")\n")
	}
	return b.String()
}
