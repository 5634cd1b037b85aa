package schema

// The limits of a record. Each is refused at one more, never cut short.
const (
	// MaxRecord is the size of an encoded record in bytes. Brokers carry 1 MiB per
	// message by default; the rest is room for subject, headers and a signature.
	MaxRecord = 900 << 10
	// MaxDepth is how deep maps and arrays of a wire record may nest. The deepest
	// record of this version nests 6 (verdict, parts, part, rows, row, values); the
	// rest is room for unknown fields of later versions, and a recursive reader of
	// that depth stays within a few kilobytes of stack.
	MaxDepth = 32

	// MaxParts bounds the parts of a verdict or resolution: one per formula of an
	// aspect, and a bundle has tens of them. An empty part is one byte on the wire and
	// over a hundred in memory, which the size of the record alone would not bound well.
	MaxParts = 4096

	// MaxJSON is the size of one JSON text given to Canonical, in bytes, before and
	// after: arguments and a result must fit into a record beside the envelope, and
	// the longest recorded tool results seen are a tenth of this.
	MaxJSON = 512 << 10
	// MaxJSONDepth is how deep such a text may nest. Tool schemas nest below 10;
	// 64 keeps readers on the other side, which often recurse, out of trouble.
	MaxJSONDepth = 64
	// MaxNumberDigits bounds the significant digits of a JSON number. The exact
	// decimal expansion of a double has at most 767.
	MaxNumberDigits = 800
	// MaxNumberExponent bounds the magnitude of a JSON number's decimal exponent in
	// scientific notation; 128-bit binary floats end at 4932.
	MaxNumberExponent = 9999

	// MaxLine is the size of one event in JSON, in bytes: a record at its limit with
	// every byte escaped would be more, but text never is.
	MaxLine = 2 << 20

	// MaxID bounds identifiers and names, in bytes: ids, tenant, trace, principal,
	// tool, server, session. A URL used as a server name fits.
	MaxID = 512
	// MaxField bounds a free field: an element of action, object and recipient, a
	// label, a source, the texts of a resolution.
	MaxField = 8 << 10
	// MaxState bounds state_before and state_after: a digest or a small object.
	MaxState = 64 << 10
	// MaxText bounds the text of a message, in bytes.
	MaxText = 512 << 10
	// MaxList bounds the number of elements of a list or map field of an event.
	MaxList = 1024
	// MaxTimeout is the longest time in ns between a call's claimed time and its
	// deadline: a call that waits for a human is proposed again after a day.
	MaxTimeout = 24 * 60 * 60 * 1_000_000_000
)

// DigestSize is the size of every digest in a record: SHA-256.
const DigestSize = 32

// SignatureSize is the size of an Ed25519 signature.
const SignatureSize = 64
