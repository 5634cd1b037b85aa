package monpoly

import (
	"fmt"
	"slices"
	"sync"
)

// pool holds the processes of an engine. A process that is in use belongs to its
// user; the others are idle. It is safe for concurrent use.
type pool struct {
	limit int

	mu struct {
		sync.Mutex
		idle    []*process // least recently used first
		running int        // idle ones and those in use
		closed  bool
	}
}

// take hands out the idle process that rank puts highest, the most recently used of
// equals, or nil when rank accepts none.
func (p *pool) take(rank func(*process) (int, bool)) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	best, at := 0, -1
	for i, c := range p.mu.idle {
		if r, ok := rank(c); ok && (at < 0 || r >= best) {
			best, at = r, i
		}
	}
	if at < 0 {
		return nil
	}
	c := p.mu.idle[at]
	p.mu.idle = slices.Delete(p.mu.idle, at, at+1)
	return c
}

// admit makes room for one more process, which the caller starts. It fails when all
// are in use.
func (p *pool) admit() error {
	p.mu.Lock()
	if p.mu.closed {
		p.mu.Unlock()
		return fmt.Errorf("%w: the engine was closed", ErrProcess)
	}
	if p.mu.running < p.limit {
		p.mu.running++
		p.mu.Unlock()
		return nil
	}
	if len(p.mu.idle) == 0 {
		p.mu.Unlock()
		return fmt.Errorf("%w: all %d are in use; allow more", ErrProcess, p.limit)
	}
	oldest := p.mu.idle[0]
	p.mu.idle = slices.Delete(p.mu.idle, 0, 1)
	p.mu.Unlock()
	oldest.stop() // its place is the new one's
	return nil
}

// put gives a process back.
func (p *pool) put(c *process) {
	p.mu.Lock()
	closed := p.mu.closed
	if closed {
		p.mu.running--
	} else {
		p.mu.idle = append(p.mu.idle, c)
	}
	p.mu.Unlock()
	if closed {
		c.stop()
	}
}

// gone notes that a process that was in use has been stopped.
func (p *pool) gone() {
	p.mu.Lock()
	p.mu.running--
	p.mu.Unlock()
}

// close stops the idle processes and admits no more.
func (p *pool) close() {
	p.mu.Lock()
	idle := p.mu.idle
	p.mu.idle, p.mu.closed = nil, true
	p.mu.running -= len(idle)
	p.mu.Unlock()
	for _, c := range idle {
		c.stop()
	}
}
