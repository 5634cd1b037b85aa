package monpoly

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// slow is a reader of logs that is as plain as possible: the whole text is cut into
// tokens, and these are taken one after the other.
type slow struct {
	sig    check.Signature
	reads  func(string) bool
	tokens []slowToken
	points []Point
}

// slowToken is a token with its place. Its kind is the byte it is, 'w' for a word, '$' for
// the end and '?' for what is no token.
type slowToken struct {
	kind      byte
	text      string
	line, col int
}

func slowTokens(text string) []slowToken {
	space := regexp.MustCompile(`(?s)^(?:[ \t]|\r\n|\r|\n|#[^\r\n]*)`)
	word := regexp.MustCompile(`(?s)^(?:r?"((?:[^"\\]|\\.)*)"|([A-Za-z0-9_\[\]/:.!-]+))`)
	var out []slowToken
	line, col := 1, 1
	pass := func(s string, counts func(c byte) bool) {
		for i := range len(s) {
			switch c := s[i]; {
			case counts(c):
				line, col = line+1, 1
			case c&0xC0 != 0x80:
				col++
			}
		}
	}
	for {
		if s := space.FindString(text); s != "" {
			pass(strings.ReplaceAll(s, "\r\n", "\n"), func(c byte) bool { return c == '\n' || c == '\r' })
			text = text[len(s):]
			continue
		}
		if text == "" {
			return append(out, slowToken{'$', "", line, col})
		}
		if m := word.FindStringSubmatch(text); m != nil && (m[2] != "r" || !strings.HasPrefix(text, `r"`)) {
			out = append(out, slowToken{'w', m[1] + m[2], line, col})
			pass(m[0], func(c byte) bool { return c == '\n' })
			text = text[len(m[0]):]
			continue
		}
		if !strings.ContainsRune("@(),;>", rune(text[0])) {
			return append(out, slowToken{'?', "", line, col})
		}
		out = append(out, slowToken{text[0], "", line, col})
		text = text[1:]
		col++
	}
}

// wrong ends the slow reader at a token.
type wrong struct{ slowToken }

// slowRead returns the time points up to the first mistake, and its place, or 0, 0.
func slowRead(text string, sig check.Signature, reads func(string) bool) (points []Point, line, col int) {
	r := &slow{sig: sig, reads: reads, tokens: slowTokens(text)}
	defer func() {
		if fault := recover(); fault != nil {
			w := fault.(wrong) // anything else is a failure
			points, line, col = r.points, w.line, w.col
		}
	}()
	r.log()
	return r.points, 0, 0
}

func (r *slow) peek() slowToken { return r.tokens[0] }

// take returns the next token, which must be of one of the kinds.
func (r *slow) take(kinds string) slowToken {
	t := r.tokens[0]
	if !strings.ContainsRune(kinds, rune(t.kind)) {
		panic(wrong{t})
	}
	r.tokens = r.tokens[1:]
	return t
}

func (r *slow) log() {
	for first := r.take("@$"); first.kind == '@'; {
		stamp := r.take("w")
		ts, ok := slowInt(stamp.text)
		if !ok || stamp.text == "" {
			panic(wrong{stamp})
		}
		p := Point{TS: ts, Line: stamp.line}
		for r.peek().kind == 'w' {
			p.Facts = append(p.Facts, r.factsOf(r.take("w"))...)
		}
		end := r.take("@;$")
		r.points = append(r.points, p)
		if first = end; end.kind == ';' {
			first = r.take("@$")
		}
	}
}

func (r *slow) factsOf(name slowToken) []schema.Fact {
	kinds, ok := r.sig[name.text]
	if !ok {
		panic(wrong{name})
	}
	var tuples [][]slowToken
	for r.peek().kind == '(' {
		tuples = append(tuples, r.tuple(name, kinds))
	}
	if tuples == nil {
		tuples = [][]slowToken{nil}
		r.arity(name, kinds, 0)
	}
	var facts []schema.Fact
	for _, tuple := range tuples {
		f := schema.Fact{Name: name.text}
		for i, t := range tuple {
			if r.reads(name.text) {
				v, _ := slowValue(kinds[i], t.text)
				f.Args = append(f.Args, v)
			}
		}
		if r.reads(name.text) {
			facts = append(facts, f)
		}
	}
	return facts
}

func (r *slow) arity(name slowToken, kinds []schema.ValueKind, n int) {
	if r.reads(name.text) && n != len(kinds) {
		panic(wrong{name})
	}
}

func (r *slow) tuple(name slowToken, kinds []schema.ValueKind) []slowToken {
	var out []slowToken
	r.take("(")
	for end := r.take("w)"); end.kind != ')'; end = r.take("w") {
		out = append(out, end)
		if r.reads(name.text) && len(out) <= len(kinds) {
			if _, ok := slowValue(kinds[len(out)-1], end.text); !ok {
				panic(wrong{end})
			}
		}
		if r.take(",)").kind == ')' {
			break
		}
	}
	r.arity(name, kinds, len(out))
	return out
}

func slowValue(kind schema.ValueKind, text string) (schema.Value, bool) {
	switch kind {
	case schema.KindInt:
		n, ok := slowInt(text)
		return schema.IntValue(n), ok
	case schema.KindFloat:
		x, err := strconv.ParseFloat(text, 64)
		return schema.FloatValue(x), err == nil
	case schema.KindString:
	}
	return schema.StringValue(text), true
}

func slowInt(text string) (int64, bool) {
	if text == "" {
		return 0, true
	}
	m := regexp.MustCompile(`^([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]([0-7]+)|0[bB]([01]+)|([0-9]+))$`).FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	for i, base := range []int{16, 8, 2, 10} {
		if m[i+2] != "" {
			n, _ := new(big.Int).SetString(m[1]+m[i+2], base)
			return n.Int64(), n.IsInt64()
		}
	}
	return 0, false
}
