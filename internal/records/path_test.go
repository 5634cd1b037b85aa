package records

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const mailbox = `{"contacts": [{"email": "a@x", "tags": ["p", "q"]}, {"email": "b@x"}, {"name": "c"}], "New Asiaway": {"address": "1 Rue"}, "b.c": {"": 7}, "n": null}`

func TestSelect(t *testing.T) {
	v, err := Parse(JSON, mailbox)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ path, want string }{
		{"n", "n=null;"},
		{"contacts[].email", "contacts[0].email=a@x;contacts[1].email=b@x;"},
		{"contacts[1].email", "contacts[1].email=b@x;"},
		{"contacts[3].email", ""},
		{"contacts[].tags[]", "contacts[0].tags[0]=p;contacts[0].tags[1]=q;"},
		{"contacts[].tags[1]", "contacts[0].tags[1]=q;"},
		{"*.address", `["New Asiaway"].address=1 Rue;`},
		{`["New Asiaway"].*`, `["New Asiaway"].address=1 Rue;`},
		{`["b.c"][""]`, `["b.c"][""]=7;`},
		{`["\u0062.c"].*`, `["b.c"][""]=7;`},
		{`["n"]`, "n=null;"},
		{"contacts.email", ""},
		{"[]", ""},
		{"[0]", ""},
		{"missing.x", ""},
		{"n.x", ""},
		{"contacts[0].email.*", ""},
	} {
		p := mustPath(t, tc.path)
		if got := selected(p, v); got != tc.want {
			t.Errorf("%s selects %s, want %s", tc.path, got, tc.want)
		}
	}
	if got := selected(Path{}, NewString("a")); got != "=a;" {
		t.Errorf("the empty path selects %s", got)
	}
	n := 0
	mustPath(t, "contacts[].*").Select(v, func(string, Value) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("after false there were %d visits, want 2", n)
	}
}

func TestParsePathRefuses(t *testing.T) {
	for _, tc := range []struct {
		path    string
		offset  int
		problem string
	}{
		{".a", 0, "a name"},
		{"a.", 2, "a name"},
		{"a..b", 2, "a name"},
		{"a b", 1, "a point"},
		{"a*", 1, "a point"},
		{"*a", 1, "a point"},
		{"[]a", 2, "a point"},
		{"a[", 2, "a closing bracket"},
		{"a[1", 3, "a closing bracket"},
		{"a[-1]", 2, "a closing bracket"},
		{"a[x]", 2, "a closing bracket"},
		{"a.[0]", 2, "a name"},
		{"[01]", 1, "no index"},
		{"[65536]", 1, "no index"},
		{"[99999999999999999999]", 1, "no index"},
		{`["a`, 0, "does not end"},
		{`["a"`, 0, "does not end"},
		{`["a\`, 0, "does not end"},
		{`["\q"]`, 1, "double quotes"},
		{`['a']`, 1, "a closing bracket"},
		{"a\xff", 1, "a point"},
		{strings.Repeat("[]", MaxSteps+1), 2 * MaxSteps, "64 steps"},
	} {
		p, err := ParsePath(tc.path)
		var at *PathError
		if !errors.As(err, &at) || !errors.Is(err, ErrPath) {
			t.Errorf("%q: got %v, %v; want a PathError", tc.path, p, err)
			continue
		}
		if at.Offset != tc.offset || !strings.Contains(at.Problem, tc.problem) || at.Repair == "" {
			t.Errorf("%q: got %v, want %q at byte %d", tc.path, err, tc.problem, tc.offset)
		}
	}
}

// naiveSelect is the definition: each place of a value whose own path has the steps,
// where * stands for any name and [] for any index.
func naiveSelect(p Path, v Value) []string {
	var out []string
	var walk func(at []step, v Value)
	walk = func(at []step, v Value) {
		if slices.EqualFunc(at, p.steps, func(own, wanted step) bool {
			switch wanted.kind {
			case everyMember:
				return own.kind == byName
			case everyItem:
				return own.kind == byIndex
			case byName, byIndex:
			}
			return own == wanted
		}) {
			out = append(out, fmt.Sprintf("%s=%s", Path{steps: at}, v.AppendJSON(nil)))
		}
		for i := range v.Len() {
			if v.Kind() == List {
				walk(append(slices.Clone(at), step{kind: byIndex, index: i}), v.Item(i))
			} else {
				walk(append(slices.Clone(at), step{kind: byName, name: v.Member(i).Name}), v.Member(i).Value)
			}
		}
	}
	walk(nil, v)
	return out
}

// checkPath compares Select and Replace with the definition, and what is selected with
// what its own path selects.
func checkPath(t *testing.T, p Path, v Value) {
	t.Helper()
	if again, err := ParsePath(p.String()); err != nil || !slices.Equal(again.steps, p.steps) {
		t.Fatalf("%#v is written %s and read as %#v (%v)", p, p, again, err)
	}
	var got []string
	p.Select(v, func(at string, w Value) bool {
		got = append(got, fmt.Sprintf("%s=%s", at, w.AppendJSON(nil)))
		own := mustPath(t, at)
		n := 0
		own.Select(v, func(place string, x Value) bool {
			n++
			if place != at || !x.Equal(w) {
				t.Fatalf("%s selects %s at %s", own, x.AppendJSON(nil), place)
			}
			return true
		})
		if n != 1 {
			t.Fatalf("%s selects %d values", own, n)
		}
		return true
	})
	if want := naiveSelect(p, v); !slices.Equal(got, want) {
		t.Fatalf("%s in %s selects\n %q, want\n %q", p, v.AppendJSON(nil), got, want)
	}
	n := 0
	changed := p.Replace(v, func(_ string, _ Value) Value { n++; return NewString("\x00new") })
	if n != len(got) {
		t.Fatalf("%s in %s replaces %d values of %d", p, v.AppendJSON(nil), n, len(got))
	}
	p.Select(changed, func(at string, w Value) bool {
		if text, _ := w.Text(); text != "\x00new" {
			t.Fatalf("%s was not replaced", at)
		}
		return true
	})
	if same := p.Replace(v, func(_ string, w Value) Value { return w }); !same.Equal(v) {
		t.Fatalf("%s replaced by itself changes %s to %s", p, v.AppendJSON(nil), same.AppendJSON(nil))
	}
}

func TestSelectAgreesWithTheDefinition(t *testing.T) {
	r := seeded(t)
	for range 10_000 {
		v := randomValue(r, 4)
		var p Path
		for w := v; len(p.steps) < 5 && r.IntN(6) > 0; {
			s := step{kind: stepKind(r.IntN(4))}
			switch s.kind {
			case byIndex:
				s.index = r.IntN(3)
			case byName:
				s.name = randomText(r)
				if w.Kind() == Map && w.Len() > 0 && r.IntN(4) > 0 {
					s.name = w.Member(r.IntN(w.Len())).Name
				}
			case everyMember, everyItem:
			}
			p.steps = append(p.steps, s)
			if w.Len() > 0 && w.Kind() == List {
				w = w.Item(0)
			} else if w.Len() > 0 {
				w = w.Member(0).Value
			}
		}
		checkPath(t, p, v)
	}
}

func FuzzPath(f *testing.F) {
	for _, path := range []string{"", "[].recipient", "contacts[].email", "*.x", "[0]", `["a.b"][""].c-d_é`, "a..b", `["\ud800"]`, "a[", "*.*[][1]"} {
		f.Add(path, mailbox)
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		p, err := ParsePath(path)
		if err != nil {
			var at *PathError
			if !errors.As(err, &at) || at.Offset < 0 || at.Offset > len(path) {
				t.Fatalf("%q: %v", path, err)
			}
			return
		}
		if len(text) > 1000 {
			return
		}
		if v, err := Parse(JSON, text); err == nil {
			checkPath(t, p, v)
		}
	})
}
