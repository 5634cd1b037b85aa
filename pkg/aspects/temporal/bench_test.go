package temporal_test

import (
	"fmt"
	"testing"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/aspects/temporal"
	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// BenchmarkJudgeClauses is a time point that concerns one clause of 1 or 300, judged and
// adopted.
func BenchmarkJudgeClauses(b *testing.B) {
	for _, n := range []int{1, 300} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			bundle := &policy.Bundle{}
			for i := range n {
				does, may := fmt.Sprint("does", i), fmt.Sprint("may", i)
				c := &check.Checked{
					Core: and(pred(does, "x"), not(once(pred(may, "x")))), Free: stringColumns("x"),
					Anchors: []string{does}, Absence: true, Historic: true,
				}
				bundle.Clauses = append(bundle.Clauses, policy.Clause{
					ID: fmt.Sprint("c", i), Formulas: []policy.Formula{formula(schema.RoleForbid, "", c)},
				})
			}
			engine, err := temporal.New(bundle)
			if err != nil {
				b.Fatal(err)
			}
			monitor := engine.New()
			args := []schema.Value{schema.StringValue("a")}
			in := aspects.Input{Evidence: verdict.Sound, Facts: []schema.Fact{{Name: "may0", Args: args}, {Name: "does0", Args: args}}}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				in.Timestamp, in.Offset = int64(i), uint64(i)
				monitor.Judge(in)
				monitor.Adopt(in)
			}
		})
	}
}
