package gate

import (
	"sync"
	"time"
)

// quota bounds what one principal has in flight. Safe for concurrent use.
type quota struct {
	limit int
	mu    struct {
		sync.Mutex
		open map[Principal]int
	}
}

func newQuota(limit int) *quota {
	q := &quota{limit: limit}
	q.mu.open = map[Principal]int{}
	return q
}

func (q *quota) take(p Principal) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.open[p] >= q.limit {
		return false
	}
	q.mu.open[p]++
	return true
}

func (q *quota) give(p Principal) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.open[p]--; q.mu.open[p] <= 0 {
		delete(q.mu.open, p)
	}
}

// rate bounds how often each principal does something: burst times at once, and once
// per interval in the long run. Safe for concurrent use. It holds one entry for each
// principal that did it within the last burst intervals.
type rate struct {
	burst int
	every time.Duration
	mu    struct {
		sync.Mutex
		spent map[Principal]time.Time // the time at which nothing is spent any more
	}
}

func newRate(burst int, every time.Duration) *rate {
	r := &rate{burst: burst, every: every}
	r.mu.spent = map[Principal]time.Time{}
	return r
}

// take reports whether p may do it now, and takes note of it if so.
func (r *rate) take(p Principal, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	free := r.mu.spent[p]
	if free.Before(now) {
		free = now
	}
	if free.Sub(now) > time.Duration(r.burst-1)*r.every {
		return false
	}
	r.mu.spent[p] = free.Add(r.every)
	return true
}
