package policy

import (
	"fmt"
	"strings"

	"github.com/aspis-rv/aspis/internal/diag"
)

func noFile(name string, files []string) finding {
	return fault(CodeRead, didYouMean(name, files), "the bundle has no file %q", name)
}

func contradiction(hint, format string, args ...any) finding {
	return fault(CodeWorld, hint, format, args...)
}

func badGraph(message, hint string) finding {
	return fault(CodeImport, hint, "the graph cannot be imported: %s", message)
}

func noWorld(what string) finding {
	return fault(CodeNoWorld, "declare a world: `world: world.yaml`, or `world: {}` for an empty one", "%s, and the bundle declares no world", what)
}

func unknownOperation(name string, names []string) finding {
	hint := didYouMean(name, names)
	if name == "mark" {
		hint = "a state is set under facts, as a fact is: facts: ['marked(record, \"PHI\")']"
	}
	return fault(CodeEffect, hint, "there is no effect %q", name)
}

func shapeOfEffect(text string) finding {
	f := shapeOfFact(text)
	f.code, f.message = CodeEffect, fmt.Sprintf("%q is no effect", text)
	f.hint = strings.Replace(f.hint, "a fact with", "an effect with", 1)
	f.hint = strings.ReplaceAll(strings.ReplaceAll(f.hint, "launch(a, b)", "place(a, b)"), "launch(args.mission)", "place(record, dest)")
	return f
}

func effectArity(o *operation, got int) finding {
	return fault(CodeEffect, "write "+o.usage(), "the effect %s does not take %s", o.op, count(got, "argument"))
}

func effectKind(o *operation, s slot, got string) finding {
	return fault(CodeEffect, "write "+o.usage(), "%s of %s is %s, and this is %s", s, o.op, s.kind(), got)
}

// neverMade warns of a relation that formulas read and nothing makes.
func neverMade(kind declKind, name string) finding {
	if kind == declAttribute {
		return caution(CodeNeverEmitted, "set it under world of a tool, or give an entity a value", "no effect sets the attribute %s, which formulas read", name)
	}
	return caution(CodeNeverEmitted, "emit it from a tool or a class", "no tool and no class emits the %s %s, which formulas read", kind.noun(), name)
}

// twoRoles warns of a variable that cannot be both things that it is.
func twoRoles(variable string, a, b role) finding {
	return caution(CodeTwoRoles, "look at the order of the arguments: holds(vertex, object), reaches(object, domain), label(vertex, label)",
		"%s is %s (%s) and %s (%s), and hardly anything is both", variable, a.noun(), a.relation, b.noun(), b.relation)
}

// unreadLabel warns of a label that makes no difference.
func unreadLabel(name string, read []string) finding {
	hint := "ask for it in a formula, or delete the effect"
	if c := diag.Closest(name, read); c != "" {
		hint = fmt.Sprintf("did you mean %q?", c)
	}
	return caution(CodeUnused, hint, "an effect gives the label %q, and nothing reads it", name)
}

// domainForVertex warns of a domain where an effect takes a vertex.
func domainForVertex(name string) finding {
	return caution(CodeNotInWorld, "name a vertex that lies in it", "%q is a release domain, and an effect takes vertices", name)
}

// notInWorld warns of a name that the world lacks.
func notInWorld(what, name string, names []string) finding {
	hint := "declare it; an unknown vertex has every label and domain where that is unsafe"
	if what != "vertex" {
		hint = "declare it, or correct the name"
	}
	if c := diag.Closest(name, names); c != "" {
		hint = fmt.Sprintf("did you mean %q?", c)
	}
	return caution(CodeNotInWorld, hint, "the world has no %s %q", what, name)
}
