package corpus

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
)

// windowPerWorker is how many files per worker may be read ahead of the consumer:
// enough that a slow file does not idle the other workers, and few enough that
// memory stays at a handful of files per core.
const windowPerWorker = 8

// Map applies f to every file of src on up to workers goroutines (0: one per core)
// and yields the results in the order of src, so that the number of workers never
// shows in the output. An error of src is yielded last, with the zero T; an error
// of f is yielded in its place and does not end the sequence. f must be safe for
// concurrent use. When the consumer stops or ctx ends, Map returns after all its
// goroutines have; a cancelled ctx yields its error last.
func Map[T any](ctx context.Context, src iter.Seq2[File, error], workers int, f func(File) (T, error)) iter.Seq2[T, error] {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()

		jobs := make(chan *job[T])
		queue := make(chan *job[T], workers*windowPerWorker)
		running.Go(func() { feed(ctx, src, jobs, queue) })
		for range workers {
			running.Go(func() {
				for j := range jobs {
					j.out, j.err = f(j.file)
					close(j.done)
				}
			})
		}
		var last error
		for j := range queue {
			<-j.done
			last = j.err
			if !yield(j.out, j.err) {
				return
			}
		}
		if err := ctx.Err(); err != nil && !errors.Is(last, err) {
			var none T
			yield(none, err)
		}
	}
}

// job is one file on its way through a worker; out and err are set before done closes.
type job[T any] struct {
	file File
	done chan struct{}
	out  T
	err  error
}

// feed hands each file to the consumer's queue first and then to a worker, and
// closes both when src or ctx ends. A job in the queue is always completed.
func feed[T any](ctx context.Context, src iter.Seq2[File, error], jobs, queue chan *job[T]) {
	defer close(queue)
	defer close(jobs)
	for file, err := range src {
		j := &job[T]{file: file, done: make(chan struct{}), err: err}
		select {
		case queue <- j:
		case <-ctx.Done():
			return
		}
		if err != nil {
			close(j.done)
			return
		}
		jobs <- j // a worker is always receiving until jobs is closed
	}
}
