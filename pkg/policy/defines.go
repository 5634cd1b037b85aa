package policy

import (
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/policy/internal/rewrite"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
)

// define is a named formula.
type define struct {
	name   string
	params []string
	node   *source.Node
	raw    syntax.Formula // as written
	body   syntax.Formula // written out; nil until then, and when it is faulty
	size   int            // of body
	state  defineState
}

type defineState uint8

const (
	defineNew defineState = iota
	defineOpen
	defineDone
)

// defineSection reads the named formulas: `bad_load(m): '(NOT amended(m)) SINCE load(m)'`.
func (l *loader) defineSection(n *source.Node) {
	var order []*define
	for _, f := range l.mapOf(n, "define") {
		d := &define{node: f.Value}
		head, parts, ok := f.Key.Value, []stretch(nil), true
		if strings.Contains(head, "(") {
			var name stretch
			name, parts, ok = splitCall(f.Key.Value)
			head = f.Key.Value[name.start:name.end]
		}
		if !ok {
			l.report(f.Key, badName("a named formula", f.Key.Value, "write name(parameter, …)"))
			continue
		}
		d.name = head
		for _, p := range parts {
			param := f.Key.Value[p.start:p.end]
			if !isName(param) || isKeyword(param) || slices.Contains(d.params, param) {
				l.report(f.Key, badName("a parameter", param, nameRule+", and no two are alike"))
			}
			d.params = append(d.params, param)
		}
		if l.declare(f.Key, head, declDefine) == nil {
			continue
		}
		l.defines[head] = d
		d.raw = l.parseFormula(f.Value, "a named formula")
		order = append(order, d)
	}
	for _, d := range order {
		l.expandDefine(d)
	}
}

// parseFormula reads the formula in a scalar; its positions are those of the file.
func (l *loader) parseFormula(n *source.Node, what string) syntax.Formula {
	if _, ok := l.text(n, what); !ok {
		return nil
	}
	text := n.Text()
	f, found := syntax.Parse(text.Value, syntax.Options{File: n.File().Name})
	if f != nil && l.restricted {
		f = rewrite.RestrictEscape(f)
	}
	move := func(s diag.Span) diag.Span { return text.Span(s.Start.Offset, s.End.Offset) }
	for _, d := range found {
		d.Span = move(d.Span)
		l.diags = append(l.diags, d)
	}
	if f == nil {
		return nil
	}
	return rewrite.Respan(f, move)
}

// expandDefine writes out a named formula, and before it those it uses.
func (l *loader) expandDefine(d *define) {
	switch {
	case d.state != defineNew:
		return
	case d.raw == nil:
		d.state = defineDone
		return
	}
	d.state = defineOpen
	body := l.expand(d.raw)
	d.state = defineDone
	if body == nil {
		return
	}
	free := syntax.FreeVars(body)
	for _, v := range free {
		if !slices.Contains(d.params, v) && !strings.HasPrefix(v, "_") {
			l.report(d.node, fault(CodeDefine, "make it a parameter, or quantify it with EXISTS", "the variable %q of the named formula %s is no parameter", v, d.name))
			return
		}
	}
	for _, p := range d.params {
		if !slices.Contains(free, p) {
			l.report(d.node, fault(CodeDefine, "delete it", "the parameter %q of the named formula %s does not occur in it", p, d.name))
			return
		}
	}
	d.body, d.size = body, rewrite.Size(body)
}

// expand writes out the named formulas and sets in f; nil when that is not
// possible, which is reported.
func (l *loader) expand(f syntax.Formula) syntax.Formula {
	ok, size := true, rewrite.Size(f)
	fail := func(p *syntax.Pred, problem finding) syntax.Formula {
		ok = false
		l.reportSpan(policyFile, p.Span(), problem)
		return p
	}
	lets := map[string]bool{}
	syntax.Walk(f, func(g syntax.Formula) bool {
		if let, is := g.(*syntax.Let); is {
			lets[let.Name] = true
		}
		if let, is := g.(*syntax.Let); is && l.names[let.Name] != nil {
			ok = false
			l.reportSpan(policyFile, let.Span(), fault(CodeTwice, "give it another name", "LET defines %s, which the bundle declares", let.Name))
		}
		return true
	})
	out := rewrite.Atoms(f, func(p *syntax.Pred) syntax.Formula {
		decl := l.names[p.Name]
		switch {
		case !ok || lets[p.Name]:
			return p
		case (decl == nil || decl.kind == declWorld) && !l.world.declared() && slices.Contains(world.Names(), p.Name):
			return fail(p, noWorld(p.Name+" is a relation of the world"))
		case decl == nil:
			return p // the checker reports unknown relations
		}
		decl.read = true
		switch decl.kind {
		case declFact, declGlob, declState, declAttribute, declWorld, declProvenance:
			return p
		case declSet:
			if len(p.Args) != 1 {
				return fail(p, fault(CodeFact, "write "+p.Name+"(x)", "the set %s has one argument, and this gives it %d", p.Name, len(p.Args)))
			}
			if len(decl.members) == 0 {
				ok = false
				return p // reported where the set stands
			}
			size += 3 * len(decl.members)
			return rewrite.Member(p, decl.members)
		case declDefine:
		}
		d := l.defines[p.Name]
		l.expandDefine(d)
		switch {
		case d.state == defineOpen:
			return fail(p, fault(CodeDefine, "", "the named formula %s uses itself", p.Name))
		case len(p.Args) != len(d.params):
			return fail(p, fault(CodeDefine, "", "the named formula %s has %d parameters, and this gives it %d", p.Name, len(d.params), len(p.Args)))
		case d.body == nil:
			ok = false
			return p // reported where it is defined
		}
		if size += d.size; size > MaxExpanded {
			return fail(p, overLimit("the formula has too many nodes when its named formulas are written out", MaxExpanded, "use fewer of them in one formula"))
		}
		return rewrite.Apply(p, d.params, d.body)
	})
	if !ok {
		return nil
	}
	return out
}
