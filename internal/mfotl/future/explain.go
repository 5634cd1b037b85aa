package future

import (
	"github.com/aspis-rv/aspis/internal/mfotl"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Explain says why a row of a verdict satisfies the formula, as State.Explain of package
// mfotl does and at its cost; false if the values are those of no row. A future operator
// is a formula without parts, and its witness is the time point from which it looks.
//
// Only emit may call it, and of the verdict that it was given; elsewhere it panics.
func (r *Run) Explain(values []schema.Value) ([]mfotl.Reason, bool) {
	last := &r.stages[len(r.stages)-1] // that of the formula itself, which reads all others
	reasons, ok := last.state.Explain(0, values)
	r.plan.restore(reasons)
	return reasons, ok
}

// restore puts the formulas as they were before they were cut into reasons.
func (p *Plan) restore(reasons []mfotl.Reason) {
	for i := range reasons {
		if f, ok := p.uncut[reasons[i].Formula]; ok {
			reasons[i].Formula = f
		}
		p.restore(reasons[i].Because)
	}
}
