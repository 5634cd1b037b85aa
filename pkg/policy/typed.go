package policy

import "slices"

// Types reports whether typing rules may make facts of the events of a tool: those of other tools
// have no Evidence. It is cheap.
func (b *Bundle) Types(tool string) bool {
	entry := b.typing.entries[tool]
	return entry != nil && !b.typing.untyped &&
		slices.ContainsFunc(entry.emitters, func(e emitter) bool { return e.rule != nil })
}
