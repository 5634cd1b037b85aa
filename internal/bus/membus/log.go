package membus

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

// log is what all connections share. Lock order: a topic's lock and the snapshots'
// lock are never held together, and nothing waits while one is held.
type log struct {
	cfg      Config
	events   topic
	verdicts topic
	snaps    snapshots
}

func newLog(cfg Config) *log {
	if cfg.Partitions == 0 {
		cfg.Partitions = DefaultPartitions
	}
	if cfg.TopicBytes == 0 {
		cfg.TopicBytes = DefaultTopicBytes
	}
	if cfg.SnapshotBytes == 0 {
		cfg.SnapshotBytes = DefaultSnapshotBytes
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	l := &log{cfg: cfg}
	l.snaps.init()
	l.events.init(&l.cfg)
	l.verdicts.init(&l.cfg)
	return l
}

// topic returns the topic t, which the caller has checked.
func (l *log) topic(t bus.Topic) *topic {
	if t == bus.Verdicts {
		return &l.verdicts
	}
	return &l.events
}

// append writes m, whose lane the caller has checked, and copies its data.
func (l *log) append(key string, m bus.Message) (uint64, error) {
	return l.topic(m.Topic).append(key, m, l.cfg.Now())
}

// topic is one topic: its lanes and what they share, the capacity.
type topic struct {
	limit int64
	mu    struct {
		sync.Mutex
		used  int64
		lanes []lane
	}
}

// lane is one partition. The records are contiguous: records[i] has offset first+i.
type lane struct {
	base    uint64 // the offset the lane began with
	first   uint64 // the first retained offset
	records []entry
	last    time.Time           // append time of the last record ever
	keys    map[string]struct{} // of the retained created records
	ids     map[string]seen
	recent  []string      // ids in order of append, for forgetting
	wake    chan struct{} // closed at the next change; nil while nobody waits
}

// entry is a record with what it was written under.
type entry struct {
	at   time.Time
	data []byte
	key  string
	size int64
}

// seen is an ID that was written: where and when.
type seen struct {
	offset uint64
	at     time.Time
}

func (t *topic) init(cfg *Config) {
	t.limit = cfg.TopicBytes
	t.mu.lanes = make([]lane, cfg.Partitions)
	for i := range t.mu.lanes {
		ln := &t.mu.lanes[i]
		if !cfg.ZeroBased {
			ln.base = 1
		}
		ln.first = ln.base
		ln.keys = make(map[string]struct{})
		ln.ids = make(map[string]seen)
	}
}

func (ln *lane) next() uint64 { return ln.first + uint64(len(ln.records)) }

// forget drops the IDs that are older than the window.
func (ln *lane) forget(now time.Time) {
	n := 0
	for n < len(ln.recent) && now.Sub(ln.ids[ln.recent[n]].at) > dedupWindow {
		delete(ln.ids, ln.recent[n])
		n++
	}
	ln.recent = slices.Delete(ln.recent, 0, n)
}

// changed wakes everyone who waits for the lane.
func (ln *lane) changed() {
	if ln.wake != nil {
		close(ln.wake)
		ln.wake = nil
	}
}

func (t *topic) append(key string, m bus.Message, now time.Time) (uint64, error) {
	size := int64(len(m.Data)+len(m.ID)+len(key)) + recordOverhead
	t.mu.Lock()
	defer t.mu.Unlock()
	ln := &t.mu.lanes[m.Partition]
	if key != "" {
		if _, taken := ln.keys[key]; taken {
			return 0, fmt.Errorf("%w: in %v partition %d", bus.ErrExists, m.Topic, m.Partition)
		}
	}
	if now.Before(ln.last) {
		now = ln.last
	}
	ln.forget(now)
	if m.ID != "" {
		if s, ok := ln.ids[m.ID]; ok {
			return s.offset, nil
		}
	}
	if err := t.admitLocked(m, size); err != nil {
		return 0, err
	}
	offset := ln.next()
	ln.records = append(ln.records, entry{at: now, data: slices.Clone(m.Data), key: key, size: size})
	ln.last = now
	t.mu.used += size
	if key != "" {
		ln.keys[key] = struct{}{}
	}
	if m.ID != "" {
		ln.ids[m.ID] = seen{offset: offset, at: now}
		ln.recent = append(ln.recent, m.ID)
	}
	ln.changed()
	return offset, nil
}

// admitLocked says whether size more bytes of the class of m fit.
func (t *topic) admitLocked(m bus.Message, size int64) error {
	limit := t.limit
	if m.Class == bus.Ordinary {
		limit = int64(float64(limit) * bus.OrdinaryShare)
	}
	if t.mu.used+size > limit {
		return fmt.Errorf("%w: %v holds %d of %d bytes, no room for %d more of class %v",
			bus.ErrFull, m.Topic, t.mu.used, t.limit, size, m.Class)
	}
	return nil
}

func (t *topic) usage() float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return float64(t.mu.used) / float64(t.limit)
}

func (t *topic) trim(partition uint32, before uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ln := &t.mu.lanes[partition]
	before = min(before, ln.next())
	for ln.first < before {
		e := ln.records[0]
		t.mu.used -= e.size
		delete(ln.keys, e.key)
		ln.records[0] = entry{}
		ln.records = ln.records[1:]
		ln.first++
	}
	ln.changed()
}

func (t *topic) bounds(partition uint32) (first, next uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ln := &t.mu.lanes[partition]
	return ln.first, ln.next()
}

// position resolves a start to the offset of the first record to read.
func (t *topic) position(partition uint32, start bus.Start) (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ln := &t.mu.lanes[partition]
	switch start.Kind {
	case bus.Earliest:
		return ln.first, nil
	case bus.Latest:
		return ln.next(), nil
	case bus.AtOffset:
		offset := max(start.Offset, ln.base)
		if offset < ln.first {
			return 0, trimmed(offset, ln.first)
		}
		if offset > ln.next() {
			return 0, fmt.Errorf("%w: the log ends before offset %d, its next is %d", bus.ErrTrimmed, offset, ln.next())
		}
		return offset, nil
	case bus.AtTime:
		i := sort.Search(len(ln.records), func(i int) bool { return !ln.records[i].at.Before(start.Time) })
		return ln.first + uint64(i), nil
	}
	return 0, fmt.Errorf("%w: start kind %d", bus.ErrInvalid, start.Kind)
}

// read returns the record at offset, or a channel that is closed when the lane has
// changed.
func (t *topic) read(partition uint32, offset uint64) (bus.Record, <-chan struct{}, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ln := &t.mu.lanes[partition]
	if offset < ln.first {
		return bus.Record{}, nil, trimmed(offset, ln.first)
	}
	if offset >= ln.next() {
		if ln.wake == nil {
			ln.wake = make(chan struct{})
		}
		return bus.Record{}, ln.wake, nil
	}
	e := &ln.records[offset-ln.first]
	return bus.Record{Partition: partition, Offset: offset, Time: e.at, Data: e.data}, nil, nil
}

func trimmed(offset, first uint64) error {
	return fmt.Errorf("%w: offset %d, the first retained is %d", bus.ErrTrimmed, offset, first)
}
