// Package obs holds the attribute keys of log lines and the discard logger. Log
// messages are constants; everything that varies is an attribute under one of these
// keys.
package obs

import (
	"log/slog"
)

// Attribute constructors, one per key.
func Err(err error) slog.Attr      { return slog.Any("error", err) }
func Partition(p uint32) slog.Attr { return slog.Uint64("partition", uint64(p)) }
func Offset(o uint64) slog.Attr    { return slog.Uint64("offset", o) }
func Aspect(a string) slog.Attr    { return slog.String("aspect", a) }
func Policy(name string) slog.Attr { return slog.String("policy", name) }
func Digest(d string) slog.Attr    { return slog.String("digest", d) }
func Detail(d string) slog.Attr    { return slog.String("detail", d) }
func Address(a string) slog.Attr   { return slog.String("address", a) }
func Reason(r string) slog.Attr    { return slog.String("reason", r) }
func Count(n int) slog.Attr        { return slog.Int("count", n) }

// Logger returns l, or a logger that discards when l is nil.
func Logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
