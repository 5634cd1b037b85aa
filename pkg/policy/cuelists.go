package policy

import (
	"bytes"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/text"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
)

// cueFile is where a cue list was read.
type cueFile struct {
	key  *source.Node
	file *source.File // nil when it cannot be read
	used bool
}

// cueSection reads `phi: cues/phi.txt`.
func (l *loader) cueSection(n *source.Node) {
	fields := l.mapOf(n, "cues")
	if len(fields) > MaxCueLists {
		l.report(fields[MaxCueLists].Key, overLimit("the bundle has too many cue lists", MaxCueLists, "let one list have the cues of several"))
		return
	}
	c := &cues{}
	for _, f := range fields {
		c.lists = append(c.lists, l.cueList(f))
	}
	l.b.typing.cues = c
	if len(fields) == 0 || l.diags.HasErrors() {
		return
	}
	automaton, err := text.Compile(c.lists)
	if err != nil {
		l.report(n, fault(CodeLimit, "shorten the lists", "the cue lists cannot be used: %v", err))
		return
	}
	c.automaton = automaton
	for i := range c.lists {
		l.idleCues(c, i)
	}
}

// cueList reads one list. It has its name even when it cannot be read.
func (l *loader) cueList(f source.Field) text.List {
	name := f.Key.Value
	if !isID(name) {
		l.report(f.Key, badName("a cue list", name, "a name is a letter followed by letters, digits, _, - and ."))
	}
	out := text.List{Name: name}
	file := l.fileOf(f.Value, "a cue list")
	if file != nil && slices.ContainsFunc(l.cueFiles, func(other cueFile) bool { return other.file == file }) {
		l.report(f.Value, nameTaken(file.Name, "another cue list"))
		file = nil
	}
	if file != nil {
		var found diag.List
		out.Cues, found = text.ParseList(file.Name, file.Data)
		l.diags = append(l.diags, found...)
	}
	l.cueFiles = append(l.cueFiles, cueFile{key: f.Key, file: file})
	return out
}

// cueNames lists the names in the order of the bundle.
func (l *loader) cueNames() []string {
	var out []string
	for _, f := range l.cueFiles {
		out = append(out, f.key.Value)
	}
	return out
}

// idleCues warns of the cues of a list that make no difference: those that their own text does
// not have, and those in which another one of the list is found, so that it is found wherever
// they are. Of two that are alike the later one is idle.
func (l *loader) idleCues(c *cues, list int) {
	all := c.lists[list].Cues
	inside := make([][]int, len(all)) // for each cue, those found in it
	scanner := &text.Scanner{}
	for i := range all {
		c.automaton.Scan(scanner, strings.ToLower(all[i].Text), func(h text.Hit) bool {
			if h.List == list && !slices.Contains(inside[i], h.Cue) {
				inside[i] = append(inside[i], h.Cue)
			}
			return true
		})
	}
	hides := func(a, b int) bool { // wherever b is, a is
		return slices.Contains(inside[b], a) && (all[a].Stem || !all[b].Stem)
	}
	for i := range all {
		if !slices.Contains(inside[i], i) {
			l.reportCue(list, &all[i], caution(CodeIdleCue, "write a word or several", "the cue %q can never be found", all[i].Text))
			continue
		}
		for _, k := range inside[i] {
			if k != i && hides(k, i) && (k < i || !hides(i, k)) {
				l.reportCue(list, &all[i], caution(CodeIdleCue, "delete it, or the other one", "the cue %q changes nothing: wherever it is found, %q (line %d) is found too",
					all[i].Text, all[k].Text, all[k].Line))
				break
			}
		}
	}
}

// reportCue reports at a cue.
func (l *loader) reportCue(list int, c *text.Cue, f finding) {
	file := l.cueFiles[list].file
	at := file.LineSpan(c.Line)
	from := at.Start.Offset
	if i := bytes.Index(file.Data[from:at.End.Offset], []byte(c.Text)); i >= 0 {
		at = file.Span(from+i, from+i+len(c.Text))
	}
	l.reportSpan(file.Name, at, f)
}

// unusedSuspects warns of cue lists and classifiers that no typing rule names.
func (l *loader) unusedSuspects() {
	for _, f := range l.cueFiles {
		if !f.used {
			l.report(f.key, caution(CodeUnused, "name it in a typing rule, or delete it", "the cue list %s is never used", f.key.Value))
		}
	}
	for i, key := range l.classifierKeys {
		if !l.asked[i] {
			l.report(key, caution(CodeUnused, "name it in a typing rule, or delete it", "the classifier %s is never used", key.Value))
		}
	}
}
