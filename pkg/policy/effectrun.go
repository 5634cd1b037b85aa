package policy

import (
	"errors"
	"fmt"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/policy/internal/expr"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// errEffect says that the expressions of an effect gave what the world has no place for.
var errEffect = errors.New("policy: no such effect")

// edit makes the edit of an effect.
func (e *emitter) edit(in *expr.Input) (world.Edit, error) {
	out := world.Edit{Op: e.operation.op, Name: e.attribute}
	if out.Op == world.OpenChannel {
		out.N = world.WeightByDomain
	}
	for i, p := range e.args {
		s, _ := e.operation.slot(i + e.skipped())
		if err := argument(&out, s, p, in); err != nil {
			return world.Edit{}, err
		}
	}
	return out, nil
}

// argument evaluates one argument into an edit.
func argument(out *world.Edit, s slot, p *expr.Program, in *expr.Input) error {
	switch s {
	case slotDistance, slotWeight:
		v, err := p.Scalar(in, schema.KindInt)
		if err != nil {
			return err
		}
		if out.N = v.Int; out.N < 0 {
			return fmt.Errorf("%w: %s %d is negative", errEffect, s, v.Int)
		}
		return nil
	case slotValues, slotLabels:
		texts, err := p.Texts(in, MaxEach)
		if err != nil {
			return err
		}
		for _, text := range texts {
			if err := present(s, text); err != nil {
				return err
			}
			if s == slotLabels {
				out.Names = append(out.Names, text)
			} else {
				out.Values = append(out.Values, schema.StringValue(text))
			}
		}
		return nil
	case slotObject, slotVertex, slotLabel, slotDomain, slotSort, slotEntity, slotAttribute:
	}
	v, err := p.Scalar(in, schema.KindString)
	if err != nil {
		return err
	}
	if s == slotSort {
		if out.Sort = sortNamed(v.Str); out.Sort == world.Unknown {
			return fmt.Errorf("%w: %q is no sort of a vertex", errEffect, v.Str)
		}
		return nil
	}
	if err := present(s, v.Str); err != nil && (s != slotDomain || out.Op != world.AddVertex) {
		return err
	}
	if out.A == "" {
		out.A = v.Str
	} else {
		out.B = v.Str
	}
	return nil
}

// present holds that a name is there: the empty text names nothing.
func present(s slot, name string) error {
	if name == "" {
		return fmt.Errorf("%w: %s is empty", errEffect, s)
	}
	return nil
}
