//nolint:thelper // the functions here are tests: a failure is reported at its own line
package bustest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/aspis-rv/aspis/internal/bus"
)

func orderTests() []test {
	return []test{
		{"order under concurrent publishers", nil, testOrder},
		{"partitions and topics are apart", nil, testApart},
		{"a repeated id is one record", []Capability{Duplicates}, testDuplicates},
		{"record size at the limit and one over", nil, testSize},
		{"arguments outside the bus", nil, testInvalid},
		{"everything fails after Close", nil, testClosed},
	}
}

// testOrder has writers that each wait for their acknowledgement: a later call has a
// later offset, and the log shows each writer's records in order.
func testOrder(t *testing.T, s *suite) {
	b := s.newBus(t)
	const writers, each, lanes = 8, 50, 2
	ctx := guard(t)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			last := map[uint32]uint64{}
			for i := range each {
				p := uint32(i % lanes)
				o, err := b.Publish(ctx, ordinary(p, "%d/%d", w, i))
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
				if prev, ok := last[p]; ok && o <= prev {
					t.Errorf("writer %d: offset %d after %d", w, o, prev)
				}
				last[p] = o
			}
		})
	}
	wg.Wait()
	total := 0
	for p := range uint32(lanes) {
		rs := all(t, b, bus.Events, p)
		total += len(rs)
		seen := map[int]int{}
		for _, r := range rs {
			var w, i int
			if _, err := fmt.Sscanf(string(r.Data), "%d/%d", &w, &i); err != nil {
				t.Fatalf("record %q: %v", r.Data, err)
			}
			if prev, ok := seen[w]; ok && i <= prev {
				t.Errorf("partition %d: record %d of writer %d stands after %d", p, i, w, prev)
			}
			seen[w] = i
			if r.Partition != p {
				t.Errorf("record of partition %d says %d", p, r.Partition)
			}
		}
	}
	if total != writers*each {
		t.Errorf("%d records were acknowledged, %d are in the log", writers*each, total)
	}
}

func testApart(t *testing.T, s *suite) {
	b := s.newBus(t)
	publish(t, b, ordinary(0, "e0"))
	publish(t, b, ordinary(1, "e1"))
	publish(t, b, bus.Message{Topic: bus.Verdicts, Partition: 0, Class: bus.Reserved, Data: []byte("v0")})
	for _, c := range []struct {
		topic bus.Topic
		p     uint32
		want  []string
	}{
		{bus.Events, 0, []string{"e0"}},
		{bus.Events, 1, []string{"e1"}},
		{bus.Events, 2, nil},
		{bus.Verdicts, 0, []string{"v0"}},
		{bus.Verdicts, 1, nil},
	} {
		if got := texts(all(t, b, c.topic, c.p)); !slices.Equal(got, c.want) {
			t.Errorf("%v partition %d holds %q, want %q", c.topic, c.p, got, c.want)
		}
	}
}

func testDuplicates(t *testing.T, s *suite) {
	b := s.newBus(t)
	m := ordinary(0, "once")
	m.ID = "an id with a\nline, a * and a >"
	first := publish(t, b, m)
	publish(t, b, ordinary(0, "between"))
	if again := publish(t, b, m); again != first {
		t.Errorf("the repeated record got offset %d, the first was %d", again, first)
	}
	if err := b.Emit(m); err != nil {
		t.Fatal(err)
	}
	if err := b.Sync(guard(t)); err != nil {
		t.Fatal(err)
	}
	// The ids of partitions are apart, and so are ids that differ in a line break only.
	other := m
	other.Partition = 1
	publish(t, b, other)
	m.ID = "an id with a line, a * and a >"
	publish(t, b, m)
	if got := texts(all(t, b, bus.Events, 0)); !slices.Equal(got, []string{"once", "between", "once"}) {
		t.Errorf("the log holds %q", got)
	}
	if got := texts(all(t, b, bus.Events, 1)); !slices.Equal(got, []string{"once"}) {
		t.Errorf("partition 1 holds %q", got)
	}
}

func testSize(t *testing.T, s *suite) {
	b := s.newBus(t)
	m := bus.Message{Topic: bus.Events, Class: bus.Reserved, Data: bytes.Repeat([]byte{7}, bus.MaxRecordBytes)}
	publish(t, b, m)
	if _, err := b.Create(guard(t), "big", m); err != nil && s.Lacks[CreateOnce] == "" {
		t.Errorf("Create at the limit: %v", err)
	}
	m.Data = append(m.Data, 7)
	if _, err := b.Publish(guard(t), m); !errors.Is(err, bus.ErrTooLarge) {
		t.Errorf("Publish over the limit: %v", err)
	}
	if err := b.Emit(m); !errors.Is(err, bus.ErrTooLarge) {
		t.Errorf("Emit over the limit: %v", err)
	}
	empty := ordinary(0, "")
	publish(t, b, empty)
	rs := all(t, b, bus.Events, 0)
	if len(rs[0].Data) != bus.MaxRecordBytes || len(rs[len(rs)-1].Data) != 0 {
		t.Errorf("sizes read: first %d, last %d", len(rs[0].Data), len(rs[len(rs)-1].Data))
	}
}

func testInvalid(t *testing.T, s *suite) {
	b := s.newBus(t)
	ctx, n := guard(t), b.Partitions()
	if n < 4 {
		t.Fatalf("the suite needs 4 partitions, the bus has %d", n)
	}
	good := ordinary(n-1, "x")
	if _, err := b.Publish(ctx, good); err != nil {
		t.Errorf("the last partition: %v", err)
	}
	over, class, topic := ordinary(n, "x"), good, good
	class.Class, topic.Topic = 9, 9
	_, e1 := b.Publish(ctx, over)
	_, e2 := b.Publish(ctx, class)
	_, e3 := b.Create(ctx, "k", topic)
	_, e4 := b.Create(ctx, "", good)
	e5 := b.Emit(over)
	_, e6 := b.Read(ctx, bus.Events, n, bus.Start{})
	_, e7 := b.Read(ctx, bus.Events, 0, bus.Start{Kind: 9})
	_, _, e8 := b.Bounds(ctx, 9, 0)
	_, e9 := b.Usage(ctx, 9)
	_, e10 := b.PutSnapshot(ctx, "", 0, nil)
	for i, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8, e9, e10} {
		if !errors.Is(err, bus.ErrInvalid) {
			t.Errorf("case %d: %v, want ErrInvalid", i+1, err)
		}
	}
}

func testClosed(t *testing.T, s *suite) {
	b := s.newBus(t)
	ctx := guard(t)
	c := open(t, b, bus.Events, 0, bus.Start{})
	p := b.NewPublisher()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	_, e1 := b.Publish(ctx, ordinary(0, "x"))
	_, e2 := b.Create(ctx, "k", ordinary(0, "x"))
	e3 := b.Emit(ordinary(0, "x"))
	e4 := b.Sync(ctx)
	_, e5 := b.Read(ctx, bus.Events, 0, bus.Start{})
	_, _, e6 := b.Bounds(ctx, bus.Events, 0)
	_, e7 := b.Usage(ctx, bus.Events)
	_, e8 := b.PutSnapshot(ctx, "k", 0, nil)
	_, _, e9 := b.GetSnapshot(ctx, "k")
	_, e10 := c.Next(ctx)
	_, e11 := p.Publish(ctx, ordinary(0, "x"))
	for i, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11} {
		if !errors.Is(err, bus.ErrClosed) {
			t.Errorf("case %d: %v, want ErrClosed", i+1, err)
		}
	}
}
