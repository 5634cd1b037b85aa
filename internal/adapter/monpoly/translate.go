package monpoly

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// reading is a way to count presumptive facts. What holds in a stricter reading
// holds in the next one too.
type reading uint8

// The readings, strictest first.
const (
	strict  reading = iota // they count only where they speak against the formula
	plain                  // they count like any other
	lenient                // they count only where they speak for the formula
	readings
)

// The limits of what is put to the binary.
const (
	// maxText bounds a formula as text, in bytes. Copies of guards share nodes in the
	// tree and do not in the text.
	maxText = 1 << 20
	// maxInt is the greatest integer that the binary keeps: its integers have 63 bits.
	maxInt = 1<<62 - 1
	// exactInt is the greatest integer in a formula that every version reads exactly:
	// older ones read numbers as floats.
	exactInt = 1 << 53
)

// question is a formula in one reading, as it is put to the binary.
type question struct {
	name      string // of its files
	signature string
	formula   string
	relations map[string]relation // those it reads, by their names in the bundle
	variables []check.Column      // free ones, as renamed
	wide      bool                // it has numbers beyond exactInt
	aggregate bool                // it has aggregations, whose values depend on the reading

	// What the check of the binary gave: order[i] is the place among the variables of
	// the i-th column of its answers.
	order []int
	files files
}

// relation is a relation as a question knows it: it may read all facts, the
// definite ones, or both.
type relation struct {
	number        int
	kinds         []schema.ValueKind
	all, definite bool
}

func (r relation) allName() string      { return "p" + strconv.Itoa(r.number) }
func (r relation) definiteName() string { return "d" + strconv.Itoa(r.number) }

// translate puts a formula into a reading. It fails with ErrFormula on what the
// binary does not know or does otherwise than this language says.
func translate(name string, c *check.Checked, sig check.Signature, as reading) (*question, error) {
	t := translator{
		q:    &question{name: name, relations: map[string]relation{}},
		sig:  sig,
		as:   as,
		vars: map[string]string{},
	}
	for _, col := range c.Free {
		if col.Kind == schema.KindFloat {
			return nil, fmt.Errorf("%w: the variable %s is a float, and floats are printed with six digits; close it with EXISTS", ErrFormula, col.Name)
		}
		t.q.variables = append(t.q.variables, check.Column{Name: t.variable(col.Name), Kind: col.Kind})
	}
	t.formula(c.Core, true)
	if t.err != nil {
		return nil, t.err
	}
	t.q.formula, t.q.signature = t.b.String(), t.q.declarations()
	return t.q, nil
}

// declarations are the lines of the signature file.
func (q *question) declarations() string {
	var lines []string
	for _, r := range q.relations {
		var kinds []string
		for _, k := range r.kinds {
			kinds = append(kinds, k.String())
		}
		args := "(" + strings.Join(kinds, ",") + ")\n"
		if r.all {
			lines = append(lines, r.allName()+args)
		}
		if r.definite {
			lines = append(lines, r.definiteName()+args)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// translator writes one formula. After an error it writes nothing more.
type translator struct {
	q    *question
	sig  check.Signature
	as   reading
	vars map[string]string
	b    strings.Builder
	err  error
}

func (t *translator) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf("%w: "+format, append([]any{ErrFormula}, args...)...)
	}
}

// write appends text and, in between, runs what writes the rest.
func (t *translator) write(parts ...any) {
	for _, p := range parts {
		if t.b.Len() > maxText {
			t.fail("it has more than %d bytes; split it", maxText)
		}
		if t.err != nil {
			return
		}
		switch p := p.(type) {
		case string:
			t.b.WriteString(p)
		case func():
			p()
		}
	}
}

func (t *translator) variable(name string) string {
	v, ok := t.vars[name]
	if !ok {
		v = "v" + strconv.Itoa(len(t.vars))
		t.vars[name] = v
	}
	return v
}

// formula writes f; positive tells whether f stands under an even number of negations.
func (t *translator) formula(f syntax.Formula, positive bool) {
	sub := func(f syntax.Formula, positive bool) func() { return func() { t.formula(f, positive) } }
	switch f := f.(type) {
	case *syntax.Bool:
		t.write(strings.ToUpper(strconv.FormatBool(f.Value)))
	case *syntax.Pred:
		t.predicate(f, positive)
	case *syntax.Cmp:
		t.write(t.term(f.Left), " "+f.Op.String()+" ", t.term(f.Right))
	case *syntax.Not:
		t.write("(NOT ", sub(f.F, !positive), ")")
	case *syntax.And:
		t.write("(", sub(f.Left, positive), " AND ", sub(f.Right, positive), ")")
	case *syntax.Or:
		t.write("(", sub(f.Left, positive), " OR ", sub(f.Right, positive), ")")
	case *syntax.Exists:
		t.write("(EXISTS ", t.variables(f.Vars), ". ", sub(f.F, positive), ")")
	case *syntax.Prev:
		t.write("(PREVIOUS", t.interval(f.I), sub(f.F, positive), ")")
	case *syntax.Once:
		t.write("(ONCE", t.interval(f.I), sub(f.F, positive), ")")
	case *syntax.Since:
		t.write("(", sub(f.Left, positive), " SINCE", t.interval(f.I), sub(f.Right, positive), ")")
	case *syntax.Agg:
		t.aggregation(f, positive)
	case *syntax.Historically:
		t.fail("HISTORICALLY with free variables; give them values inside, or write it with SINCE")
	case *syntax.Implies, *syntax.Equiv, *syntax.Forall, *syntax.Next, *syntax.Eventually, *syntax.Always, *syntax.Until,
		*syntax.Match, *syntax.Let, *syntax.New,
		*syntax.At, *syntax.Label, *syntax.Somewhere, *syntax.Everywhere, *syntax.Escape, *syntax.Reach, *syntax.Surround:
		t.fail("%s is not put to this engine; `engine: aspis` may have it", f)
	}
}

// predicate writes a predicate over the facts that count where it stands.
func (t *translator) predicate(f *syntax.Pred, positive bool) {
	kinds, ok := t.sig[f.Name]
	if !ok {
		t.fail("%s is no relation of the bundle", f.Name)
		return
	}
	r, ok := t.q.relations[f.Name]
	if !ok {
		r = relation{number: len(t.q.relations), kinds: kinds}
	}
	name := r.allName()
	if t.as == strict && positive || t.as == lenient && !positive {
		name, r.definite = r.definiteName(), true
	} else {
		r.all = true
	}
	t.q.relations[f.Name] = r
	args := make([]string, len(f.Args))
	for i, a := range f.Args {
		args[i] = t.term(a)
	}
	t.write(name, "("+strings.Join(args, ",")+")")
}

// aggregation writes those that cannot overflow, need no floats for whole numbers, and
// have a value whenever there is a group.
func (t *translator) aggregation(f *syntax.Agg, positive bool) {
	switch f.Op {
	case syntax.Count:
	case syntax.Min, syntax.Max:
		if len(f.Groups) == 0 {
			t.fail("%s without groups: of nothing it is 0 or infinite there, and has no value here; name a group", f.Op)
		}
	case syntax.Sum, syntax.Average, syntax.Median:
		t.fail("%s is not put to this engine, whose integers overflow unnoticed; `engine: aspis` has it", f.Op)
	}
	t.q.aggregate = true
	groups := ""
	if len(f.Groups) > 0 {
		groups = "; " + t.variables(f.Groups)
	}
	t.write("(", t.variable(f.Result.Name), " <- "+f.Op.String()+" ", t.variable(f.Over.Name), groups, " (", func() { t.formula(f.F, positive) }, "))")
}

func (t *translator) variables(vars []syntax.Var) string {
	names := make([]string, len(vars))
	for i, v := range vars {
		names[i] = t.variable(v.Name)
	}
	return strings.Join(names, ", ")
}

func (t *translator) interval(i syntax.Interval) string {
	t.q.wide = t.q.wide || i.Lo > exactInt || !i.Unbounded && i.Hi > exactInt
	if i.Unbounded {
		return fmt.Sprintf("[%d,*) ", i.Lo)
	}
	return fmt.Sprintf("[%d,%d] ", i.Lo, i.Hi)
}

// term is a term as text. Arithmetic is left out: the binary's integers wrap around
// without a word, and a division by zero ends it.
func (t *translator) term(x syntax.Term) string {
	switch x := x.(type) {
	case syntax.Var:
		return t.variable(x.Name)
	case syntax.Const:
		return t.constant(x.Value)
	case syntax.Arith, syntax.Neg, syntax.Conv:
		t.fail("arithmetic is not put to this engine, whose integers overflow unnoticed: %s", x)
	case syntax.Here:
		t.fail("%s is a vertex of the world, of which this engine knows nothing", x)
	}
	return ""
}

func (t *translator) constant(v schema.Value) string {
	s, err := encodeValue(v)
	switch {
	case err != nil:
		t.fail("the constant %s: %w", v, err)
	case v.Kind == schema.KindString:
		return `"` + s + `"`
	case v.Kind == schema.KindInt:
		t.q.wide = t.q.wide || v.Int > exactInt || v.Int < -exactInt
	}
	return s
}
