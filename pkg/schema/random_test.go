package schema

import (
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"testing"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// seeded returns a source of chance for a random test. A failure prints the
// command that repeats it.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	if s := os.Getenv("ASPIS_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("ASPIS_SEED=%q is no number", s)
		}
		seed = n
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with: ASPIS_SEED=%d go test -run '^%s$' ./pkg/schema", seed, t.Name())
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// fill sets v to random content: closed sets to one of their elements, lists and
// maps to up to three elements, pointers to nil now and then.
func fill(r *rand.Rand, v reflect.Value) {
	if last, closed := lastOf(v.Type()); closed {
		v.SetUint(r.Uint64N(last + 1))
		return
	}
	switch v.Kind() { //nolint:exhaustive // records use few of the kinds; any other panics below
	case reflect.String:
		v.SetString(randomText(r))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> r.IntN(64))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64() >> (64 - v.Type().Bits()) >> r.IntN(v.Type().Bits()))
	case reflect.Float64:
		v.SetFloat(float64(r.IntN(5)) * 0.3)
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(r, v.Index(i))
			}
		}
	case reflect.Map:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(r, key)
				fill(r, value)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Value]() {
			v.Set(reflect.ValueOf(randomValue(r)))
			return
		}
		for _, field := range v.Fields() {
			fill(r, field)
		}
	default:
		panic("no filling for " + v.Type().String())
	}
}

func lastOf(t reflect.Type) (uint64, bool) {
	switch t {
	case reflect.TypeFor[Kind]():
		return uint64(KindWithdrawn), true
	case reflect.TypeFor[Vantage]():
		return uint64(Observed), true
	case reflect.TypeFor[PayloadStatus]():
		return uint64(PayloadMalformed), true
	case reflect.TypeFor[ResultStatus]():
		return uint64(ResultUnknown), true
	case reflect.TypeFor[SettledAs]():
		return uint64(SettledExpired), true
	case reflect.TypeFor[Role]():
		return uint64(RoleGuard), true
	case reflect.TypeFor[verdict.Value]():
		return uint64(verdict.F), true
	case reflect.TypeFor[verdict.BlockingSet]():
		return 15, true
	case reflect.TypeFor[verdict.Completeness]():
		return uint64(verdict.Unavailable), true
	}
	return 0, false
}

func randomText(r *rand.Rand) string {
	const alphabet = "abcXYZ019 -_/.:\"\\\n\té😀\x7f"
	runes := []rune(alphabet)
	out := make([]rune, r.IntN(40))
	for i := range out {
		out[i] = runes[r.IntN(len(runes))]
	}
	return string(out)
}

func randomValue(r *rand.Rand) Value {
	switch r.IntN(3) {
	case 0:
		return IntValue(int64(r.Uint64()) >> r.IntN(64))
	case 1:
		return StringValue(randomText(r))
	default:
		return FloatValue(float64(r.IntN(5)) * 0.3)
	}
}

// randomEvent is an event with anything in any field, sensible or not, as long as
// the wire form can carry it. Position and Timestamp are zero.
func randomEvent(r *rand.Rand) *Event {
	e := &Event{}
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		switch v.Type().Field(i).Name {
		case "Position", "Timestamp", "Unknown":
		default:
			if r.IntN(3) > 0 {
				fill(r, v.Field(i))
			}
		}
	}
	for range r.IntN(3) {
		if e.Unknown == nil {
			e.Unknown = map[string][]byte{}
		}
		e.Unknown[string(rune('a'+r.IntN(26)))+"_"+randomText(r)] = appendStr(nil, randomText(r))
	}
	return e
}

func randomVerdict(r *rand.Rand) *Verdict {
	v := &Verdict{}
	fill(r, reflect.ValueOf(v).Elem())
	return v
}
