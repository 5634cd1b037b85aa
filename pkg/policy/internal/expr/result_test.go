package expr

import (
	"testing"

	"cel.dev/cel-go/common/types"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestResultAsPrinted: event.result is the text that a result is, or its JSON; it has no
// value where nobody knows the result.
func TestResultAsPrinted(t *testing.T) {
	for _, tt := range []struct {
		result schema.Payload
		want   string
		fails  bool
	}{
		{result: schema.Payload{}},
		{result: schema.Payload{Status: schema.PayloadOK, Canon: []byte(`"- a: \"b\"\n"`)}, want: "- a: \"b\"\n"},
		{result: schema.Payload{Status: schema.PayloadOK, Canon: []byte(`{"a":1}`)}, want: `{"a":1}`},
		{result: schema.Payload{Status: schema.PayloadWithheld}, fails: true},
		{result: schema.Payload{Status: schema.PayloadMalformed}, fails: true},
	} {
		in := &Input{Event: &schema.Event{Kind: schema.KindResult, Result: tt.result}}
		got, err := eval(t, "event.result", in)
		if (err != nil) != tt.fails || !tt.fails && got != types.String(tt.want) {
			t.Errorf("%v: %v, %v, want %q", tt.result.Status, got, err, tt.want)
		}
	}
}
