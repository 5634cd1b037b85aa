package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

func TestCanonical(t *testing.T) {
	tests := []struct{ in, want string }{
		{` { "b" : 1 , "a" : [ true , false , null ] } `, `{"a":[true,false,null],"b":1}`},
		{`{"":1,"a":{"z":{},"y":[]}}`, `{"":1,"a":{"y":[],"z":{}}}`},
		{`"\u0041\u00e9\/\u20ac"`, `"Aé/€"`},
		{`"\u0000\u001f\b\t\n\f\r\"\\\u007f"`, `"\u0000\u001f\b\t\n\f\r\"\\` + "\x7f" + `"`},
		{`"\uD83D\uDE00"`, `"😀"`},
		{"\"\u2028\"", "\"\u2028\""},
		// The ordering example of RFC 8785, section 3.2.3.
		{
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		},
		{`{"aa":1,"a":2,"A":3}`, `{"A":3,"a":2,"aa":1}`},
		// Three account numbers that are one double.
		{`[9007199254740993,9007199254740992,9007199254740994]`, `[9007199254740993,9007199254740992,9007199254740994]`},
		{`[1234567890123456789,1234567890123456788,1234567890123456790]`, `[1234567890123456789,1234567890123456788,1234567890123456790]`},
	}
	for _, tt := range tests {
		in := []byte(tt.in)
		got, err := Canonical(in)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s:\n got  %s (%v)\n want %s", tt.in, got, err, tt.want)
		}
		if string(in) != tt.in {
			t.Errorf("%s was modified", tt.in)
		}
	}
}

func TestCanonicalNumbers(t *testing.T) {
	tests := []struct{ in, want string }{
		{"1", "1"},
		{"1.0", "1"},
		{"10e-1", "1"},
		{"0.1e1", "1"},
		{"-0", "0"},
		{"-0.0e5", "0"},
		{"0e999999999999", "0"},
		{"1.50", "1.5"},
		{"1E3", "1000"},
		{"1e+003", "1000"},
		{"100", "100"},
		{"-12.500e1", "-125"},
		{"0.000001", "0.000001"},
		{"0.0000001", "1e-7"},
		{"1e20", "100000000000000000000"},
		{"1e21", "1e+21"},
		{"1e400", "1e+400"},
		{"123e-400", "1.23e-398"},
		{"1e9999", "1e+9999"},
		{"1e-9999", "1e-9999"},
		// Beyond a double's digits an integer is written out.
		{"123456789012345678901234567890", "123456789012345678901234567890"},
		{"1.2345678901234567890123456789e29", "123456789012345678901234567890"},
		{"1234567890123456789012345678.9", "1234567890123456789012345678.9"},
		{"1" + strings.Repeat("0", 126) + "1", "1" + strings.Repeat("0", 126) + "1"},
		{"1" + strings.Repeat("0", 127) + "1", "1." + strings.Repeat("0", 127) + "1e+128"},
	}
	for _, tt := range tests {
		if got, err := Canonical([]byte(tt.in)); err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s (%v), want %s", tt.in, got, err, tt.want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	tests := []struct {
		name, in, pointer string
		offset            int64
		problem           string
	}{
		{"nothing", "", "", 0, "empty"},
		{"white space", " \n", "", 0, "empty"},
		{"a duplicate name", `{"a":1,"a":2}`, "/a", 7, "twice"},
		{"a deep duplicate", `{"x":[{"b":1,"b":1}]}`, "/x/0/b", 13, "twice"},
		{"duplicates after unescaping", `{"a":1,"\u0061":2}`, "/a", 7, "twice"},
		{"an escaped solidus", `{"/":1,"\/":2}`, "/~1", 7, "twice"},
		{"invalid UTF-8", "[\"a\xff\"]", "/0", 3, "UTF-8"},
		{"an overlong form", "\"\xc0\xaf\"", "", 1, "UTF-8"},
		{"a surrogate in UTF-8", "\"\xed\xa0\x80\"", "", 1, "UTF-8"},
		{"a lone high surrogate", `{"k":"\ud800"}`, "/k", 6, "surrogate"},
		{"a lone low surrogate", `"\udc00"`, "", 1, "surrogate"},
		{"surrogates in the wrong order", `"\ude00\ud83d"`, "", 1, "surrogate"},
		{"NaN", `{"v":NaN}`, "/v", 5, "NaN and Infinity"},
		{"Infinity", `[Infinity]`, "/0", 1, "NaN and Infinity"},
		{"minus Infinity", `[-Infinity]`, "/0", 2, "NaN and Infinity"},
		{"a second value", `{} {}`, "", 3, "follows"},
		{"a trailing comma", `[1,]`, "", 2, "invalid character"},
		{"rubbish behind", "1x", "", 1, "follows"},
		{"a leading zero", `01`, "", 1, "follows"},
		{"a plus sign", `+1`, "", 0, "invalid character"},
		{"a cut-off text", `{"a":[1,2`, "/a", 9, "ends within"},
		{"a control character", "\"a\nb\"", "", 2, "invalid character"},
		{"a byte order mark", "\ufeff1", "", 0, "invalid character"},
		{"a comment", `{/**/}`, "", 1, "invalid character"},
		{"a huge exponent", `{"n":[1e10000]}`, "/n/0", 6, "exponent is beyond"},
		{"a tiny exponent", `1e-10000`, "", 0, "exponent is beyond"},
		{"an endless exponent", `1e99999999999999999999`, "", 0, "exponent is beyond"},
	}
	for _, tt := range tests {
		out, err := Canonical([]byte(tt.in))
		var jerr *JSONError
		if !errors.As(err, &jerr) || !errors.Is(err, ErrJSON) {
			t.Errorf("%s: got %s, %v; want a JSONError", tt.name, out, err)
			continue
		}
		if jerr.Pointer != tt.pointer || jerr.Offset != tt.offset || !strings.Contains(jerr.Problem, tt.problem) {
			t.Errorf("%s: got %q at %q, byte %d (%v);\n want %q at %q, byte %d",
				tt.name, jerr.Problem, jerr.Pointer, jerr.Offset, err, tt.problem, tt.pointer, tt.offset)
		}
		if jerr.Repair == "" {
			t.Errorf("%s: %v does not say how to repair it", tt.name, err)
		}
	}
}

func TestCanonicalLimits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	digits := func(n int) string { return "0." + strings.Repeat("3", n) }
	text := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	tests := []struct {
		name         string
		good, bad    string
		pointer, say string
	}{
		{"depth", nested(MaxJSONDepth), nested(MaxJSONDepth + 1), strings.Repeat("/0", MaxJSONDepth), "more than 64 deep"},
		{"size", text(MaxJSON), text(MaxJSON + 1), "", "524289 bytes"},
		{"digits", digits(MaxNumberDigits), digits(MaxNumberDigits + 1), "", "801 significant digits"},
		{"exponent", "1e9999", "1e10000", "", "beyond ±9999"},
	}
	for _, tt := range tests {
		if _, err := Canonical([]byte(tt.good)); err != nil {
			t.Errorf("%s at the limit: %v", tt.name, err)
		}
		_, err := Canonical([]byte(tt.bad))
		var jerr *JSONError
		if !errors.As(err, &jerr) || jerr.Pointer != tt.pointer || !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%s beyond the limit: %v", tt.name, err)
		}
	}
	if _, err := Canonical([]byte(strings.Repeat("[", 10_000))); err == nil {
		t.Error("ten thousand brackets were accepted")
	}
	// The canonical form may be longer than the text; it is bounded too.
	long := "[" + strings.Repeat("1e20,", MaxJSON/5-1) + "1]"
	if _, err := Canonical([]byte(long)); err == nil || !strings.Contains(err.Error(), "canonical form is longer") {
		t.Errorf("a text that grows: %v", err)
	}
}

// rat is the oracle: the literal's value by arithmetic on big integers.
func rat(t *testing.T, lit string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(lit)
	if !ok {
		t.Fatalf("%q is no number", lit)
	}
	return r
}

func randomNumber(r *rand.Rand) string {
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0001234567899"[r.IntN(13)]
		}
		return string(b)
	}
	s := ""
	if r.IntN(2) == 0 {
		s = "-"
	}
	whole := strings.TrimLeft(digits(r.IntN(30)), "0")
	if whole == "" {
		whole = "0"
	}
	s += whole
	if r.IntN(2) == 0 {
		s += "." + digits(1+r.IntN(30))
	}
	if r.IntN(2) == 0 {
		s += []string{"e", "E", "e+", "e-", "E-0"}[r.IntN(5)] + strconv.Itoa(r.IntN(60))
	}
	return s
}

func TestNumbersKeepTheirValue(t *testing.T) {
	r := seeded(t)
	texts := map[string]*big.Rat{}
	for range 20_000 {
		lit := randomNumber(r)
		got, err := Canonical([]byte(lit))
		if err != nil {
			t.Fatalf("%s: %v", lit, err)
		}
		want := rat(t, lit)
		if rat(t, string(got)).Cmp(want) != 0 {
			t.Fatalf("%s became %s, another value", lit, got)
		}
		texts[string(got)] = want
		// The same value written differently has the same text.
		num, den := new(big.Int).Set(want.Num()), want.Denom()
		for places := 0; ; places++ {
			if den.Cmp(big.NewInt(1)) == 0 || new(big.Int).Mod(num, den).Sign() == 0 {
				other := fmt.Sprintf("%se-%d", num.Quo(num, den), places)
				again, err := Canonical([]byte(other))
				if err != nil || !bytes.Equal(again, got) {
					t.Fatalf("%s is %s, but as %s it is %s (%v)", lit, got, other, again, err)
				}
				break
			}
			num.Mul(num, big.NewInt(10))
		}
	}
	// Different texts are different values: sort by value and compare neighbours.
	var keys []string
	for k := range texts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return texts[a].Cmp(texts[b]) })
	for i := 1; i < len(keys); i++ {
		if texts[keys[i-1]].Cmp(texts[keys[i]]) == 0 {
			t.Fatalf("%s and %s are one value", keys[i-1], keys[i])
		}
	}
}

// Where a double carries the value, the text is that of RFC 8785, which the
// tokenizer's library implements on its own.
func TestNumbersOfDoublesAreRFC8785(t *testing.T) {
	r := seeded(t)
	for range 20_000 {
		f := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 {
			f = float64(r.IntN(1_000_000)) * math.Pow10(r.IntN(50)-25)
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		lit := strconv.FormatFloat(f, 'e', -1, 64)
		got, err := Canonical([]byte(lit))
		want := string(jsontext.AppendFloat(nil, f, 64))
		if f == 0 {
			want = "0"
		}
		if err != nil || string(got) != want {
			t.Fatalf("%s: got %s (%v), RFC 8785 gives %s", lit, got, err, want)
		}
	}
}

func TestNameOrderIsUTF16(t *testing.T) {
	r := seeded(t)
	alphabet := []rune("aZ\u007f\u0080é\ud7ff\ue000\ufffd\U00010000\U0001f600\U0010ffff")
	word := func() string {
		out := make([]rune, r.IntN(4))
		for i := range out {
			out[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(out)
	}
	for range 20_000 {
		a, b := word(), word()
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := compareUTF16(a, b); (got < 0) != (want < 0) || (got > 0) != (want > 0) {
			t.Fatalf("compareUTF16(%+q, %+q) = %d, want the sign of %d", a, b, got, want)
		}
	}
}

// tree parses with the standard library and prints with exact numbers and sorted
// members: two texts have one print if and only if they are one value.
func tree(t *testing.T, text []byte) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q was accepted, but the standard library says %v", text, err)
	}
	return printTree(t, v)
}

func printTree(t *testing.T, v any) string {
	t.Helper()
	switch v := v.(type) {
	case json.Number:
		return rat(t, v.String()).RatString()
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString(printTree(t, e) + ",")
		}
		return "[" + b.String() + "]"
	case map[string]any:
		var parts []string
		for k, e := range v {
			parts = append(parts, strconv.Quote(k)+":"+printTree(t, e))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(v)
}

func FuzzCanonical(f *testing.F) {
	for _, pair := range [][2]string{
		{`{"b":1,"a":[1.0,{"c":"\u00e9"}]}`, `{"a":[1,{"c":"é"}],"b":10e-1}`},
		{`9007199254740993`, `9007199254740992`},
		{`{"a":1,"\u0061":2}`, `{}`},
		{`"\ud83d\ude00"`, `"😀"`},
		{`[1e400,-0,0.00001]`, `[NaN]`},
		{`null`, `"null"`},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		ca, errA := Canonical(a)
		if errA != nil {
			return
		}
		if again, err := Canonical(ca); err != nil || !bytes.Equal(again, ca) {
			t.Fatalf("not idempotent: %q → %q → %q (%v)", a, ca, again, err)
		}
		if tree(t, a) != tree(t, ca) {
			t.Fatalf("%q became another value: %q", a, ca)
		}
		cb, errB := Canonical(b)
		if errB != nil {
			return
		}
		if same := tree(t, a) == tree(t, b); same != bytes.Equal(ca, cb) {
			t.Fatalf("%q and %q: one value: %v; canonical %q and %q", a, b, same, ca, cb)
		}
	})
}

func BenchmarkCanonical(b *testing.B) {
	in := []byte(`{"recipient": "GB29NWBK60161331926819", "amount": 10.50, "subject": "Refund", "date": "2022-01-01"}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := Canonical(in); err != nil {
			b.Fatal(err)
		}
	}
}
