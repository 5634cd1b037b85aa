package gate

// alias makes p wait for the settlement of another record: the first one with its
// call id, which an earlier process of this gate or another gate appended.
func (t *pendingTable) alias(p *pendingCall, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.first = id
	t.mu.byID[id] = p
}

// record is the id of the record under which the log knows p.
func (t *pendingTable) record(p *pendingCall) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.first != "" {
		return p.first
	}
	return p.event.ID
}
