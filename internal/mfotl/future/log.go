package future

import (
	"strings"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// log is what a Run keeps of the time points read: the time stamps that some operator
// or stage still needs, and the facts for the stages that lag behind.
type log struct {
	times series[int64]
	facts series[[]schema.Fact]
	last  int64 // the newest time stamp, once there is one
	ended bool  // nothing follows
}

// age is the time from time point i to j, which is not before it.
func (l *log) age(j, i uint64) uint64 { return uint64(*l.times.at(j)) - uint64(*l.times.at(i)) }

// end is the number of time points read.
func (l *log) end() uint64 { return l.times.end() }

// add appends a time point. A time stamp before that of the last one counts as that.
// Facts of the relations in keep are copied, strings included, and their number is
// returned.
func (l *log) add(ts int64, facts []schema.Fact, keep map[string]string) int {
	if l.end() > 0 {
		ts = max(ts, l.last)
	}
	l.last = ts
	l.times.push(ts)
	if keep == nil {
		return 0
	}
	kept := copiedFacts(facts, keep)
	l.facts.push(kept)
	return len(kept)
}

// copiedFacts copies the facts of some relations into memory of their own: three blocks,
// whatever their number.
func copiedFacts(facts []schema.Fact, keep map[string]string) []schema.Fact {
	n, values, bytes := 0, 0, 0
	for i := range facts {
		if _, ok := keep[facts[i].Name]; !ok {
			continue
		}
		n++
		values += len(facts[i].Args)
		for _, v := range facts[i].Args {
			bytes += len(v.Str)
		}
	}
	if n == 0 {
		return nil
	}
	var text strings.Builder
	text.Grow(bytes)
	out := make([]schema.Fact, 0, n)
	args := make([]schema.Value, 0, values)
	for i := range facts {
		name, ok := keep[facts[i].Name]
		if !ok {
			continue
		}
		at := len(args)
		for _, v := range facts[i].Args {
			start := text.Len()
			text.WriteString(v.Str)
			v.Str = text.String()[start:]
			args = append(args, v)
		}
		out = append(out, schema.Fact{Name: name, Args: args[at:len(args):len(args)], Strength: facts[i].Strength})
	}
	return out
}
