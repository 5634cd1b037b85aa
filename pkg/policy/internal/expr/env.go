// Package expr compiles and runs the expressions of a policy bundle, written in
// CEL, over one event. What an expression gives depends on the event and the
// bundle alone: there is no clock, no random number, no time zone, no order of a
// hash map, and every evaluation has a cost limit.
//
// An Env, a Program and the values are immutable and safe for concurrent use; an
// Input is not.
package expr

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types/ref"

	"github.com/aspis-rv/aspis/internal/diag"
)

// The limits of one expression.
const (
	// CostLimit bounds one evaluation, in CEL's cost units (about one per operation
	// or per ten bytes of text looked at). 100,000 is a scan of a megabyte, some
	// milliseconds; honest expressions cost below a hundred.
	CostLimit = 100_000
	// MaxSource bounds the text of an expression, in code points. A fact entry is a
	// line; the bound keeps compilation in the low milliseconds.
	MaxSource = 4096
	// maxRecursion bounds the nesting of an expression for the recursive parser.
	maxRecursion = 64
	// maxRegex bounds the compiled size of a regular expression.
	maxRegex = 1000
	// maxLoops bounds the nesting of loops (exists, all, map, filter): two are a
	// product of two lists, which the cost limit still bounds.
	maxLoops = 2
)

// Env is what an expression may refer to.
type Env struct {
	cel   *cel.Env
	names []string // every variable and host function, for suggestions
}

// NewEnv makes the environment of a bundle's expressions: args, result, the fields
// of the event, and the host functions. The table names the domain of each place,
// party and address that domain_of knows.
func NewEnv(domains map[string]string) (*Env, error) {
	opts := []cel.EnvOption{
		cel.ParserRecursionLimit(maxRecursion),
		cel.ParserExpressionSizeLimit(MaxSource),
		cel.RegexProgramSizeLimit(maxRegex),
		cel.CrossTypeNumericComparisons(true),
		cel.ASTValidators(cel.ValidateComprehensionNestingLimit(maxLoops), cel.ValidateRegexLiterals()),
		cel.Variable("args", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("result", cel.DynType),
	}
	env := &Env{names: []string{"args", "result", "domain_of", "extract", "fold", "host_of", "identifiers", "lower", "phrases", "tokens"}}
	for _, f := range eventFields() {
		opts = append(opts, cel.Variable("event."+f, eventType(f)))
		env.names = append(env.names, "event."+f)
	}
	opts = append(append(opts, hostFunctions(domains)...), textFunctions()...)
	c, err := cel.NewEnv(opts...)
	if err != nil {
		return nil, fmt.Errorf("expr: environment: %w", err)
	}
	env.cel = c
	return env, nil
}

// Variable is a name that an expression may use besides the fixed ones.
type Variable struct {
	Name string
	Type *Type
}

// With returns an environment with more variables. Names that CEL cannot write
// (see Usable) are left out.
func (e *Env) With(vars ...Variable) (*Env, error) {
	opts := make([]cel.EnvOption, 0, len(vars))
	out := &Env{names: append([]string(nil), e.names...)}
	for _, v := range vars {
		if Usable(v.Name) {
			opts = append(opts, cel.Variable(v.Name, v.Type.cel()))
			out.names = append(out.names, v.Name)
		}
	}
	c, err := e.cel.Extend(opts...)
	if err != nil {
		return nil, fmt.Errorf("expr: environment: %w", err)
	}
	out.cel = c
	return out, nil
}

// Usable reports whether a name can be a variable of an expression: an identifier
// that is no reserved word and none of the fixed names.
func Usable(name string) bool {
	switch name {
	case "", "args", "result", "event", "true", "false", "null", "in", "as", "break", "const", "continue",
		"else", "for", "function", "if", "import", "let", "loop", "package", "namespace", "return", "var",
		"void", "while", "int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type":
		return false
	}
	for i, r := range name {
		letter := r == '_' || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
}

// Value is a value of the expression language.
type Value = ref.Val

// Problem is what is wrong with an expression, and where: [Start, End) are byte
// offsets in its text.
type Problem struct {
	Start, End int
	Message    string
	Hint       string
}

// Compile checks an expression. It returns a program or at least one problem.
func (e *Env) Compile(text string) (*Program, []Problem) {
	if strings.TrimSpace(text) == "" {
		return nil, []Problem{{0, len(text), "the expression is empty", "write a CEL expression over args, result and event"}}
	}
	checked, issues := e.cel.Compile(text)
	if issues != nil && issues.Err() != nil {
		return nil, e.problems(text, issues)
	}
	if ps := banned(text, checked.NativeRep()); len(ps) > 0 {
		return nil, ps
	}
	prg, err := e.cel.Program(checked, cel.CostLimit(CostLimit), cel.EvalOptions(cel.OptOptimize), cel.OptimizeRegex(compiledExtract()),
		cel.CostTrackerOptions(append(hostCosts(), textCosts()...)...))
	if err != nil {
		return nil, []Problem{{0, len(text), "the expression cannot be evaluated: " + err.Error(), ""}}
	}
	p := &Program{prg: prg, out: checked.OutputType()}
	p.simplify(checked.NativeRep().Expr())
	return p, nil
}

// problems turns CEL's issues into ours.
func (e *Env) problems(text string, issues *cel.Issues) []Problem {
	var out []Problem
	for _, err := range issues.Errors() {
		start := offset(text, err.Location.Line(), err.Location.Column())
		p := Problem{Start: start, End: wordEnd(text, start), Message: clean(err.Message)}
		if name, ok := strings.CutPrefix(err.Message, "undeclared reference to '"); ok {
			name, _, _ = strings.Cut(name, "'")
			p.Message = fmt.Sprintf("there is no variable or function %q", name)
			if root, _, _ := strings.Cut(name, "."); strings.HasSuffix(text[:start], root) {
				p.Start = start - len(root) // CEL points at the '.' or '(' behind it
			}
			p.End = min(p.Start+len(name), len(text))
			p.Hint = e.suggest(name)
		}
		out = append(out, p)
		if strings.HasPrefix(err.Message, "Syntax error: ") {
			break // what follows is an echo
		}
	}
	return out
}

func (e *Env) suggest(name string) string {
	if got := diag.Closest(name, e.names); got != "" {
		return fmt.Sprintf("did you mean %q?", got)
	}
	return "the names are args, result, event.FIELD and the arguments that the tool declares"
}

// clean shortens CEL's messages to what a policy author can use.
func clean(msg string) string {
	msg = strings.TrimSuffix(msg, " (in container '')")
	if rest, ok := strings.CutPrefix(msg, "Syntax error: "); ok {
		rest, _, _ = strings.Cut(rest, " expecting {")
		return "the expression is not CEL: " + rest
	}
	return "the expression is not valid: " + msg
}

// banned finds what would make a result depend on more than the event.
func banned(text string, a *ast.AST) []Problem {
	var out []Problem
	report := func(id int64, message, hint string) {
		loc := a.SourceInfo().GetStartLocation(id)
		start := offset(text, loc.Line(), loc.Column())
		out = append(out, Problem{start, wordEnd(text, start), message, hint})
	}
	ast.PostOrderVisit(a.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		switch x.Kind() {
		case ast.MapKind, ast.StructKind:
			report(x.ID(), "an expression cannot build a map or a message", "its order would differ from run to run; use a list")
		case ast.CallKind:
			switch name := x.AsCall().FunctionName(); name {
			case extractName:
				if message, hint := badPattern(x.AsCall()); message != "" {
					report(x.AsCall().Args()[1].ID(), message, hint)
				}
			case "timestamp", "duration", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear",
				"getHours", "getMilliseconds", "getMinutes", "getMonth", "getSeconds":
				report(x.ID(), fmt.Sprintf("%s is not available in a policy", name),
					"times belong in the formulas of the clauses, for example ONCE[0,24h]")
			}
		case ast.UnspecifiedExprKind, ast.ComprehensionKind, ast.IdentKind, ast.ListKind, ast.LiteralKind, ast.SelectKind:
		}
	}))
	return out
}

// offset converts a line from 1 and a column in code points from 0.
func offset(text string, line, col int) int {
	at := 0
	for ; line > 1; line-- {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	for range max(col, 0) {
		if at >= len(text) {
			break
		}
		at++
		for at < len(text) && text[at]&0xc0 == 0x80 {
			at++
		}
	}
	return at
}

// wordEnd returns the end of the identifier or operator at start, at least one
// character on.
func wordEnd(text string, start int) int {
	end := start
	for end < len(text) && strings.IndexByte("=!<>&|", text[end]) >= 0 {
		end++
	}
	if end > start {
		return end
	}
	for end < len(text) {
		c := text[end]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			break
		}
		end++
	}
	if end == start && end < len(text) {
		end++
		for end < len(text) && text[end]&0xc0 == 0x80 {
			end++
		}
	}
	return end
}
