//nolint:thelper // benchmarks with a parameter are no helpers
package natsbus_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/aspis-rv/aspis/internal/bus"
	"github.com/aspis-rv/aspis/internal/bus/natsbus"
)

// payload is the size of a call of ordinary size on the wire.
const payload = 400

// latency collects durations; the first tenth of a run is warm-up.
type latency struct {
	name string
	skip int
	mu   sync.Mutex
	h    *hdrhistogram.Histogram
}

func newLatency(b *testing.B, name string) *latency {
	return &latency{name: name, skip: b.N / 10, h: hdrhistogram.New(100, int64(10*time.Second), 3)}
}

func (l *latency) add(i int, d time.Duration) {
	if i >= l.skip {
		l.mu.Lock()
		_ = l.h.RecordValue(int64(d))
		l.mu.Unlock()
	}
}

func (l *latency) report(b *testing.B) {
	b.ReportMetric(float64(l.h.ValueAtQuantile(50))/1e3, l.name+"-p50-µs")
	b.ReportMetric(float64(l.h.ValueAtQuantile(99))/1e3, l.name+"-p99-µs")
}

// eachTransport runs a benchmark in process and over TCP.
func eachTransport(b *testing.B, run func(b *testing.B, c *natsbus.Bus)) {
	for name, tcp := range map[string]bool{"inprocess": false, "tcp": true} {
		b.Run(name, func(b *testing.B) {
			run(b, newBroker(b, tcp).connect(b, natsbus.Config{}))
		})
	}
}

func BenchmarkPublishAck(b *testing.B) {
	eachTransport(b, func(b *testing.B, c *natsbus.Bus) {
		l := newLatency(b, "ack")
		m := bus.Message{Class: bus.Ordinary, Data: make([]byte, payload)}
		b.ReportAllocs()
		for i := range b.N {
			m.Partition = uint32(i % 64)
			begin := time.Now()
			if _, err := c.Publish(b.Context(), m); err != nil {
				b.Fatal(err)
			}
			l.add(i, time.Since(begin))
		}
		l.report(b)
	})
}

func BenchmarkCreate(b *testing.B) {
	eachTransport(b, func(b *testing.B, c *natsbus.Bus) {
		l := newLatency(b, "create")
		m := bus.Message{Class: bus.Reserved, Data: make([]byte, payload)}
		b.ReportAllocs()
		for i := range b.N {
			m.Partition = uint32(i % 64)
			begin := time.Now()
			if _, err := c.Create(b.Context(), fmt.Sprint(i), m); err != nil {
				b.Fatal(err)
			}
			l.add(i, time.Since(begin))
		}
		l.report(b)
	})
}

// BenchmarkPublishParallel has 64 callers that each wait for their acknowledgement.
func BenchmarkPublishParallel(b *testing.B) {
	eachTransport(b, func(b *testing.B, c *natsbus.Bus) {
		b.SetParallelism(32)
		b.RunParallel(func(pb *testing.PB) {
			m := bus.Message{Class: bus.Reserved, Data: make([]byte, payload)}
			for i := uint32(0); pb.Next(); i++ {
				m.Partition = i % 64
				if _, err := c.Publish(b.Context(), m); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}

// BenchmarkTail measures from before Publish to the return of Next, for one reader per
// partition and for three roles that read all 64 partitions.
func BenchmarkTail(b *testing.B) {
	for _, roles := range []int{1, 3} {
		for _, shared := range []bool{true, false} {
			b.Run(fmt.Sprintf("roles=%d/shared=%v", roles, shared), func(b *testing.B) {
				eachTransport(b, func(b *testing.B, c *natsbus.Bus) { benchTail(b, c, roles, shared) })
			})
		}
	}
}

// benchTail reads with roles cursors per partition, on the publisher's connection
// (shared) or one per role, and waits for all readers before the next record.
func benchTail(b *testing.B, c *natsbus.Bus, roles int, shared bool) {
	l, ack := newLatency(b, "tail"), newLatency(b, "ack")
	got := make(chan struct{}, roles)
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	for range roles {
		from := c
		if !shared {
			from = natsbus.Again(b.Context(), c)
			defer func() { _ = from.Close() }()
		}
		for p := range c.Partitions() {
			cur, err := from.Read(ctx, bus.Events, p, bus.Start{Kind: bus.Latest})
			if err != nil {
				b.Fatal(err)
			}
			wg.Go(func() {
				defer func() { _ = cur.Close() }()
				for {
					r, err := cur.Next(ctx)
					if err != nil {
						return
					}
					at := int64(binary.LittleEndian.Uint64(r.Data))
					l.add(int(binary.LittleEndian.Uint64(r.Data[8:])), time.Duration(time.Now().UnixNano()-at))
					got <- struct{}{}
				}
			})
		}
	}
	time.Sleep(200 * time.Millisecond) // all have joined
	b.ResetTimer()
	m := bus.Message{Class: bus.Reserved, Data: make([]byte, payload)}
	for i := range b.N {
		m.Partition = uint32(i*7) % 64
		begin := time.Now()
		binary.LittleEndian.PutUint64(m.Data, uint64(begin.UnixNano()))
		binary.LittleEndian.PutUint64(m.Data[8:], uint64(i))
		if _, err := c.Publish(ctx, m); err != nil {
			b.Fatal(err)
		}
		ack.add(i, time.Since(begin))
		for range roles {
			<-got
		}
	}
	b.StopTimer()
	cancel()
	wg.Wait()
	l.report(b)
	ack.report(b)
}

// BenchmarkReplay reads one partition from its beginning, among records of others.
func BenchmarkReplay(b *testing.B) {
	eachTransport(b, func(b *testing.B, c *natsbus.Bus) {
		m := bus.Message{Class: bus.Reserved, Data: make([]byte, payload)}
		for i := range 4 * b.N {
			m.Partition = uint32(i % 4)
			if err := c.Emit(m); err != nil {
				b.Fatal(err)
			}
		}
		if err := c.Sync(b.Context()); err != nil {
			b.Fatal(err)
		}
		cur, err := c.Read(b.Context(), bus.Events, 0, bus.Start{})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = cur.Close() }()
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			if _, err := cur.Next(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSaturated emits to 64 partitions as fast as the server takes it, with three
// roles reading everything on a shared connection.
func BenchmarkSaturated(b *testing.B) {
	eachTransport(b, func(b *testing.B, c *natsbus.Bus) {
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		var wg sync.WaitGroup
		each := b.N / 64
		for range 3 {
			for p := range c.Partitions() {
				cur, err := c.Read(ctx, bus.Events, p, bus.Start{Kind: bus.Latest})
				if err != nil {
					b.Fatal(err)
				}
				wg.Go(func() {
					defer func() { _ = cur.Close() }()
					for range each {
						if _, err := cur.Next(ctx); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
		}
		time.Sleep(200 * time.Millisecond)
		b.ResetTimer()
		m := bus.Message{Class: bus.Reserved, Data: make([]byte, payload)}
		for i := range 64 * each {
			m.Partition = uint32(i % 64)
			if err := c.Emit(m); err != nil {
				b.Fatal(err)
			}
		}
		if err := c.Sync(ctx); err != nil {
			b.Fatal(err)
		}
		wg.Wait()
	})
}
