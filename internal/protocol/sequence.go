package protocol

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/aspis-rv/aspis/pkg/schema"
	"github.com/aspis-rv/aspis/pkg/verdict"
)

// incarnation is what has been seen of one incarnation of a producer.
type incarnation struct {
	number  uint64
	last    uint64
	missing []uint64 // ascending
	heard   int64    // log time of its last record
}

// admit applies rules 3 and 11 to a record that has come: it is in sequence, and of a
// kind that its writer may write.
func (p *Partition) admit(offset uint64, ev *schema.Event) bool {
	if !p.inSequence(offset, ev) {
		return false
	}
	if foreign(ev) {
		p.void(offset, ev, "a producer may not write it")
		return false
	}
	return true
}

// foreign reports whether a producer, that is, a gate or an ingest, wrote what only a
// composer may: composers number nothing. Gates write expiries and withdrawals.
func foreign(ev *schema.Event) bool {
	if ev.Producer == "" && ev.Seq == 0 {
		return false
	}
	switch ev.Kind {
	case schema.KindTick, schema.KindPolicy:
		return true
	case schema.KindResolution:
		return ev.Resolution.Outcome != schema.SettledExpired
	case schema.KindCall, schema.KindResult, schema.KindMessage, schema.KindGrant, schema.KindObservation,
		schema.KindSession, schema.KindWithdrawn:
		return false
	}
	return false
}

// inSequence applies rule 3: duplicates are dropped by (producer, incarnation,
// sequence), a gap degrades the traces the producer writes to, and a record that
// fills a known gap is accepted, since nothing accepted is ever lost.
func (p *Partition) inSequence(offset uint64, ev *schema.Event) bool {
	if ev.Producer == "" || ev.Seq == 0 {
		return true
	}
	inc := p.incarnation(ev.Producer, ev.Incarnation)
	if inc != nil {
		inc.heard = p.tick.Time
	}
	switch {
	case inc == nil:
		p.degradeProducer(ev)
		p.void(offset, ev, "its incarnation is older than those remembered")
		return false
	case ev.Seq == inc.last+1, inc.last == 0 && !p.genesis:
		inc.last = ev.Seq // the log before the first retained record is not a gap
		return true
	case ev.Seq > inc.last:
		p.noteGap(inc, ev.Seq)
		p.degradeProducer(ev)
		return true
	}
	if i, ok := slices.BinarySearch(inc.missing, ev.Seq); ok {
		inc.missing = slices.Delete(inc.missing, i, i+1)
		p.degradeProducer(ev)
		return true
	}
	p.void(offset, ev, "duplicate of a record already folded")
	return false
}

func (p *Partition) noteGap(inc *incarnation, seq uint64) {
	first := inc.last + 1
	if room := uint64(p.rules.MissingLimit); seq-first > room {
		first = seq - room
	}
	for s := first; s < seq; s++ {
		inc.missing = append(inc.missing, s)
	}
	if over := len(inc.missing) - p.rules.MissingLimit; over > 0 {
		inc.missing = slices.Delete(inc.missing, 0, over)
	}
	inc.last = seq
}

// incarnation returns the entry for a producer's incarnation, creating it. The
// lowest one is forgotten beyond the limit; nil is returned for one so low that it
// may have been. A record of it was in flight while the producer began that many new
// incarnations, that is, it was reported as not written.
func (p *Partition) incarnation(producer string, number uint64) *incarnation {
	list := p.producers[producer]
	i, ok := slices.BinarySearchFunc(list, number, func(e incarnation, n uint64) int {
		switch {
		case e.number < n:
			return -1
		case e.number > n:
			return 1
		}
		return 0
	})
	if ok {
		return &list[i]
	}
	if i == 0 && len(list) >= p.rules.Incarnations {
		return nil
	}
	list = slices.Insert(list, i, incarnation{number: number})
	if len(list) > p.rules.Incarnations {
		list = slices.Delete(list, 0, 1)
		i--
	}
	p.producers[producer] = list
	return &list[i]
}

// misses reports whether records of the producer of ev are missing: any trace that
// starts without saying so may have lost its first record with them.
func (p *Partition) misses(ev *schema.Event) bool {
	for _, inc := range p.producers[ev.Producer] {
		if inc.number == ev.Incarnation && len(inc.missing) > 0 {
			return true
		}
	}
	return false
}

// maxWriters bounds the producers remembered per trace. A session is written by the
// gate it was opened at and few others; a trace with more writers is degraded by a
// gap of any producer.
const maxWriters = 16

func (t *trace) wrote(producer string) {
	if producer == "" || len(t.writers) > maxWriters {
		return
	}
	if i, known := slices.BinarySearch(t.writers, producer); !known {
		t.writers = slices.Insert(t.writers, i, producer)
	}
}

func (t *trace) writtenBy(producer string) bool {
	_, known := slices.BinarySearch(t.writers, producer)
	return known || len(t.writers) > maxWriters
}

// degradeProducer marks the traces that the producer of ev has written to.
func (p *Partition) degradeProducer(ev *schema.Event) {
	for _, t := range p.traces {
		if t.writtenBy(ev.Producer) {
			t.weaken(verdict.Degraded, p.horizon(ev))
		}
	}
	if isTraced(ev.Kind) {
		t := p.trace(ev)
		t.weaken(verdict.Degraded, p.horizon(ev))
	}
}

func isTraced(k schema.Kind) bool {
	switch k {
	case schema.KindCall, schema.KindResult, schema.KindMessage, schema.KindGrant, schema.KindObservation, schema.KindSession:
		return true
	case schema.KindResolution, schema.KindTick, schema.KindPolicy, schema.KindWithdrawn:
		return false
	}
	return false
}

// maxMarks bounds the marks of a tick: 64 producers are more than write to one
// partition at a time, and make a tick of about 4 KB, far below the limits of a record.
const maxMarks = 64

// Marks returns the highest sequence number seen of the current incarnation of the
// producers heard last, by "producer/incarnation": what a tick carries as high-water
// marks. The cost is n log n in the producers remembered.
func (p *Partition) Marks() map[string]uint64 {
	if len(p.producers) == 0 {
		return nil
	}
	names := p.producersByAge()
	names = names[max(0, len(names)-maxMarks):]
	marks := make(map[string]uint64, len(names))
	for _, name := range names {
		if list := p.producers[name]; len(list) > 0 {
			inc := &list[len(list)-1]
			marks[name+"/"+strconv.FormatUint(inc.number, 10)] = inc.last
		}
	}
	return marks
}

// maxProducers bounds the producers remembered. A role that is started anew may have
// a new name; a thousand of them are a restart every ten minutes for a week.
const maxProducers = 1024

// forgetProducers forgets the producers that were not heard for Rules.IdleTTL, and
// beyond maxProducers those heard longest ago. One that comes back is taken for a new
// one: unless it begins at 1, that is a gap, which degrades the traces it writes to.
func (p *Partition) forgetProducers() {
	names := p.producersByAge()
	for i, name := range names {
		if p.tick.Time-p.heard(name) <= p.rules.IdleTTL && len(names)-i <= maxProducers {
			return
		}
		delete(p.producers, name)
	}
}

// heard is the log time of the last record of a producer.
func (p *Partition) heard(name string) int64 {
	at := p.producers[name][0].heard
	for _, inc := range p.producers[name] {
		at = max(at, inc.heard)
	}
	return at
}

// producersByAge lists the producers, those heard longest ago first.
func (p *Partition) producersByAge() []string {
	names := slices.Collect(maps.Keys(p.producers))
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(p.heard(a), p.heard(b)), cmp.Compare(a, b))
	})
	return names
}
