package monitor

import (
	"encoding/binary"
	"fmt"

	"github.com/aspis-rv/aspis/internal/world"
	"github.com/aspis-rv/aspis/pkg/aspects"
)

// stateVersion is the version of the monitor's encoding: version byte, digest of the
// bundle, if there is a world the length of its encoding and that, state of the plan.
const stateVersion = 2

// AppendState appends the committed state: equal traces give equal bytes.
func (m *Monitor) AppendState(dst []byte) []byte {
	dst = append(dst, stateVersion)
	dst = append(dst, m.engine.digest[:]...)
	if m.world != nil {
		state := m.world.AppendState(nil)
		dst = binary.AppendUvarint(dst, uint64(len(state)))
		dst = append(dst, state...)
	}
	return m.state.AppendState(dst)
}

// Restore returns the monitor that AppendState encoded. It fails with ErrState on
// bytes of another version or policy, and on damaged ones.
func (e *Engine) Restore(state []byte) (aspects.Monitor, error) {
	head := 1 + len(e.digest)
	switch {
	case len(state) < head:
		return nil, fmt.Errorf("%w: %d bytes are too short", ErrState, len(state))
	case state[0] != stateVersion:
		return nil, fmt.Errorf("%w: version %d; this program reads %d: replay the trace from its log", ErrState, state[0], stateVersion)
	case [32]byte(state[1:head]) != e.digest:
		return nil, fmt.Errorf("%w: it was made under policy %x, this is %x: replay the trace from its log", ErrState, state[1:head], e.digest)
	}
	var err error
	m, rest := e.monitor(), state[head:]
	if e.origin != nil {
		if m.world, rest, err = reopen(e.origin, rest); err != nil {
			return nil, err
		}
	}
	if m.state, err = e.plan.Restore(rest); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	return m, nil
}

// reopen decodes a world that began as origin.
func reopen(origin *world.World, state []byte) (w *world.World, rest []byte, err error) {
	n, used := binary.Uvarint(state)
	if used <= 0 || n > uint64(len(state)-used) {
		return nil, nil, fmt.Errorf("%w: the encoding of the world is cut off", ErrState)
	}
	if len(binary.AppendUvarint(nil, n)) != used {
		return nil, nil, fmt.Errorf("%w: the length of the world is not in its shortest form", ErrState)
	}
	end := used + int(n)
	w, err = origin.Reopen(state[used:end])
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	return w, state[end:], nil
}
