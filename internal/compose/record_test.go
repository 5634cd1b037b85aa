package compose

import (
	"bytes"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestRecordKnowsNoOrder: the record of a decision is the same bytes in whatever order its
// parts came.
func TestRecordKnowsNoOrder(t *testing.T) {
	b := bundle(clause("C", forbid(temporal, ""), forbid(spatial, "s"), forbid(semantic, "m")))
	one, two, three := answer(temporal), answer(spatial), answer(semantic, says("C", forbid(semantic, "m"), ":F"))
	var first []byte
	for _, list := range [][]*schema.Verdict{{one, two, three}, {three, two, one}, {two, three, one}} {
		d := decide(b, list...)
		r := Record(b, &d, list, false)
		if first == nil {
			first = r.SigningBytes()
		}
		if !bytes.Equal(first, r.SigningBytes()) {
			t.Errorf("%v is another record than that of the first order", r.Parts)
		}
	}
}
