package schema

import (
	"math"
	"slices"
	"testing"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// Compare is a total order in which only equal values are equal.
func TestCompareIsATotalOrder(t *testing.T) {
	values := []Value{
		IntValue(-2), IntValue(0), IntValue(7), StringValue(""), StringValue("A"), StringValue("a"), StringValue("aa"),
		StringValue("é"), FloatValue(-1.5), FloatValue(0), FloatValue(7), FloatValue(1e300),
	}
	if !slices.IsSortedFunc(values, Compare) {
		t.Errorf("not ascending: %v", values)
	}
	for i, a := range values {
		for j, b := range values {
			got := Compare(a, b)
			if (got == 0) != (a == b) || (got < 0) != (i < j) || got != -Compare(b, a) {
				t.Errorf("Compare(%v, %v) = %d", a, b, got)
			}
		}
	}
}

// TestCompareNaN keeps the order total with the NaN of a log, so that answers are sorted.
func TestCompareNaN(t *testing.T) {
	nan := FloatValue(math.NaN())
	for _, v := range []Value{FloatValue(math.Inf(-1)), FloatValue(0), FloatValue(math.Inf(1))} {
		if Compare(nan, v) != -1 || Compare(v, nan) != 1 || Compare(nan, nan) != 0 {
			t.Errorf("NaN is not below %v", v)
		}
	}
}

func TestValueString(t *testing.T) {
	for want, v := range map[string]Value{
		"-3": IntValue(-3), `"a\"b"`: StringValue(`a"b`), "0.1": FloatValue(0.1), "?": {Kind: 9},
	} {
		if v.String() != want {
			t.Errorf("%+v prints as %s, want %s", v, v, want)
		}
	}
	if KindInt.String() != "int" || KindString.String() != "string" || KindFloat.String() != "float" || ValueKind(9).String() != "?" {
		t.Error("a kind of value has another name than in a signature")
	}
}

// The value of a verdict is that of its forbid parts; guards do not count.
func TestVerdictValue(t *testing.T) {
	guard := Part{Role: RoleGuard, Rows: []Row{{Mark: verdict.F}}}
	if v := (&Verdict{Parts: []Part{guard}}).Value(); v != verdict.T {
		t.Errorf("a guard alone gives %v", v)
	}
	weak := Part{Rows: []Row{{Mark: verdict.Tp}, {Mark: verdict.Fp}}}
	if v := (&Verdict{Parts: []Part{guard, weak, {}}}).Value(); v != verdict.Fp {
		t.Errorf("got %v, want the strongest mark of the forbid parts", v)
	}
}
