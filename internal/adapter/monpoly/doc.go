// Package monpoly evaluates the temporal formulas of a bundle with an external
// MonPoly binary: the engine of bundles that say `engine: monpoly`.
//
// # Processes
//
// A process evaluates one formula of one trace. A formula over presumptive facts is
// evaluated in three readings (see package verdict and the marks of its rows), each
// by a process of its own, once the trace has such facts. MonPoly cannot undo a time
// point. So a monitor keeps the time points that were adopted, as far back as the
// formulas of its bundle reach, and a process is a cache of what it has read: it is
// known by a digest of that history. A proposed event is told to the process; when
// the event is adopted, the digest is the trace's again and the event is not sent a
// second time; when it is not, another process is started and what was adopted is
// replayed. A formula that does not read the past needs neither. At most
// Config.Processes run at a time: the least recently used one makes room.
//
// # Failures
//
// A monitor has no way to return an error. A formula that could fire on an event
// and whose process does not answer rightly and in time gives a part of completeness
// Unavailable, on which the call is refused, and the reason goes to Config.Failed.
// Such a process is never used again. Nothing is believed that was not asked for:
// an answer is two lines of a fixed form for the time point that was sent, and
// whatever else a process writes ends it.
//
// A binary is taken only if it answers some questions rightly, among them one that a
// released version gets wrong, and if it says of each formula that it can be
// monitored, in the form in which it is sent. Rewriting is switched off, so that no
// formula about the past turns into one about the future.
//
// # On the wire
//
// Relations and variables are renamed. Strings are sent as `x` and their bytes in
// hexadecimal, which keeps their order: MonPoly prints strings without escaping
// them, and one with quotes or line breaks in it could forge an answer. A time point
// is followed by the `@` of the next one, before which it is not evaluated.
// Timestamps are nanoseconds.
package monpoly
