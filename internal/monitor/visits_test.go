package monitor_test

import (
	"fmt"
	"testing"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestVisits: however many places an event concerns, location formulas look at no more vertices
// than an event may cost; beyond that the clause is incomplete, and gives no rows.
func TestVisits(t *testing.T) {
	spec := &world.Spec{Attributes: []string{"lz"}, Labels: []string{"threat"}}
	for i := range 2000 {
		spec.Vertices = append(spec.Vertices, world.VertexSpec{Name: fmt.Sprint("v", i), Sort: world.Physical})
		if i > 0 {
			spec.Edges = append(spec.Edges, world.EdgeSpec{From: fmt.Sprint("v", i-1), To: fmt.Sprint("v", i), Distance: 1})
		}
	}
	s := tell(t, spec, `NEW (lz(m, c) AND AT c (SOMEWHERE (EVERYWHERE (SOMEWHERE threat))))`, `NEW (lz(m, c) AND AT c (SOMEWHERE[0,1] threat))`)
	for i := range 100 {
		s.happens(world.Edit{Op: world.Set, Name: "lz", A: fmt.Sprint("m", i), Values: []schema.Value{schema.StringValue(fmt.Sprint("v", i))}})
	}
	s.calls("00 incomplete; 01 incomplete", world.Edit{Op: world.AddLabel, A: "v0", B: "threat"})
	s.calls("", world.Edit{Op: world.Set, Name: "lz", A: "m", Values: []schema.Value{schema.StringValue("v1")}})
}
