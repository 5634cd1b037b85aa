package expr

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// MaxDepth bounds the nesting of arguments and results that expressions read. Tool
// arguments nest a handful deep.
const MaxDepth = 64

// ErrDepth says that a value is nested more than MaxDepth deep.
var ErrDepth = errors.New("expr: value nested too deeply")

// Decode reads canonical JSON text as a value for expressions.
//
// Numbers keep their identity: a number whose value is an integer of 64 bits is an
// int, however it is written (1, 1.0, 1e0); any other number is a double if the
// shortest decimal text of that double denotes the very same number, so that two
// different numbers never become one; any number left over (a longer account
// number, an amount with twenty digits) is a decimal, which is equal only to a
// decimal of the same value, is no text, and takes part in no arithmetic.
func Decode(canon []byte) (ref.Val, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(canon))
	v, err := decode(dec, 0)
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	return v, nil
}

func decode(dec *jsontext.Decoder, depth int) (ref.Val, error) {
	if depth > MaxDepth {
		return nil, ErrDepth
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case jsontext.KindNull:
		return types.NullValue, nil
	case jsontext.KindTrue, jsontext.KindFalse:
		return types.Bool(tok.Bool()), nil
	case jsontext.KindString:
		return types.String(tok.String()), nil
	case jsontext.KindNumber:
		return number(tok.String()), nil
	case jsontext.KindBeginArray:
		return decodeList(dec, depth)
	case jsontext.KindBeginObject:
		return decodeObject(dec, depth)
	case jsontext.KindInvalid, jsontext.KindEndArray, jsontext.KindEndObject: // ReadToken fails before
	}
	return nil, fmt.Errorf("unexpected %v", tok.Kind())
}

func decodeList(dec *jsontext.Decoder, depth int) (ref.Val, error) {
	items := []ref.Val{}
	for dec.PeekKind() != ']' {
		v, err := decode(dec, depth+1)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	return types.NewRefValList(types.DefaultTypeAdapter, items), nil
}

func decodeObject(dec *jsontext.Decoder, depth int) (ref.Val, error) {
	o := &Object{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		v, err := decode(dec, depth+1)
		if err != nil {
			return nil, err
		}
		i, _ := slices.BinarySearch(o.keys, key) // canonical text comes sorted, nearly always at the end
		o.keys, o.vals = slices.Insert(o.keys, i, key), slices.Insert(o.vals, i, v)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	return o, nil
}

// number reads a JSON number; see Decode.
func number(text string) ref.Val {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return types.Int(i)
	}
	d := normalise(text)
	if i, ok := d.integer(); ok {
		return types.Int(i)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err == nil && normalise(strconv.FormatFloat(f, 'g', -1, 64)) == d {
		return types.Double(f)
	}
	return d
}

// Decimal is a number that neither an int nor a double holds exactly: the digits
// without leading and trailing zeros, and a decimal exponent.
type Decimal struct {
	digits string // with a sign, "0" for zero
	exp    string // an integer; a text because it has no bound
}

// decimalType has no operators, so that an expression that calculates with such a
// number is in error rather than wrong.
func decimalType() *types.Type { return types.NewOpaqueType("aspis.decimal") }

// normalise reads a number as digits × 10^exp; equal numbers give equal results.
func normalise(text string) Decimal {
	sign, rest := "", text
	if strings.HasPrefix(rest, "-") {
		sign, rest = "-", rest[1:]
	}
	mantissa, exponent := rest, "0"
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exponent = rest[:i], strings.TrimPrefix(rest[i+1:], "+")
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	kept := strings.TrimRight(digits, "0")
	if kept == "" {
		return Decimal{"0", "0"}
	}
	exp, ok := new(big.Int).SetString(exponent, 10)
	if !ok {
		return Decimal{text, "?"}
	}
	exp.Add(exp, big.NewInt(int64(len(digits)-len(kept)-len(fraction))))
	return Decimal{sign + kept, exp.String()}
}

// integer returns the value when it is an integer of 64 bits.
func (d Decimal) integer() (int64, bool) {
	exp, err := strconv.Atoi(d.exp)
	if err != nil || exp < 0 || exp > 18 {
		return 0, false
	}
	i, err := strconv.ParseInt(d.digits+strings.Repeat("0", exp), 10, 64)
	return i, err == nil
}

// scalar converts a result of an expression to an argument of a fact.
func scalar(v ref.Val, kind schema.ValueKind) (schema.Value, error) {
	switch v := v.(type) {
	case types.String:
		if kind == schema.KindString {
			return schema.StringValue(string(v)), nil
		}
	case types.Int:
		if kind == schema.KindInt {
			return schema.IntValue(int64(v)), nil
		}
		if kind == schema.KindFloat {
			return exactFloat(int64(v))
		}
	case types.Uint:
		if kind == schema.KindInt && v <= math.MaxInt64 {
			return schema.IntValue(int64(v)), nil
		}
	case types.Double:
		if kind == schema.KindFloat && !math.IsNaN(float64(v)) {
			return schema.FloatValue(float64(v) + 0), nil // -0 becomes 0
		}
	}
	return schema.Value{}, fmt.Errorf("%w: %s instead of %s", ErrValue, v.Type().TypeName(), kind)
}

func exactFloat(i int64) (schema.Value, error) {
	f := float64(i)
	if f >= math.MaxInt64 || int64(f) != i {
		return schema.Value{}, fmt.Errorf("%w: %d has no exact float", ErrValue, i)
	}
	return schema.FloatValue(f), nil
}
