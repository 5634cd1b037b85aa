package mfotl

import (
	"math"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// expr is a compiled term that is neither a variable nor a constant, or an operand of
// one. Implementations are immutable.
type expr interface {
	// value computes the term under st.env. If it has none, the reason is recorded in
	// the state and the result is false. Only strings are allocated.
	value(st *State) (schema.Value, bool)
}

// expr compiles a term. Its variables are bound where it is evaluated.
func (b *chainBuilder) expr(t syntax.Term) expr {
	switch t := t.(type) {
	case syntax.Var:
		return varExpr{b.scope.slot(b.compiler, t.Name)}
	case syntax.Const:
		return constExpr{t.Value}
	case syntax.Arith:
		return &arithExpr{op: t.Op, left: b.expr(t.Left), right: b.expr(t.Right), at: b.faultAt(t, t.Pos)}
	case syntax.Neg:
		zero := constExpr{schema.IntValue(0)}
		return &negExpr{of: b.expr(t.T), int: arithExpr{op: syntax.Sub, left: zero, right: zero, at: b.faultAt(t, t.Pos)}}
	case syntax.Conv:
		return &convExpr{op: t.Op, of: b.expr(t.T), at: b.faultAt(t, t.Pos)}
	case syntax.Here: // canon has refused it
	}
	return nil
}

type varExpr struct{ slot int }

func (e varExpr) value(st *State) (schema.Value, bool) { return st.value(st.env[e.slot]), true }

type constExpr struct{ v schema.Value }

func (e constExpr) value(*State) (schema.Value, bool) { return e.v, true }

type arithExpr struct {
	op          syntax.ArithOp
	left, right expr
	at          fault
}

func (e *arithExpr) value(st *State) (schema.Value, bool) {
	l, ok := e.left.value(st)
	if !ok {
		return l, false
	}
	r, ok := e.right.value(st)
	if !ok {
		return r, false
	}
	return e.apply(st, l, r)
}

func (e *arithExpr) apply(st *State, l, r schema.Value) (schema.Value, bool) {
	var v schema.Value
	why := causeKind
	switch {
	case l.Kind == schema.KindInt && r.Kind == schema.KindInt:
		v.Int, why = arithInts(e.op, l.Int, r.Int)
	case l.Kind == schema.KindFloat && r.Kind == schema.KindFloat:
		v.Kind = schema.KindFloat
		v.Float, why = arithFloats(e.op, l.Float, r.Float)
	}
	if why != 0 {
		st.fail(e.at, why)
		return v, false
	}
	return v, true
}

// arithInts computes on integers, truncating quotients towards zero.
func arithInts(op syntax.ArithOp, a, b int64) (int64, cause) {
	switch op {
	case syntax.Add:
		if s := a + b; (s > a) == (b > 0) {
			return s, 0
		}
	case syntax.Sub:
		if d := a - b; (d < a) == (b > 0) {
			return d, 0
		}
	case syntax.Mul:
		if p := a * b; a == 0 || (p/a == b && (a != -1 || b != math.MinInt64)) {
			return p, 0
		}
	case syntax.Div:
		if b == 0 {
			return 0, causeZero
		}
		if a != math.MinInt64 || b != -1 {
			return a / b, 0
		}
	case syntax.Mod:
		if b == 0 {
			return 0, causeZero
		}
		return a % b, 0
	}
	return 0, causeOverflow
}

func arithFloats(op syntax.ArithOp, a, b float64) (float64, cause) {
	f := math.NaN()
	switch op {
	case syntax.Add:
		f = a + b
	case syntax.Sub:
		f = a - b
	case syntax.Mul:
		f = a * b
	case syntax.Div:
		f = a / b
	case syntax.Mod:
		return 0, causeKind // of integers only
	}
	if math.IsNaN(f) {
		return 0, causeNaN
	}
	return f + 0, 0 // there is one zero
}

type negExpr struct {
	of  expr
	int arithExpr // a subtraction, for its checks
}

func (e *negExpr) value(st *State) (schema.Value, bool) {
	v, ok := e.of.value(st)
	if !ok {
		return v, false
	}
	return e.int.apply(st, schema.Value{Kind: v.Kind}, v)
}

type convExpr struct {
	op syntax.ConvOp
	of expr
	at fault
}

func (e *convExpr) value(st *State) (schema.Value, bool) {
	v, ok := e.of.value(st)
	if !ok {
		return v, false
	}
	why := causeKind
	if v.Kind == e.op.From() {
		v, why = convert(e.op, v)
	}
	if why != 0 {
		st.fail(e.at, why)
		return v, false
	}
	return v, true
}

// convert applies a conversion to a value of its type. A float becomes a text in the
// shortest form that reads back as the float.
func convert(op syntax.ConvOp, v schema.Value) (schema.Value, cause) {
	switch op {
	case syntax.IntToFloat:
		return schema.FloatValue(float64(v.Int)), 0
	case syntax.FloatToInt:
		// Both bounds are floats; the upper one is the least float that is too large.
		if f := math.Trunc(v.Float); f >= math.MinInt64 && f < math.MaxInt64 {
			return schema.IntValue(int64(f)), 0
		}
		return v, causeRange
	case syntax.IntToString:
		return schema.StringValue(strconv.FormatInt(v.Int, 10)), 0
	case syntax.StringToInt:
		if i, err := strconv.ParseInt(v.Str, 10, 64); err == nil {
			return schema.IntValue(i), 0
		}
		return v, causeNumber
	case syntax.FloatToString:
		return schema.StringValue(strconv.FormatFloat(v.Float, 'g', -1, 64)), 0
	case syntax.StringToFloat:
		if f, err := strconv.ParseFloat(v.Str, 64); err == nil && !math.IsNaN(f) && !strings.ContainsAny(v.Str, "xX_") {
			return schema.FloatValue(f + 0), 0
		}
		return v, causeNumber
	}
	return v, causeKind
}

// partial tells whether a term can lack a value for want of a guard: a division, or a
// conversion that not every value has.
func partial(t syntax.Term) bool {
	switch t := t.(type) {
	case syntax.Arith:
		if t.Op == syntax.Div || t.Op == syntax.Mod {
			if c, ok := t.Right.(syntax.Const); !ok || c.Value.Int == 0 {
				return true
			}
		}
		return partial(t.Left) || partial(t.Right)
	case syntax.Neg:
		return partial(t.T)
	case syntax.Conv:
		return t.Op == syntax.FloatToInt || t.Op == syntax.StringToInt || t.Op == syntax.StringToFloat || partial(t.T)
	case syntax.Var, syntax.Const, syntax.Here:
	}
	return false
}
