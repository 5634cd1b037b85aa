package monpoly

import (
	"context"
	"fmt"
	"slices"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// probe is a formula whose answers are known.
type probe struct {
	name    string
	formula syntax.Formula
	free    []check.Column
	moments []moment
	want    [][][]schema.Value // by time point, rows sorted
	wide    bool               // only for bundles with large numbers
}

func probeSignature() check.Signature {
	return check.Signature{
		"number": {schema.KindInt}, "pair": {schema.KindInt, schema.KindInt},
		"text": {schema.KindString}, "known": {schema.KindString},
	}
}

// probes are what a binary must answer rightly. They stand for what is known to go
// wrong: a tuple that waits to enter the interval of SINCE and loses its left operand
// meanwhile, empty time points, strings, and numbers that are read as floats.
func probes() []probe {
	number := func(n ...int64) []schema.Fact { return facts("number", schema.IntValue, n...) }
	text := func(name string, s ...string) []schema.Fact { return facts(name, schema.StringValue, s...) }
	pairs := []schema.Fact{
		{Name: "pair", Args: []schema.Value{schema.IntValue(1), schema.IntValue(1)}},
		{Name: "pair", Args: []schema.Value{schema.IntValue(2), schema.IntValue(2)}},
	}
	one := []schema.Value{schema.IntValue(1), schema.IntValue(1)}
	x, y, s, u := syntax.Var{Name: "x"}, syntax.Var{Name: "y"}, syntax.Var{Name: "s"}, syntax.Var{Name: "u"}
	is := func(name string, args ...syntax.Term) syntax.Formula { return &syntax.Pred{Name: name, Args: args} }
	return []probe{
		{
			name:    "probe-since",
			formula: &syntax.Since{I: syntax.Interval{Lo: 2, Hi: 5}, Left: is("number", x), Right: is("pair", x, y)},
			free:    []check.Column{{Name: "x"}, {Name: "y"}},
			moments: []moment{{ts: 0, facts: pairs}, {ts: 1, facts: number(1)}, {ts: 2, facts: number(1, 2)}, {ts: 3, facts: number(1)}, {ts: 4}},
			want:    [][][]schema.Value{nil, nil, {one}, {one}, nil},
		},
		{
			name: "probe-text",
			formula: &syntax.And{
				Left:  &syntax.And{Left: is("text", s), Right: &syntax.Once{I: syntax.AnyTime(), F: is("known", u)}},
				Right: &syntax.Cmp{Op: syntax.Less, Left: u, Right: s},
			},
			free:    []check.Column{{Name: "s", Kind: schema.KindString}, {Name: "u", Kind: schema.KindString}},
			moments: []moment{{ts: 7, facts: text("known", "", "a\n\"", "b")}, {ts: 7}, {ts: 7, facts: text("text", "", "a\n#")}},
			want:    [][][]schema.Value{nil, nil, {{schema.StringValue("a\n#"), schema.StringValue("")}, {schema.StringValue("a\n#"), schema.StringValue("a\n\"")}}},
		},
		{
			name: "probe-previous",
			formula: &syntax.And{
				Left:  &syntax.Prev{I: syntax.AnyTime(), F: &syntax.Not{F: &syntax.Exists{Vars: []syntax.Var{x}, F: is("number", x)}}},
				Right: &syntax.Not{F: is("text", syntax.Const{Value: schema.StringValue("no")})},
			},
			moments: []moment{{ts: 1, facts: number(1)}, {ts: 2}, {ts: 3, facts: number(1)}, {ts: 4}, {ts: 5, facts: text("text", "no")}},
			want:    [][][]schema.Value{nil, nil, {{}}, nil, nil},
		},
		{
			name: "probe-wide", wide: true,
			formula: &syntax.And{
				Left:  &syntax.Once{I: syntax.Interval{Lo: exactInt + 1, Hi: exactInt + 1}, F: is("number", x)},
				Right: &syntax.Not{F: &syntax.Cmp{Op: syntax.Eq, Left: x, Right: syntax.Const{Value: schema.IntValue(exactInt + 1)}}},
			},
			free:    []check.Column{{Name: "x"}},
			moments: []moment{{ts: 0, facts: number(exactInt, exactInt+1)}, {ts: exactInt}, {ts: exactInt + 1}, {ts: exactInt + 2}},
			want:    [][][]schema.Value{nil, nil, {{schema.IntValue(exactInt)}}, nil},
		},
	}
}

// facts makes a fact over each value.
func facts[T any](name string, value func(T) schema.Value, of ...T) []schema.Fact {
	var out []schema.Fact
	for _, v := range of {
		out = append(out, schema.Fact{Name: name, Args: []schema.Value{value(v)}})
	}
	return out
}

// run puts the probe to the binary. It fails with ErrBinary unless all answers are
// right.
func (p *probe) run(ctx context.Context, binary, dir string) error {
	q, err := translate(p.name, &check.Checked{Core: p.formula, Free: p.free}, probeSignature(), plain)
	if err != nil {
		return err
	}
	if err := q.write(dir); err != nil {
		return fmt.Errorf("monpoly: %w", err)
	}
	if err := q.check(ctx, binary); err != nil {
		return fmt.Errorf("%w: %s is no MonPoly that this program knows: %w", ErrBinary, binary, err)
	}
	c, err := start(binary, q)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBinary, err)
	}
	for i := range p.moments {
		if err := c.step(ctx, &p.moments[i]); err != nil {
			return fmt.Errorf("%w: %s, time point %d: %w", ErrBinary, p.formula, i, err)
		}
		rows := c.rows
		slices.SortFunc(rows, compareRows)
		if !slices.EqualFunc(rows, p.want[i], slices.Equal) {
			c.stop()
			return fmt.Errorf("%w: %s gives %v at time point %d, right is %v; use another version of it", ErrBinary, p.formula, rows, i, p.want[i])
		}
	}
	c.stop()
	return nil
}

func compareRows(a, b []schema.Value) int { return slices.CompareFunc(a, b, schema.Compare) }
