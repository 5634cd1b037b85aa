package schema

import (
	"bytes"
	"encoding/hex"
	"math"
	"reflect"
	"testing"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

func TestCallDigestSeparatesItsFields(t *testing.T) {
	base := []string{"t", "p", "s", "tool", "schema", "{}"}
	digest := func(f []string) string {
		return hex.EncodeToString(CallDigest(f[0], f[1], f[2], f[3], []byte(f[4]), []byte(f[5])))
	}
	seen := map[string][]string{digest(base): base}
	add := func(f []string) {
		d := digest(f)
		if other, taken := seen[d]; taken {
			t.Errorf("%q and %q have one digest", f, other)
		}
		seen[d] = f
	}
	for i := range base {
		changed := append([]string{}, base...)
		changed[i] += "x"
		add(changed)
		if i > 0 { // move a byte over the border between two fields
			moved := append([]string{}, base...)
			moved[i-1], moved[i] = base[i-1]+base[i][:1], base[i][1:]
			add(moved)
		}
	}
	if len(CallDigest("", "", "", "", nil, nil)) != DigestSize {
		t.Error("not a SHA-256")
	}
	// The value is part of the contract with executors and with signed permits.
	if got, want := digest(base), "41632debde319485109897be523130ae5b5c7ffff14ac502384911bb0384f73e"; got != want {
		t.Errorf("the digest of %q changed: %s, was %s", base, got, want)
	}
}

func TestVerdictKey(t *testing.T) {
	v := sampleVerdict()
	key := v.Key()
	if key != sampleVerdict().Key() {
		t.Error("equal verdicts have different keys")
	}
	for i, change := range []func(*Verdict){
		func(v *Verdict) { v.Tenant = "x" },
		func(v *Verdict) { v.Attempt.Opening++ },
		func(v *Verdict) { v.Aspect = "x" },
		func(v *Verdict) { v.Policy = digestOf(1) },
	} {
		w := sampleVerdict()
		change(w)
		if w.Key() == key {
			t.Errorf("change %d leaves the key", i)
		}
	}
	w := sampleVerdict()
	w.Completeness, w.Parts = verdict.Sound, nil
	if w.Key() != key || bytes.Equal(w.Hash(), v.Hash()) {
		t.Error("the value must not be part of the key, but must be part of the hash")
	}
}

func TestSigningBytes(t *testing.T) {
	r := samples()["resolution"].Resolution
	signed := r.SigningBytes()
	if err := Walk(signed); err != nil {
		t.Fatalf("not canonical: %v", err)
	}
	for f := range reflect.TypeFor[Resolution]().Fields() {
		changed := *r
		v := reflect.ValueOf(&changed).Elem().FieldByIndex(f.Index)
		v.SetZero()
		if f.Name == "Awaits" || f.Name == "Reason" {
			v.Set(reflect.ValueOf(&Resolution{Awaits: []string{"x"}, Reason: verdict.Late}).Elem().FieldByIndex(f.Index))
		}
		if same := bytes.Equal(changed.SigningBytes(), signed); same != (f.Name == "Signature") {
			t.Errorf("the signature covers %s: %v", f.Name, !same)
		}
	}
	if (&Resolution{Value: 9}).SigningBytes() != nil {
		t.Error("a resolution that cannot be encoded has signing bytes")
	}
}

func TestCanonicalize(t *testing.T) {
	row := func(mark verdict.Value, witness []uint64, values ...Value) Row {
		return Row{Values: values, Mark: mark, Witness: witness}
	}
	a, b := StringValue("a"), StringValue("b")
	v := &Verdict{Parts: []Part{
		{Clause: "T2", Role: RoleGuard},
		{Clause: "T2", Name: "z"},
		{Clause: "T2", Name: "a"},
		{Clause: "T1", Rows: []Row{
			row(verdict.F, []uint64{9}, b),
			row(verdict.Fp, []uint64{1, 2}, a),
			row(verdict.F, []uint64{7, 5, 7}, a),
			row(verdict.F, []uint64{5, 6}, a),
			row(verdict.F, nil, a, a),
			row(verdict.Tp, nil, IntValue(3)),
		}},
	}}
	v.Canonicalize()
	want := &Verdict{Parts: []Part{
		{Clause: "T1", Rows: []Row{
			row(verdict.Tp, nil, IntValue(3)),
			row(verdict.F, []uint64{5, 6}, a),
			row(verdict.F, nil, a, a),
			row(verdict.F, []uint64{9}, b),
		}},
		{Clause: "T2", Name: "a"},
		{Clause: "T2", Name: "z"},
		{Clause: "T2", Role: RoleGuard},
	}}
	if !reflect.DeepEqual(v, want) {
		t.Errorf("\n got  %+v\n want %+v", v, want)
	}
}

func TestCanonicalizeForgetsTheOrder(t *testing.T) {
	r := seeded(t)
	for range 300 {
		v := randomVerdict(r)
		for i := range v.Parts { // one key, one part
			v.Parts[i].Name = string(rune('a' + i))
		}
		b := encodeVerdict(t, v)
		w, err := DecodeVerdict(b)
		if err != nil {
			t.Fatal(err)
		}
		r.Shuffle(len(w.Parts), func(i, j int) { w.Parts[i], w.Parts[j] = w.Parts[j], w.Parts[i] })
		for _, p := range w.Parts {
			r.Shuffle(len(p.Rows), func(i, j int) { p.Rows[i], p.Rows[j] = p.Rows[j], p.Rows[i] })
			for _, row := range p.Rows {
				r.Shuffle(len(row.Witness), func(i, j int) { row.Witness[i], row.Witness[j] = row.Witness[j], row.Witness[i] })
			}
		}
		v.Canonicalize()
		w.Canonicalize()
		if !bytes.Equal(v.Hash(), w.Hash()) {
			t.Fatalf("the order of parts, rows or witnesses shows in the bytes:\n%+v\n%+v", v, w)
		}
		if v.Value() != w.Value() {
			t.Fatalf("Canonicalize changed the value")
		}
	}
}

func TestZerosAreOneZero(t *testing.T) {
	verdictOf := func(f float64) *Verdict {
		return &Verdict{Parts: []Part{{Rows: []Row{{Values: []Value{FloatValue(f)}}}}}}
	}
	if !bytes.Equal(verdictOf(0).Hash(), verdictOf(math.Copysign(0, -1)).Hash()) {
		t.Error("0 and -0 are equal values with different bytes")
	}
}
