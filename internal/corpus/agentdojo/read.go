package agentdojo

import (
	"cmp"
	"container/heap"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/aspis-rv/aspis/internal/corpus"
)

// MaxSample is the number of runs Sample may be asked for. They are held in memory
// at about 20 KB each.
const MaxSample = 10_000

// ErrSample is returned by Sample when the corpus has fewer fitting runs than were
// asked for.
var ErrSample = errors.New("too few runs")

// Options say how a corpus is read. The zero value is the default.
type Options struct {
	// Workers is the number of files decoded at a time, 0 for one per core. It never
	// shows in the output.
	Workers int
	// Report, when not nil, collects the quirks of the runs. It is written while the
	// sequence is ranged over and may be read afterwards.
	Report *corpus.Report
}

// Map reads the runs below the given paths (folders, archives, single files; a
// folder may itself hold archives, of other corpora too), applies f to each on
// several goroutines, and yields the results in the order of the files. Runs are
// not held: when f keeps nothing of its run, memory does not grow with the corpus.
//
// The first error, of reading, decoding or f, ends the sequence. A run whose name
// was read before is passed over and counted as a quirk; f sees it all the same,
// and so must have no effect besides its result.
func Map[T any](ctx context.Context, paths []string, o Options, f func(*Run) (T, error)) iter.Seq2[T, error] {
	type result struct {
		id     string
		quirks corpus.Quirks
		value  T
	}
	decode := func(file corpus.File) (out result, err error) {
		data, err := file.Bytes()
		if err != nil {
			return out, err
		}
		run, err := Decode(file.Name, data)
		if err != nil {
			return out, fmt.Errorf("agentdojo: %w", err)
		}
		run.File = file.String()
		out.id, out.quirks = run.ID, run.Quirks
		out.value, err = f(run)
		return out, err
	}
	return func(yield func(T, error) bool) {
		seen := make(map[string]bool)
		report := o.Report
		if report == nil {
			report = new(corpus.Report)
		}
		for r, err := range corpus.Map(ctx, corpus.Files(ctx, paths, IsRunFile), o.Workers, decode) {
			switch {
			case err != nil:
				yield(r.value, err)
				return
			case seen[r.id]:
				report.Add(r.id, corpus.Quirks{QuirkDuplicate: 1})
				continue
			}
			seen[r.id] = true
			report.Add(r.id, r.quirks)
			if !yield(r.value, nil) {
				return
			}
		}
	}
}

// Runs yields the runs below the given paths, as Map does.
func Runs(ctx context.Context, paths []string, o Options) iter.Seq2[*Run, error] {
	return Map(ctx, paths, o, func(r *Run) (*Run, error) { return r, nil })
}

// Sample picks n of the runs that satisfy keep (nil: all) and returns them sorted
// by ID. The choice depends on the seed, the runs' ids and keep alone, not on the
// order of files, so it is the same for a folder and an archive; and the sample of
// n runs is part of the sample of n+1. It reads the whole corpus and holds n runs.
func Sample(ctx context.Context, paths []string, n int, seed uint64, keep func(*Run) bool) ([]*Run, error) {
	if n < 0 || n > MaxSample {
		return nil, fmt.Errorf("agentdojo: a sample of %d runs is out of range; ask for 0 to %d", n, MaxSample)
	}
	var best lottery
	for run, err := range Runs(ctx, paths, Options{}) {
		if err != nil {
			return nil, err
		}
		if n == 0 || (keep != nil && !keep(run)) {
			continue
		}
		best.offer(ticket{rank: rank(seed, run.ID), run: run}, n)
	}
	if len(best) < n {
		return nil, fmt.Errorf("agentdojo: %w: %d of the %d asked for; ask for fewer or give more of the corpus", ErrSample, len(best), n)
	}
	out := make([]*Run, 0, n)
	for _, t := range best {
		out = append(out, t.run)
	}
	slices.SortFunc(out, func(a, b *Run) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// rank is the lot a run draws.
func rank(seed uint64, id string) [sha256.Size]byte {
	buf := binary.BigEndian.AppendUint64(nil, seed)
	return sha256.Sum256(append(buf, id...))
}

// ticket is a run with its lot.
type ticket struct {
	rank [sha256.Size]byte
	run  *Run
}

// lottery is a heap of tickets with the largest rank on top.
type lottery []ticket

// offer keeps t if it is among the n smallest so far.
func (l *lottery) offer(t ticket, n int) {
	if len(*l) < n {
		heap.Push(l, t)
		return
	}
	if slices.Compare(t.rank[:], (*l)[0].rank[:]) < 0 {
		(*l)[0] = t
		heap.Fix(l, 0)
	}
}

// Len implements heap.Interface.
func (l lottery) Len() int { return len(l) }

// Less implements heap.Interface.
func (l lottery) Less(i, j int) bool { return slices.Compare(l[i].rank[:], l[j].rank[:]) > 0 }

// Swap implements heap.Interface.
func (l lottery) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

// Push implements heap.Interface.
func (l *lottery) Push(x any) { *l = append(*l, x.(ticket)) }

// Pop implements heap.Interface.
func (l *lottery) Pop() any {
	old := *l
	t := old[len(old)-1]
	*l = old[:len(old)-1]
	return t
}
