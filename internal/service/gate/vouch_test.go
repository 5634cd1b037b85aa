package gate

import (
	"fmt"
	"testing"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// TestVouchers: a signature vouches for exactly what it was made over, and is forgotten
// in the order in which it came.
func TestVouchers(t *testing.T) {
	v := newVouchers()
	r := &schema.Resolution{CallID: "c", Signature: []byte("signature")}
	if v.has(r) {
		t.Error("nothing was vouched for")
	}
	v.add(r.Signature, r.SigningBytes())
	if !v.has(r) {
		t.Error("what was signed does not count")
	}
	other := *r
	other.Outcome = schema.SettledRefuse
	if v.has(&other) {
		t.Error("the signature counts for other content")
	}
	for i := range vouchersKept {
		v.add(fmt.Appendf(nil, "s%d", i), nil)
	}
	if v.has(r) || len(v.mu.signed) != vouchersKept {
		t.Errorf("%d signatures are kept", len(v.mu.signed))
	}
}
