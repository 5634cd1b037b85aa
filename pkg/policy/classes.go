package policy

import (
	"strings"

	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
)

// classSection reads the typing by tool name.
func (l *loader) classSection(n *source.Node) {
	for _, f := range l.mapOf(n, "classes") {
		if len(l.classes) == MaxClasses {
			l.report(f.Key, overLimit("the bundle has too many classes", MaxClasses, ""))
			return
		}
		if !isID(f.Key.Value) {
			l.report(f.Key, badName("a class", f.Key.Value, "a name is a letter followed by letters, digits, _, - and ."))
		}
		l.class(f)
	}
}

func (l *loader) class(f source.Field) {
	where := "the class " + f.Key.Value
	if l.mapOf(f.Value, where) == nil {
		if f.Value.Kind == source.Map {
			l.report(f.Key, missingKey("contains", where, "list the parts of tool names that make a tool one of this class"))
		}
		return
	}
	l.keys(f.Value, where, []string{"contains", "unless_prefix", "emits", "world", "authority", "at"}, []string{"cues", "typing", "carried_by"})
	c := class{
		name:     f.Key.Value,
		contains: l.parts(f.Value.Get("contains"), "a part of tool names"),
		unless:   l.parts(f.Value.Get("unless_prefix"), "a prefix of tool names"),
	}
	if f.Value.Get("contains") == nil {
		l.report(f.Key, missingKey("contains", where, "list the parts of tool names that make a tool one of this class"))
	}
	if f.Value.Get("emits") == nil && f.Value.Get("world") == nil {
		l.report(f.Key, missingKey("emits", where, "name the fact that a call of such a tool is, for example 'export(event.session)'"))
	}
	defaults := emitter{authority: l.boolean(f.Value.Get("authority"), "authority"), atResult: l.moment(f.Value.Get("at")), origin: where}
	for _, item := range l.listOf(f.Value.Get("emits")) {
		c.emitters = append(c.emitters, l.factEntry(item, l.env, defaults)...)
	}
	c.effects = l.effects(f.Value.Get("world"), l.env, emitter{atResult: defaults.atResult, origin: where})
	l.classes = append(l.classes, c)
}

// parts reads a list of lower-case parts of tool names.
func (l *loader) parts(n *source.Node, what string) []string {
	var out []string
	for _, item := range l.listOf(n) {
		s, ok := l.text(item, what)
		if ok && s != strings.ToLower(s) {
			l.report(item, badValue(what, s, "is not in lower case", "names are compared in lower case: write "+strings.ToLower(s)))
			continue
		}
		if ok {
			out = append(out, s)
		}
	}
	return out
}

// moment reads at: call (default) or result.
func (l *loader) moment(n *source.Node) (atResult bool) {
	s, _ := l.choice(n, "at", "call", "result")
	return s == "result"
}
