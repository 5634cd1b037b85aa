// Package protocol is the log protocol: the deterministic fold of one partition of
// the events topic. Every role runs it over the same records and therefore agrees,
// without talking, on which attempts are open, which resolution of an attempt
// stands, and what each record does to the traces of the partition.
//
// The fold knows no policy and no verdict. It turns records into effects: an
// attempt opens and is to be judged, a call is adopted or dropped, another record
// becomes a time point, a call is settled. Aspect workers, composers, gates and
// replays react to effects; none of them decides on its own what the log says.
//
// Rule numbers in comments refer to docs/protocol.md. The package is pure: no
// clock, goroutine, randomness or I/O. Log time comes from tick records only.
package protocol
