package mfotl

import (
	"regexp"
	regexpsyntax "regexp/syntax"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/syntax"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// substringAtom is `part SUBSTRING whole`. What is no string has no parts.
type substringAtom struct {
	part, whole expr
}

func (a *substringAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	if !a.holds(st) {
		return true
	}
	return c.next(st, k, m)
}

func (a *substringAtom) holds(st *State) bool {
	part, ok := a.part.value(st)
	if !ok {
		return false
	}
	whole, ok := a.whole.value(st)
	return ok && part.Kind == schema.KindString && whole.Kind == schema.KindString && strings.Contains(whole.Str, part.Str)
}

// searchBudget bounds the search for a regular expression: the length of its program,
// in instructions, times that of the text, in bytes, which is what package regexp needs at
// worst, some 50 ns for each. A text for which it is exceeded is not searched, and that is
// a fault: whoever chooses a text must not be able to stop a monitor with it.
const searchBudget = 1 << 22

// search is a regular expression to look for.
type search struct {
	pattern *regexp.Regexp
	most    int   // bytes of a text
	at      fault // of a text that is longer
}

// newSearch compiles a regular expression.
func (c *compiler) newSearch(f *syntax.Match) (search, error) {
	parsed, err := regexpsyntax.Parse(f.Pattern, regexpsyntax.Perl)
	if err != nil {
		return search{}, err
	}
	program, err := regexpsyntax.Compile(parsed.Simplify())
	if err != nil {
		return search{}, err
	}
	pattern, err := regexp.Compile(f.Pattern)
	return search{pattern, searchBudget / len(program.Inst), c.faultAt(f, f.Span())}, err
}

// text returns the text to be searched; false if there is none.
func (s *search) text(st *State, e expr) (string, bool) {
	v, ok := e.value(st)
	switch {
	case !ok || v.Kind != schema.KindString:
		return "", false
	case len(v.Str) > s.most:
		st.fail(s.at, causeLong)
		return "", false
	}
	return v.Str, true
}

// matchAtom is MATCHES without groups.
type matchAtom struct {
	of expr
	search
}

func (a *matchAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	if !a.holds(st) {
		return true
	}
	return c.next(st, k, m)
}

func (a *matchAtom) holds(st *State) bool {
	text, ok := a.text(st, a.of)
	return ok && a.pattern.MatchString(text)
}

// groupsAtom is MATCHES with groups. Of the places where the pattern matches the
// leftmost counts. A group that had no part in the match is the empty string.
type groupsAtom struct {
	of expr
	search
	groups []groupArg
}

// groupArg says what to do with what a group matched.
type groupArg struct {
	kind argKind
	slot int    // argBound, argBind
	text string // argConst
}

func (a *groupsAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	text, ok := a.text(st, a.of)
	if !ok {
		return true
	}
	at := a.pattern.FindStringSubmatchIndex(text)
	if at == nil {
		return true
	}
	for i := range a.groups {
		found := ""
		if from, to := at[2*i+2], at[2*i+3]; from >= 0 {
			found = text[from:to]
		}
		if !a.groups[i].take(st, found) {
			return true
		}
	}
	return c.next(st, k, m)
}

func (g *groupArg) take(st *State, found string) bool {
	switch g.kind {
	case argConst:
		return found == g.text
	case argBound:
		v := st.value(st.env[g.slot])
		return v.Kind == schema.KindString && v.Str == found
	case argBind:
		st.env[g.slot] = st.intern(schema.StringValue(found))
	}
	return true
}
