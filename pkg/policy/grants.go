package policy

import (
	"math/bits"
	"slices"
)

// Grantable reports whether a grant of the tool can make any fact or effect under the
// bundle: its entry, or a class it is in, has one at the act itself. A grant of another tool
// would change nothing.
func (b *Bundle) Grantable(tool string) bool {
	atOnce := func(es []emitter) bool {
		return slices.ContainsFunc(es, func(e emitter) bool { return !e.atResult })
	}
	if e := b.typing.entries[tool]; e != nil && (atOnce(e.emitters) || atOnce(e.effects)) {
		return true
	}
	for hits := b.typing.classes.match(tool); hits != 0; hits &= hits - 1 {
		class := bits.TrailingZeros64(hits)
		if atOnce(b.typing.emitters[class]) || atOnce(b.typing.effects[class]) {
			return true
		}
	}
	return false
}
