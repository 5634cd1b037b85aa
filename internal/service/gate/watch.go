package gate

import "sync"

// seen says what following the log found out about a record of this gate.
type seen struct {
	violated string // the record is an integrity violation; why
}

// watchTable tells requests when a record of theirs was folded. Safe for concurrent
// use.
type watchTable struct {
	mu struct {
		sync.Mutex
		byID map[string]chan seen
	}
}

func newWatchTable() *watchTable {
	t := &watchTable{}
	t.mu.byID = map[string]chan seen{}
	return t
}

// add registers a record that is about to be appended.
func (t *watchTable) add(id string) <-chan seen {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := make(chan seen, 1)
	t.mu.byID[id] = c
	return c
}

// take returns the channel to tell about a record, or nil, and forgets it.
func (t *watchTable) take(id string) chan<- seen {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.mu.byID[id]
	delete(t.mu.byID, id)
	return c
}
