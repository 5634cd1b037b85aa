package protocol

import "time"

// Rules are the constants of a log generation. Every role of a deployment must use
// the same ones; changing them needs a new generation of the log.
type Rules struct {
	// MaxSkew is how far, in ns, a claimed time may lie ahead of the last tick before
	// it is clamped and its trace is degraded (rule 4).
	MaxSkew int64
	// QueueLimit is the number of calls that may wait behind the open attempt of one
	// trace; a call beyond it is refused `busy` (rule 5).
	QueueLimit int
	// ResultTTL is how long, in ns of log time, a permitted call may go without a
	// result before its outcome is unknown (rule 15).
	ResultTTL int64
	// CallMemory is the number of finished calls per trace whose ids are remembered,
	// so that a repeated id is recognised (rule 17).
	CallMemory int
	// EndedTTL and IdleTTL are the log time in ns after which an ended or an idle
	// trace without unfinished calls is evicted (rule 21).
	EndedTTL, IdleTTL int64
	// MaxTraces bounds the traces kept per partition; beyond it the longest idle ones
	// without unfinished calls are evicted at the next tick (rule 21).
	MaxTraces int
	// Incarnations is the number of incarnations remembered per producer (rule 3).
	Incarnations int
	// MissingLimit is the number of missing sequence numbers remembered per producer
	// incarnation, so that a record that arrives late is told from a duplicate.
	MissingLimit int
}

// DefaultRules returns the rules of a new log generation. The numbers: two seconds
// of skew is twice the tick; 64 queued calls is far above the parallel calls a model
// issues in one turn; ten minutes outlast the client time-outs of common harnesses;
// 1,024 ids bound a trace to about 100 KB at rest; a week outlasts the windows of ordinary policies.
func DefaultRules() Rules {
	return Rules{
		MaxSkew:      int64(2 * time.Second),
		QueueLimit:   64,
		ResultTTL:    int64(10 * time.Minute),
		CallMemory:   1024,
		EndedTTL:     int64(10 * time.Minute),
		IdleTTL:      int64(7 * 24 * time.Hour),
		MaxTraces:    100_000,
		Incarnations: 8,
		MissingLimit: 64,
	}
}
