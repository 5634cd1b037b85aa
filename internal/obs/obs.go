// Package obs holds the attribute keys of log lines and the discard logger. Log
// messages are constants; everything that varies is an attribute under one of these
// keys.
package obs

import (
	"log/slog"
)

// Err is the failure.
func Err(err error) slog.Attr { return slog.Any("error", err) }

// Partition is the partition concerned.
func Partition(p uint32) slog.Attr { return slog.Uint64("partition", uint64(p)) }

// Offset is the log offset concerned.
func Offset(o uint64) slog.Attr { return slog.Uint64("offset", o) }

// Aspect is the aspect concerned.
func Aspect(a string) slog.Attr { return slog.String("aspect", a) }

// Policy is the name of a bundle.
func Policy(name string) slog.Attr { return slog.String("policy", name) }

// Digest is a digest in hex.
func Digest(d string) slog.Attr { return slog.String("digest", d) }

// Detail is what was found, for operators.
func Detail(d string) slog.Attr { return slog.String("detail", d) }

// Address is a network address.
func Address(a string) slog.Attr { return slog.String("address", a) }

// Logger returns l, or a logger that discards when l is nil.
func Logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
