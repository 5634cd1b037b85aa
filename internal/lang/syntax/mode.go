package syntax

import "github.com/aspis-rv/aspis/internal/diag"

// Mode says whose dialect a text is written in. The zero value is Bundle, the
// stricter one.
type Mode uint8

// The modes.
const (
	// Bundle is the dialect of policy bundles: plain identifiers, nonzero time
	// bounds with a unit, timestamps in nanoseconds, and no formula whose reading
	// would surprise.
	Bundle Mode = iota
	// MonPoly is MonPoly's dialect: its identifiers, bounds as plain numbers or in
	// units of seconds, and warnings where Bundle has errors.
	MonPoly
)

// Options says how to read a text. The zero value reads a bundle formula that
// starts at line 1, column 1 of an unnamed file.
type Options struct {
	Mode Mode
	// Raw keeps backslashes in string constants: one protects the character after it and
	// both are part of the string, as in MonPoly's logs. Such a constant does not print back
	// to itself.
	Raw bool
	// File is the name diagnostics carry.
	File string
	// Base is the place of the text's first byte in File; the zero Pos means its start.
	Base diag.Pos
	// Indent is the number of columns before the text on each line after the first
	// (block scalars).
	Indent int
}

const nanosPerSecond = 1_000_000_000

// unitSeconds returns the length of a time unit in seconds, or 0 when there is no
// such unit.
func unitSeconds(unit rune) int64 {
	switch unit {
	case 'd':
		return 24 * 60 * 60
	case 'h':
		return 60 * 60
	case 'm':
		return 60
	case 's':
		return 1
	}
	return 0
}

// wildcardPrefix starts the name of the fresh variable a wildcard `_` becomes. No
// written identifier contains '#'.
const wildcardPrefix = "_#"
