package records

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// seeded returns a source of chance for a random test. A failure prints how to repeat
// it.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	if s := os.Getenv("ASPIS_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("ASPIS_SEED: %v", err)
		}
		seed = n
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with: ASPIS_SEED=%d go test -run '^%s$' ./internal/records", seed, t.Name())
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// hostile are pieces of texts that mean something in one of the formats.
func hostile() []string {
	return []string{
		"\n", "\n\n", " ", "  ", "'", `"`, ": ", ":", "- ", "-", "|", "|\n", ">", "#", " #", "{}", "[]", "[", "]", "{", "}", ",",
		"&a *a", "*a", "!t", "%", "@", "`", "\t", "😀", "é", "\u0085", "\u2028", "\u2029", "\x00", "\x7f", "\x1b", "\u00a0", "\ufeff",
		`\`, `\n`, "\r", "\r\n", "---", "...", "\n---\n", "? ", "=", "<<", "true", "no", "null", "None", "~", "08", "007", "1e3", "0x10", "1_000",
		"12:30:00", "2024-05-01", "2024-05-01 10:00:00", "\n- recipient: US122000000121212121212\n", "', 'recipient': 'US122000000121212121212",
		`", "recipient": "US122000000121212121212`, "recipient: US122000000121212121212", "GB29NWBK60161331926819", "word", "a", "it's",
		"a long sentence that goes on and on until the line has to be folded somewhere, and then some more of it", strings.Repeat("x", 90),
	}
}

// randomText is a text that somebody chose to confuse a reader.
func randomText(r *rand.Rand) string {
	pieces := hostile()
	var b strings.Builder
	for range r.IntN(9) {
		if r.IntN(12) == 0 {
			b.WriteRune(rune(r.IntN(0xd800)))
		}
		b.WriteString(pieces[r.IntN(len(pieces))])
		if r.IntN(3) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func randomNumber(r *rand.Rand) Value {
	lit := []string{
		"0", strconv.Itoa(r.IntN(2000) - 1000), "9007199254740993", "1234567890123456789012", "100.0", "1e-05", "1e+16", "2.5", "-0.0",
		fmt.Sprintf("%d.%03d", r.IntN(100), r.IntN(1000)),
	}[r.IntN(10)]
	v, err := NewNumber(lit)
	if err != nil {
		panic(err)
	}
	return v
}

// randomValue is a value that nests at most depth deep.
func randomValue(r *rand.Rand, depth int) Value {
	kind := r.IntN(10)
	switch {
	case kind < 3 && depth > 0:
		items := make([]Value, r.IntN(4))
		for i := range items {
			items[i] = randomValue(r, depth-1)
		}
		return NewList(items...)
	case kind < 6 && depth > 0:
		v := Value{kind: Map}
		for range r.IntN(5) {
			name := string(rune('a' + r.IntN(6)))
			if r.IntN(3) == 0 {
				name = randomText(r)
			}
			if _, taken := v.Get(name); !taken {
				v.members = append(v.members, Member{Name: name, Value: randomValue(r, depth-1)})
			}
		}
		return v
	case kind == 6:
		return randomNumber(r)
	case kind == 7:
		return []Value{{}, NewBool(true), NewBool(false)}[r.IntN(3)]
	}
	return NewString(randomText(r))
}

// TestPrintedIsReadBack holds that whatever stands in a field comes back as the text of
// that field, in each format with a structure.
func TestPrintedIsReadBack(t *testing.T) {
	r := seeded(t)
	for range 20_000 {
		v := randomValue(r, r.IntN(5))
		for _, f := range []Format{JSON, YAML, Python} {
			text, err := Print(f, v)
			if err != nil {
				t.Fatalf("%v: %s is not printed: %v", f, v.AppendJSON(nil), err)
			}
			got, err := Parse(f, text)
			if err != nil || !got.Equal(v) {
				t.Fatalf("%v: %s\n is printed as %q\n and read as %s (%v)", f, v.AppendJSON(nil), text, got.AppendJSON(nil), err)
			}
			if again, err := Print(f, got); err != nil || again != text {
				t.Fatalf("%v: %q is printed again as %q (%v)", f, text, again, err)
			}
		}
	}
}

// TestPlantedTextStaysInItsField puts hostile texts into one field of a result, and
// finds nothing else changed.
func TestPlantedTextStaysInItsField(t *testing.T) {
	const result = "- amount: 100.0\n  date: '2022-01-01'\n  recipient: CH9300762011623852957\n  recurring: false\n  sender: me\n  subject: Pizza party\n" +
		"- amount: 200.0\n  date: '2022-02-01'\n  recipient: GB29NWBK60161331926819\n  recurring: false\n  sender: me\n  subject: Rent"
	genuine, err := Parse(YAML, result)
	if err != nil {
		t.Fatal(err)
	}
	subject, recipient := mustPath(t, "[1].subject"), mustPath(t, "[].recipient")
	r := seeded(t)
	for range 5_000 {
		text := randomText(r)
		planted := subject.Replace(genuine, func(string, Value) Value { return NewString(text) })
		for _, f := range []Format{JSON, YAML, Python} {
			printed, err := Print(f, planted)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Parse(f, printed)
			if err != nil {
				t.Fatalf("%v: %q: %v", f, printed, err)
			}
			if at := selected(subject, got); at != "[1].subject="+text+";" {
				t.Fatalf("%v: %q was planted, the field is %q", f, text, at)
			}
			if all := selected(recipient, got); all != "[0].recipient=CH9300762011623852957;[1].recipient=GB29NWBK60161331926819;" {
				t.Fatalf("%v: with %q planted the recipients are %s", f, text, all)
			}
		}
	}
	if again, err := Print(YAML, genuine); err != nil || again != result {
		t.Errorf("the result itself changed: %q (%v)", again, err)
	}
}

func mustPath(t *testing.T, s string) Path {
	t.Helper()
	p, err := ParsePath(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// selected is what a path selects, as text.
func selected(p Path, v Value) string {
	var b strings.Builder
	p.Select(v, func(at string, v Value) bool {
		text, ok := v.Text()
		if !ok {
			text = string(v.AppendJSON(nil))
		}
		b.WriteString(at + "=" + text + ";")
		return true
	})
	return b.String()
}
