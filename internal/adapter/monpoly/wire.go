package monpoly

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// encodeValue is a value as it stands in a log and, in quotes when it is a string,
// in a formula. It fails with ErrValue on what the binary would not read as itself.
func encodeValue(v schema.Value) (string, error) {
	switch v.Kind {
	case schema.KindInt:
		if v.Int > maxInt || v.Int < -maxInt {
			return "", fmt.Errorf("%w: %d needs more than 63 bits", ErrValue, v.Int)
		}
		return strconv.FormatInt(v.Int, 10), nil
	case schema.KindString:
		return "x" + hex.EncodeToString([]byte(v.Str)), nil
	case schema.KindFloat:
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
			return "", fmt.Errorf("%w: %v is no finite number", ErrValue, v.Float)
		}
		s := strconv.FormatFloat(v.Float, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s, nil
	}
	return "", fmt.Errorf("%w: it has no kind", ErrValue)
}

// line is a time point as it is sent: its time stamp, its facts that the question
// reads, and the sign at which the process evaluates it.
func (q *question) line(m *moment) (string, error) {
	var b strings.Builder
	b.WriteString(strconv.FormatInt(m.ts, 10))
	for _, f := range m.facts {
		r, ok := q.relations[f.Name]
		if !ok {
			continue
		}
		args := make([]string, len(f.Args))
		for i, a := range f.Args {
			var err error
			if args[i], err = encodeValue(a); err != nil {
				return "", fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		tuple := "(" + strings.Join(args, ",") + ")"
		if r.all {
			b.WriteString(" " + r.allName() + tuple)
		}
		if r.definite && f.Strength == verdict.Definite {
			b.WriteString(" " + r.definiteName() + tuple)
		}
	}
	b.WriteString(" ;@")
	return b.String(), sendable(b.String())
}

// sendable refuses what must not reach a process: a control character could end a
// line of its output early, and so forge the next one.
func sendable(line string) error {
	for i := range len(line) {
		if c := line[i]; c < ' ' || c > '~' {
			return fmt.Errorf("%w: byte %#x at %d of a line", ErrValue, c, i)
		}
	}
	return nil
}

// header is the line with which a process begins its answer.
func header(index uint64) string { return fmt.Sprintf("At time point %d:", index) }

// parseAnswer reads the line that answers a time point: the values of the question's
// variables, in their order, in each row. Anything but the expected form fails with
// ErrAnswer.
func (q *question) parseAnswer(line string, index uint64, ts int64) ([][]schema.Value, error) {
	rest, ok := strings.CutPrefix(line, fmt.Sprintf("@%d (time point %d): ", ts, index))
	if !ok {
		return nil, fmt.Errorf("%w: %s where time point %d at %d was expected", ErrAnswer, excerpt(line), index, ts)
	}
	if len(q.variables) == 0 {
		switch rest {
		case "true":
			return [][]schema.Value{{}}, nil
		case "false":
			return nil, nil
		}
		return nil, fmt.Errorf("%w: %s where true or false was expected", ErrAnswer, excerpt(line))
	}
	kinds := make([]schema.ValueKind, len(q.order))
	for i, at := range q.order {
		kinds[i] = q.variables[at].Kind
	}
	p := answer{rest: rest}
	rows, ok := p.rows(kinds)
	if !ok {
		return nil, fmt.Errorf("%w: %s has no list of rows over %s", ErrAnswer, excerpt(line), q.columns())
	}
	seen := map[string]bool{}
	for i, row := range rows {
		key := fmt.Sprint(row)
		if seen[key] {
			return nil, fmt.Errorf("%w: the row %s twice", ErrAnswer, excerpt(key))
		}
		seen[key] = true
		rows[i] = make([]schema.Value, len(row))
		for j, at := range q.order {
			rows[i][at] = row[j]
		}
	}
	return rows, nil
}

func (q *question) columns() string {
	var s []string
	for _, c := range q.variables {
		s = append(s, c.Name+":"+c.Kind.String())
	}
	return strings.Join(s, ",")
}

// excerpt is the beginning of a text of the binary, quoted.
func excerpt(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}

// answer is the rest of a line that is being read.
type answer struct{ rest string }

func (a *answer) eat(token string) bool {
	rest, ok := strings.CutPrefix(a.rest, token)
	if ok {
		a.rest = rest
	}
	return ok
}

// rows = "(" [row {"," row}] ")" .
func (a *answer) rows(kinds []schema.ValueKind) ([][]schema.Value, bool) {
	if a.rest == "()" {
		return nil, true
	}
	if !a.eat("(") {
		return nil, false
	}
	var rows [][]schema.Value
	for {
		row, ok := a.row(kinds)
		if !ok {
			return nil, false
		}
		rows = append(rows, row)
		if a.eat(")") {
			return rows, a.rest == ""
		}
		if !a.eat(",") {
			return nil, false
		}
	}
}

// row = "(" value {"," value} ")" .
func (a *answer) row(kinds []schema.ValueKind) ([]schema.Value, bool) {
	row := make([]schema.Value, len(kinds))
	for i, k := range kinds {
		before := ","
		if i == 0 {
			before = "("
		}
		var ok bool
		if !a.eat(before) {
			return nil, false
		}
		if row[i], ok = a.value(k); !ok {
			return nil, false
		}
	}
	return row, a.eat(")")
}

// value reads a value up to the comma or parenthesis behind it. It must be written
// as it would be sent, strings in quotes.
func (a *answer) value(k schema.ValueKind) (schema.Value, bool) {
	end := strings.IndexAny(a.rest, ",)")
	if end < 0 {
		return schema.Value{}, false
	}
	text := a.rest[:end]
	a.rest = a.rest[end:]
	var v schema.Value
	switch k {
	case schema.KindInt:
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return v, false
		}
		v = schema.IntValue(i)
	case schema.KindString:
		if len(text) < 3 || text[0] != '"' || text[1] != 'x' || text[len(text)-1] != '"' {
			return v, false
		}
		text = text[1 : len(text)-1]
		b, err := hex.DecodeString(text[1:])
		if err != nil {
			return v, false
		}
		v = schema.StringValue(string(b))
	case schema.KindFloat: // never asked for
		return v, false
	}
	again, err := encodeValue(v)
	return v, err == nil && again == text
}

// freeVariables reads the line that names the columns of the answers.
func freeVariables(line string, variables []check.Column) ([]int, bool) {
	list, ok := strings.CutPrefix(line, "The sequence of free variables is: (")
	if !ok {
		return nil, false
	}
	if list, ok = strings.CutSuffix(list, ")"); !ok {
		return nil, false
	}
	at := map[string]int{}
	for i, v := range variables {
		at[v.Name] = i
	}
	order := []int{}
	if list != "" {
		for name := range strings.SplitSeq(list, ",") {
			i, ok := at[name]
			if !ok {
				return nil, false
			}
			delete(at, name)
			order = append(order, i)
		}
	}
	return order, len(at) == 0
}
