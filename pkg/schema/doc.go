// Package schema defines the records of the log: the canonical event and its
// kinds, the part verdicts that aspects publish, and their two encodings,
// deterministic MessagePack on the wire and JSON for people.
//
// # Wire form
//
// A record is one MessagePack map with short string keys in strictly ascending
// byte order, integers in their smallest encoding, no extension types, and no
// zero-valued fields. Two equal records have equal bytes, and bytes that decode
// encode to the same bytes. Keys of an event that this version does not know are
// kept and written back in place; an unknown schema version is refused. Bytes from
// outside are walked by a bounded checker (Walk) before any decoder sees them;
// DecodeEvent and DecodeVerdict do so themselves. The encoder and decoder of the
// known fields are written by hand, because they are on the path of every call;
// values of unknown shape are read by the MessagePack library (DecodeRaw), and
// tests hold every byte against it.
//
// Arguments and results travel as canonical JSON text (RFC 8785 member order and
// string escapes; numbers keep their exact decimal value; see Canonical) inside the
// envelope, so that a reader of the envelope pays nothing for them and a digest
// over them is a digest over what is executed.
//
// # JSON
//
// MarshalJSON writes the full form, which JSONSchema describes; ParseEventJSON reads
// it and a short form for people and tests.
//
// Everything here is a pure function of its arguments. Records may be read by
// several goroutines as long as none modifies them.
package schema

// Version is the schema version written by this package, and the only one it reads.
const Version = 1
