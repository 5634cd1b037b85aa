package expr

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// ErrValue says that an expression gave a value of a type that has no place where
// it stands.
var ErrValue = errors.New("expr: value of the wrong type")

// Program is a compiled expression.
type Program struct {
	prg cel.Program
	out *cel.Type
	// text reads an expression that is a text field of the event; constant is the
	// value of one that is a literal. Both skip CEL, and so does a variable with a value.
	text     func(*schema.Event) string
	constant ref.Val
	// variable is the name of one that is a variable.
	variable string
}

// Literal returns the program of a text.
func (e *Env) Literal(text string) *Program {
	return &Program{out: cel.StringType, constant: types.String(text)}
}

// Failed returns the value of a variable that could not be computed: what reads it fails.
func Failed(name string, err error) Value {
	return types.WrapErr(fmt.Errorf("%s: %w", name, err))
}

// Constant returns the value of a program that is a literal text or integer.
func (p *Program) Constant() (schema.Value, bool) {
	switch v := p.constant.(type) {
	case types.String:
		return schema.StringValue(string(v)), true
	case types.Int:
		return schema.IntValue(int64(v)), true
	}
	return schema.Value{}, false
}

// Variable returns the name of a program that is a variable.
func (p *Program) Variable() (string, bool) { return p.variable, p.variable != "" }

// simplify recognises the commonest expressions, which need no interpreter.
func (p *Program) simplify(x ast.Expr) {
	name := ""
	switch x.Kind() {
	case ast.LiteralKind:
		p.constant = x.AsLiteral()
		return
	case ast.IdentKind:
		name = x.AsIdent()
		p.variable = name
	case ast.SelectKind:
		if s := x.AsSelect(); !s.IsTestOnly() && s.Operand().Kind() == ast.IdentKind {
			name = s.Operand().AsIdent() + "." + s.FieldName()
		}
	case ast.UnspecifiedExprKind, ast.CallKind, ast.ComprehensionKind, ast.ListKind, ast.MapKind, ast.StructKind:
		return
	}
	if f, ok := strings.CutPrefix(name, "event."); ok {
		p.text = textField(f)
	}
}

// EventOnly reports whether the program needs neither arguments nor a result.
func (p *Program) EventOnly() bool { return p.text != nil || p.constant != nil }

// Eval runs the program. It fails when the expression does, when it costs more
// than CostLimit, and when what it reads is not there.
func (p *Program) Eval(in *Input) (ref.Val, error) {
	switch {
	case p.constant != nil:
		return p.constant, nil
	case p.text != nil:
		return types.String(p.text(in.Event)), nil
	case p.variable != "":
		if v, ok := in.value(p.variable); ok {
			return v, nil
		}
	}
	v, _, err := p.prg.Eval(in)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Truth runs a program whose result is a condition.
func (p *Program) Truth(in *Input) (bool, error) {
	v, err := p.Eval(in)
	if err != nil {
		return false, err
	}
	b, ok := v.(types.Bool)
	if !ok {
		return false, fmt.Errorf("%w: %s instead of true or false", ErrValue, v.Type().TypeName())
	}
	return bool(b), nil
}

// Scalar runs a program whose result is an argument of a fact.
func (p *Program) Scalar(in *Input, kind schema.ValueKind) (schema.Value, error) {
	if p.text != nil && kind == schema.KindString {
		return schema.StringValue(p.text(in.Event)), nil
	}
	v, err := p.Eval(in)
	if err != nil {
		return schema.Value{}, err
	}
	return scalar(v, kind)
}

// List runs a program whose result is a list, and returns its elements.
func (p *Program) List(in *Input, limit int) ([]ref.Val, error) {
	v, err := p.Eval(in)
	if err != nil {
		return nil, err
	}
	l, ok := v.(traits.Lister)
	if !ok {
		return nil, fmt.Errorf("%w: %s instead of a list", ErrValue, v.Type().TypeName())
	}
	n, ok := l.Size().(types.Int)
	if !ok || int(n) > limit {
		return nil, fmt.Errorf("%w: a list of %v elements, the limit is %d", ErrValue, n, limit)
	}
	out := make([]ref.Val, 0, int(n))
	for it := l.Iterator(); it.HasNext() == types.True; {
		out = append(out, it.Next())
	}
	return out, nil
}

// Texts runs a program whose result is a text or a list of texts.
func (p *Program) Texts(in *Input, limit int) ([]string, error) {
	v, err := p.Eval(in)
	if err != nil {
		return nil, err
	}
	items := []ref.Val{v}
	if _, ok := v.(traits.Lister); ok {
		if items, err = p.List(in, limit); err != nil {
			return nil, err
		}
	}
	out := make([]string, len(items))
	for i, item := range items {
		s, err := scalar(item, schema.KindString)
		if err != nil {
			return nil, err
		}
		out[i] = s.Str
	}
	return out, nil
}

// IsCondition reports whether the result can be true or false.
func (p *Program) IsCondition() bool { return p.is(types.BoolKind) }

// IsList reports whether the result can be a list.
func (p *Program) IsList() bool { return p.is(types.ListKind) }

// Gives reports whether the result can be an argument of the given kind.
func (p *Program) Gives(kind schema.ValueKind) bool {
	switch kind {
	case schema.KindInt:
		return p.is(types.IntKind) || p.is(types.UintKind)
	case schema.KindString:
		return p.is(types.StringKind)
	case schema.KindFloat:
		return p.is(types.DoubleKind) || p.is(types.IntKind)
	}
	return false
}

// Out names the type of the result, for messages.
func (p *Program) Out() string { return cel.FormatCELType(p.out) }

func (p *Program) is(k types.Kind) bool { return p.out.Kind() == k || p.out.Kind() == types.DynKind }

// Element returns the type of the elements of the result, when it is known.
func (p *Program) Element() *Type {
	if p.out.Kind() != types.ListKind || len(p.out.Parameters()) != 1 {
		return Any()
	}
	for _, t := range []*Type{{Base: BaseString}, {Base: BaseInt}, {Base: BaseFloat}, {Base: BaseBool}} {
		if p.out.Parameters()[0].IsExactType(t.cel()) {
			return t
		}
	}
	return Any()
}

// EachText visits the texts of a value that is a text or a list of at most limit texts, with
// their indices. It visits those of a list that are texts even when another one is none, which
// is an error; of a longer list it visits none.
func EachText(v Value, limit int, visit func(i int, text string)) error {
	l, ok := v.(traits.Lister)
	if !ok {
		s, err := scalar(v, schema.KindString)
		if err == nil {
			visit(0, s.Str)
		}
		return err
	}
	if n, ok := l.Size().(types.Int); !ok || int(n) > limit {
		return fmt.Errorf("%w: a list of %v elements, the limit is %d", ErrValue, l.Size(), limit)
	}
	var failed error
	i := 0
	for it := l.Iterator(); it.HasNext() == types.True; i++ {
		s, err := scalar(it.Next(), schema.KindString)
		if err != nil {
			failed = err
			continue
		}
		visit(i, s.Str)
	}
	return failed
}

// TextOf returns the text that a value is.
func TextOf(v Value) (string, bool) {
	s, ok := v.(types.String)
	return string(s), ok
}
