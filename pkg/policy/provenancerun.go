package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/aspis-rv/aspis/internal/records"
	"github.com/aspis-rv/aspis/internal/text"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// errManyValues says that an event has more values than one may make facts.
var errManyValues = fmt.Errorf("more than %d values", MaxValues)

// errLongValue says that a value is longer than any name of something.
var errLongValue = fmt.Errorf("a value of more than %d bytes", MaxValueBytes)

// errNoScalar says that a path leads to something that is no single value.
var errNoScalar = errors.New("no single value")

// resultProvenance makes the facts of the fields of a result. It is called for an ok result
// that is bound to its call.
func (r *typer) resultProvenance(ps []provenance) {
	for i := range ps {
		p := &ps[i]
		if p.trusted && r.hearsay() {
			continue
		}
		v, err := r.structure()
		if err != nil {
			r.unknownValues(p, &p.origins[0], err)
			continue
		}
		g := gathered{}
		for j := range p.origins {
			if err := g.fields(&p.origins[j], v); err != nil {
				r.unknownValues(p, &p.origins[j], err)
			}
		}
		r.values(p, &g, verdict.Definite)
	}
}

// errorProvenance makes the facts of an error of a call, which an agent reads as it reads a result:
// whoever lets a look-up fail may choose its text. An error is no record with fields, so that
// each text in it is taken; it makes nothing known.
func (r *typer) errorProvenance(ps []provenance) {
	if r.ev.Result.Status == schema.PayloadAbsent {
		return
	}
	if !slices.ContainsFunc(ps, func(p provenance) bool { return !p.trusted }) {
		return
	}
	v, unreadable := readResult(0, r.ev.Result)
	for i := range ps {
		p, g, err := &ps[i], gathered{}, unreadable
		if p.trusted {
			continue
		}
		for j := range p.origins {
			o := p.origins[j]
			if o.take == takeValue {
				o.take = takeTokens
			}
			if err == nil {
				err = g.all(&o, v)
			}
		}
		if err != nil {
			r.unknownValues(p, &p.origins[0], err)
		}
		r.values(p, &g, verdict.Definite)
	}
}

// messageProvenance makes the facts of a message. Words say less than a field does: who names
// a value may well forbid it.
func (r *typer) messageProvenance(ps []provenance) {
	for i := range ps {
		p, g := &ps[i], gathered{}
		for j := range p.origins {
			o := &p.origins[j]
			if !o.speaks(r.ev) || p.trusted && r.ev.Vantage == schema.Reported && !o.accepted {
				continue
			}
			if err := g.text(o, r.ev.Text); err != nil {
				r.unknownValues(p, o, err)
			}
		}
		r.values(p, &g, verdict.Presumptive)
	}
}

// speaks reports whether a message is one that the origin takes values from. A poster who says
// that the words are somebody else's is believed, since that takes trust away.
func (o *origin) speaks(ev *schema.Event) bool {
	return ev.Actor.Class == o.from && (ev.Source == "" || ev.Source == string(o.from) || !o.trust.Trusted())
}

// values adds the facts of one relation, unless there are too many.
func (r *typer) values(p *provenance, g *gathered, strength verdict.Strength) {
	slices.Sort(g.found)
	g.found = slices.Compact(g.found)
	if len(g.found) > MaxValues {
		r.unknownValues(p, &p.origins[0], errManyValues)
		return
	}
	for _, v := range g.found {
		r.out.Facts = append(r.out.Facts, schema.Fact{Name: p.rel, Args: []schema.Value{schema.StringValue(v)}, Strength: strength})
	}
}

// unknownValues notes that values of a relation are unknown here.
func (r *typer) unknownValues(p *provenance, o *origin, err error) {
	r.out.Uncertain = append(r.out.Uncertain, p.rel)
	r.out.Why = append(r.out.Why, fmt.Sprintf("%s (%s): %v", p.rel, o.place, err))
}

// gathered are the values of one relation in one event.
type gathered struct{ found []string }

// fields takes the values at a path. It takes all that can be taken, and the error names what
// cannot.
func (g *gathered) fields(o *origin, v records.Value) error {
	var problems []error
	if at, want, other := o.path.Misfit(v); other {
		hint := ""
		if at == "" && v.Kind() == records.String {
			hint = ", and this is a text: returns of the tool says how to read it"
		}
		problems = append(problems, fmt.Errorf("%q: %s is expected%s", at, want, hint))
	}
	o.path.Select(v, func(at string, v records.Value) bool {
		if err := g.scalar(o, v); err != nil {
			problems = append(problems, fmt.Errorf("%q: %w", at, err))
		}
		return len(problems) < maxProblems
	})
	return errors.Join(problems...)
}

// scalar takes the values of a field. A field that is null says nothing, like one that is not
// there.
func (g *gathered) scalar(o *origin, v records.Value) error {
	switch v.Kind() {
	case records.Null:
		return nil
	case records.List, records.Map:
		return fmt.Errorf("%w: a %v", errNoScalar, v.Kind())
	case records.Bool, records.Number, records.String:
	}
	s, _ := v.Text()
	return g.text(o, s)
}

// all takes the values of every text in a value.
func (g *gathered) all(o *origin, v records.Value) error {
	var problems []error
	switch v.Kind() {
	case records.List:
		for i := range v.Len() {
			problems = append(problems, g.all(o, v.Item(i)))
		}
	case records.Map:
		for i := range v.Len() {
			problems = append(problems, g.text(o, v.Member(i).Name), g.all(o, v.Member(i).Value))
		}
	case records.Null:
	case records.Bool, records.Number, records.String:
		s, _ := v.Text()
		problems = append(problems, g.text(o, s))
	}
	return cmp.Or(problems...)
}

// text takes the values of a text. Only a trusted field that is a value as a whole can be too long: a long link in a
// text of a stranger or in a message must not leave a relation unknown for ever, which nobody could release.
func (g *gathered) text(o *origin, s string) error {
	found, all := o.values(s)
	if !o.trust.Trusted() {
		more, rest := o.suspected(s)
		found, all = append(found, more...), all && rest
	}
	if !all {
		return errManyValues
	}
	var long error
	for _, v := range found {
		switch {
		case v == "":
		case len(v) > MaxValueBytes && o.trust.Trusted() && o.take == takeValue:
			long = errLongValue
		default:
			g.found = append(g.found, v)
		}
	}
	return long
}

// suspected lists what else the text of a stranger brings up for whoever reads it: the values
// without the characters in them that nobody sees, and the addresses that signs join to something else.
func (o *origin) suspected(s string) (found []string, all bool) {
	all = true
	visible := text.Visible(s)
	if visible != s {
		found, all = o.values(visible)
	}
	if o.take == takeIdentifiers || o.take == takeTokens {
		addresses, rest := text.Addresses(visible, MaxValues)
		found, all = append(found, addresses...), all && rest
	}
	return found, all
}

// values folds what is to be taken of a text; all is false when it is too much.
func (o *origin) values(s string) (found []string, all bool) {
	switch o.take {
	case takeValue:
		return []string{text.Fold(s)}, true
	case takeTokens:
		return text.Tokens(s, MaxValues)
	case takeIdentifiers:
		return text.Identifiers(s, MaxValues)
	case takePhrases:
		return text.Phrases(s, o.words, MaxValues)
	}
	return nil, true
}
