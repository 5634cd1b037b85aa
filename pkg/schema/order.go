package schema

import (
	"cmp"
	"slices"
)

// Canonicalize brings the verdict into the form in which equal verdicts have equal
// bytes: parts sorted by (Clause, Role, Name); rows sorted by value; witnesses
// ascending and without duplicates; of several rows with one binding the one with
// the strongest mark, and among equals the least witness list. The paths of a row stay in their order. It sorts in place
// and takes time O(n log n).
func (v *Verdict) Canonicalize() {
	for i := range v.Parts {
		v.Parts[i].canonicalize()
	}
	slices.SortStableFunc(v.Parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Clause, b.Clause), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Name, b.Name))
	})
}

func (p *Part) canonicalize() {
	for i := range p.Rows {
		r := &p.Rows[i]
		slices.Sort(r.Witness)
		r.Witness = slices.Compact(r.Witness)
	}
	slices.SortFunc(p.Rows, func(a, b Row) int {
		return cmp.Or(CompareRows(a.Values, b.Values), cmp.Compare(b.Mark, a.Mark), slices.Compare(a.Witness, b.Witness))
	})
	p.Rows = slices.CompactFunc(p.Rows, func(a, b Row) bool { return CompareRows(a.Values, b.Values) == 0 })
}

// CompareRows orders two bindings value by value; a prefix comes first.
func CompareRows(a, b []Value) int { return slices.CompareFunc(a, b, Compare) }
