package model

import "fmt"

// The log of the model. A record is one byte:
//
//	0x01              grant
//	0x02 + n          tick n
//	0x08 + c          result of call c
//	0x10 | c<<2 | w   call c, proposed by writer w
//	0x20 | c<<2 | w   expired, for call c
//	0x30 | c<<2 | w   withdrawn, of call c
//	0x80 | o<<2 | r   resolution of attempt number o with outcome r
//
// where a writer is gate<<1 | incarnation, and attempts are numbered in the order in
// which the log opens them.
type record = uint8

const (
	recGrant     record = 0x01
	recTick      record = 0x02
	recResult    record = 0x08
	recCall      record = 0x10
	recExpired   record = 0x20
	recWithdrawn record = 0x30
	recResolve   record = 0x80
)

// The two calls of the one trace. Call b may wait for call a.
const (
	callA = iota
	callB
	calls
)

// deadlines are in units of log time; a call is late at the first tick beyond.
func deadline(c uint8) uint8 { return c } // a: 0, b: 1

// lastTick is beyond every deadline.
const lastTick = 2

// outcome of a resolution.
const (
	permit uint8 = iota
	refuse
	hold
)

func isTick(r record) bool    { return r > recTick && r <= recTick+lastTick }
func isResult(r record) bool  { return r&0xfe == recResult }
func isResolve(r record) bool { return r&0x80 != 0 }

// kind is the class of a record that names a call and a writer.
func kind(r record) record { return r & 0xf0 }

// callOf is the call that a record names; not for resolutions.
func callOf(r record) uint8 {
	if isResult(r) {
		return r & 1
	}
	return r >> 2 & 1
}

func writerOf(r record) uint8 { return r & 3 }

func resolve(attempt, outcome uint8) record { return recResolve | attempt<<2 | outcome }

func attemptOf(r record) uint8 { return r >> 2 & 0x1f }

func outcomeOf(r record) uint8 { return r & 3 }

func by(kind record, c, gate, incarnation uint8) record { return kind | c<<2 | gate<<1 | incarnation }

func describe(r record) string {
	name := func(c uint8) string { return string(rune('a' + c)) }
	w := fmt.Sprintf("gate %d.%d", writerOf(r)>>1, writerOf(r)&1)
	switch {
	case isResolve(r):
		return fmt.Sprintf("%s attempt %d", [...]string{"permit", "refuse", "hold", "?"}[outcomeOf(r)], attemptOf(r))
	case r == recGrant:
		return "grant"
	case isTick(r):
		return fmt.Sprintf("tick %d", r-recTick)
	case isResult(r):
		return "result of " + name(callOf(r))
	case kind(r) == recCall:
		return "call " + name(callOf(r)) + " by " + w
	case kind(r) == recExpired:
		return "expired " + name(callOf(r)) + " by " + w
	case kind(r) == recWithdrawn:
		return "withdrawn " + name(callOf(r)) + " by " + w
	}
	return fmt.Sprintf("record %#x", r)
}
