package expr

import (
	"fmt"
	"strings"
	"testing"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/aspis-rv/aspis/pkg/schema"
)

func env(tb testing.TB) *Env {
	tb.Helper()
	e, err := NewEnv(map[string]string{"med_fwd": "MED", "partner": "COALITION"})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func decoded(tb testing.TB, text string) ref.Val {
	tb.Helper()
	v, err := Decode([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func input(tb testing.TB, args, result string) *Input {
	tb.Helper()
	in := &Input{Event: &schema.Event{
		SessionID: "s1", Tool: "t", Actor: schema.Actor{ID: "a7", Class: schema.ClassAgent},
		Labels: map[string]string{"b": "2", "a": "1"}, Recipient: []string{"x"},
	}}
	if args != "" {
		in.Args = decoded(tb, args).(*Object)
	}
	if result != "" {
		in.Result = decoded(tb, result)
	}
	return in
}

func eval(t *testing.T, text string, in *Input) (ref.Val, error) {
	t.Helper()
	p, problems := env(t).Compile(text)
	if len(problems) > 0 {
		t.Fatalf("%s: %+v", text, problems)
	}
	return p.Eval(in)
}

func TestConditions(t *testing.T) {
	in := input(t, `{"to":["a","b"],"n":5,"x":2.5,"o":{"z":1,"y":2},"big":12345678901234567890}`, `{"rows":[{"id":7}]}`)
	for _, text := range []string{
		`event.session == "s1" && event.class == "agent" && event.actor == "a7" && event.kind == "call"`,
		`args.n == 5 && args.n < 5.5 && args.x > 2`,
		`"b" in args.to && size(args.to) == 2`,
		`args.o.map(k, k) == ["y", "z"]`,
		`event.labels.map(k, k + event.labels[k]) == ["a1", "b2"]`,
		`event.labels.a == "1" && !("c" in event.labels)`,
		`result.rows[0].id == 7`,
		`domain_of("med_fwd") != domain_of("partner")`,
		`host_of("https://User@Evil.example:8443/a?b") == "evil.example"`,
		`lower("ABC") == "abc"`,
		`args.big != 12345678901234567.0`,
		`args.big == args.big && args.big in [args.big]`,
		`has(args.n) && !has(args.nothing)`,
		`args == args && args.o == args.o`,
	} {
		if v, err := eval(t, text, in); err != nil || v != types.True {
			t.Errorf("%s = %v, %v", text, v, err)
		}
	}
}

// What cannot be known is an error, never a value.
func TestFailures(t *testing.T) {
	for _, tt := range []struct{ text, args string }{
		{`args.missing == 1`, `{}`},
		{`args.n == 1`, ``},
		{`result == 1`, `{}`},
		{`domain_of("nowhere") == "MED"`, ``},
		{`host_of("https://good.example\\@evil.example") == ""`, ``},
		{`host_of("evil.example/x") == ""`, ``},
		{`host_of("mailto:a@b") == ""`, ``},
		{`host_of("https://") == ""`, ``},
		{`args.big + 1 > 0`, `{"big":12345678901234567890}`},
		{`args.l.exists(x, args.l.exists(y, x + y == 1))`, `{"l":[` + strings.Repeat("2,", 2000) + `2]}`},
	} {
		if v, err := eval(t, tt.text, input(t, tt.args, "")); err == nil {
			t.Errorf("%s = %v, want an error", tt.text, v)
		}
	}
}

func TestCompileProblems(t *testing.T) {
	e, err := env(t).With(Variable{"partner", &Type{Base: BaseString}}, Variable{"in", Any()})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text, at, message, hint string
	}{
		{`partne == "x"`, "partne", "no variable", `"partner"`},
		{`1 == 1 && event.sesion == "x"`, "event.sesion", "no variable", `"event.session"`},
		{`hostof("x")`, "hostof", "no variable", `"host_of"`},
		{`partner > 1`, ">", "no matching overload", ""},
		{`"é" == partner && partner == 1`, "==", "no matching overload", ""},
		{`partner ==`, "", "not CEL", ""},
		{``, "", "empty", ""},
		{`{"a": 1}.a == 1`, "{", "cannot build a map", ""},
		{`timestamp("2024-01-01T00:00:00Z").getHours() == 1`, "", "not available", ""},
		{`partner.matches("(")`, "", "invalid matches", ""},
		{`[1].all(x, [1].all(y, [1].all(z, true)))`, "", "", ""},
		{strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100), "", "", ""},
		{strings.Repeat(" ", MaxSource+1) + "1", "", "", ""},
	} {
		_, problems := e.Compile(tt.text)
		if len(problems) == 0 {
			t.Errorf("%s compiles", tt.text)
			continue
		}
		p := problems[0]
		if !strings.Contains(p.Message, tt.message) || !strings.Contains(p.Hint, tt.hint) || p.Start > p.End || p.End > len(tt.text) {
			t.Errorf("%s: %+v", tt.text, p)
		}
		if last := problems[len(problems)-1]; tt.at != "" && tt.text[last.Start:last.End] != tt.at && tt.text[p.Start:p.End] != tt.at {
			t.Errorf("%s: points at %q, want %q", tt.text, tt.text[p.Start:p.End], tt.at)
		}
	}
}

func TestNumbersKeepTheirIdentity(t *testing.T) {
	same := [][]string{
		{"1", "1.0", "1e0", "10e-1", "0.1e1"},
		{"0", "-0", "0.0", "0e5"},
		{"0.1", "1e-1", "0.10"},
		{"100.10", "100.1"},
		{"9223372036854775808", "9223372036854775808.0"},
		{"1e400", "10e399"},
		{"12345678901234567890", "1234567890123456789e1"},
	}
	different := []string{
		"12345678901234567890", "12345678901234567891", "12345678901234567892", "9007199254740992", "9007199254740993",
		"0.1", "0.10000000000000001", "0.1000000000000000055511151231257827", "1e400", "1e401", "1", "2", "-1", "9223372036854775808",
		"9223372036854775809", "1e999999999999999999999", "1e999999999999999999998",
	}
	for _, group := range same {
		for _, text := range group {
			if types.Equal(decoded(t, group[0]), decoded(t, text)) != types.True {
				t.Errorf("%s and %s differ", group[0], text)
			}
		}
	}
	for i, a := range different {
		for _, b := range different[:i] {
			if types.Equal(decoded(t, a), decoded(t, b)) == types.True {
				t.Errorf("%s and %s are equal", a, b)
			}
		}
	}
}

func TestScalars(t *testing.T) {
	for _, tt := range []struct {
		text string
		kind schema.ValueKind
		want string // "" for an error
	}{
		{`5`, schema.KindInt, "5"},
		{`args.n`, schema.KindInt, "5"},
		{`args.n`, schema.KindFloat, "5"},
		{`args.n`, schema.KindString, ""},
		{`args.x`, schema.KindFloat, "2.5"},
		{`args.x`, schema.KindInt, ""},
		{`args.big`, schema.KindInt, ""},
		{`args.big`, schema.KindFloat, ""},
		{`args.big`, schema.KindString, ""},
		{`string(args.big)`, schema.KindString, ""},
		{`string(args.n)`, schema.KindString, `"5"`},
		{`event.session`, schema.KindString, `"s1"`},
		{`true`, schema.KindString, ""},
		{`9007199254740993`, schema.KindFloat, ""},
		{`0.0 / 0.0`, schema.KindFloat, ""},
	} {
		p, problems := env(t).Compile(tt.text)
		if len(problems) > 0 {
			t.Fatalf("%s: %+v", tt.text, problems)
		}
		v, err := p.Scalar(input(t, `{"n":5,"x":2.5,"big":12345678901234567890}`, ""), tt.kind)
		if (err != nil) != (tt.want == "") || (err == nil && v.String() != tt.want) {
			t.Errorf("%s as %s = %v, %v; want %q", tt.text, tt.kind, v, err, tt.want)
		}
	}
}

func TestTypes(t *testing.T) {
	for _, tt := range []struct {
		typ, json, problem string
	}{
		{"string", `"a"`, ""},
		{"string", `1`, "is a number, and must be string"},
		{"int", `1`, ""},
		{"int", `1.0`, ""},
		{"int", `1.5`, "is a number, and must be int"},
		{"int", `12345678901234567890`, "is not an integer of 64 bits"},
		{"float", `1`, ""},
		{"float", `0.1`, ""},
		{"float", `9007199254740993`, "has more digits than a float holds"},
		{"float", `0.1234567890123456789012`, "has more digits than a float holds"},
		{"float", `"1"`, "is a string, and must be float"},
		{"bool", `null`, "is null, and must be bool"},
		{"object", `{}`, ""},
		{"object", `[]`, "is a list, and must be object"},
		{"any", `null`, ""},
		{"[string]", `["a"]`, ""},
		{"[string]", `["a",1]`, "has an element 1 that is a number, and must be string"},
		{"[string]", `"a"`, "is a string, and must be [string]"},
		{"[[int]]", `[[1],[]]`, ""},
	} {
		typ, ok := ParseType(tt.typ)
		if !ok || typ.String() != tt.typ {
			t.Fatalf("type %q reads as %v", tt.typ, typ)
		}
		if _, problem := typ.Coerce(decoded(t, tt.json)); problem != tt.problem {
			t.Errorf("%s as %s: %q, want %q", tt.json, tt.typ, problem, tt.problem)
		}
	}
	for _, bad := range []string{"", "str", "[string", "[]", "string]", "[[int]"} {
		if _, ok := ParseType(bad); ok {
			t.Errorf("%q is read as a type", bad)
		}
	}
}

func TestDepthLimit(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	if _, err := Decode([]byte(nest(MaxDepth + 1))); err != nil { // the innermost list stands at MaxDepth
		t.Error(err)
	}
	if _, err := Decode([]byte(nest(MaxDepth + 2))); err == nil {
		t.Errorf("depth %d is accepted", MaxDepth+1)
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{`args.a == "b"`, `event.session`, `[1,2].exists(x, x > 1)`, `host_of(args.u)`, `"é" + 'x'`, `{1:2}`, `a.b.c(d)`} {
		f.Add(seed)
	}
	e := env(f)
	in := input(f, `{"a":"b","u":"https://x.example"}`, "")
	f.Fuzz(func(t *testing.T, text string) {
		p, problems := e.Compile(text)
		if (p == nil) == (len(problems) == 0) {
			t.Fatalf("program %v, problems %v", p, problems)
		}
		for _, pr := range problems {
			if pr.Start < 0 || pr.End < pr.Start || pr.End > len(text) || pr.Message == "" {
				t.Fatalf("bad problem %+v", pr)
			}
		}
		if p != nil {
			_, err := p.Eval(in)
			_, again := p.Eval(in)
			if (err == nil) != (again == nil) {
				t.Fatalf("%q is not deterministic: %v, %v", text, err, again)
			}
		}
	})
}

// A variable gives what CEL would give for it, and fails where CEL does.
func TestVariables(t *testing.T) {
	base, err := NewEnv(nil)
	if err != nil {
		t.Fatal(err)
	}
	env, err := base.With(Variable{"x", &Type{Base: BaseString}}, Variable{"y", Any()})
	if err != nil {
		t.Fatal(err)
	}
	full := &Input{Args: (&Object{}).With("x", types.String("a")), Bound: map[string]Value{"y": types.Int(7)}}
	failed := &Input{Bound: map[string]Value{"y": Failed("y", ErrHost)}}
	for _, tt := range []struct {
		text string
		in   *Input
		want string // empty: it fails
	}{
		{"x", full, "a"}, {"y", full, "7"}, {"args", &Input{}, ""}, {"result", &Input{}, ""}, {"x", &Input{}, ""}, {"y", failed, ""},
	} {
		p, problems := env.Compile(tt.text)
		if p == nil {
			t.Fatal(problems)
		}
		if name, ok := p.Variable(); !ok || name != tt.text {
			t.Errorf("%s is the variable %q", tt.text, name)
		}
		switch v, err := p.Eval(tt.in); {
		case (err == nil) != (tt.want != ""):
			t.Errorf("%s gives %v, %v", tt.text, v, err)
		case err == nil && fmt.Sprint(v.Value()) != tt.want:
			t.Errorf("%s gives %v, want %s", tt.text, v.Value(), tt.want)
		}
	}
	if p, _ := env.Compile(`"a" + x`); p != nil {
		if _, ok := p.Constant(); ok {
			t.Error("an expression is a constant")
		}
	}
	if v, ok := env.Literal("z").Constant(); !ok || v.Str != "z" {
		t.Errorf("the literal is %v", v)
	}
}
