package protocol

import "github.com/aspis-rv/aspis/pkg/schema"

// Queued returns the number of records that wait behind the open attempt of a trace,
// calls among them, and the bytes that they hold, to within a few hundred per record.
//
// The fold refuses calls beyond Rules.QueueLimit, but never drops another record: a
// result that was in the log and not in the fold would be lost evidence. Whoever
// writes such records therefore asks here first and answers `busy` beyond a bound of
// its own. The queue then holds no more than that bound and what all writers had in
// flight when it was reached, and empties at the latest when the open call expires.
// The cost is linear in the queue.
func (p *Partition) Queued(id TraceID) (records, bytes int) {
	t := p.traces[id]
	if t == nil {
		return 0, 0
	}
	for i := range t.queue {
		bytes += weight(t.queue[i].event)
	}
	return len(t.queue), bytes
}

// weight is about what an event holds in memory: its payload, and the struct.
func weight(ev *schema.Event) int {
	n := 1024 + len(ev.Args.Canon) + len(ev.Result.Canon) + len(ev.Text)
	for k, v := range ev.Labels {
		n += len(k) + len(v)
	}
	for k, v := range ev.Unknown {
		n += len(k) + len(v)
	}
	return n
}
