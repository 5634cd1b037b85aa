package check

import (
	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// inferTypes gives every variable one of the types int, string and float. There
// are no conversions: comparing an int with a float is an error.
func (w *work) inferTypes() {
	u := &unifier{w: w, parent: map[string]string{}, known: map[string]evidence{}}
	syntax.Walk(w.scoped, func(f syntax.Formula) bool {
		switch f := f.(type) {
		case *syntax.Pred:
			u.pred(f)
		case *syntax.Cmp:
			u.cmp(f)
		case *syntax.Bool, *syntax.Not, *syntax.And, *syntax.Or, *syntax.Implies, *syntax.Equiv, *syntax.Exists,
			*syntax.Forall, *syntax.Prev, *syntax.Once, *syntax.Historically, *syntax.Since:
		}
		return true
	})
	w.kinds = map[string]schema.ValueKind{}
	for name := range w.written {
		w.kinds[name] = u.known[u.find(name)].kind
	}
}

// evidence is what gave a variable its type.
type evidence struct {
	kind  schema.ValueKind
	where syntax.Formula
}

// unifier keeps classes of variables that must have one type.
type unifier struct {
	w      *work
	parent map[string]string
	known  map[string]evidence // by representative
}

func (u *unifier) find(name string) string {
	for {
		up, ok := u.parent[name]
		if !ok {
			return name
		}
		if above, ok := u.parent[up]; ok { // halve the path
			u.parent[name] = above
		}
		name = up
	}
}

func (u *unifier) pred(f *syntax.Pred) {
	kinds, ok := u.w.relation(f.Name)
	if !ok || len(kinds) != len(f.Args) {
		return // reported by the relations stage
	}
	for i, t := range f.Args {
		switch t := t.(type) {
		case syntax.Const:
			if t.Value.Kind != kinds[i] {
				u.w.add(wrongArgument(f, i, t, kinds[i]))
			}
		case syntax.Var:
			u.learn(t, evidence{kinds[i], f})
		}
	}
}

func (u *unifier) learn(v syntax.Var, e evidence) {
	root := u.find(v.Name)
	old, ok := u.known[root]
	switch {
	case !ok:
		u.known[root] = e
	case old.kind != e.kind:
		u.w.add(twoTypes(u.w.written[v.Name], v.Pos, old, e))
	}
}

func (u *unifier) cmp(f *syntax.Cmp) {
	l, lv := f.Left.(syntax.Var)
	r, rv := f.Right.(syntax.Var)
	switch {
	case lv && rv:
		u.union(f, l, r)
	case lv:
		u.compare(f, l, f.Right)
	case rv:
		u.compare(f, r, f.Left)
	default:
		lk, rk := constKind(f.Left), constKind(f.Right)
		if lk != rk {
			u.w.add(mixedComparison(f, lk, rk))
		}
	}
}

func (u *unifier) compare(f *syntax.Cmp, v syntax.Var, c syntax.Term) {
	kind := constKind(c)
	root := u.find(v.Name)
	if old, ok := u.known[root]; ok && old.kind != kind {
		u.w.add(comparedConstant(f, u.w.written[v.Name], old, c, kind))
		return
	}
	u.learn(v, evidence{kind, f})
}

func (u *unifier) union(f *syntax.Cmp, l, r syntax.Var) {
	a, b := u.find(l.Name), u.find(r.Name)
	if a == b {
		return
	}
	ea, oka := u.known[a]
	eb, okb := u.known[b]
	if oka && okb && ea.kind != eb.kind {
		u.w.add(comparedVariables(f, u.w.written[l.Name], ea, u.w.written[r.Name], eb))
		return
	}
	u.parent[b] = a
	if !oka && okb {
		u.known[a] = eb
	}
}

func constKind(t syntax.Term) schema.ValueKind {
	if c, ok := t.(syntax.Const); ok {
		return c.Value.Kind
	}
	return schema.KindInt
}
