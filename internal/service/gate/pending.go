package gate

import (
	"slices"
	"sync"
	"time"

	"github.com/aspis-rv/aspis/pkg/schema"
)

// pendingCall is a call that this gate proposed and has not done with.
type pendingCall struct {
	event *schema.Event // the proposed record
	born  time.Time
	done  chan struct{} // closed when answer is set
	// opened holds the ground of the latest attempt, so that a permit can be prepared
	// while the decision is pending. Only the lane sends.
	opened chan ground

	// Guarded by the table.
	answer    *Answer
	delivered bool   // somebody took the answer
	sealed    bool   // which permit the answer has is settled
	first     string // id of the record that this one repeats; see alias
	gaveUp    bool   // answered by the gate itself before a resolution stood
	expiring  bool   // an `expired` record was appended
}

// tellOpened replaces what was told of an earlier attempt.
func (p *pendingCall) tellOpened(g ground) {
	select {
	case <-p.opened:
	default:
	}
	p.opened <- g
}

// pendingTable holds the pending calls of one partition by record id and by the
// key under which a harness repeats them. Safe for concurrent use.
type pendingTable struct {
	limit int
	mu    struct {
		sync.Mutex
		byID  map[string]*pendingCall
		byKey map[pendingKey]*pendingCall
	}
}

type pendingKey struct{ session, call string }

func newPendingTable(limit int) *pendingTable {
	t := &pendingTable{limit: limit}
	t.mu.byID = map[string]*pendingCall{}
	t.mu.byKey = map[pendingKey]*pendingCall{}
	return t
}

// joinResult says what became of an attempt to register a call.
type joinResult uint8

const (
	joinNew    joinResult = iota // registered
	joinSame                     // the same call is pending: wait for its answer
	joinOther                    // its id is pending for another call
	joinIssued                   // the same call was answered already
	joinFull                     // too many calls are pending
)

// add registers ev, or finds the pending call that it repeats.
func (t *pendingTable) add(ev *schema.Event, now time.Time) (*pendingCall, joinResult) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := pendingKey{ev.SessionID, ev.CallID}
	if p := t.mu.byKey[key]; p != nil {
		switch {
		case !slices.Equal(p.event.Digest, ev.Digest):
			return nil, joinOther
		case p.delivered:
			return nil, joinIssued
		}
		return p, joinSame
	}
	if len(t.mu.byID) >= t.limit {
		return nil, joinFull
	}
	p := &pendingCall{event: ev, born: now, done: make(chan struct{}), opened: make(chan ground, 1)}
	t.mu.byID[ev.ID] = p
	t.mu.byKey[key] = p
	return p, joinNew
}

// get returns the pending call proposed as the record with this id, or nil.
func (t *pendingTable) get(id string) *pendingCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.byID[id]
}

// resolve sets the answer unless there is one. It reports whether the answer counts:
// false means that another one was given before, so that a permit has to be withdrawn.
func (t *pendingTable) resolve(p *pendingCall, a *Answer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.gaveUp {
		t.removeLocked(p)
		return false
	}
	if p.answer != nil {
		return false
	}
	p.answer = a
	close(p.done)
	return true
}

// seal settles which permit those who wait for p get, nil for none. It returns the
// permit of the first call, and whether this was it.
func (t *pendingTable) seal(p *pendingCall, permit *Permit) (sealed *Permit, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.sealed {
		return p.answer.Permit, false
	}
	p.sealed, p.answer.Permit = true, permit
	return permit, true
}

// giveUp answers without a resolution, unless one came. It returns a copy of the
// answer to give. The call stays in the table: a permit that still comes must be withdrawn.
func (t *pendingTable) giveUp(p *pendingCall, a *Answer) *Answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.answer != nil {
		t.deliverLocked(p)
		return p.answer.clone()
	}
	p.answer, p.gaveUp, p.delivered = a, true, true
	close(p.done)
	return a.clone()
}

// take returns a copy of the answer. All who waited for it get the same one, which
// holds one permit for one run; whoever asks afterwards is told that it was issued.
func (t *pendingTable) take(p *pendingCall) *Answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deliverLocked(p)
	return p.answer.clone()
}

func (t *pendingTable) deliverLocked(p *pendingCall) {
	if p.delivered {
		return // its key may belong to another call by now
	}
	p.delivered = true
	if !p.gaveUp {
		t.removeLocked(p)
	}
}

// drop forgets a call that never reached the log.
func (t *pendingTable) drop(p *pendingCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removeLocked(p)
}

func (t *pendingTable) removeLocked(p *pendingCall) {
	delete(t.mu.byID, p.event.ID)
	delete(t.mu.byID, p.first)
	delete(t.mu.byKey, pendingKey{p.event.SessionID, p.event.CallID})
}

// markExpiring reports whether the caller is the one to append an `expired` record.
func (t *pendingTable) markExpiring(p *pendingCall) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.answer != nil || p.expiring {
		return false
	}
	p.expiring = true
	return true
}

// sweep removes calls whose fate can no longer matter and returns those that were
// answered before limit without anybody taking the answer. A call without an answer
// then never came into the log, and the one who asked is gone: it is given up.
func (t *pendingTable) sweep(limit time.Time) []*pendingCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	var stale []*pendingCall
	for _, p := range t.mu.byID {
		if end := time.Unix(0, p.event.Deadline); end.Before(limit) {
			t.removeLocked(p)
			if p.answer == nil {
				p.answer, p.gaveUp, p.delivered = goneAnswer(), true, true
				close(p.done)
			}
			if !p.gaveUp && !p.delivered {
				stale = append(stale, p)
			}
		}
	}
	return stale
}
