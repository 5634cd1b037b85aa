package policy

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/aspis-rv/aspis/internal/diag"
	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/policy/internal/expr"
	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
)

// Load reads the bundle in a directory. The bundle is nil exactly when the list
// has errors; warnings and remarks come with a bundle. The list is sorted by file
// and position and names files relative to dir. No link is followed out of dir.
func Load(dir string) (*Bundle, diag.List) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		l := newLoader()
		l.reportFile(policyFile, unreadable("the bundle", err))
		return l.finish()
	}
	defer func() { _ = root.Close() }() // read only: nothing is lost
	return LoadFS(root.FS())
}

// LoadFS is Load for a file system, such as an embedded bundle.
func LoadFS(fsys fs.FS) (*Bundle, diag.List) {
	l := newLoader()
	l.load(fsys)
	return l.finish()
}

// loader builds one bundle. It gathers findings and goes on as long as there is
// something to check.
type loader struct {
	files   []entry
	sources map[string]*source.File
	diags   diag.List
	b       *Bundle

	env   *expr.Env
	names map[string]*declaration // facts, states, sets, globs, named formulas; the world's relations
	world worldDecl
	// restricted: ESCAPE measures distances over vertices at which its formula holds.
	restricted bool
	rules      map[string]*rule
	cueFiles   []cueFile // of the cue lists, in their order
	// classifierKeys are the names of the classifiers; asked are those that some rule asks.
	classifierKeys []*source.Node
	asked          map[int]bool
	defines        map[string]*define
	classes        []class
	aliases        []alias
	ids            map[string]bool // clause ids
}

func newLoader() *loader {
	return &loader{
		sources: map[string]*source.File{}, names: map[string]*declaration{}, defines: map[string]*define{},
		rules: map[string]*rule{}, asked: map[int]bool{}, ids: map[string]bool{}, b: &Bundle{Signature: check.Signature{}, typing: typing{entries: map[string]*toolEntry{}}},
	}
}

// load runs the sections in an order in which each finds what it refers to.
func (l *loader) load(fsys fs.FS) {
	l.readFiles(fsys)
	f := l.open(policyFile)
	if f == nil {
		if !l.diags.HasErrors() {
			l.reportFile(policyFile, noPolicy())
		}
		return
	}
	l.b.Digest = digest(l.files)
	root, found := source.Parse(f)
	l.diags = append(l.diags, found...)
	if root == nil {
		return
	}
	if root.Kind != source.Map {
		l.report(root, wrongType("a policy", "a map of keys", root.Describe()))
		return
	}
	l.keys(root, "a policy", policyKeys(), laterPolicyKeys())
	l.head(root)
	l.worldNames(root)
	l.facts(root.Get("facts"))
	l.stateSection(root.Get("state"))
	l.sets(root.Get("sets"))
	l.globs(root.Get("globs"))
	l.provenanceNames(root.Get("provenance"))
	l.worldSection(root.Get("world"))
	env, err := expr.NewEnv(l.domains())
	if err != nil {
		l.report(root, unreadable("the expressions", err))
		return
	}
	l.env = env
	l.typingSections(root)
	l.classSection(root.Get("classes"))
	l.tools(root.Get("tools"))
	l.provenanceSection(root.Get("provenance"))
	l.defineSection(root.Get("define"))
	l.clauses(root.Get("clauses"))
	l.untrustedDischarge()
	l.sealWorld()
	l.tests(root.Get("tests"))
	l.b.typing.seal(l.b, l.classes)
	l.crossCheck(root)
}

func policyKeys() []string {
	return []string{
		"policy", "revision", "trace", "blocking", "deadline", "unmapped", "engine", "authorities", "accept", "world", "escape",
		"sets", "globs", "facts", "state", "cues", "classifiers", "text_limit", "typing", "classes", "tools", "provenance", "define",
		"clauses", "tests",
	}
}

func laterPolicyKeys() []string {
	return []string{"contracts", "documents", "carried_by", "trust_reported"}
}

// finish returns the result of the load.
func (l *loader) finish() (*Bundle, diag.List) {
	list := l.diags.Capped(maxFindings).Sorted()
	if list.HasErrors() {
		return nil, list
	}
	l.b.facts = len(l.namesOf(declFact, declGlob, declProvenance))
	l.b.sources = diag.Sources{}
	for name, f := range l.sources {
		l.b.sources[name] = string(f.Data)
	}
	return l.b, list
}

// report adds a finding about a node.
func (l *loader) report(n *source.Node, f finding) { l.reportSpan(n.File().Name, n.Span(), f) }

// reportText adds a finding about a part of a scalar.
func (l *loader) reportText(t source.Text, start, end int, f finding) {
	l.reportSpan(t.File().Name, t.Span(start, end), f)
}

// reportFile adds a finding about a file as a whole.
func (l *loader) reportFile(name string, f finding) {
	at := diag.Pos{Line: 1, Col: 1}
	l.reportSpan(name, diag.Span{Start: at, End: at}, f)
}

func (l *loader) reportSpan(file string, at diag.Span, f finding) {
	l.diags = append(l.diags, diag.Diagnostic{
		Code: f.code, Severity: f.severity, File: file, Span: at, Message: f.message, Hint: f.hint,
	})
}

// String is a one-line summary: name, revision, digest and counts.
func (b *Bundle) String() string {
	in := ""
	if b.World != nil {
		in = ", a world of " + count(len(b.World.Vertices), "vertex")
	}
	return fmt.Sprintf("%s revision %d (%x): %s, %s, %s%s", b.Name, b.Revision, b.Digest[:6], count(len(b.Clauses), "clause"),
		count(b.facts, "fact"), count(len(b.typing.entries)+len(b.typing.classes.names), "tool entry"), in)
}

func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case what == "tool entry":
		return fmt.Sprintf("%d tool entries", n)
	case what == "vertex":
		return fmt.Sprintf("%d vertices", n)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
