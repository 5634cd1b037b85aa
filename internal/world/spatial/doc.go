// Package spatial evaluates location formulas, which AT speaks of, on a world: qualitative
// spatio-temporal reach and escape logic (STREL) at one time point. docs/world.md,
// location formulas, has the meaning of the operators.
package spatial
