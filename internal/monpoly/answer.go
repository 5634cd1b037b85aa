package monpoly

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Verdict is the answer to the formula at one time point.
type Verdict struct {
	// Index is that of the time point, counted from 0.
	Index uint64
	// TS is its time stamp.
	TS int64
	// Rows are the tuples that satisfy the formula, sorted, each once; of a formula
	// without free variables one empty tuple, if it holds. Witnesses are indexes of
	// time points.
	Rows []schema.Row
	// Reasons says of each row why it satisfies the formula; nil unless the evaluator
	// explains. Times are then the time stamps of the time points, by index.
	Reasons [][]mfotl.Reason
	Times   []int64
}

// Style says how answers are printed. The zero value prints as MonPoly does.
type Style struct {
	// ExactFloats prints the shortest decimal number that reads back as the float,
	// instead of six digits.
	ExactFloats bool
	// Verbose prints time points without an answer too, and all tuples in one pair of
	// parentheses.
	Verbose bool
	// Closed says that the formula has no free variables; it matters with Verbose only.
	Closed bool
	// Columns names the columns of the tuples; it matters for reasons only.
	Columns []string
}

// Append appends the line of a verdict to dst: `@ts (time point i): (v,w) (v,w)`, with
// `true` for the empty tuple. It appends nothing if there is no tuple and the style is not
// verbose.
//
// Strings stand in quotes, unless they begin and end with one themselves, and as they
// are, with line ends escaped, so that an answer is one line. Floats are printed as C's
// %g does.
//
// A verdict with reasons has such a line for each tuple, followed by lines that begin with
// spaces: the reasons of its conjuncts.
func (s Style) Append(dst []byte, v *Verdict) []byte {
	for i := range v.Reasons {
		dst = s.appendAnswer(dst, &Verdict{Index: v.Index, TS: v.TS, Rows: v.Rows[i : i+1]})
		dst = s.appendReasons(dst, v, i)
	}
	if len(v.Reasons) > 0 {
		return dst
	}
	return s.appendAnswer(dst, v)
}

func (s Style) appendAnswer(dst []byte, v *Verdict) []byte {
	if len(v.Rows) == 0 && !s.Verbose {
		return dst
	}
	dst = append(dst, '@')
	dst = strconv.AppendInt(dst, v.TS, 10)
	dst = append(dst, " (time point "...)
	dst = strconv.AppendUint(dst, v.Index, 10)
	dst = append(dst, "):"...)
	if s.Verbose {
		return s.appendVerbose(append(dst, ' '), v)
	}
	for i := range v.Rows {
		dst = s.appendTuple(append(dst, ' '), v.Rows[i].Values)
	}
	return append(dst, '\n')
}

// appendVerbose prints all tuples in parentheses, or whether a closed formula holds.
func (s Style) appendVerbose(dst []byte, v *Verdict) []byte {
	if s.Closed {
		return append(strconv.AppendBool(dst, len(v.Rows) > 0), '\n')
	}
	dst = append(dst, '(')
	for i := range v.Rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = s.appendTuple(dst, v.Rows[i].Values)
	}
	return append(dst, ")\n"...)
}

func (s Style) appendTuple(dst []byte, values []schema.Value) []byte {
	if len(values) == 0 {
		return append(dst, "true"...)
	}
	for i, v := range values {
		sep := byte(',')
		if i == 0 {
			sep = '('
		}
		dst = s.appendValue(append(dst, sep), v)
	}
	return append(dst, ')')
}

func (s Style) appendValue(dst []byte, v schema.Value) []byte {
	switch v.Kind {
	case schema.KindInt:
		return strconv.AppendInt(dst, v.Int, 10)
	case schema.KindString:
		return appendString(dst, v.Str)
	case schema.KindFloat:
		precision := 6
		if s.ExactFloats {
			precision = -1
		}
		return appendFloat(dst, v.Float, precision)
	}
	return dst
}

func appendString(dst []byte, s string) []byte {
	bare := s != "" && s[0] == '"' && s[len(s)-1] == '"'
	if !bare {
		dst = append(dst, '"')
	}
	for i := range len(s) {
		switch c := s[i]; c {
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		default:
			dst = append(dst, c)
		}
	}
	if !bare {
		dst = append(dst, '"')
	}
	return dst
}

// appendFloat prints as C's %g does, with the given number of digits.
func appendFloat(dst []byte, f float64, precision int) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		if math.IsNaN(f) {
			return append(dst, "nan"...)
		}
		return append(dst, "inf"...)
	}
	return strconv.AppendFloat(dst, f, 'g', precision, 64)
}

// answer is a verdict as JSON.
type answer struct {
	TS      int64      `json:"ts"`
	TP      uint64     `json:"tp"`
	Tuples  [][]any    `json:"tuples"`
	Witness [][]uint64 `json:"witness"`
	Reasons [][]reason `json:"reasons,omitempty"`
}

// AppendJSON appends the verdict as one line of JSON: {"ts", "tp", "tuples", "witness"},
// where witness has for each tuple the indexes of the time points whose facts made it
// true. A verdict with reasons has a key "reasons" too, with those of each tuple. Floats are exact, and the strings "inf", "-inf" and "nan" where JSON has no
// number. It appends nothing if there is no tuple.
func AppendJSON(dst []byte, v *Verdict) ([]byte, error) {
	if len(v.Rows) == 0 {
		return dst, nil
	}
	a := answer{TS: v.TS, TP: v.Index, Tuples: make([][]any, len(v.Rows)), Witness: make([][]uint64, len(v.Rows))}
	for i := range v.Rows {
		a.Tuples[i] = make([]any, len(v.Rows[i].Values))
		for j, value := range v.Rows[i].Values {
			a.Tuples[i][j] = jsonValue(value)
		}
		a.Witness[i] = append([]uint64{}, v.Rows[i].Witness...)
	}
	for _, reasons := range v.Reasons {
		a.Reasons = append(a.Reasons, jsonReasons(reasons, v.Times))
	}
	line, err := json.Marshal(a)
	return append(append(dst, line...), '\n'), err
}

func jsonValue(v schema.Value) any {
	switch v.Kind {
	case schema.KindInt:
		return v.Int
	case schema.KindString:
		return v.Str
	case schema.KindFloat:
		if math.IsInf(v.Float, 0) || math.IsNaN(v.Float) {
			return string(appendFloat(nil, v.Float, -1))
		}
		return v.Float
	}
	return nil
}
