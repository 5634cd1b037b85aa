package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
)

// keys reports the keys of a map that do not exist or are not supported yet.
func (l *loader) keys(n *source.Node, where string, allowed, later []string) {
	for _, f := range n.Fields {
		switch key := f.Key.Value; {
		case slices.Contains(allowed, key):
		case slices.Contains(later, key):
			l.report(f.Key, notYet("the key "+strconv.Quote(key)))
		default:
			l.report(f.Key, unknownKey(key, where, append(slices.Clone(allowed), later...)))
		}
	}
}

// mapOf returns the fields of a map, none when n is absent or something else,
// which it reports.
func (l *loader) mapOf(n *source.Node, what string) []source.Field {
	switch {
	case n == nil:
		return nil
	case n.Kind != source.Map:
		l.report(n, wrongType(what, "a map", n.Describe()))
		return nil
	}
	return n.Fields
}

// listOf returns the items of a list; a single value stands for a list of one.
func (l *loader) listOf(n *source.Node) []*source.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == source.List:
		return n.Items
	}
	return []*source.Node{n}
}

// text returns a string value; ok is false when n is absent or something else,
// which it reports.
func (l *loader) text(n *source.Node, what string) (string, bool) {
	switch {
	case n == nil:
		return "", false
	case n.Kind != source.Scalar:
		l.report(n, wrongType(what, "a text", n.Describe()))
		return "", false
	case n.Type != source.String && !n.Quoted():
		l.report(n, quoteIt(what, "a text", n.Describe()))
		return "", false
	case strings.TrimSpace(n.Value) == "":
		l.report(n, wrongType(what, "a text", "empty"))
		return "", false
	}
	return n.Value, true
}

// choice returns a text that is one of the allowed ones.
func (l *loader) choice(n *source.Node, what string, allowed ...string) (string, bool) {
	s, ok := l.text(n, what)
	if ok && !slices.Contains(allowed, s) {
		l.report(n, notAllowed(what, s, allowed))
		return "", false
	}
	return s, ok
}

// boolean returns true or false; absent is false.
func (l *loader) boolean(n *source.Node, what string) bool {
	switch {
	case n == nil:
		return false
	case n.Kind != source.Scalar || n.Type != source.Bool:
		l.report(n, wrongType(what, "true or false", n.Describe()))
		return false
	}
	b, err := strconv.ParseBool(strings.ToLower(n.Value))
	if err != nil {
		l.report(n, notAllowed(what, n.Value, []string{"true", "false"}))
	}
	return b
}

// integer returns a decimal integer.
func (l *loader) integer(n *source.Node, what string) (int64, bool) {
	if n.Kind != source.Scalar || n.Type != source.Int {
		l.report(n, wrongType(what, "an integer", n.Describe()))
		return 0, false
	}
	i, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		l.report(n, badValue(what, n.Value, "is no decimal integer of 64 bits", ""))
		return 0, false
	}
	return i, true
}

// isName reports whether s is an identifier: a letter, then letters, digits and _.
func isName(s string) bool {
	for i, r := range s {
		letter := (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
		if !letter && (i == 0 || (r != '_' && (r < '0' || r > '9'))) {
			return false
		}
	}
	return s != ""
}

// isID reports whether s is a name in which . and - may stand too.
func isID(s string) bool {
	return isName(strings.NewReplacer(".", "_", "-", "_").Replace(s))
}

const nameRule = "a name is a letter followed by letters, digits and _"

// isKeyword reports the reserved words of the formula language, which cannot name
// a relation, and its built-in relations.
func isKeyword(s string) bool {
	switch s {
	case "TRUE", "FALSE", "NOT", "AND", "OR", "IMPLIES", "EQUIV", "EXISTS", "FORALL", "PREV", "PREVIOUS", "NEXT",
		"ONCE", "EVENTUALLY", "SOMETIMES", "ALWAYS", "HISTORICALLY", "PAST_ALWAYS", "SINCE", "UNTIL", "LET", "IN",
		"SUBSTRING", "MATCHES", "CNT", "SUM", "MIN", "MAX", "AVG", "MED", "MOD", "NEW", "AT",
		"i2f", "f2i", "i2s", "s2i", "f2s", "s2f", "tp", "ts", "tpts":
		return true
	}
	return false
}
