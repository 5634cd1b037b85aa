package policies_test

import (
	"testing"

	"github.com/aspis-rv/aspis/internal/node"
	"github.com/aspis-rv/aspis/pkg/aspects"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// BenchmarkMedevac plays the designed suite over and over in one tenant: every event is typed,
// and judged and adopted by all three aspects. The figures are per event.
func BenchmarkMedevac(b *testing.B) {
	bundle := load(b, "medevac")
	engines, err := node.Engines(bundle)
	if err != nil {
		b.Fatal(err)
	}
	var events []*schema.Event
	for _, trace := range suite(b, bundle) {
		events = append(events, trace.Copies()...)
	}
	for _, typed := range []bool{false, true} {
		name := "monitors"
		if typed {
			name = "monitors and typing"
		}
		b.Run(name, func(b *testing.B) {
			var monitors []aspects.Monitor
			for _, e := range engines {
				monitors = append(monitors, e.New())
			}
			var inputs []aspects.Input
			for _, ev := range events {
				typing := bundle.Type(ev, false)
				inputs = append(inputs, aspects.Input{
					Event: ev, Facts: typing.Facts, Edits: typing.Edits, Documents: typing.Documents, Evidence: verdict.Sound,
				})
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				in := inputs[i%len(inputs)]
				if typed {
					typing := bundle.Type(in.Event, false)
					in.Facts, in.Edits = typing.Facts, typing.Edits
				}
				in.Timestamp, in.Offset, in.TimePoint = int64(i)*1e9, uint64(i), uint64(i)
				for _, m := range monitors {
					m.Judge(in)
					m.Adopt(in)
				}
			}
		})
	}
}
