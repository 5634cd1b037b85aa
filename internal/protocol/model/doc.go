// Package model holds an explicit-state model of the log protocol, as a test: a
// breadth-first search through everything that two calls of one trace, two aspects,
// two composers and two gates can do to one partition, with lost, late and doubled
// appends, crashes and missed deadlines. docs/protocol.md says what it covers.
//
// The model reads the log with a compact reader of its own, written from the rules
// and not from internal/protocol; a sample of the logs it explores is folded by the
// real protocol.Partition too, which must agree.
package model
