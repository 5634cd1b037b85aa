package schema

// The codes of MessagePack, named as in its specification. They are constants of
// our own because the library's are variables; a test compares the two.
const (
	codeFixMap   = 0x80 // … 0x8f, count in the low 4 bits
	codeFixArray = 0x90 // … 0x9f
	codeFixStr   = 0xa0 // … 0xbf, length in the low 5 bits
	codeNil      = 0xc0
	codeUnused   = 0xc1
	codeFalse    = 0xc2
	codeTrue     = 0xc3
	codeBin8     = 0xc4
	codeBin16    = 0xc5
	codeBin32    = 0xc6
	codeExt8     = 0xc7
	codeExt32    = 0xc9
	codeFloat32  = 0xca
	codeFloat64  = 0xcb
	codeUint8    = 0xcc
	codeUint16   = 0xcd
	codeUint32   = 0xce
	codeUint64   = 0xcf
	codeInt8     = 0xd0
	codeInt16    = 0xd1
	codeInt32    = 0xd2
	codeInt64    = 0xd3
	codeFixExt1  = 0xd4
	codeFixExt16 = 0xd8
	codeStr8     = 0xd9
	codeStr16    = 0xda
	codeStr32    = 0xdb
	codeArray16  = 0xdc
	codeArray32  = 0xdd
	codeMap16    = 0xde
	codeMap32    = 0xdf
	codeNegFix   = 0xe0 // … 0xff: -32 … -1
)

// isStr reports whether c starts a string.
func isStr(c byte) bool { return c&0xe0 == codeFixStr || c-codeStr8 <= 2 }

// isBin reports whether c starts a byte string.
func isBin(c byte) bool { return c-codeBin8 <= 2 }

// isMap reports whether c starts a map.
func isMap(c byte) bool { return c&0xf0 == codeFixMap || c-codeMap16 <= 1 }

// isArray reports whether c starts an array.
func isArray(c byte) bool { return c&0xf0 == codeFixArray || c-codeArray16 <= 1 }
