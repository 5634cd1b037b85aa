// Package schema defines the records of the log: the canonical event and its
// kinds, the part verdicts that aspects publish, and their two encodings,
// deterministic MessagePack on the wire and JSON for people.
//
// # Wire form
//
// A record is one MessagePack map with short string keys in strictly ascending
// byte order, integers in their smallest encoding, no extension types, and no
// zero-valued fields. Two equal records have equal bytes. Keys that this version
// does not know are kept and written back in place; an unknown schema version is
// refused. Bytes from outside are walked by a bounded checker before any decoder
// sees them.
//
// Arguments and results travel as canonical JSON text (RFC 8785 member order and
// string escapes; numbers keep their exact decimal value) inside the envelope, so
// that a reader of the envelope pays nothing for them and a digest over them is a
// digest over what is executed.
package schema

// Version is the schema version written by this package, and the only one it reads.
const Version = 1
