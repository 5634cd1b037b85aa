package policy

import (
	"fmt"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
)

// The codes of errors in a bundle.
const (
	// CodeRead: a file is missing, cannot be read, is a link, or has a path that leaves
	// the bundle.
	CodeRead diag.Code = "B001"
	// CodeLimit: a limit of the format is crossed.
	CodeLimit diag.Code = "B002"
	// CodeKey: a key that does not exist here. `claues: {}`.
	CodeKey diag.Code = "B003"
	// CodeNotYet: a part of the format that this version does not support. `contracts: [c.yaml]`.
	CodeNotYet diag.Code = "B004"
	// CodeType: a value of the wrong shape or type. `revision: one`.
	CodeType diag.Code = "B005"
	// CodeValue: a value that is none of those allowed. `unmapped: allow`.
	CodeValue diag.Code = "B006"
	// CodeMissing: a required key is missing. A clause without `text`.
	CodeMissing diag.Code = "B007"
	// CodeName: a name that is not written as names are. `facts: {1st: []}`.
	CodeName diag.Code = "B008"
	// CodeTwice: one name for two things. A fact and a set called alike.
	CodeTwice diag.Code = "B009"
	// CodeUndeclared: a fact, tool or formula that nobody declared. `emits: 'lanch()'`.
	CodeUndeclared diag.Code = "B010"
	// CodeFact: a fact entry that does not fit the fact's declaration. `launch(1, 2)`.
	CodeFact diag.Code = "B011"
	// CodeExpression: a CEL expression that does not compile. `when: 'args.n >'`.
	CodeExpression diag.Code = "B012"
	// CodeDefine: a named formula that uses itself, or parameters that do not match.
	CodeDefine diag.Code = "B013"
	// CodeClosed: a required formula with free variables. `require: {temporal: 'p(x)'}`.
	CodeClosed diag.Code = "B014"
	// CodeGlob: a glob relation with nothing beside it that binds its variable.
	CodeGlob diag.Code = "B015"
	// CodeTest: a test that cannot be read.
	CodeTest diag.Code = "B016"
	// CodeEngine: the engine that the bundle names is not on this machine, or does not
	// take one of its formulas. `engine: monpoly`.
	CodeEngine diag.Code = "B017"
	// CodeWorld: a world that contradicts itself. `alpha: {sort: physical, domain: MED}`.
	CodeWorld diag.Code = "B018"
	// CodeImport: a graph of another format that cannot be read. `import: graph.graphml`.
	CodeImport diag.Code = "B019"
	// CodeEffect: an effect that does not fit its operation. `world: ['place(record)']`.
	CodeEffect diag.Code = "B020"
	// CodeNoWorld: an effect, or a formula over the graph, in a bundle without a world.
	CodeNoWorld diag.Code = "B021"
	// CodeProvenance: a source of provenance that makes no sense, or trusted values and
	// others in one relation. `payee: {list: {path: "a..b", trust: trusted_tool}}`.
	CodeProvenance diag.Code = "B024"
	// CodeUntrusted: an untrusted value would discharge. `NOT ONCE foreign(v)`.
	CodeUntrusted diag.Code = "B025"
)

// The codes of warnings about a bundle, and of remarks.
const (
	// CodeUnused: something is declared and never used.
	CodeUnused diag.Code = "B101"
	// CodeNeverEmitted: a fact that formulas read and nothing emits.
	CodeNeverEmitted diag.Code = "B102"
	// CodeNeverFires: a clause that cannot fire: no tool emits what it is judged on.
	CodeNeverFires diag.Code = "B103"
	// CodeSelfAuthority: a call of the agent's own emits a fact that discharges an
	// obligation.
	CodeSelfAuthority diag.Code = "B104"
	// CodeObserves: the bundle refuses nothing: no F in the blocking set, or every
	// clause in shadow mode.
	CodeObserves diag.Code = "B105"
	// CodeUncovered: a tool that no entry of the bundle covers.
	CodeUncovered diag.Code = "B106"
	// CodeSameSchema: tools with the same schema and different effects.
	CodeSameSchema diag.Code = "B107"
	// CodeSchema: an entry that declares other arguments than the tool has.
	CodeSchema diag.Code = "B108"
	// CodeNoAuthority: a fact that only an authority may cause, and no authorities.
	CodeNoAuthority diag.Code = "B109"
	// CodeFlaggedFault: a clause that permits on missing evidence has a formula that may
	// be without an answer because of the values of a call.
	CodeFlaggedFault diag.Code = "B110"
	// CodeNotInWorld: an effect or a formula names a vertex, label, domain, edge or channel
	// that the world does not have.
	CodeNotInWorld diag.Code = "B111"
	// CodeWorldPerSession: a world of its own for each session.
	CodeWorldPerSession diag.Code = "B112"
	// CodeTwoRoles: a variable stands for things of two kinds, as when arguments are swapped.
	// `holds(r, l) AND label(l, "home")`.
	CodeTwoRoles diag.Code = "B113"
	// CodeTrustReported: what only the agent's own account says counts.
	CodeTrustReported diag.Code = "B118"
	// CodeIdleCue: a cue that can never be found, or that changes nothing because another
	// one of its list is found wherever it is.
	CodeIdleCue diag.Code = "B120"
)

// finding is a diagnostic without its place.
type finding struct {
	code     diag.Code
	severity diag.Severity
	message  string
	hint     string
}

func fault(code diag.Code, hint, format string, args ...any) finding {
	return finding{code, diag.Error, fmt.Sprintf(format, args...), hint}
}

func caution(code diag.Code, hint, format string, args ...any) finding {
	return finding{code, diag.Warning, fmt.Sprintf(format, args...), hint}
}

func remark(code diag.Code, hint, format string, args ...any) finding {
	return finding{code, diag.Info, fmt.Sprintf(format, args...), hint}
}

// didYouMean proposes the closest of the names, or lists them when they are few.
func didYouMean(name string, names []string) string {
	if c := diag.Closest(name, names); c != "" {
		return fmt.Sprintf("did you mean %q?", c)
	}
	if len(names) > 0 && len(names) <= 24 {
		return "allowed here: " + strings.Join(names, ", ")
	}
	return ""
}

func unreadable(what string, err error) finding {
	return fault(CodeRead, "", "%s cannot be read: %v", what, err)
}

func noPolicy() finding {
	return fault(CodeRead, "a bundle is a directory with a policy.yaml in it", "there is no policy.yaml")
}

func isLink(name string) finding {
	return fault(CodeRead, "copy the file into the bundle", "%s is not a regular file", name)
}

func badPath(path string) finding {
	return fault(CodeRead, "name files inside the bundle, without .. and without a leading /", "%q leaves the bundle", path)
}

func overLimit(what string, limit int, hint string) finding {
	return fault(CodeLimit, hint, "%s, the limit is %d", what, limit)
}

func unknownKey(key, where string, allowed []string) finding {
	return fault(CodeKey, didYouMean(key, allowed), "%s has no key %q", where, key)
}

func notYet(what string) finding {
	return fault(CodeNotYet, "delete it, or use a version that has it; nothing is ignored silently",
		"%s is not supported by this version yet", what)
}

func wrongType(what, want, got string) finding {
	return fault(CodeType, "", "%s must be %s, and this is %s", what, want, got)
}

func quoteIt(what, want, got string) finding {
	return fault(CodeType, "put it in quotes", "%s must be %s, and this is %s", what, want, got)
}

func notAllowed(what, value string, allowed []string) finding {
	hint := "write one of " + strings.Join(allowed, ", ")
	if c := diag.Closest(value, allowed); c != "" {
		hint = fmt.Sprintf("did you mean %q?", c)
	}
	return fault(CodeValue, hint, "%q is no value of %s", value, what)
}

func badValue(what, value, why, hint string) finding {
	return fault(CodeValue, hint, "%s: %q %s", what, value, why)
}

func missingKey(key, where, hint string) finding {
	return fault(CodeMissing, hint, "%s has no %q", where, key)
}

func badName(what, name, rule string) finding {
	return fault(CodeName, rule, "%q cannot be the name of %s", name, what)
}

func nameTaken(name, as string) finding {
	return fault(CodeTwice, "rename one of the two", "the name %q is taken by %s", name, as)
}

func sameFormula(name string) finding {
	if name == "" {
		return fault(CodeTwice, "name them: {temporal: {NAME: '…', OTHER: '…'}}", "the clause has two formulas without a name")
	}
	return nameTaken(name, "another formula of this clause")
}

func undeclared(what, name string, names []string) finding {
	return fault(CodeUndeclared, didYouMean(name, names), "there is no %s %q", what, name)
}

func shapeOfFact(text string) finding {
	if strings.Contains(text, "(") != strings.Contains(text, ")") {
		return fault(CodeFact, "close the parenthesis; a fact with a comma stands in quotes, or YAML divides it: ['launch(a, b)']", "%q is no fact", text)
	}
	return fault(CodeFact, "write name(expression, …), for example 'launch(args.mission)'", "%q is no fact", text)
}

func factArity(rel string, want, got int) finding {
	return fault(CodeFact, "", "the fact %s has %d arguments, and this gives it %d", rel, want, got)
}

func factKind(rel string, i int, want, got string) finding {
	return fault(CodeFact, "convert it, for example with string(…), or change the declaration under facts",
		"argument %d of the fact %s is %s, and this is %s", i, rel, want, got)
}

func notEmittable(rel, as string) finding {
	return fault(CodeFact, "emit a fact declared under facts", "%s is %s; nothing can emit it", rel, as)
}
