package mfotl

import (
	"regexp"
	"strings"

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

// matchAtom is MATCHES without groups.
type matchAtom struct {
	text    expr
	pattern *regexp.Regexp
}

func (a *matchAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	if !a.holds(st) {
		return true
	}
	return c.next(st, k, m)
}

func (a *matchAtom) holds(st *State) bool {
	text, ok := a.text.value(st)
	return ok && text.Kind == schema.KindString && a.pattern.MatchString(text.Str)
}

// groupsAtom is MATCHES with groups. Of the places where the pattern matches the
// leftmost counts. A group that had no part in the match is the empty string.
type groupsAtom struct {
	text    expr
	pattern *regexp.Regexp
	groups  []groupArg
}

// groupArg says what to do with what a group matched.
type groupArg struct {
	kind argKind
	slot int    // argBound, argBind
	text string // argConst
}

func (a *groupsAtom) run(st *State, c *chain, k int, m verdict.Value) bool {
	text, ok := a.text.value(st)
	if !ok || text.Kind != schema.KindString {
		return true
	}
	at := a.pattern.FindStringSubmatchIndex(text.Str)
	if at == nil {
		return true
	}
	for i := range a.groups {
		found := ""
		if from, to := at[2*i+2], at[2*i+3]; from >= 0 {
			found = text.Str[from:to]
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
