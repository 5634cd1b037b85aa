package monpoly

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/aspis-rv/aspis/internal/lang/check"
	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// chain is a digest of the time points that a trace, or a process, has seen.
type chain [sha256.Size]byte

// moment is a time point as processes are told it.
type moment struct {
	ts    int64         // ns
	facts []schema.Fact // those that some formula reads, sorted, each once
	chain chain         // of the history up to and including it
}

// never is the time of what did not happen; it lies beyond every reach.
const never = -1

// record is what a monitor keeps of the adopted time points: those to which its
// formulas reach back, oldest first.
//
// Invariants, held by adopt and restore:
//  1. Time stamps do not fall, and are within what the binary reads.
//  2. A moment lies within reach of the last one.
//  3. size counts the moments and their facts and is at most budget, unless one
//     moment alone is larger.
//  4. at[c] is the number of the moment that follows the history with chain c.
type record struct {
	signature check.Signature // the relations that formulas read
	reach     int64           // ns; math.MaxInt64: for ever
	budget    int

	moments []moment
	first   int   // number of moments[0] in the trace
	start   chain // of the history before moments[0]
	at      map[chain]int
	size    int
	// lost is the time stamp of the latest time point that is not told to processes as
	// it was: it fell to the budget, or it had a value that they would not read.
	lost int64
	// presumptive counts the kept facts that are, by relation.
	presumptive map[string]int
}

func newRecord(sig check.Signature, reach int64, budget int) record {
	return record{
		signature: sig, reach: reach, budget: budget, lost: never,
		at: map[chain]int{{}: 0}, presumptive: map[string]int{},
	}
}

// last is the time stamp of the latest time point; 0 if there is none.
func (r *record) last() int64 {
	if len(r.moments) == 0 {
		return 0
	}
	return r.moments[len(r.moments)-1].ts
}

// end is the chain of the whole history.
func (r *record) end() chain {
	if len(r.moments) == 0 {
		return r.start
	}
	return r.moments[len(r.moments)-1].chain
}

// next returns what the time point would be. With the error, ErrValue, comes the one
// that is nearest to it and can be told to processes.
func (r *record) next(ts int64, facts []schema.Fact) (moment, error) {
	var err error
	if ts > maxInt || ts < r.last() {
		err = fmt.Errorf("%w: the time stamp %d is below %d or above %d", ErrValue, ts, r.last(), int64(maxInt))
		ts = max(r.last(), min(ts, maxInt))
	}
	m := moment{ts: ts}
	for _, f := range facts {
		kinds, ok := r.signature[f.Name]
		if !ok {
			continue
		}
		if e := fits(f, kinds); e != nil {
			err = e
			continue
		}
		m.facts = append(m.facts, f)
	}
	slices.SortFunc(m.facts, compareFacts)
	// The definite one of two facts that are equal otherwise comes first.
	m.facts = slices.CompactFunc(m.facts, func(a, b schema.Fact) bool {
		return a.Name == b.Name && slices.Equal(a.Args, b.Args)
	})
	m.chain = follow(r.end(), &m)
	return m, err
}

// fits reports whether a fact can be told to processes.
func fits(f schema.Fact, kinds []schema.ValueKind) error {
	if len(f.Args) != len(kinds) {
		return fmt.Errorf("%w: a fact of %s has %d arguments", ErrValue, f.Name, len(f.Args))
	}
	for i, a := range f.Args {
		if a.Kind != kinds[i] {
			return fmt.Errorf("%w: argument %d of a fact of %s is of type %s", ErrValue, i+1, f.Name, a.Kind)
		}
		if _, err := encodeValue(a); err != nil {
			return fmt.Errorf("argument %d of a fact of %s: %w", i+1, f.Name, err)
		}
	}
	return nil
}

func compareFacts(a, b schema.Fact) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), compareRows(a.Args, b.Args), cmp.Compare(a.Strength, b.Strength))
}

// follow is the chain of a history that goes on with m.
func follow(c chain, m *moment) chain {
	return sha256.Sum256(appendMoment(c[:], m))
}

// adopt appends a time point. It is linear in its facts and in what goes out of reach.
func (r *record) adopt(ts int64, facts []schema.Fact) {
	m, err := r.next(ts, facts)
	r.append(m)
	if err != nil {
		r.lost = m.ts
	}
}

func (r *record) append(m moment) {
	r.moments = append(r.moments, m)
	r.count(&m, 1)
	r.at[m.chain] = r.first + len(r.moments)
	for len(r.moments) > 1 {
		oldest := &r.moments[0]
		if within := m.ts-oldest.ts <= r.reach; within && r.size <= r.budget {
			break
		} else if within {
			r.lost = max(r.lost, oldest.ts)
		}
		r.count(oldest, -1)
		delete(r.at, r.start)
		r.start = oldest.chain
		r.moments = r.moments[1:]
		r.first++
	}
}

func (r *record) count(m *moment, sign int) {
	r.size += sign * (1 + len(m.facts))
	for _, f := range m.facts {
		if f.Strength == verdict.Presumptive {
			r.presumptive[f.Name] += sign
		}
	}
}

// doubtful tells whether a question that reaches so far back from now reads presumptive
// facts. It is linear in the kept time points while there are such facts among them.
func (r *record) doubtful(q *question, now *moment, reach int64) bool {
	if now.doubtful(q) {
		return true
	}
	among := false
	for name := range q.relations {
		among = among || r.presumptive[name] > 0
	}
	for i := len(r.moments) - 1; among && i >= 0 && now.ts-r.moments[i].ts <= reach; i-- {
		if r.moments[i].doubtful(q) {
			return true
		}
	}
	return false
}

func (m *moment) doubtful(q *question) bool {
	return slices.ContainsFunc(m.facts, func(f schema.Fact) bool {
		_, reads := q.relations[f.Name]
		return reads && f.Strength == verdict.Presumptive
	})
}

// gap tells whether something within a reach before ts was lost.
func (r *record) gap(ts, reach int64) bool { return r.lost != never && ts-r.lost <= reach }
