// Package sim runs the whole pipeline in one process and in virtual time, as a test:
// gates, composers and aspect workers as the services they are, over a log in memory,
// in a bubble of testing/synctest. A script and a seed give a transcript
// (testdata/README.md describes the language); a seed alone gives a workload, a
// deployment and faults, and what comes out is compared with the offline runner and
// held against the invariants of the log.
//
// Each role has a link of its own to the log. A link is where faults happen: appends
// that fail, are late, are written although they report an error, or are written
// twice; reads that lag or repeat; a role that is paused or killed; a gate whose
// clock is wrong. What a fault hits is chosen by the identity of the record and the
// seed, not by the order in which goroutines happen to run.
package sim
