package expr

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/aspis-rv/aspis/internal/text"
)

// MaxFound bounds the list that tokens, identifiers, phrases and extract give. A list with
// more is an error: what it would have made is unknown, not cut off.
const MaxFound = 1024

// MaxWords bounds the words of a phrase.
const MaxWords = 8

const (
	extractName     = "extract"
	extractOverload = "extract_string_string"
)

// textFunctions declares the functions that take texts apart. What they give is folded by
// text.Fold, the one equality of values, but for extract, which gives what stands there.
func textFunctions() []cel.EnvOption {
	list := cel.ListType(cel.StringType)
	one := []*cel.Type{cel.StringType}
	find := func(name string, f func(string, int) ([]string, bool)) cel.EnvOption {
		return cel.Function(name, cel.Overload(name+"_string", one, list, cel.UnaryBinding(func(v ref.Val) ref.Val {
			s, ok := v.(types.String)
			if !ok {
				return types.MaybeNoSuchOverloadErr(v)
			}
			return listOf(f(string(s), MaxFound))
		})))
	}
	return []cel.EnvOption{
		cel.Function("fold", cel.Overload("fold_string", one, cel.StringType, cel.UnaryBinding(func(v ref.Val) ref.Val {
			s, ok := v.(types.String)
			if !ok {
				return types.MaybeNoSuchOverloadErr(v)
			}
			return types.String(text.Fold(string(s)))
		}))),
		find("tokens", text.Tokens),
		find("identifiers", text.Identifiers),
		cel.Function("phrases", cel.Overload("phrases_string_int", []*cel.Type{cel.StringType, cel.IntType}, list, cel.BinaryBinding(phrases))),
		cel.Function(extractName, cel.Overload(extractOverload, []*cel.Type{cel.StringType, cel.StringType}, list, cel.BinaryBinding(extract))),
	}
}

// listOf makes a list of texts; one that is not all there is an error.
func listOf(found []string, all bool) ref.Val {
	if !all {
		return types.NewErr("more than %d values are found", MaxFound)
	}
	return types.NewStringList(types.DefaultTypeAdapter, found)
}

func phrases(v, n ref.Val) ref.Val {
	s, isText := v.(types.String)
	words, isInt := n.(types.Int)
	switch {
	case !isText:
		return types.MaybeNoSuchOverloadErr(v)
	case !isInt:
		return types.MaybeNoSuchOverloadErr(n)
	case words < 1 || words > MaxWords:
		return types.NewErr("phrases of %d words; write a number from 1 to %d", int64(words), MaxWords)
	}
	return listOf(text.Phrases(string(s), int(words), MaxFound))
}

// extract is used for a pattern that is no literal only, and those are refused; see banned.
func extract(v, pattern ref.Val) ref.Val {
	p, ok := pattern.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(pattern)
	}
	re, err := regexp.Compile(string(p))
	if err != nil {
		return types.WrapErr(err)
	}
	return firstGroups(re, v)
}

// firstGroups lists what the first group of each match holds, in the order of the text, each
// once. A match in which the group takes no part gives nothing.
func firstGroups(re *regexp.Regexp, v ref.Val) ref.Val {
	s, ok := v.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	var out []string
	seen := map[string]bool{}
	for _, at := range re.FindAllStringSubmatchIndex(string(s), -1) {
		if len(at) < 4 || at[2] < 0 {
			continue
		}
		group := string(s)[at[2]:at[3]]
		if seen[group] {
			continue
		}
		if len(out) == MaxFound {
			return listOf(nil, false)
		}
		seen[group] = true
		out = append(out, group)
	}
	return listOf(out, true)
}

// compiledExtract compiles the pattern of an extract once, when the program is made.
func compiledExtract() *interpreter.RegexOptimization {
	return &interpreter.RegexOptimization{
		Function: extractName, OverloadID: extractOverload, RegexIndex: 1,
		Factory: func(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
			re, err := regexp.Compile(pattern)
			if err != nil {
				return nil, fmt.Errorf("expr: %w", err)
			}
			return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(args ...ref.Val) ref.Val {
				return firstGroups(re, args[0])
			}), nil
		},
	}
}

// badPattern says what is wrong with the pattern of an extract, and how to repair it. The
// pattern is a literal, so that a bundle that loads has none that fails later.
func badPattern(call ast.CallExpr) (message, hint string) {
	if len(call.Args()) != 2 {
		return "", ""
	}
	pattern, ok := literalText(call.Args()[1])
	if !ok {
		return "the pattern of extract is no literal", "write it in quotes, so that it can be checked"
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "the pattern of extract is not valid: " + err.Error(), "it is written in RE2"
	}
	if parsed.MaxCap() == 0 {
		return "the pattern of extract has no group", "put what is to be taken in round brackets"
	}
	if prog, err := syntax.Compile(parsed.Simplify()); err != nil || len(prog.Inst) > maxRegex {
		return fmt.Sprintf("the pattern of extract is larger than %d instructions", maxRegex), "write a shorter one, with less repetition"
	}
	return "", ""
}

func literalText(x ast.Expr) (string, bool) {
	if x.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := x.AsLiteral().(types.String)
	return string(s), ok
}

// textCosts prices what looks at every byte as CEL prices its own, a tenth per byte, and a
// list by its length. Words are looked up and folded, which costs some times that; a pattern
// costs a quarter per byte for each tenth of a byte of text, as that of matches does.
func textCosts() []cost.TrackerOption {
	sized := func(perTen uint64) func([]ref.Val, ref.Val) *uint64 {
		return func(args []ref.Val, result ref.Val) *uint64 {
			n := 1 + (perTen*length(args[0])+9)/10 + length(result)
			return &n
		}
	}
	phrased := func(args []ref.Val, result ref.Val) *uint64 {
		words := uint64(1)
		if w, ok := args[1].(types.Int); ok && w > 1 {
			words = uint64(min(w, MaxWords))
		}
		n := 1 + words*(2*length(args[0])+9)/10 + length(result)
		return &n
	}
	matched := func(args []ref.Val, result ref.Val) *uint64 {
		n := (1+length(args[0])/10)*(1+length(args[1])/4) + length(result)
		return &n
	}
	return []cost.TrackerOption{
		cost.OverloadTracker("fold_string", sized(1)),
		cost.OverloadTracker("tokens_string", sized(2)),
		cost.OverloadTracker("identifiers_string", sized(2)),
		cost.OverloadTracker("phrases_string_int", phrased),
		cost.OverloadTracker(extractOverload, matched),
	}
}

// length is the number of bytes of a text or of elements of a list of texts.
func length(v ref.Val) uint64 {
	if s, ok := v.(types.String); ok {
		return uint64(len(s))
	}
	if l, ok := v.Value().([]string); ok {
		return uint64(len(l))
	}
	return 0
}
