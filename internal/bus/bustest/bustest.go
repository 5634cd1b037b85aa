// Package bustest is the conformance suite of bus drivers: one set of tests that every
// driver passes, with a list of what a driver lacks.
package bustest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aspis-rv/aspis/internal/bus"
)

// Capability names something a driver may lack. A capability that is lacking is
// named in the output of Run with the driver's reason; the tests that need it are not
// run.
type Capability string

// The capabilities.
const (
	// CreateOnce: Create fails for a key that exists.
	CreateOnce Capability = "create-once"
	// CompareAndSet: snapshots are written by compare-and-set.
	CompareAndSet Capability = "compare-and-set"
	// Duplicates: a repeated Message.ID is one record.
	Duplicates Capability = "duplicates"
	// Limits: topics have a capacity with a reserved part (needs NewSmall).
	Limits Capability = "limits"
	// Connections: several connections to one log (needs Connect).
	Connections Capability = "connections"
	// Durable: the log survives a restart of its broker (needs Reopen).
	Durable Capability = "durable"
	// Resume: an open bus survives a restart of its broker (needs Restart).
	Resume Capability = "resume"
	// Retention: old records are removed (needs Trim).
	Retention Capability = "retention"
)

// Features tells Run how to handle a driver. A hook may be nil only if the capability
// that needs it is in Lacks.
type Features struct {
	// Lacks names what the driver cannot do, and why.
	Lacks map[Capability]string
	// NewSmall returns an empty bus whose topics hold about the given bytes.
	NewSmall func(t *testing.T, bytes int64) bus.Bus
	// Connect returns another connection to the log of b.
	Connect func(t *testing.T, b bus.Bus) bus.Bus
	// Reopen stops the broker of b, which may be closed, starts it again on the same
	// storage and returns a new connection.
	Reopen func(t *testing.T, b bus.Bus) bus.Bus
	// Restart stops the broker of b and starts it again on the same storage, while b
	// stays open.
	Restart func(t *testing.T, b bus.Bus)
	// Trim removes the records of a partition below an offset. Records of other
	// partitions below it may go too.
	Trim func(t *testing.T, b bus.Bus, topic bus.Topic, partition uint32, before uint64)
}

// test is one test of the suite.
type test struct {
	name  string
	needs []Capability
	run   func(*testing.T, *suite)
}

// suite is what the tests share.
type suite struct {
	Features
	newBus func(*testing.T) bus.Bus
}

// Run runs the suite. newBus returns a connection to a new, empty log of at least four
// partitions and registers its cleanup; every test gets its own.
func Run(t *testing.T, newBus func(t *testing.T) bus.Bus, f Features) {
	t.Helper()
	checkHooks(t, f)
	s := &suite{Features: f, newBus: newBus}
	for _, list := range [][]test{orderTests(), cursorTests(), createTests(), emitTests(), limitTests(), snapshotTests(), brokerTests()} {
		for _, c := range list {
			var lacks []string
			for _, n := range c.needs {
				if why, ok := f.Lacks[n]; ok {
					lacks = append(lacks, fmt.Sprintf("%s (%s)", n, why))
				}
			}
			if len(lacks) > 0 {
				t.Logf("NOT TESTED %s: the driver lacks %s", c.name, strings.Join(lacks, ", "))
				continue
			}
			t.Run(c.name, func(t *testing.T) { c.run(t, s) })
		}
	}
}

// checkHooks fails when a hook is missing without a word.
func checkHooks(t *testing.T, f Features) {
	t.Helper()
	hooks := map[Capability]bool{
		Limits: f.NewSmall != nil, Connections: f.Connect != nil, Durable: f.Reopen != nil,
		Resume: f.Restart != nil, Retention: f.Trim != nil,
	}
	for c, present := range hooks {
		if _, lacks := f.Lacks[c]; lacks == present {
			t.Fatalf("capability %q: set its hook, or name it in Lacks with the reason, not both", c)
		}
	}
	known := append(slices.Collect(maps.Keys(hooks)), CreateOnce, CompareAndSet, Duplicates)
	for c, why := range f.Lacks {
		if !slices.Contains(known, c) || why == "" {
			t.Fatalf("Lacks names %q with reason %q: use a known capability and say why", c, why)
		}
	}
}

// patience is how long a test waits for what must happen. It is no measure: a driver
// that works is done long before.
const patience = 30 * time.Second

// guard returns a context that ends a hanging test.
func guard(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// ordinary returns an ordinary event for partition p.
func ordinary(p uint32, format string, args ...any) bus.Message {
	return bus.Message{Topic: bus.Events, Partition: p, Class: bus.Ordinary, Data: fmt.Appendf(nil, format, args...)}
}

// publish appends m or ends the test.
func publish(t *testing.T, b bus.Publisher, m bus.Message) uint64 {
	t.Helper()
	o, err := b.Publish(guard(t), m)
	if err != nil {
		t.Fatalf("Publish: %v", err)
	}
	return o
}

// open opens a cursor or ends the test; the cursor is closed at its end.
func open(t *testing.T, b bus.Bus, topic bus.Topic, p uint32, s bus.Start) bus.Cursor {
	t.Helper()
	c, err := b.Read(guard(t), topic, p, s)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close of a cursor: %v", err)
		}
	})
	return c
}

// next reads one record or ends the test.
func next(t *testing.T, c bus.Cursor) bus.Record {
	t.Helper()
	r, err := c.Next(guard(t))
	if err != nil {
		t.Fatalf("Next: %v", err)
	}
	return r
}

// all reads what a partition retains.
func all(t *testing.T, b bus.Bus, topic bus.Topic, p uint32) []bus.Record {
	t.Helper()
	first, end, err := b.Bounds(guard(t), topic, p)
	if err != nil {
		t.Fatalf("Bounds: %v", err)
	}
	var rs []bus.Record
	if first == end {
		return rs
	}
	c := open(t, b, topic, p, bus.Start{Kind: bus.Earliest})
	for {
		r := next(t, c)
		rs = append(rs, r)
		if r.Offset+1 >= end {
			break
		}
	}
	if rs[0].Offset != first || rs[len(rs)-1].Offset+1 != end {
		t.Fatalf("Bounds said [%d, %d), the records are [%d, %d)", first, end, rs[0].Offset, rs[len(rs)-1].Offset+1)
	}
	for i := 1; i < len(rs); i++ {
		if rs[i].Offset <= rs[i-1].Offset {
			t.Fatalf("offset %d follows %d", rs[i].Offset, rs[i-1].Offset)
		}
		if rs[i].Time.Before(rs[i-1].Time) {
			t.Fatalf("the time of offset %d is before that of %d", rs[i].Offset, rs[i-1].Offset)
		}
	}
	return rs
}

// texts returns the data of records.
func texts(rs []bus.Record) []string {
	ss := make([]string, len(rs))
	for i, r := range rs {
		ss[i] = string(r.Data)
	}
	return ss
}
