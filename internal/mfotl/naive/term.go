package naive

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// term is the value of a term under the assignment; false if it has none.
func (e *eval) term(t syntax.Term) (schema.Value, bool) {
	switch t := t.(type) {
	case syntax.Var:
		v, ok := e.env[t.Name]
		return v, ok
	case syntax.Const:
		return t.Value, true
	case syntax.Here: // there is no world
	case syntax.Arith:
		l, okLeft := e.term(t.Left)
		r, okRight := e.term(t.Right)
		if !okLeft || !okRight || l.Kind != r.Kind {
			return schema.Value{}, false
		}
		if l.Kind == schema.KindFloat {
			return floats(t.Op, l.Float, r.Float)
		}
		return ints(t.Op, l, r)
	case syntax.Neg:
		v, ok := e.term(t.T)
		if !ok {
			return v, false
		}
		if v.Kind == schema.KindFloat {
			return floats(syntax.Sub, 0, v.Float)
		}
		return ints(syntax.Sub, schema.IntValue(0), v)
	case syntax.Conv:
		if v, ok := e.term(t.T); ok && v.Kind == t.Op.From() {
			return converted(t.Op, v)
		}
	}
	return schema.Value{}, false
}

// ints computes with integers of any size and checks that the result fits.
func ints(op syntax.ArithOp, l, r schema.Value) (schema.Value, bool) {
	a, b := big.NewInt(l.Int), big.NewInt(r.Int)
	z := new(big.Int)
	if (op == syntax.Div || op == syntax.Mod) && b.Sign() == 0 || l.Kind != schema.KindInt {
		return schema.Value{}, false
	}
	switch op {
	case syntax.Add:
		z.Add(a, b)
	case syntax.Sub:
		z.Sub(a, b)
	case syntax.Mul:
		z.Mul(a, b)
	case syntax.Div:
		z.Quo(a, b)
	case syntax.Mod:
		z.Rem(a, b)
	}
	return schema.IntValue(z.Int64()), z.IsInt64()
}

func floats(op syntax.ArithOp, a, b float64) (schema.Value, bool) {
	switch op {
	case syntax.Add:
		a += b
	case syntax.Sub:
		a -= b
	case syntax.Mul:
		a *= b
	case syntax.Div:
		a /= b
	case syntax.Mod:
		return schema.Value{}, false
	}
	return float(a)
}

// float makes a value of a float that is a number, with one zero.
func float(f float64) (schema.Value, bool) {
	if f == 0 {
		f = 0
	}
	return schema.FloatValue(f), !math.IsNaN(f)
}

func converted(op syntax.ConvOp, v schema.Value) (schema.Value, bool) {
	switch op {
	case syntax.IntToFloat:
		return schema.FloatValue(float64(v.Int)), true
	case syntax.FloatToInt:
		if math.IsInf(v.Float, 0) {
			return v, false
		}
		z, _ := big.NewFloat(v.Float).Int(nil)
		return schema.IntValue(z.Int64()), z.IsInt64()
	case syntax.IntToString:
		return schema.StringValue(strconv.Itoa(int(v.Int))), true
	case syntax.StringToInt:
		i, err := strconv.ParseInt(v.Str, 10, 64)
		return schema.IntValue(i), err == nil
	case syntax.FloatToString:
		return schema.StringValue(schema.FloatValue(v.Float).String()), true
	case syntax.StringToFloat:
		f, err := strconv.ParseFloat(v.Str, 64)
		if err != nil || strings.ContainsAny(v.Str, "xX_") {
			return v, false
		}
		return float(f)
	}
	return v, false
}

// match tests the operands, and that the groups are what the leftmost match found.
func (e *eval) match(f *syntax.Match) bool {
	text, ok := e.term(f.Left)
	if !ok || text.Kind != schema.KindString {
		return false
	}
	if f.Op == syntax.Substring {
		whole, ok := e.term(f.Right)
		return ok && whole.Kind == schema.KindString && strings.Contains(whole.Str, text.Str)
	}
	found := pattern(f).FindStringSubmatch(text.Str)
	if found == nil {
		return false
	}
	for i, t := range f.Groups {
		if v, ok := e.term(t); !ok || v != schema.StringValue(found[i+1]) {
			return false
		}
	}
	return true
}

func pattern(f *syntax.Match) *regexp.Regexp { return regexp.MustCompile(f.Pattern) }
