package schema

import (
	"bytes"
	"encoding/hex"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

func encode(tb testing.TB, e *Event) []byte {
	tb.Helper()
	b, err := e.AppendBinary(nil)
	if err != nil {
		tb.Fatalf("AppendBinary: %v", err)
	}
	return b
}

func encodeVerdict(tb testing.TB, v *Verdict) []byte {
	tb.Helper()
	b, err := v.AppendBinary(nil)
	if err != nil {
		tb.Fatalf("AppendBinary: %v", err)
	}
	return b
}

// onTheWire is the event without what the wire form leaves out.
func onTheWire(e *Event) *Event {
	out := *e
	out.Position, out.Timestamp = Position{}, 0
	return &out
}

func TestEventRoundTrip(t *testing.T) {
	for name, e := range samples() {
		b := encode(t, e)
		got, err := DecodeEvent(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := onTheWire(e); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got  %+v\n want %+v", name, got, want)
		}
	}
}

func TestRandomRoundTrip(t *testing.T) {
	r := seeded(t)
	for range 2000 {
		e := randomEvent(r)
		got, err := DecodeEvent(encode(t, e))
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("event: %v\n got  %+v\n want %+v", err, got, e)
		}
		v := randomVerdict(r)
		gotV, err := DecodeVerdict(encodeVerdict(t, v))
		if err != nil || !reflect.DeepEqual(gotV, v) {
			t.Fatalf("verdict: %v\n got  %+v\n want %+v", err, gotV, v)
		}
	}
}

// libraryForm encodes a tree of bare values with the library, as canonical as its
// options go.
func libraryForm(t *testing.T, v any) []byte {
	t.Helper()
	var buf bytes.Buffer
	enc := msgpack.NewEncoder(&buf)
	enc.SetSortMapKeys(true)
	enc.UseCompactInts(true)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestBytesAreTheLibrarys(t *testing.T) {
	r := seeded(t)
	var records [][]byte
	for _, e := range samples() {
		records = append(records, encode(t, e))
	}
	for range 500 {
		records = append(records, encode(t, randomEvent(r)), encodeVerdict(t, randomVerdict(r)))
	}
	for _, b := range records {
		tree, err := DecodeRaw(b)
		if err != nil {
			t.Fatal(err)
		}
		if want := libraryForm(t, tree); !bytes.Equal(b, want) {
			t.Fatalf("\n ours    %x\n library %x", b, want)
		}
	}
}

func TestScalarsAreTheLibrarys(t *testing.T) {
	for _, edge := range []uint64{0, 1, 31, 32, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, math.MaxUint64} {
		if got, want := appendUint(nil, edge), libraryForm(t, edge); !bytes.Equal(got, want) {
			t.Errorf("uint %d: %x, library %x", edge, got, want)
		}
		for _, i := range []int64{int64(edge), -int64(edge), -int64(edge) - 1} {
			if got, want := appendInt(nil, i), libraryForm(t, i); !bytes.Equal(got, want) {
				t.Errorf("int %d: %x, library %x", i, got, want)
			}
		}
	}
	for _, n := range []int{0, 15, 16, 31, 32, 255, 256, 65535, 65536} {
		s := strings.Repeat("x", n)
		if got, want := appendStr(nil, s), libraryForm(t, s); !bytes.Equal(got, want) {
			t.Errorf("a string of %d bytes differs", n)
		}
		if got, want := appendBin(nil, []byte(s)), libraryForm(t, []byte(s)); !bytes.Equal(got, want) {
			t.Errorf("data of %d bytes differs", n)
		}
		list := make([]any, n)
		if got, want := append(appendArrayHeader(nil, n), bytes.Repeat([]byte{codeNil}, n)...), libraryForm(t, list); !bytes.Equal(got, want) {
			t.Errorf("an array of %d differs", n)
		}
	}
	for _, n := range []int{15, 16, 65535, 65536} {
		var buf bytes.Buffer
		if err := msgpack.NewEncoder(&buf).EncodeMapLen(n); err != nil {
			t.Fatal(err)
		}
		if got := appendMapHeader(nil, n); !bytes.Equal(got, buf.Bytes()) {
			t.Errorf("the header of a map of %d: %x, library %x", n, got, buf.Bytes())
		}
	}
	for _, f := range []float64{0, 0.1, -1e300, math.Inf(1), math.SmallestNonzeroFloat64} {
		if got, want := appendFloat(nil, f), libraryForm(t, f); !bytes.Equal(got, want) {
			t.Errorf("float %v: %x, library %x", f, got, want)
		}
	}
	if !bytes.Equal(appendFloat(nil, math.Copysign(0, -1)), appendFloat(nil, 0)) {
		t.Error("negative zero has bytes of its own")
	}
}

func TestEventKeysAreThoseWritten(t *testing.T) {
	keys := eventKeys()
	if !slices.IsSorted(keys) || len(slices.Compact(slices.Clone(keys))) != len(keys) {
		t.Fatalf("not strictly ascending: %q", keys)
	}
	seen := map[string]bool{}
	for _, e := range samples() {
		tree, err := DecodeRaw(encode(t, e))
		if err != nil {
			t.Fatal(err)
		}
		for k := range tree.(map[string]any) {
			if _, unknown := e.Unknown[k]; !unknown {
				seen[k] = true
			}
		}
	}
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, keys) {
		t.Errorf("the samples write the keys\n %q, eventKeys lists\n %q", got, keys)
	}
}

func TestEveryFieldIsInTheBytes(t *testing.T) {
	bare := encode(t, &Event{})
	r := seeded(t)
	for f := range reflect.TypeFor[Event]().Fields() {
		e := &Event{}
		v := reflect.ValueOf(e).Elem().FieldByIndex(f.Index)
		for v.IsZero() {
			fill(r, v)
			if f.Name == "Unknown" {
				e.Unknown = map[string][]byte{"zz": {1}}
			}
		}
		same := bytes.Equal(encode(t, e), bare)
		if left := f.Name == "Position" || f.Name == "Timestamp"; same != left {
			t.Errorf("%s: in the bytes: %v", f.Name, !same)
		}
	}
}

func TestUnknownFieldsSurvive(t *testing.T) {
	// What a later version might write: F before, ka between and z after our k and t.
	b := unhex(t, "86 a145 01 a146 07 a16b 01 a26b61 81a16105 a174 a166 a17a 93c0c3a161")
	e, err := DecodeEvent(b)
	if err != nil {
		t.Fatal(err)
	}
	if e.Kind != KindResult || e.Tool != "f" || len(e.Unknown) != 3 {
		t.Fatalf("got %+v", e)
	}
	value, err := DecodeRaw(e.Unknown["z"])
	if err != nil || !reflect.DeepEqual(value, []any{nil, true, "a"}) {
		t.Errorf("the unknown list reads as %v, %v", value, err)
	}
	if again := encode(t, e); !bytes.Equal(again, b) {
		t.Errorf("written back as\n %x, want\n %x", again, b)
	}
}

func TestUnknownFieldsThatCannotBeWritten(t *testing.T) {
	for name, u := range map[string]map[string][]byte{
		"a key of this version": {"t": {1}},
		"a key never first":     {"A": {1}},
		"an empty value":        {"zz": {}},
		"two values":            {"zz": {1, 2}},
		"a wide integer":        {"zz": {codeUint8, 1}},
		"nested too deep":       {"zz": append(bytes.Repeat([]byte{0x91}, MaxDepth), 0xc0)},
	} {
		dst := []byte("kept")
		out, err := (&Event{Unknown: u}).AppendBinary(dst)
		if !errors.Is(err, ErrEncode) || string(out) != "kept" {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
	deep := append(bytes.Repeat([]byte{0x91}, MaxDepth-1), 0xc0)
	if _, err := DecodeEvent(encode(t, &Event{Unknown: map[string][]byte{"zz": deep}})); err != nil {
		t.Errorf("an unknown field at the depth limit: %v", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ name, hex, problem string }{
		{"nothing", "", "missing"},
		{"no map", "01", "want a map"},
		{"an empty map", "80", "does not start with the schema version of an event"},
		{"no version", "81a16b01", "does not start with the schema version"},
		{"a verdict", "81a15601", "does not start with the schema version of an event"},
		{"a version of another type", "81a145a131", "want a non-negative integer"},
		{"a zero field", "82a14501a16b00", "zero value"},
		{"an empty string", "82a14501a174a0", "zero value"},
		{"an empty list", "82a14501a16f90", "zero value"},
		{"an empty actor", "82a14501a2627980", "zero value"},
		{"an empty payload", "82a14501a16180", "zero value"},
		{"a false flag", "82a14501a2736581a165c2", "zero value"},
		{"a kind of a later version", "82a14501a16b0a", "10 is outside a closed set (0 to 9)"},
		{"a number for a string", "82a14501a17401", "want a string"},
		{"a string for bytes", "82a14501a26467a161", "want bytes"},
		{"bytes for a string", "82a14501a174c40161", "want a string"},
		{"a string for a list", "82a14501a16fa161", "want an array"},
		{"a time beyond 64 signed bits", "82a14501a26374cfffffffffffffffff", "does not fit"},
		{"a partition beyond 32 bits", "82a14501a2727381a16181a170cf0000000100000000", "over 32 bits"},
		{"an unknown key in a resolution", "82a14501a2727381a27a7a01", `"zz" is unknown in a resolution`},
		{"an unknown key in a payload", "82a14501a16181a17a01", `"z" is unknown in a payload`},
		{"digests without answers", "82a14501a2616f91c40155", "1 digests for 0 answers"},
		{"digests of answers that have none", "83a14501a2616e9180a2616f91c400", "zero value"},
		{"the five bytes", "ddffffffff", "4294967295 elements"},
	}
	for _, tt := range tests {
		_, err := DecodeEvent(unhex(t, tt.hex))
		if !errors.Is(err, ErrWire) || !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.problem)
		}
	}
}

func TestDecodeVersion(t *testing.T) {
	for _, tt := range []struct {
		hex    string
		decode func([]byte) error
	}{
		{"82a14502a16b63", func(b []byte) error { _, err := DecodeEvent(b); return err }},
		{"82a15602a16b63", func(b []byte) error { _, err := DecodeVerdict(b); return err }},
	} {
		err := tt.decode(unhex(t, tt.hex))
		if !errors.Is(err, ErrVersion) || errors.Is(err, ErrWire) {
			t.Fatalf("got %v, want ErrVersion", err)
		}
		for _, want := range []string{"version 2", "version 1", "byte 3", "upgrade"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not say %q", err, want)
			}
		}
	}
}

func TestDecodeVerdictRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ hex, problem string }{
		"an event":            {"81a14501", "does not start with the schema version of a verdict"},
		"an unknown key":      {"82a15601a27a7a01", `"zz" is unknown in a verdict`},
		"an empty list":       {"82a15601a2707490", "zero value"},
		"a mark outside":      {"82a15601a270749181a272779181a16d04", "outside a closed set"},
		"a value that is nil": {"82a15601a270749181a272779181a17691c0", "want a non-negative integer"},
	} {
		_, err := DecodeVerdict(unhex(t, tt.hex))
		if !errors.Is(err, ErrWire) || !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s: got %v, want %q", name, err, tt.problem)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	for name, e := range map[string]*Event{
		"kind":     {Kind: KindWithdrawn + 1},
		"vantage":  {Vantage: 3},
		"status":   {Status: 3},
		"payload":  {Args: Payload{Status: 4}},
		"outcome":  {Resolution: &Resolution{Outcome: 6}},
		"value":    {Resolution: &Resolution{Value: 4}},
		"evidence": {Resolution: &Resolution{Completeness: 4}},
		"score":    {Answers: []Answer{{Score: math.NaN()}}},
		"answers":  {Answers: make([]Answer, MaxList+1)},
		"parts":    {Resolution: &Resolution{Parts: make([]PartRef, MaxParts+1)}},
		"size":     {Text: strings.Repeat("x", MaxRecord)},
	} {
		if out, err := e.AppendBinary(nil); !errors.Is(err, ErrEncode) || out != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, v := range map[string]*Verdict{
		"mark":  {Parts: []Part{{Rows: []Row{{Mark: verdict.F + 1}}}}},
		"role":  {Parts: []Part{{Role: 2}}},
		"kind":  {Parts: []Part{{Rows: []Row{{Values: []Value{{Kind: 3}}}}}}},
		"NaN":   {Parts: []Part{{Rows: []Row{{Values: []Value{FloatValue(math.NaN())}}}}}},
		"parts": {Parts: make([]Part, MaxParts+1)},
		"size":  {Aspect: strings.Repeat("x", MaxRecord)},
	} {
		if _, err := v.AppendBinary(nil); !errors.Is(err, ErrEncode) {
			t.Errorf("verdict with a wrong %s: got %v", name, err)
		}
		if v.Hash() != nil {
			t.Errorf("a verdict with a wrong %s has a hash", name)
		}
	}
}

func TestCountLimits(t *testing.T) {
	answers := make([]Answer, MaxList)
	parts := make([]PartRef, MaxParts)
	b := encode(t, &Event{Answers: answers, Resolution: &Resolution{Parts: parts}})
	if _, err := DecodeEvent(b); err != nil {
		t.Errorf("lists at their limits: %v", err)
	}
	forged := append(unhex(t, "82a14501a2616e"), appendArrayHeader(nil, MaxList+1)...)
	forged = append(forged, bytes.Repeat([]byte{0x80}, MaxList+1)...)
	if _, err := DecodeEvent(forged); err == nil || !strings.Contains(err.Error(), "1025 elements") {
		t.Errorf("answers over the limit: %v", err)
	}
	b = encodeVerdict(t, &Verdict{Parts: make([]Part, MaxParts)})
	if _, err := DecodeVerdict(b); err != nil {
		t.Errorf("parts at the limit: %v", err)
	}
}

func TestManyLabels(t *testing.T) {
	e := &Event{Labels: map[string]string{}}
	for i := range 100 {
		e.Labels[hex.EncodeToString([]byte{byte(i * 7)})] = "v"
	}
	got, err := DecodeEvent(encode(t, e))
	if err != nil || !reflect.DeepEqual(got, e) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The ceilings argue themselves: encoding into a buffer with room allocates
// nothing; decoding allocates the event, and one string or slice per field (the two
// paths of the sample verdict: seven).
func TestAllocations(t *testing.T) {
	e, v := typicalCall(), sampleVerdict()
	b, vb := encode(t, e), encodeVerdict(t, v)
	buf := make([]byte, 0, 2048)
	for name, tt := range map[string]struct {
		most float64
		run  func()
	}{
		"append event":   {0, func() { buf, _ = e.AppendBinary(buf[:0]) }},
		"append verdict": {0, func() { buf, _ = v.AppendBinary(buf[:0]) }},
		"decode event":   {22, func() { _, _ = DecodeEvent(b) }},
		"decode verdict": {35, func() { _, _ = DecodeVerdict(vb) }},
	} {
		if n := testing.AllocsPerRun(100, tt.run); n > tt.most {
			t.Errorf("%s: %v allocations, the ceiling is %v", name, n, tt.most)
		}
	}
}

func TestDecodedSharesNothing(t *testing.T) {
	b := encode(t, samples()["call_full"])
	e, err := DecodeEvent(b)
	if err != nil {
		t.Fatal(err)
	}
	clear(b)
	if !reflect.DeepEqual(e, onTheWire(samples()["call_full"])) {
		t.Error("the event changed with the bytes it was decoded from")
	}
}

func FuzzDecodeEvent(f *testing.F) {
	for _, e := range samples() {
		f.Add(encode(f, e))
	}
	f.Add(unhex(f, "86a14501a14607a16b01a26b6181a16105a174a166a17a93c0c3a161"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEvent(b)
		if err != nil {
			return
		}
		if again := encode(t, e); !bytes.Equal(again, b) {
			t.Fatalf("accepted %x\nbut writes %x", b, again)
		}
		_ = e.Validate() // must not panic either
	})
}

func FuzzDecodeVerdict(f *testing.F) {
	f.Add(encodeVerdict(f, sampleVerdict()))
	f.Add(encodeVerdict(f, &Verdict{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := DecodeVerdict(b)
		if err != nil {
			return
		}
		if again := encodeVerdict(t, v); !bytes.Equal(again, b) {
			t.Fatalf("accepted %x\nbut writes %x", b, again)
		}
		v.Canonicalize()
		once := v.Hash()
		v.Canonicalize()
		if !bytes.Equal(once, v.Hash()) {
			t.Fatal("Canonicalize is not idempotent")
		}
	})
}
