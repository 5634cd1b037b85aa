package syntax

import (
	"regexp"
	regexpsyntax "regexp/syntax"
	"strconv"
	"strings"
)

// match reads the rest of a test of strings after its left operand:
//
//	"SUBSTRING" term
//	"MATCHES" 'r"…"' [ "(" group { "," group } ")" ]
func (p *parser) match(start int, left Term) Formula {
	op := p.next()
	f := &Match{Op: Substring, Left: left}
	if op.text == Substring.String() {
		if f.Right = p.term(false); f.Right == nil {
			p.skip()
			return nil
		}
		f.Node = p.from(start)
		return f
	}
	f.Op = Matches
	t := p.peek()
	if t.kind != tokRegexp {
		p.noRegexp(t)
		return nil
	}
	p.next()
	p.count(t.start)
	expr := strings.TrimSuffix(strings.TrimPrefix(t.text, `r"`), `"`)
	f.Right = stringConst(p, t, expr)
	groups, ok := p.pattern(f, t, expr)
	if !ok {
		p.skip()
		return nil
	}
	if !p.matchGroups(f, t, groups) {
		return nil
	}
	f.Node = p.from(start)
	return f
}

// noRegexp reports what stands where a regular expression is expected.
func (p *parser) noRegexp(t token) {
	if t.kind != tokString {
		p.unexpected(`a regular expression, r"…",`)
		return
	}
	p.report(CodeSyntax, t.start, t.end, `found a string where a regular expression, r"…", is expected`,
		"write r before the quote: `r"+shorten(t.text)+"`")
	p.skip()
}

// pattern compiles a regular expression and returns the number of its groups.
func (p *parser) pattern(f *Match, t token, expr string) (groups int, ok bool) {
	f.Pattern = expr
	if p.opts.Mode == MonPoly {
		var problem string
		if f.Pattern, problem = fromStr(expr); problem != "" {
			p.report(CodeRegexp, t.start, t.end, "the regular expression cannot be used: "+problem, p.regexpSyntax())
			return 0, false
		}
	}
	tree, err := regexpsyntax.Parse(f.Pattern, regexpsyntax.Perl)
	if err != nil {
		p.report(CodeRegexp, t.start, t.end, "the regular expression cannot be read: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "),
			p.regexpSyntax())
		return 0, false
	}
	if p.regexp += regexpSize(tree); p.regexp > MaxRegexp {
		p.report(CodeTooLarge, t.start, t.end, "the regular expressions of the formula have more than "+strconv.Itoa(MaxRegexp)+" characters, repetitions written out",
			"repeat less, or without an upper bound")
		return 0, false
	}
	return tree.MaxCap(), true
}

// regexpSize is the number of characters and operators of a regular expression with
// repetitions written out, at most a little above MaxRegexp.
func regexpSize(re *regexpsyntax.Regexp) int {
	n := 1
	if re.Op == regexpsyntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += regexpSize(sub)
		if n > MaxRegexp {
			break
		}
	}
	if re.Op == regexpsyntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, MaxRegexp+1)
}

// matchGroups reads the terms for the groups of an expression, if there are any.
func (p *parser) matchGroups(f *Match, t token, groups int) bool {
	if !p.peek().punct("(") {
		return true
	}
	p.next()
	for {
		g := p.term(true)
		if g == nil {
			return false
		}
		f.Groups = append(f.Groups, g)
		if !p.peek().punct(",") {
			break
		}
		p.next()
	}
	if !p.peek().punct(")") {
		p.unexpected("`,` or `)`")
		return false
	}
	p.next()
	if len(f.Groups) != groups {
		p.report(CodeRegexp, t.start, t.end, "the regular expression has "+strconv.Itoa(groups)+" groups and there are "+strconv.Itoa(len(f.Groups))+" terms for them",
			p.groupsHint(groups))
		return false
	}
	return true
}

// regexpSyntax says which syntax regular expressions have.
func (p *parser) regexpSyntax() string {
	if p.opts.Mode == MonPoly {
		return "the syntax is that of OCaml's library Str"
	}
	return `the syntax is that of RE2; write \( or \. for the character itself`
}

// groupsHint says how to make terms and groups fit.
func (p *parser) groupsHint(groups int) string {
	switch {
	case groups > 0:
		return "give one for each group, `_` for those that do not matter"
	case p.opts.Mode == MonPoly:
		return `a group is written \(…\) here; bare parentheses match themselves`
	}
	return `a group is written (…) here; \( and \) match parentheses`
}

// fromStr translates a regular expression of OCaml's library Str, which MonPoly uses,
// into the syntax of package regexp: there \( \) and \| are operators and ( ) | { }
// are themselves, ^ and $ stand for the ends of lines, and a backslash within a set
// is itself. problem says what has no counterpart.
func fromStr(expr string) (re2, problem string) {
	var b strings.Builder
	b.WriteString("(?m)")
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; c {
		case '[':
			end := setEnd(expr, i)
			if end < 0 {
				return "", "a set is not closed"
			}
			b.WriteString(strings.ReplaceAll(expr[i:end], `\`, `\\`))
			i = end - 1
		case '\\':
			i++
			if i == len(expr) {
				return "", "a backslash stands at the end"
			}
			switch c := expr[i]; {
			case c == '(' || c == ')' || c == '|':
				b.WriteByte(c)
			case c == 'b':
				b.WriteString(`\b`)
			case c >= '1' && c <= '9':
				return "", "a back reference has no counterpart"
			default:
				b.WriteString(regexp.QuoteMeta(string(c)))
			}
		case '(', ')', '|', '{', '}':
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// setEnd returns the place after the set that begins at i, or -1. A closing bracket
// that comes first belongs to the set.
func setEnd(expr string, i int) int {
	j := i + 1
	if j < len(expr) && expr[j] == '^' {
		j++
	}
	if j < len(expr) && expr[j] == ']' {
		j++
	}
	end := strings.IndexByte(expr[min(j, len(expr)):], ']')
	if end < 0 {
		return -1
	}
	return j + end + 1
}
