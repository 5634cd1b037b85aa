package gate

import "sync"

// quota bounds the calls in flight per principal. Safe for concurrent use.
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
