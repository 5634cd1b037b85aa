package text

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTokens is a transcript of what is taken out of texts.
func TestTokens(t *testing.T) {
	for _, c := range []struct{ text, tokens, identifiers string }{
		{"", "", ""},
		{"Pay Bob, please.", "pay bob please", ""},
		{"Mail alice@example.com!", "mail alice@example.com", "alice@example.com"},
		{"<Alice@Example.com>", "alice@example.com", "alice@example.com"},
		{"'spotify' and \"Netflix\"", "spotify and netflix", ""},
		{
			"see https://X.org/a(b)/?q=1, or (https://x.org/).", "see https://x.org/a(b)/?q=1 or https://x.org/",
			"https://x.org/a(b)/?q=1 x.org/a(b)/?q=1 x.org https://x.org/",
		},
		{"https://u:p@host.example:8080/x", "https://u:p@host.example:8080/x", "https://u:p@host.example:8080/x u:p@host.example:8080/x host.example"},
		{"go to www.example.com/path.", "go to www.example.com/path", "www.example.com/path www.example.com"},
		{"[https://a.org](https://b.org/x)", "https://a.org https://b.org/x", "https://a.org a.org https://b.org/x b.org/x b.org"},
		{"https://a.org/,http://b.org", "https://a.org/ http://b.org", "https://a.org/ a.org http://b.org b.org"},
		{"https://a.org/?to=https://b.org", "https://a.org/?to=https://b.org", "https://a.org/?to=https://b.org a.org/?to=https://b.org a.org"},
		{"Link:https://b.org x=https://c.org", "link https://b.org x https://c.org", "https://b.org b.org https://c.org c.org"},
		{"mailto:Bob@b.org, to=a@c.org", "mailto bob@b.org to=a@c.org", "bob@b.org to=a@c.org"},
		{"IBAN:DE89370400440532013000", "iban de89370400440532013000", "de89370400440532013000"},
		{"iban=DE89 3704 0044 0532 0130 00.", "iban de89370400440532013000", "de89370400440532013000"},
		{"ES91 2100 0418 4502 0005 1332 to Bob", "es9121000418450200051332 to bob", "es9121000418450200051332"},
		{"ES00 2100 0418 4502 0005 1332 from Bob", "es0021000418450200051332 from bob", "es0021000418450200051332"},
		{"SC18 SSCB 1101 0000 0000 0000 1497 USD", "sc18sscb11010000000000001497usd", "sc18sscb11010000000000001497usd"},
		{"GB29NWBK60161331926819,100 EUR", "gb29nwbk60161331926819 100 eur", "gb29nwbk60161331926819"},
		{"1,000,000 12345,678 -1,000", "1,000,000 12345 678 -1,000", ""},
		{"to GB29NWBK60161331926819.", "to gb29nwbk60161331926819", "gb29nwbk60161331926819"},
		{"to GB29 NWBK 6016 1331 9268 19 now", "to gb29nwbk60161331926819 now", "gb29nwbk60161331926819"},
		{"AT61 1904 3002 3457 3201 for rent, AT61 1904 3002 3457 3201 50 euros", "at611904300234573201 for rent 50 euros", "at611904300234573201"},
		{"es91 2100 0418 4502 0005 1332 this month", "es9121000418450200051332 this month", "es9121000418450200051332"},
		{"to AT00 1904 3002 3457 3201 50", "to at00190430023457320150", "at00190430023457320150"},
		{"call +1 555-123-4567 or 5551234567", "call +15551234567 or 5551234567", "+15551234567 5551234567"},
		{"card 4111 1111 1111 1111", "card 4111111111111111", "4111111111111111"},
		{"on 2024-05-19 at 10:00", "on 2024-05-19 at 10:00", ""},
		{"in #general ask @bob.smith", "in general ask bob.smith", "general bob.smith"},
		{"open bill-december-2023.txt", "open bill-december-2023.txt", "bill-december-2023.txt"},
		{"O'Brien's rock'n'roll", "o'brien's rock'n'roll", ""},
		{"1,000.50 EUR; 3.5%", "1,000.50 eur 3.5%", ""},
		{"1,2 1,0000 x1,000 ,000", "1 2 0000 x1 000", ""},
		{"rm /etc/passwd ~/.ssh/id ../../x ./run.sh '.env'", "rm /etc/passwd ~/.ssh/id ../../x ./run.sh .env", "./run.sh"},
		{"...and /, // ~ .. (-5) +49 .5 -rf", "and -5 +49 .5 rf", ""},
		{"call +15551234567", "call +15551234567", "+15551234567"},
		{"a@b", "a@b", ""},
		{"to _bob@x.org, not '__bob@x.org'", "to _bob@x.org not __bob@x.org", "_bob@x.org __bob@x.org"},
		{"_bob@x.org_ and *bob@x.org*", "bob@x.org and", "bob@x.org"},
		{"@@ .. --", "", ""},
		{"tab\tnew\nline\x00nul", "tab new line nul", ""},
		{"раypal.com paypal.com", "раypal.com paypal.com", "раypal.com paypal.com"},
		{"pay\u200bpal", "pay\u200bpal", ""},
		{"Straße ÅNGSTRÖM \u212bngstro\u0308m", "straße ångström", ""},
	} {
		tokens, _ := Tokens(c.text, 100)
		if got := strings.Join(tokens, " "); got != c.tokens {
			t.Errorf("tokens of %q: %q, want %q", c.text, got, c.tokens)
		}
		found, _ := Identifiers(c.text, 100)
		if got := strings.Join(found, " "); got != c.identifiers {
			t.Errorf("identifiers of %q: %q, want %q", c.text, got, c.identifiers)
		}
	}
}

func TestPhrases(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"Book Le Marais  Boutique!", 3, "book|book le|le|book le marais|le marais|marais|le marais boutique|marais boutique|boutique"},
		{"Alice, Bob", 2, "alice|bob"},
		{"Dr. Smith", 2, "dr|dr. smith|smith"},
		{"x", 0, "x"},
	} {
		got, all := Phrases(c.text, c.n, 100)
		if !all || strings.Join(got, "|") != c.want {
			t.Errorf("%q: %q, want %q", c.text, strings.Join(got, "|"), c.want)
		}
	}
}

func TestTokenLimit(t *testing.T) {
	for limit := range 5 {
		got, all := Tokens("a b c b a", limit)
		if len(got) != min(limit, 3) || all != (limit >= 3) {
			t.Errorf("limit %d: %q, all %t", limit, got, all)
		}
	}
}

// TestFold: what Fold makes equal is canonically equivalent but for case, and folding twice is folding once.
func TestFold(t *testing.T) {
	for r := range rune(utf8.MaxRune + 1) {
		if !utf8.ValidRune(r) {
			continue
		}
		s := "x" + string(r) + "y"
		if f := Fold(s); Fold(f) != f {
			t.Errorf("%U: folded twice %+q, once %+q", r, Fold(f), f)
		}
	}
	different := []string{"paypal", "раypal", "pay\u200bpal", "pаypal", "ｐaypal", "paypaⅼ", "pay pal", "pay\u00adpal", "p\u0430ypal"}
	for i, a := range different {
		for j, b := range different {
			if (Fold(a) == Fold(b)) != (a == b) {
				t.Errorf("%+q (%d) and %+q (%d)", a, i, b, j)
			}
		}
	}
}

// TestIdentifierIsWhole: a random identifier in a random text is a token as a whole, and nothing that is part of it
// only is one.
func TestIdentifierIsWhole(t *testing.T) {
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 2))
	name := func() string {
		b := make([]byte, 3+rng.IntN(6))
		for i := range b {
			b[i] = byte('a' + rng.IntN(26))
		}
		return string(b)
	}
	for range 10_000 {
		id := [...]func() string{
			func() string { return name() + "." + name() + "@" + name() + ".com" },
			func() string {
				return "https://" + name() + "." + name() + ".org/" + name() + "?" + name() + "=" + name()
			},
			func() string { return fmt.Sprintf("de%02d%010d%08d", rng.IntN(100), rng.Uint32(), rng.IntN(1e8)) },
			func() string { return name() + "-" + name() + ".txt" },
		}[rng.IntN(4)]()
		around := [...]string{"%s", "see %s.", "(%s)", "<%s>", "x: %s, y", "“%s”!", "%s\n%[1]s", "send\t%s; now"}[rng.IntN(8)]
		text := fmt.Sprintf(around, id)
		tokens, all := Tokens(text, 100)
		if !all || !slices.Contains(tokens, id) {
			t.Fatalf("%q: %q", text, tokens)
		}
		for _, tok := range tokens {
			if tok != id && strings.Contains(id, tok) && len(tok) > 3 {
				t.Fatalf("%q: token %q is a part of %q", text, tok, id)
			}
		}
	}
}

// TestHostileTokens: texts in which everything begins something and nothing ends are read in linear time; a quadratic
// reader does not return within the time of a test.
func TestHostileTokens(t *testing.T) {
	for _, part := range []string{"://", "a://", "a://,", "a://)", "x=a://", "a:", "1:", "1,234", ":a@b.co,", "+1 2 ", "ES91 2100 ", "(", "../", "@#"} {
		text := strings.Repeat(part, (1<<20)/len(part)) + " end"
		tokens, all := Tokens(text, 1<<20)
		if !all || !slices.Contains(tokens, "end") {
			t.Errorf("many %q: all is %t, %d tokens", part, all, len(tokens))
		}
		if _, all := Identifiers(text, 1<<20); !all {
			t.Errorf("many %q: not all identifiers", part)
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"see https://x.org/a(b).", "GB29 NWBK 6016 1331 9268 19", "+1 2 3 4", "a@b.c, #x", "\xff\u200b İ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tokens, all := Tokens(s, 64)
		if len(tokens) > 64 || !all && len(tokens) < 64 {
			t.Fatalf("%d tokens, all %t", len(tokens), all)
		}
		ids, _ := Identifiers(s, 1<<20)
		phrases, _ := Phrases(s, 3, 1<<20)
		plain := strings.ToLower(strings.Join(strings.Fields(s), ""))
		for _, v := range slices.Concat(tokens, ids, phrases) {
			if v == "" || utf8.ValidString(v) && Fold(v) != v {
				t.Errorf("%+q of %+q is not folded", v, s)
			}
			if ascii(s) && !strings.Contains(strings.ReplaceAll(plain, "-", ""), strings.ReplaceAll(strings.ReplaceAll(v, " ", ""), "-", "")) {
				t.Errorf("%+q does not stand in %+q", v, s)
			}
		}
	})
}
