package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

func textEnv(tb testing.TB) *Env {
	tb.Helper()
	env, err := NewEnv(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return env
}

func TestTextFunctions(t *testing.T) {
	env := textEnv(t)
	for _, tt := range []struct{ expr, text, want string }{
		{`fold(event.text)`, "  Alice@Example.COM ", "alice@example.com"},
		{`tokens(event.text)`, "Pay Bob, pay BOB", "[pay bob]"},
		{`identifiers(event.text)`, "write to a@b.cc now", "[a@b.cc]"},
		{`phrases(event.text, 2)`, "Pay Bob", "[pay pay bob bob]"},
		{`extract(event.text, '(?m)^to: (.*)$')`, "to: A\nfrom: B\nto: C\nto: A\n", "[A C]"},
		{`extract(event.text, 'x(y)?')`, "xyx", "[y]"},
		{`extract(event.text, '(x)')`, "none", "[]"},
		{`[event.text].map(s, extract(s, '(.)$')[0])[0]`, "ab", "b"},
	} {
		p, problems := env.Compile(tt.expr)
		if p == nil {
			t.Errorf("%s: %v", tt.expr, problems)
			continue
		}
		in := &Input{Event: &schema.Event{Text: tt.text}}
		var got string
		if p.IsList() {
			items, err := p.List(in, 10)
			if err != nil {
				t.Errorf("%s: %v", tt.expr, err)
			}
			var words []string
			for _, item := range items {
				words = append(words, fmt.Sprint(item.Value()))
			}
			got = fmt.Sprint(words)
		} else {
			v, err := p.Eval(in)
			if err != nil {
				t.Errorf("%s: %v", tt.expr, err)
				continue
			}
			got = fmt.Sprint(v.Value())
		}
		if got != tt.want {
			t.Errorf("%s of %q: %s, want %s", tt.expr, tt.text, got, tt.want)
		}
	}
}

// TestTextFunctionsAreBounded: what gives too much, or costs too much, is an error.
func TestTextFunctionsAreBounded(t *testing.T) {
	env := textEnv(t)
	var words []string
	for i := range MaxFound + 1 {
		words = append(words, fmt.Sprintf("w%d@x.yy", i))
	}
	many := strings.Join(words, " ")
	for _, tt := range []struct{ expr, text string }{
		{`tokens(event.text)`, many},
		{`identifiers(event.text)`, many},
		{`phrases(event.text, 1)`, many},
		{`extract(event.text, '(w[0-9]+)')`, many},
		{`phrases(event.text, 0)`, "a"},
		{`phrases(event.text, 9)`, "a"},
		{`fold(event.text)`, strings.Repeat("a", 10*CostLimit)},
		{`tokens(event.text)`, strings.Repeat("a", 5*CostLimit)},
		{`phrases(event.text, 8)`, strings.Repeat("a", CostLimit)},
		{`extract(event.text, '(abcdefghijklmnopqrst)')`, strings.Repeat("a", 2*CostLimit)},
	} {
		p, problems := env.Compile(tt.expr)
		if p == nil {
			t.Errorf("%s: %v", tt.expr, problems)
			continue
		}
		if v, err := p.Eval(&Input{Event: &schema.Event{Text: tt.text}}); err == nil {
			t.Errorf("%s of %d bytes: %v", tt.expr, len(tt.text), v.Type())
		}
	}
}

func TestBadPatterns(t *testing.T) {
	env := textEnv(t)
	for expression, want := range map[string]string{
		`extract(event.text, event.text)`:                   "no literal",
		`extract(event.text, 'a')`:                          "has no group",
		`extract(event.text, '(a')`:                         "not valid",
		`extract(event.text, '(a{600}b{600})')`:             "1000 instructions",
		`['a'].map(x, extract(x, '(a' + x + ')'))[0][0]`:    "no literal",
		`extract(event.text, '(a)', 'b')`:                   "",
		`[event.text].exists(x, size(extract(x, 'b')) > 0)`: "has no group",
	} {
		p, problems := env.Compile(expression)
		if p != nil || len(problems) == 0 || !strings.Contains(problems[0].Message, want) {
			t.Errorf("%s: %v", expression, problems)
		}
	}
}
