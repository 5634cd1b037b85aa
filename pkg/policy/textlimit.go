package policy

import (
	"strconv"
	"strings"

	"github.com/aspis-rv/aspis/pkg/policy/internal/source"
)

// How many bytes of a text typing rules look at: by default and at most, more than an event
// can carry, and at least.
const (
	maxTextLimit = 1 << 20
	minTextLimit = 256
)

// textLimit reads a number of bytes with its unit, such as 64KB or 64KiB.
func (l *loader) textLimit(n *source.Node) {
	l.b.typing.textLimit = maxTextLimit
	s, ok := l.text(n, "text_limit")
	if !ok {
		return
	}
	size, ok := bytesOf(s)
	if !ok || size < minTextLimit || size > maxTextLimit {
		l.report(n, badValue("text_limit", s, "is no size from 256B to 1MiB", "write a whole number with a unit: B, KB, KiB, MB or MiB, for example 64KB"))
		return
	}
	l.b.typing.textLimit = size
}

// bytesOf reads a whole number and a unit.
func bytesOf(s string) (int, bool) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	number, err := strconv.ParseInt(s[:digits], 10, 32)
	if err != nil {
		return 0, false
	}
	unit := int64(0)
	switch strings.TrimSpace(s[digits:]) {
	case "B":
		unit = 1
	case "KB":
		unit = 1000
	case "KiB":
		unit = 1 << 10
	case "MB":
		unit = 1000 * 1000
	case "MiB":
		unit = 1 << 20
	}
	return int(number * unit), unit != 0
}
