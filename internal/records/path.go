package records

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrPath says that a text is no path. See PathError.
var ErrPath = errors.New("records: not a path")

// MaxSteps bounds the steps of a path. Values nest at most MaxDepth deep.
const MaxSteps = MaxDepth

// PathError says where and why a text is no path. It wraps ErrPath.
type PathError struct {
	Path    string
	Offset  int // in bytes
	Problem string
	Repair  string
}

// Error returns one line with the place.
func (e *PathError) Error() string {
	return fmt.Sprintf("%v: %q, byte %d: %s; %s", ErrPath, e.Path, e.Offset, e.Problem, e.Repair)
}

// Unwrap returns ErrPath.
func (e *PathError) Unwrap() error { return ErrPath }

// Path names places in a value:
//
//	""                  the value itself
//	"balance"           the member balance of a map
//	"user.email"        a member of a member
//	"[].recipient"      the member recipient of each item of a list
//	"contacts[].email"  the same, where the list is a member
//	"[0]"               the first item of a list
//	"*.address"         the member address of every member of a map
//	`["a.b"].c`         a name with other signs than letters, digits, _ and -, as JSON
//
// What a path names need not be there: then it selects nothing. The zero Path names
// the value itself. A Path is immutable and safe for concurrent use.
type Path struct{ steps []step }

// stepKind is what a step of a path selects.
type stepKind uint8

const (
	byName      stepKind = iota // the member of a map with a name
	everyMember                 // every member of a map
	everyItem                   // every item of a list
	byIndex                     // one item of a list
)

type step struct {
	kind  stepKind
	name  string
	index int
}

// ParsePath reads a path. Errors are a *PathError.
func ParsePath(s string) (Path, error) {
	p := pathReader{text: s}
	var out Path
	for p.at < len(s) && p.err == nil {
		if len(out.steps) == MaxSteps {
			p.fail(p.at, fmt.Sprintf("there are more than %d steps", MaxSteps), "values do not nest deeper")
			break
		}
		out.steps = append(out.steps, p.step())
	}
	if p.err != nil {
		return Path{}, p.err
	}
	return out, nil
}

// pathReader reads forward. The first error sticks.
type pathReader struct {
	text string
	at   int
	err  error
}

func (p *pathReader) fail(at int, problem, repair string) {
	if p.err == nil {
		p.err = &PathError{Path: p.text, Offset: at, Problem: problem, Repair: repair}
	}
}

func (p *pathReader) step() step {
	if p.text[p.at] == '[' {
		return p.bracket()
	}
	if p.at > 0 {
		if p.text[p.at] != '.' {
			p.fail(p.at, "a point or a bracket is expected", `write a.b, a[] or a[0]`)
			return step{}
		}
		p.at++
	}
	rest := p.text[p.at:]
	if strings.HasPrefix(rest, "*") {
		p.at++
		return step{kind: everyMember}
	}
	n := strings.IndexFunc(rest, func(r rune) bool { return !nameRune(r) })
	if n < 0 {
		n = len(rest)
	}
	if n == 0 {
		p.fail(p.at, "a name is expected", `write a name, *, or ["…"] for a name with other signs`)
		return step{}
	}
	p.at += n
	return step{kind: byName, name: rest[:n]}
}

// nameRune says which characters a name may have without quotes.
func nameRune(r rune) bool {
	return r != utf8.RuneError && (r >= utf8.RuneSelf || r == '-' || r < utf8.RuneSelf && isWord(byte(r)))
}

// bracket reads [], [0] or ["name"].
func (p *pathReader) bracket() step {
	rest := p.text[p.at+1:]
	if strings.HasPrefix(rest, `"`) {
		return p.quoted()
	}
	n := span(rest, digits)
	if !strings.HasPrefix(rest[n:], "]") {
		p.fail(p.at+1+n, "a closing bracket is expected", `write [] for every item, [0] for the first, ["…"] for a name`)
		return step{}
	}
	out := step{kind: everyItem}
	if n > 0 {
		i, err := strconv.Atoi(rest[:n])
		if err != nil || i >= MaxNodes || n > 1 && rest[0] == '0' {
			p.fail(p.at+1, fmt.Sprintf("%.20q is no index", rest[:n]), fmt.Sprintf("count from 0 to %d, without zeros before", MaxNodes-1))
		}
		out = step{kind: byIndex, index: i}
	}
	p.at += n + 2
	return out
}

// quoted reads ["name"], where the name is a JSON string.
func (p *pathReader) quoted() step {
	start := p.at + 1
	end := start + 1
	for end < len(p.text) && p.text[end] != '"' {
		if p.text[end] == '\\' {
			end++
		}
		end++
	}
	if !strings.HasPrefix(p.text[min(end, len(p.text)):], `"]`) {
		p.fail(p.at, "the name in brackets does not end", `write ["name"]`)
		return step{}
	}
	v, err := parseJSON(p.text[start : end+1])
	if err != nil {
		p.fail(start, "this is no name in double quotes", "write it as a JSON string")
		return step{}
	}
	p.at = end + 2
	return step{kind: byName, name: v.text}
}

// String returns the path as ParsePath reads it.
func (p Path) String() string {
	var b []byte
	for _, s := range p.steps {
		b = appendStep(b, s)
	}
	return string(b)
}

func appendStep(b []byte, s step) []byte {
	switch s.kind {
	case everyItem:
		return append(b, "[]"...)
	case byIndex:
		return append(strconv.AppendInt(append(b, '['), int64(s.index), 10), ']')
	case byName:
		if s.name == "" || strings.ContainsFunc(s.name, func(r rune) bool { return !nameRune(r) }) {
			return append(appendQuoted(append(b, '['), s.name), ']')
		}
	case everyMember:
		s.name = "*"
	}
	if len(b) > 0 {
		b = append(b, '.')
	}
	return append(b, s.name...)
}

// Select visits the values that the path names, in the order of the value, with the
// path of each alone: "[3].recipient". It ends when visit returns false.
func (p Path) Select(v Value, visit func(at string, v Value) bool) {
	s := selector{visit: visit}
	s.descend(p.steps, v)
}

// selector walks to what a path names. at is the way so far.
type selector struct {
	at    []byte
	visit func(at string, v Value) bool
}

// descend returns false when the walk is to end.
func (s *selector) descend(steps []step, v Value) bool {
	if len(steps) == 0 {
		return s.visit(string(s.at), v)
	}
	head, rest := steps[0], steps[1:]
	switch head.kind {
	case byName:
		if w, ok := v.Get(head.name); ok {
			return s.enter(head, rest, w)
		}
	case everyMember:
		for _, m := range v.members {
			if !s.enter(step{kind: byName, name: m.Name}, rest, m.Value) {
				return false
			}
		}
	case everyItem:
		for i, w := range v.items {
			if !s.enter(step{kind: byIndex, index: i}, rest, w) {
				return false
			}
		}
	case byIndex:
		if head.index < len(v.items) {
			return s.enter(head, rest, v.items[head.index])
		}
	}
	return true
}

func (s *selector) enter(by step, rest []step, v Value) bool {
	n := len(s.at)
	s.at = appendStep(s.at, by)
	more := s.descend(rest, v)
	s.at = s.at[:n]
	return more
}

// Replace returns a copy of v in which each value that the path names is what change
// makes of it. The rest is shared with v, and printed as before.
func (p Path) Replace(v Value, change func(at string, v Value) Value) Value {
	r := replacer{change: change}
	return r.descend(p.steps, v)
}

type replacer struct {
	at     []byte
	change func(at string, v Value) Value
}

func (r *replacer) descend(steps []step, v Value) Value {
	if len(steps) == 0 {
		return r.change(string(r.at), v)
	}
	head, rest := steps[0], steps[1:]
	switch head.kind {
	case byName, everyMember:
		members := append([]Member(nil), v.members...)
		for i, m := range members {
			if head.kind == everyMember || head.name == m.Name {
				members[i].Value = r.enter(step{kind: byName, name: m.Name}, rest, m.Value)
			}
		}
		v.members = members
	case everyItem, byIndex:
		items := append([]Value(nil), v.items...)
		for i, w := range items {
			if head.kind == everyItem || head.index == i {
				items[i] = r.enter(step{kind: byIndex, index: i}, rest, w)
			}
		}
		v.items = items
	}
	return v
}

func (r *replacer) enter(by step, rest []step, v Value) Value {
	n := len(r.at)
	r.at = appendStep(r.at, by)
	out := r.descend(rest, v)
	r.at = r.at[:n]
	return out
}
