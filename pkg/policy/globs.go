package policy

import (
	"path"
	"strings"

	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// glob is a path pattern: segments between slashes, in which * stands for any run
// of characters, ? for one, and a segment ** for any number of segments, none
// included. It is compared with the cleaned path, case-sensitively.
type glob []string

// globs reads the path patterns: `secret: ["**/.env*", "~/.ssh/**"]`.
func (l *loader) globs(n *source.Node) {
	for _, f := range l.mapOf(n, "globs") {
		d := l.declare(f.Key, f.Key.Value, declGlob)
		if d != nil {
			l.b.Signature[f.Key.Value] = []schema.ValueKind{schema.KindString}
		}
		items := l.listOf(f.Value)
		if len(items) == 0 {
			l.report(f.Value, wrongType("a glob", "a list of path patterns", f.Value.Describe()))
		}
		for _, item := range items {
			s, ok := l.text(item, "a path pattern")
			if !ok {
				continue
			}
			if strings.ContainsAny(s, "[]{}\\") || path.Clean(s) != s {
				l.report(item, badValue("a path pattern", s, "is not written as one",
					"use names, *, ? and ** between single slashes, without . or .. and a final slash"))
				continue
			}
			if d != nil {
				d.globs = append(d.globs, glob(strings.Split(s, "/")))
			}
		}
		if d != nil {
			l.b.typing.globs = append(l.b.typing.globs, globRelation{f.Key.Value, d.globs})
		}
	}
}

// matches reports whether the pattern covers a path. It takes time proportional
// to the product of the numbers of segments, and within a segment to the product
// of the lengths.
func (g glob) matches(p string) bool {
	segments := strings.Split(path.Clean(p), "/")
	// reach[j] says that the pattern read so far covers the first j segments.
	reach := make([]bool, len(segments)+1)
	reach[0] = true
	for _, want := range g {
		next := make([]bool, len(segments)+1)
		for j := range reach {
			switch {
			case want == "**":
				next[j] = reach[j] || (j > 0 && next[j-1])
			case j > 0 && reach[j-1]:
				next[j] = segmentMatches(want, segments[j-1])
			}
		}
		reach = next
	}
	return reach[len(segments)]
}

// segmentMatches compares one segment, with one point to go back to.
func segmentMatches(pattern, text string) bool {
	want, s := []rune(pattern), []rune(text)
	i, j, star, mark := 0, 0, -1, 0
	for j < len(s) {
		switch {
		case i < len(want) && want[i] == '*':
			star, mark = i, j
			i++
		case i < len(want) && (want[i] == '?' || want[i] == s[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(string(want[i:]), "*") == ""
}

// globRelation is a glob as a source of facts.
type globRelation struct {
	name  string
	globs []glob
}

// globFacts adds, for every text among the arguments of the facts, the glob
// relations that cover it. A formula uses a glob only beside a fact of the same
// time point that binds its variable, so no other value can matter.
func globFacts(facts []schema.Fact, relations []globRelation) []schema.Fact {
	own := len(facts)
	seen := map[string]bool{}
	for i := range own {
		for _, v := range facts[i].Args {
			if v.Kind != schema.KindString || seen[v.Str] {
				continue
			}
			seen[v.Str] = true
			for _, r := range relations {
				for _, g := range r.globs {
					if g.matches(v.Str) {
						facts = append(facts, schema.Fact{Name: r.name, Args: []schema.Value{v}})
						break
					}
				}
			}
		}
	}
	return facts
}
