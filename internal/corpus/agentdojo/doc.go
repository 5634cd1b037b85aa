// Package agentdojo reads the recorded runs of the AgentDojo benchmark (Debenedetti
// et al., 2024): files runs/<model>/<suite>/<task>/<attack|none>/<injection|none>.json
// in folders or tar archives.
//
// # What is read
//
// A run is one JSON object with its metadata and its messages. All shapes that
// occur in published runs are read: a call's function is a name or an object with
// a name; its args are an object, null, absent, or JSON text; ids are absent,
// empty or reused; content is text, null, or a list of text parts. What departs
// from the newest shape is counted in the run's quirks.
//
// # Pairing
//
// A result belongs to the earliest unanswered call with its recorded id. A result
// without an id, or whose call had none, belongs to the earliest unanswered call
// of the latest assistant message, one of the same tool first. A result that finds
// no call is kept, as an orphan.
//
// # Identity
//
// A run is named by the five parts of its path, so that the same run has the same
// name whether it is read from a folder or an archive; a second file with the name
// of one read before is counted and passed over. Call ids are the recorded ones
// where those are unique in the run, and derived from the position otherwise.
//
// Runs carry no time of their messages; their events claim none.
package agentdojo
