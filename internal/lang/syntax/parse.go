package syntax

import (
	"fmt"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/aspis-rv/aspis/internal/diag"
)

// Parse reads one formula. The formula is nil exactly when the list has errors;
// warnings may come with a formula. The list is sorted by position. Parse never
// panics; it takes time linear in the length of src.
func Parse(src string, opts Options) (f Formula, diags diag.List) {
	p := &parser{src: src, opts: opts, parens: map[Formula]bool{}}
	p.index()
	defer func() {
		if fault := recover(); fault != nil {
			if _, ok := fault.(bailout); !ok {
				p.internal(fault, debug.Stack())
			}
			f, diags = nil, p.diags.Sorted()
		}
	}()
	if len(src) > MaxSource {
		p.report(CodeTooLarge, 0, 0, fmt.Sprintf("the formula has %d bytes; the limit is %d", len(src), MaxSource),
			"split it into several formulas")
		return nil, p.diags
	}
	s := scanner{src: src, mode: opts.Mode, raw: opts.Raw, report: p.report}
	p.tokens = s.scan()
	f = p.top()
	if f != nil {
		p.checkHeight(f, 0)
	}
	if p.diags.HasErrors() {
		f = nil
	}
	return f, p.diags.Sorted()
}

// bailout ends a parse early; what is wrong was reported.
type bailout struct{}

// parser is a recursive-descent parser over tokens. A parse function that meets an
// error reports it, skips to a place where its caller can go on, and returns nil;
// a node with a nil part is nil, so that one mistake is reported once.
type parser struct {
	src    string
	opts   Options
	lines  []int // offsets of line starts
	runes  []int // runes before every runeStride-th byte
	tokens []token
	at     int
	diags  diag.List
	errors int
	depth  int // operators around the current place
	groups int // parentheses around the current place
	nodes  int
	regexp int // size of the regular expressions so far
	wild   int
	parens map[Formula]bool // formulas that were written in parentheses
	vertex bool             // the current place is inside of AT
}

// runeStride is the distance of the places whose column is kept.
const runeStride = 64

// index finds the line starts and counts runes, so that pos takes little time in
// long lines too.
func (p *parser) index() {
	p.lines = []int{0}
	n := 0
	for i := range len(p.src) {
		if i%runeStride == 0 {
			p.runes = append(p.runes, n)
		}
		if utf8.RuneStart(p.src[i]) {
			n++
		}
		if p.src[i] == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	p.runes = append(p.runes, n)
}

// runesBefore counts the runes in the first offset bytes.
func (p *parser) runesBefore(offset int) int {
	k := offset / runeStride
	n := p.runes[min(k, len(p.runes)-1)]
	for i := k * runeStride; i < offset; i++ {
		if utf8.RuneStart(p.src[i]) {
			n++
		}
	}
	return n
}

// pos converts an offset in the text into a position in the file.
func (p *parser) pos(offset int) diag.Pos {
	lo, hi := 0, len(p.lines)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; p.lines[mid] <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	base := p.opts.Base
	if !base.IsValid() {
		base = diag.Pos{Line: 1, Col: 1}
	}
	col := p.runesBefore(offset) - p.runesBefore(p.lines[lo])
	if lo == 0 {
		col += base.Col
	} else {
		col += 1 + p.opts.Indent
	}
	return diag.Pos{Offset: base.Offset + offset, Line: base.Line + lo, Col: col}
}

func (p *parser) span(start, end int) diag.Span {
	return diag.Span{Start: p.pos(start), End: p.pos(end)}
}

// report records an error.
func (p *parser) report(code diag.Code, start, end int, message, hint string) {
	p.diags = append(p.diags, diag.Diagnostic{
		Code: code, File: p.opts.File, Span: p.span(start, end), Message: message, Hint: hint,
	})
	if p.errors++; p.errors >= maxErrors {
		panic(bailout{})
	}
}

// warn records a warning, or in Bundle mode an error.
func (p *parser) warn(code diag.Code, span diag.Span, message, hint string) {
	severity := diag.Warning
	if p.opts.Mode == Bundle {
		severity = diag.Error
	}
	p.diags = append(p.diags, diag.Diagnostic{
		Code: code, Severity: severity, File: p.opts.File, Span: span, Message: message, Hint: hint,
	})
}

// internal records a fault in the parser itself.
func (p *parser) internal(fault any, stack []byte) {
	p.diags = append(p.diags, diag.Diagnostic{
		Code: CodeInternal, File: p.opts.File, Span: p.span(0, 0),
		Message: fmt.Sprintf("internal error: %v", fault),
		Hint:    "this is a fault in the parser, please report it with the formula\n" + string(stack),
	})
}

// peek returns the next token; ahead returns the one n places further.
func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) ahead(n int) token { return p.tokens[min(p.at+n, len(p.tokens)-1)] }

// next takes the next token. The end of the formula is never passed.
func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokEOF {
		p.at++
	}
	return t
}

// last returns the end of the token taken last.
func (p *parser) last() int {
	if p.at == 0 {
		return 0
	}
	return p.tokens[p.at-1].end
}

// from returns the node's place: from start to the end of the token taken last.
// It also counts the node.
func (p *parser) from(start int) Node {
	p.count(start)
	return Node{Pos: p.span(start, p.last())}
}

func (p *parser) count(start int) {
	if p.nodes++; p.nodes > MaxNodes {
		p.report(CodeTooLarge, start, start, fmt.Sprintf("the formula has more than %d parts", MaxNodes),
			"split it into several formulas")
		panic(bailout{})
	}
}

// nested parses one level of operators further in. The recursion is bounded here;
// what counts for MaxDepth is the height of the tree, which checkHeight measures and
// which is never less.
func (p *parser) nested(parse func() Formula) Formula {
	if p.depth++; p.depth > MaxDepth {
		p.tooDeep(p.span(p.peek().start, p.peek().end))
	}
	f := parse()
	p.depth--
	return f
}

// enter enters a parenthesis; the caller leaves it by p.groups--.
func (p *parser) enter() {
	if p.groups++; p.groups > MaxDepth {
		p.tooDeep(p.span(p.peek().start, p.peek().end))
	}
}

func (p *parser) tooDeep(at diag.Span) {
	p.diags = append(p.diags, diag.Diagnostic{
		Code: CodeTooDeep, File: p.opts.File, Span: at,
		Message: fmt.Sprintf("the formula nests more than %d levels deep", MaxDepth),
		Hint:    "name a part of it by a definition of its own",
	})
	panic(bailout{})
}

// checkHeight refuses a formula higher than MaxDepth. A chain such as
// a() AND b() AND c() counts as one level.
func (p *parser) checkHeight(f Formula, above int) {
	if above >= MaxDepth {
		p.tooDeep(f.Span())
	}
	for chained(f) {
		c := Children(f)
		p.checkHeight(c[1], above+1)
		f = c[0]
	}
	for _, c := range Children(f) {
		p.checkHeight(c, above+1)
	}
}

// chained tells whether f is a left-associative operator whose left operand is the
// same operator, so that it prints without parentheses there.
func chained(f Formula) bool {
	switch f := f.(type) {
	case *And:
		_, same := f.Left.(*And)
		return same
	case *Or:
		_, same := f.Left.(*Or)
		return same
	case *Equiv:
		_, same := f.Left.(*Equiv)
		return same
	case *Bool, *Pred, *Cmp, *Not, *Implies, *Exists, *Forall, *Prev, *Once, *Historically, *Since,
		*Next, *Eventually, *Always, *Until, *Match, *Agg, *Let, *New,
		*At, *Label, *Somewhere, *Everywhere, *Escape, *Reach, *Surround:
	}
	return false
}

// unexpected reports the next token and skips to where parsing can go on.
func (p *parser) unexpected(expected string) {
	t := p.peek()
	if t.kind != tokBad { // the scanner has reported those
		code, hint := CodeSyntax, ""
		if t.kind == tokPunct {
			if h := foreignOperator(t.text); h != "" {
				code, hint = CodeOperator, h
			}
		}
		if t.kind == tokIdent {
			if k := diag.Closest(t.text, keywords(p.opts.Mode)); k != "" {
				hint = "did you mean `" + k + "`?"
			}
		}
		p.report(code, t.start, t.end, "found "+t.describe()+" where "+expected+" is expected", hint)
	}
	p.skip()
}

// unparenthesised reports a token that stands where the parenthesis of NEW or AT opens.
func (p *parser) unparenthesised(expected, before string) {
	t := p.peek()
	if t.kind != tokIdent && t.kind != tokKeyword {
		p.unexpected(expected)
		return
	}
	p.report(CodeSyntax, t.start, t.end, "found "+t.describe()+" where "+expected+" is expected",
		"put parentheses around what it says: `"+before+" ("+t.text+" …)`")
	p.skip()
}

// foreignOperator says what to write instead of another language's operator.
func foreignOperator(op string) string {
	switch op {
	case "&&", "&":
		return "conjunction is written `AND`"
	case "||", "|":
		return "disjunction is written `OR`"
	case "!":
		return "negation is written `NOT`"
	case "->", "=>":
		return "implication is written `IMPLIES`"
	case "<->", "<=>":
		return "equivalence is written `EQUIV`"
	case "==":
		return "equality is written `=`"
	case "!=", "<>":
		return "inequality is written `NOT (x = y)`"
	}
	return ""
}

// skip moves on to a connective, a closing parenthesis of an enclosing group, or
// the end.
func (p *parser) skip() {
	for depth := 0; ; p.at++ {
		t := p.peek()
		switch {
		case t.kind == tokEOF:
			return
		case t.punct("("):
			depth++
		case t.punct(")") && depth == 0:
			return
		case t.punct(")"):
			depth--
		case depth == 0 && t.kind == tokKeyword && p.connective(t):
			return
		}
	}
}

func (p *parser) connective(t token) bool {
	return classify(t.text, p.opts.Mode) == wordConnective
}

// skipGroup moves on to the closing parenthesis of the enclosing group, or the end.
func (p *parser) skipGroup() {
	for depth := 0; ; p.at++ {
		t := p.peek()
		switch {
		case t.kind == tokEOF, t.punct(")") && depth == 0:
			return
		case t.punct("("):
			depth++
		case t.punct(")"):
			depth--
		}
	}
}

// notYet reports a word of MonPoly's or of bundles that this version lacks.
func (p *parser) notYet(t token, what string) {
	p.report(CodeNotYet, t.start, t.end, what+" is not supported in this version", "")
}

// top = formula end .
func (p *parser) top() Formula {
	if p.peek().kind == tokEOF {
		p.report(CodeSyntax, 0, len(p.src), "the formula is empty", "write TRUE for a formula that always holds")
		return nil
	}
	f := p.formula()
	for p.peek().kind != tokEOF {
		t := p.peek()
		if t.punct(")") {
			p.report(CodeSyntax, t.start, t.end, "this parenthesis closes nothing", "")
			p.next()
		} else {
			p.unexpected("a connective or the end of the formula")
		}
		for p.peek().kind == tokKeyword && p.connective(p.peek()) {
			p.next()
			p.formula()
		}
	}
	return f
}

// quoted prints a formula for a message, or says what stands there when it is long.
func (p *parser) quoted(f Formula) string {
	const limit = 240
	s := Format(f, p.opts.Mode)
	if len(s) > limit {
		return "what is meant, with parentheses"
	}
	return "`" + strings.TrimSpace(s) + "`"
}
