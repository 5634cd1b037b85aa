package mfotl

import (
	"slices"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// RowBuffer is memory for rows that is used over and over. Its zero value is ready for
// use. It is not safe for concurrent use. It grows to the largest answer it has held.
type RowBuffer struct {
	rows      []schema.Row
	values    []schema.Value
	witnesses []uint64
}

// Rows returns the bindings that satisfy formula i at the pending time point, with
// their marks (Tp, Fp or F) and witnesses, sorted by value; nil if there are none.
// The caller owns the result. It panics without a pending step.
func (st *State) Rows(i int) []schema.Row {
	var buf RowBuffer
	return st.ReadRows(i, &buf)
}

// ReadRows is Rows into the memory of buf: what it returns is valid until buf is used
// again. Once buf is large enough it allocates nothing.
func (st *State) ReadRows(i int, buf *RowBuffer) []schema.Row {
	st.mustPend("Rows")
	root := st.plan.rootOf[i]
	f := st.plan.roots[root].f
	if !f.trigger.fires(st) {
		return nil
	}
	st.fault = 0
	rel := f.collect(st)
	st.noteFault(root)
	n := rel.len()
	if n == 0 {
		return nil
	}
	// The arrays must not move while rows point into them.
	buf.rows = slices.Grow(buf.rows[:0], n)
	buf.values = slices.Grow(buf.values[:0], n*rel.arity)
	buf.witnesses = slices.Grow(buf.witnesses[:0], n*rel.wit)
	for _, r := range st.sorted(rel) {
		buf.add(st, rel, int(r))
	}
	return buf.rows
}

// sorted returns the numbers of the rows of rel in the order of their values.
func (st *State) sorted(rel *relation) []uint64 {
	order := st.order[:0]
	for r := range rel.len() {
		order = append(order, uint64(r))
	}
	if len(order) > 1 {
		slices.SortFunc(order, func(a, b uint64) int {
			return st.compareTuples(rel.tuple(int(a)), rel.tuple(int(b)))
		})
	}
	st.order = order
	return order
}

// add appends row r of rel.
func (buf *RowBuffer) add(st *State, rel *relation, r int) {
	v, w := len(buf.values), len(buf.witnesses)
	for _, word := range rel.tuple(r) {
		buf.values = append(buf.values, st.value(word))
	}
	for _, offset := range slices.Backward(rel.witness(r)) {
		if offset != 0 {
			buf.witnesses = append(buf.witnesses, offset-1)
		}
	}
	buf.rows = append(buf.rows, schema.Row{
		Values:  slices.Clip(buf.values[v:]),
		Mark:    rel.marks[r],
		Witness: slices.Clip(buf.witnesses[w:]),
	})
}
